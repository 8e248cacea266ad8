#include "harness/programs/program_kind.hpp"

#include <algorithm>

#include "harness/os/system_file.hpp"
#include "harness/programs/program.hpp"
#include "reports/tools/printed.hpp"

namespace taskbench::harness {
namespace {

constexpr std::string_view kPrefix = "Benchmark";

bool is_of_cpus(const std::string& word) { return word.find("-test.cpu") != std::string::npos; }

/// Whether the command chooses numbers of CPUs. With several of them, "BenchmarkSort" has the
/// results "BenchmarkSort-2" and "BenchmarkSort-4", names that Go neither lists nor finds.
bool chooses_cpus(const Strings& command) { return std::ranges::any_of(command, is_of_cpus); }

/// Whether these are several: "-test.cpu=2,4".
bool chooses_several(const Strings& command) {
  return std::any_of(std::ranges::find_if(command, is_of_cpus), command.end(),
                     [](const std::string& word) { return contains(word, ','); });
}

/// The distinct parts of the names at each level, "BenchmarkSort" and "size=10"; only the levels
/// that all names have. A number that may be that of CPUs is left out in one more part.
std::vector<Strings> levels_of(const Strings& names, bool may_have_cpus) {
  std::vector<Strings> levels;
  for (const std::string& name : names) {
    const auto parts = parts_of(name, '/');
    if (&name == &names.front() || parts.size() < levels.size()) levels.resize(parts.size());
    for (std::size_t i = 0; i < levels.size(); ++i) {
      const auto add = [&](std::string_view text) {
        std::string part = literal(std::string(text));
        if (!contains(levels[i], part)) levels[i].push_back(std::move(part));
      };
      add(parts[i]);
      if (may_have_cpus && i + 1 == parts.size()) {
        const std::string_view cpus = reports::tools::cpus_at_the_end(parts[i]);
        add(parts[i].substr(0, parts[i].size() - cpus.size()));
      }
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
    if (chooses_several(command)) answer.listed.clear();
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
    for (const Strings& parts :
         levels_of(exactly ? request.benchmarks : request.families, chooses_cpus(command))) {
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
