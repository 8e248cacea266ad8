#include "harness/programs/program.hpp"
#include "harness/programs/program_kind.hpp"
#include "reports/tools/recorded.hpp"

namespace taskbench::harness {
namespace {

/// A program that uses JMH, the harness of OpenJDK: `java -jar target/benchmarks.jar`. Each
/// benchmark runs in its own virtual machine: code compiled for one would change another's time.
class JmhKind final : public NamedKind {
 public:
  JmhKind() : NamedKind("jmh", "a program of JMH (java -jar benchmarks.jar)") {}

 private:
  Strings arguments(const Strings& command, const SampleRequest& request,
                    const fs::path& file) const override {
    constexpr double kUsPerSecond = 1e6;
    const std::string time =
        fmt::format("{:.0f}us", std::max(1.0, request.min_time_s * kUsPerSecond));
    Strings words =
        with(command, {"-rf", "json", "-rff", file.string(), "-bm", "avgt", "-tu", "ns", "-f", "1",
                       "-i", std::to_string(request.repetitions), "-r", time});
    // The user may know how long the compiler needs; JMH accepts no option twice.
    constexpr const char* kWarmups = "-wi";
    constexpr const char* kWarmupTime = "-w";
    if (!contains(command, kWarmups)) {
      words = with(std::move(words), {kWarmups, std::to_string(request.repetitions)});
    }
    if (!contains(command, kWarmupTime)) words = with(std::move(words), {kWarmupTime, time});
    const Strings methods = once_each(request.benchmarks, [](const std::string& name) {
      return literal(name.substr(0, name.find('/')));  // without parameters
    });
    if (methods.empty()) return words;
    return with(std::move(words), {fmt::format("^({})$", fmt::join(methods, "|"))});
  }

  model::Run read(const Strings& command, const SampleRequest&, const ProcessOutcome&,
                  const fs::path& file) const override {
    return unless_empty(reports::tools::parse_jmh(file, written_by(command, *this, file)),
                        fmt::format("'{}' ran no benchmark of JMH", joined(command, " ")));
  }

  std::string why_not_counted() const override {
    return "callgrind cannot count what a virtual machine compiles";
  }
};

}  // namespace

const ProgramKind& jmh_kind() {
  static const JmhKind kind;
  return kind;
}

}  // namespace taskbench::harness
