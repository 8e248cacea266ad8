#include <algorithm>
#include <cmath>

#include "harness/files/stored.hpp"
#include "harness/programs/program.hpp"
#include "harness/programs/program_kind.hpp"
#include "reports/tools/printed.hpp"

namespace taskbench::harness {
namespace {

/// The names in lines "NAME: benchmark", or "NAME: bench".
Strings benchmarks_in(const ProcessOutcome& outcome) {
  Strings names;
  for (const std::string& line : listed_in(outcome)) {
    const std::size_t colon = line.rfind(": bench");
    if (colon != std::string::npos) names.push_back(line.substr(0, colon));
  }
  return names;
}

/// The executable of a Cargo benchmark target: it takes --bench, and lists names.
class RustKind : public ProgramKind {
 public:
  using ProgramKind::ProgramKind;

 protected:
  Answer ask(const Strings& command, const Ask& ask, bool) const override {
    Answer answer{.command = command,
                  .list = ask(with(command, {"--bench", "--list"}), kListTimeout_s)};
    answer.listed = benchmarks_in(answer.list);
    answer.is_of_kind = !answer.listed.empty();
    return answer;
  }

 private:
  std::string why_not_counted() const override {
    return "callgrind cannot tell where a benchmark of Rust begins and ends";
  }
};

/// Criterion 0.3 takes times in whole seconds, later versions in fractions.
enum class Times { whole_seconds, any };

class CriterionKind final : public RustKind {
 public:
  CriterionKind(std::string_view name, std::string_view title, Times times)
      : RustKind(name, title), times_(times) {}

 private:
  bool may_be(const FileText& file) const override {
    return file().starts_with(kElf) && file().find("CRITERION_HOME") != std::string::npos;
  }

  Answer ask(const Strings& command, const Ask& ask, bool is_named) const override {
    const Strings nothing = with(command, {"--bench", "--noplot", "--warm-up-time", "0.5", "^$"});
    const ProcessOutcome outcome = ask(nothing, kListTimeout_s);
    if (outcome.ok() != (times_ == Times::any)) return {.command = command, .list = outcome};
    Answer answer = RustKind::ask(command, ask, is_named);
    if (std::ranges::any_of(answer.listed, is_cut_off)) answer.listed.clear();
    return answer;
  }

  /// Whether a listed name is only the first 100 bytes of the one in files and filters.
  static bool is_cut_off(std::string_view name) {
    constexpr std::size_t kShortest = 100;  // with the dots, and without a character in part
    return name.size() >= kShortest && name.ends_with("...");
  }

  Strings arguments(const Strings& command, const SampleRequest& request,
                    const fs::path&) const override {
    constexpr std::int64_t kFewestSamples = 10;
    constexpr double kShortest_s = 1e-6;
    const std::int64_t samples = std::max(kFewestSamples, request.repetitions);
    const double measured_s = request.min_time_s * static_cast<double>(request.repetitions);
    Strings words = with(command, {"--bench", "--noplot", "--sample-size", std::to_string(samples),
                                   "--nresamples", "1001",  // it warns below this number
                                   "--warm-up-time", seconds(std::max(kShortest_s, measured_s / 2)),
                                   "--measurement-time", seconds(measured_s)});
    const std::string filter = filter_for(request);
    if (!filter.empty()) words.push_back(filter);
    return words;
  }

  std::string seconds(double time_s) const {
    if (times_ == Times::any) return fmt::format("{}", time_s);
    return fmt::format("{:.0f}", std::max(1.0, std::ceil(time_s)));
  }

  Strings environment(const SampleRequest&, const fs::path& file) const override {
    return {"CRITERION_HOME=" + home(file).string()};
  }

  void prepare(const fs::path& file) const override {
    std::error_code ignored;
    fs::remove_all(home(file), ignored);
  }

  model::Run read(const Strings&, const SampleRequest&, const ProcessOutcome&,
                  const fs::path& file) const override {
    return read_criterion(home(file));
  }

  /// The folder for Criterion's output.
  static fs::path home(const fs::path& file) { return file.parent_path() / "criterion"; }

  Times times_;
};

/// A program that uses Rust's own test harness. (Programs of the crate bencher have no --list.)
class LibtestKind final : public RustKind {
 public:
  LibtestKind() : RustKind("libtest", "a program with benchmarks of Rust's libtest (#[bench])") {}

 private:
  bool may_be(const FileText& file) const override {
    return file().starts_with(kElf) && file().find("ns/iter") != std::string::npos;
  }

  Strings arguments(const Strings& command, const SampleRequest& request,
                    const fs::path&) const override {
    Strings words = with(command, {"--bench"});
    if (request.benchmarks.empty()) return words;
    words.emplace_back("--exact");
    words.insert(words.end(), request.benchmarks.begin(), request.benchmarks.end());
    return words;
  }

  model::Run read(const Strings& command, const SampleRequest&, const ProcessOutcome& outcome,
                  const fs::path&) const override {
    return unless_empty(reports::tools::parse_libtest(outcome.output),
                        fmt::format("'{}' ran no benchmark, or printed none", command.front()));
  }
};

}  // namespace

const ProgramKind& criterion_kind() {
  static const CriterionKind kind("criterion", "a benchmark of Criterion 0.4 or later (Rust)",
                                  Times::any);
  return kind;
}

const ProgramKind& criterion_03_kind() {
  static const CriterionKind kind("criterion-0.3", "a benchmark of Criterion 0.3 (Rust)",
                                  Times::whole_seconds);
  return kind;
}

const ProgramKind& libtest_kind() {
  static const LibtestKind kind;
  return kind;
}

}  // namespace taskbench::harness
