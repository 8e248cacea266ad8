// The kinds of programs that can be measured: how each is recognised, asked for samples, and its
// answer read. Each kind is a class in a file program_kind_*.cpp, and a row of the table in
// program_kind.cpp.
#pragma once

#include <map>
#include <set>

#include "harness/files/names.hpp"
#include "harness/os/process.hpp"
#include "reports/model/paired.hpp"
#include "reports/model/run.hpp"
#include "reports/model/sampling.hpp"

namespace taskbench::harness {

/// A failure of a program, in a sentence that names it.
struct ProgramError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A program that cannot be measured: it cannot be started, measures nothing, or ends with a status
/// other than 0 when asked what it measures.
struct NotMeasurable : ProgramError {
  explicit NotMeasurable(const std::string& what, bool ended_so = false)
      : ProgramError(what), has_failed(ended_so) {}
  bool has_failed;  ///< with such a status: it may not be a benchmark, or cannot start here
};

/// How one process should measure.
struct SampleRequest : model::Sampling {
  Strings benchmarks;             ///< names; empty: all
  Strings families;               ///< if those are empty: beginnings of names, up to a slash
  std::size_t padding_bytes = 0;  ///< moves its stack: the size by which its environment grows
  double timeout_s = 60;
  std::function<void(double elapsed_s)> waiting{};  ///< called now and then while it runs
  /// The iterations of benchmarks that set them themselves, as measure_next() has found out, on
  /// either side. Such repetitions may be short.
  std::map<std::string, std::set<std::int64_t>> own_iterations{};
};

/// Runs a command to its end, with a time limit.
using Ask = std::function<ProcessOutcome(Strings words, double timeout_s)>;

/// The content of a program's file, which is read at the first call.
using FileText = std::function<std::string_view()>;

/// The answers of a program that is examined for the first time.
struct Answer {
  bool is_of_kind = false;
  Strings command{};      ///< as measure() takes it
  Strings listed{};       ///< names of its benchmarks; empty if it does not list them
  ProcessOutcome list{};  ///< the output instead of a list
};

class ProgramKind {
 public:
  ProgramKind(std::string_view name, std::string_view title) : name_(name), title_(title) {}
  virtual ~ProgramKind() = default;
  ProgramKind(const ProgramKind&) = delete;
  ProgramKind& operator=(const ProgramKind&) = delete;

  /// The name of the kind for --kind.
  [[nodiscard]] std::string_view name() const { return name_; }
  /// The kind in reports: "a program that uses Google Benchmark".
  [[nodiscard]] std::string_view title() const { return title_; }

  /// Whether a program for which no kind is given is worth asking: judging by the content of its
  /// file, or because asking is harmless.
  [[nodiscard]] virtual bool may_be(const FileText& file) const = 0;

  /// Asks a program whether it is of this kind, and for its benchmarks. `is_named`: --kind says so.
  [[nodiscard]] virtual Answer ask(const Strings& command, const Ask& ask, bool is_named) const = 0;

  /// Whether a program is certainly of this kind: some programs answer any question in this way.
  [[nodiscard]] virtual bool is_sure(const Strings& /*command*/, const Strings& /*listed*/,
                                     const Ask& /*ask*/) const {
    return true;
  }

  /// The command of the process for `request`. Its result is in `file`, or is its output.
  [[nodiscard]] virtual Strings arguments(const Strings& command, const SampleRequest& request,
                                          const fs::path& file) const = 0;
  /// Additional environment variables, as NAME=VALUE.
  [[nodiscard]] virtual Strings environment(const SampleRequest& request,
                                            const fs::path& file) const;
  /// Puts the files that its process needs into the folder of `file`; removes those of an earlier.
  virtual void prepare(const fs::path& file) const;

  /// The result of the process for `request`, which succeeded. Throws json::ReadError, and
  /// ProgramError if there is no result.
  [[nodiscard]] virtual model::Run read(const Strings& command, const SampleRequest& request,
                                        const ProcessOutcome& outcome,
                                        const fs::path& file) const = 0;

  /// Whether it lists complete names, and not only their beginnings.
  [[nodiscard]] virtual bool lists_all() const { return true; }

  /// Whether the number of iterations of a repetition can be set.
  [[nodiscard]] virtual bool takes_iterations() const { return false; }

  /// Whether only the number of repetitions can be set, and not how long one takes.
  [[nodiscard]] virtual bool has_fixed_repetitions() const { return false; }

  /// Whether each process chooses its iterations by the time that the first ones take. Interference
  /// from another program during these leads to repetitions that are far too short.
  [[nodiscard]] virtual bool finds_iterations() const { return false; }

  /// Number of repetitions in a first run that shows all that a benchmark reports.
  [[nodiscard]] virtual std::int64_t trial_repetitions() const { return 1; }

  /// The scope of the CPU time that it reports for a benchmark; empty if it reports none.
  [[nodiscard]] virtual std::optional<model::CpuTimeOf> cpu_time_of(
      const std::string& /*benchmark*/) const {
    return std::nullopt;
  }

  /// Whether reports mention this kind.
  [[nodiscard]] virtual bool is_noted() const { return true; }

  /// Whether a command of this kind reads no files except its own executable.
  [[nodiscard]] virtual bool reads_no_files(const Strings& /*command*/) const { return false; }

  /// Whether the program of this command may be an interpreter in PATH; its arguments then name
  /// what is measured.
  [[nodiscard]] virtual bool may_be_in_path(const Strings& /*command*/) const { return false; }

  /// Whether an iteration is a whole process: if counts are requested, all that it and its children
  /// execute from start to end is counted.
  [[nodiscard]] virtual bool is_counted_whole() const { return false; }

  /// Why callgrind cannot count its benchmarks; empty if it can.
  [[nodiscard]] virtual std::string why_not_counted() const = 0;

 private:
  std::string_view name_;
  std::string_view title_;
};

/// A kind that cannot be recognised, since it depends on the arguments of an interpreter or another
/// program: it must be named.
class NamedKind : public ProgramKind {
 public:
  using ProgramKind::ProgramKind;

 private:
  [[nodiscard]] bool may_be(const FileText&) const final { return false; }
  [[nodiscard]] bool may_be_in_path(const Strings&) const final { return true; }
  [[nodiscard]] Answer ask(const Strings& command, const Ask&, bool is_named) const override {
    return {.is_of_kind = is_named, .command = command};
  }
};

const ProgramKind& taskbench_kind();
const ProgramKind& google_benchmark_kind();
const ProgramKind& go_kind();
const ProgramKind& criterion_kind();
const ProgramKind& criterion_03_kind();
const ProgramKind& libtest_kind();
const ProgramKind& catch2_kind();
const ProgramKind& pytest_kind();
const ProgramKind& pyperf_kind();
const ProgramKind& jmh_kind();
const ProgramKind& command_kind();
const ProgramKind& lines_kind();

/// All kinds, in the order in which programs are tried.
[[nodiscard]] std::span<const ProgramKind* const> program_kinds();

/// The kind that --kind names; nullptr for an empty name. Throws UsageError for another.
[[nodiscard]] const ProgramKind* named_kind(const std::string& name);

/// Time limit for a program to list its benchmarks. A program that does not know the option may
/// begin to measure instead.
inline constexpr double kListTimeout_s = 60;

/// The option that programs of Google Benchmark, including taskbench, answer with a list.
inline constexpr const char* kListing = "--benchmark_list_tests=true";

/// The lines that a program printed; none if it did not succeed.
[[nodiscard]] Strings listed_in(const ProcessOutcome& outcome);

/// An expression that matches only the requested benchmarks, each name literally; empty for all.
[[nodiscard]] std::string filter_for(const SampleRequest& request);

/// The content that a successful program has written into `file`. Throws ProgramError if there is
/// none, since the program is then not of that kind.
[[nodiscard]] std::string written_by(const Strings& command, const ProgramKind& kind,
                                     const fs::path& file);

/// Returns `run` if it has a benchmark. Throws ProgramError with `why_none` otherwise.
[[nodiscard]] model::Run unless_empty(model::Run run, const std::string& why_none);

/// The results of `each` for the names, without duplicates.
[[nodiscard]] Strings once_each(const Strings& names,
                                const std::function<std::string(const std::string& name)>& each);

/// The text with a backslash before each character of `special`.
[[nodiscard]] std::string escaped(std::string_view text, std::string_view special);

/// An expression that matches `name` and nothing else.
[[nodiscard]] std::string literal(const std::string& name);

/// The options with which `taskbench run` measures as requested. An empty filter is left out.
[[nodiscard]] Strings options_of_run(const SampleRequest& request, const fs::path& json,
                                     const std::string& filter = {});

[[nodiscard]] Strings with(Strings words, std::initializer_list<std::string> more);

}  // namespace taskbench::harness
