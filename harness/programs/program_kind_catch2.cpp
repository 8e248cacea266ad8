#include "harness/programs/program.hpp"
#include "harness/programs/program_kind.hpp"
#include "reports/tools/catch2.hpp"

namespace taskbench::harness {
namespace {

/// An expression that matches the name of a test case and nothing else.
std::string test_case(std::string_view name) { return escaped(name, R"(\,[]"*~)"); }

/// A program that uses Catch2, which measures a benchmark once per process: the mean of samples.
class Catch2Kind final : public ProgramKind {
 public:
  Catch2Kind() : ProgramKind("catch2", "a test program of Catch2, with benchmarks") {}

 private:
  bool may_be(const FileText& text) const override {
    const std::string_view file = text();
    const auto has = [&](std::string_view part) { return file.find(part) != file.npos; };
    return file.starts_with(kElf) && has("benchmark-no-analysis") && has("BenchmarkResults");
  }

  Answer ask(const Strings& command, const Ask& ask, bool) const override {
    Answer answer{.command = command,
                  .list = ask(with(command, {"--list-reporters"}), kListTimeout_s)};
    answer.is_of_kind = answer.list.output.find("Available reporters") != std::string::npos;
    return answer;
  }

  // Catch2 chooses the length of a sample from the clock's resolution.
  Strings arguments(const Strings& command, const SampleRequest& request,
                    const fs::path& file) const override {
    constexpr std::int64_t kSamplesOfARepetition = 20;
    constexpr double kMsPerSecond = 1e3;
    Strings words =
        with(command,
             {"--reporter", "xml", "--out", file.string(), "--benchmark-no-analysis",
              "--benchmark-samples", std::to_string(request.repetitions * kSamplesOfARepetition),
              "--benchmark-warmup-time",
              fmt::format("{:.0f}", std::max(1.0, request.min_time_s * kMsPerSecond))});
    // A benchmark's name begins with that of its test case, which may contain slashes, too.
    Strings cases;
    for (const std::string& name : request.benchmarks) {
      for (auto slash = name.find('/'); slash != name.npos; slash = name.find('/', slash + 1)) {
        std::string one = test_case(std::string_view(name).substr(0, slash));
        if (!contains(cases, one)) cases.push_back(std::move(one));
      }
    }
    return cases.empty() ? words : with(std::move(words), {joined(cases, ",")});
  }

  model::Run read(const Strings& command, const SampleRequest&, const ProcessOutcome&,
                  const fs::path& file) const override {
    return unless_empty(
        reports::tools::parse_catch2(file, written_by(command, *this, file)),
        fmt::format("'{}' ran no benchmark; to run hidden test cases, add their tag to the "
                    "command, such as '[!benchmark]'",
                    joined(command, " ")));
  }

  bool has_fixed_repetitions() const override { return true; }

  std::string why_not_counted() const override {
    return "callgrind cannot tell where a benchmark of Catch2 begins and ends";
  }
};

}  // namespace

const ProgramKind& catch2_kind() {
  static const Catch2Kind kind;
  return kind;
}

}  // namespace taskbench::harness
