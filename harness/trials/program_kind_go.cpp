#include "harness/trials/program_kind.hpp"

#include "harness/os/system_file.hpp"
#include "harness/trials/program.hpp"
#include "reports/tools/printed.hpp"

namespace taskbench::harness {
namespace {

constexpr std::string_view kPrefix = "Benchmark";

/// The distinct parts of the names at each level, "BenchmarkSort" and "size=10"; only the levels
/// that all names have.
std::vector<Strings> levels_of(const Strings& names) {
  std::vector<Strings> levels;
  for (const std::string& name : names) {
    const auto parts = parts_of(name, '/');
    if (&name == &names.front() || parts.size() < levels.size()) levels.resize(parts.size());
    for (std::size_t i = 0; i < levels.size(); ++i) {
      std::string part = literal(std::string(parts[i]));
      if (!contains(levels[i], part)) levels[i].push_back(std::move(part));
    }
  }
  return levels;
}

/// A test binary of a Go package, as built by `go test -c`.
class GoKind final : public ProgramKind {
 public:
  GoKind() : ProgramKind("go", "a test binary of Go (go test -c)") {}

 private:
  bool may_be(const FileText& text) const override {
    const std::string_view file = text();
    constexpr std::string_view kBuildInfo = "\xff Go buildinf:";
    constexpr std::string_view kFlag = "test.benchtime";  // of the package that test binaries need
    const auto has = [&](std::string_view part) { return file.find(part) != file.npos; };
    return file.starts_with(kElf) && has(kBuildInfo) && has(kFlag);
  }

  Answer ask(const Strings& command, const Ask& ask, bool) const override {
    Answer answer{.command = command,
                  .list = ask(with(command, {"-test.list=^Benchmark"}), kListTimeout_s)};
    answer.listed = listed_in(answer.list);
    std::erase_if(answer.listed, [](const auto& line) { return !line.starts_with(kPrefix); });
    answer.is_of_kind = !answer.listed.empty();
    return answer;
  }

  // One expression for each level. Before Go 1.20, names of different levels cannot be requested
  // together: an expression for a second level leaves out benchmarks that have one level. So other
  // benchmarks may be measured, too. While their names are not known, -test.v also prints these
  // without the number of CPUs, which cannot be told from the end of a name.
  Strings arguments(const Strings& command, const SampleRequest& request,
                    const fs::path&) const override {
    const bool exactly = !request.benchmarks.empty();
    Strings levels;
    for (const Strings& parts : levels_of(exactly ? request.benchmarks : request.families)) {
      levels.push_back(fmt::format("^({})$", fmt::join(parts, "|")));
    }
    Strings words = with(command, {"-test.run=^$", "-test.timeout=0",
                                   "-test.bench=" + (levels.empty() ? "." : joined(levels, "/")),
                                   fmt::format("-test.count={}", request.repetitions),
                                   fmt::format("-test.benchtime={}ns",
                                               static_cast<std::int64_t>(1e9 * request.min_time_s)),
                                   "-test.benchmem"});
    if (!exactly) words.emplace_back("-test.v");
    return words;
  }

  model::Run read(const Strings& command, const SampleRequest& request,
                  const ProcessOutcome& outcome, const fs::path&) const override {
    return unless_empty(reports::tools::parse_go(outcome.output, request.benchmarks),
                        fmt::format("'{}' ran no benchmark, or printed none", command.front()));
  }

  bool lists_all() const override { return false; }  // none from b.Run()
  bool finds_iterations() const override { return true; }
  std::string why_not_counted() const override {
    return "callgrind cannot tell where a benchmark of Go begins and ends";
  }
};

}  // namespace

const ProgramKind& go_kind() {
  static const GoKind kind;
  return kind;
}

}  // namespace taskbench::harness
