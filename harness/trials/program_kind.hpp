// What a program that can be measured was written with: how it is recognised, how it is asked for
// samples, and how its answer is read. Each kind is one file, program_kind_NAME.cpp, and one row of
// the table in program_kind.cpp.
#pragma once

#include "harness/os/process.hpp"
#include "harness/trials/names.hpp"
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
  bool has_failed;  ///< it ended with such a status: it may be no benchmark, or cannot start here
};

/// How one process should measure.
struct SampleRequest : model::Sampling {
  Strings benchmarks;             ///< names; empty: all
  Strings families;               ///< where those are empty: what names begin with up to a slash
  std::size_t padding_bytes = 0;  ///< moves its stack: the environment grows by so much
  double timeout_s = 60;
  std::function<void(double elapsed_s)> waiting{};  ///< called now and then while it runs
};

/// Runs a command to its end, at most so long.
using Ask = std::function<ProcessOutcome(Strings words, double timeout_s)>;

/// The content of a program's file, which is read when it is first asked for.
using FileText = std::function<std::string_view()>;

/// What answered which question, when a program is looked at for the first time.
struct Answer {
  bool is_of_kind = false;
  Strings command{};      ///< as measure() takes it
  Strings listed{};       ///< names of its benchmarks; empty if it does not list them
  ProcessOutcome list{};  ///< what it said instead
};

class ProgramKind {
 public:
  ProgramKind(std::string_view name, std::string_view title) : name_(name), title_(title) {}
  virtual ~ProgramKind() = default;
  ProgramKind(const ProgramKind&) = delete;
  ProgramKind& operator=(const ProgramKind&) = delete;

  /// What --kind calls it.
  [[nodiscard]] std::string_view name() const { return name_; }
  /// For people: "a program that uses Google Benchmark".
  [[nodiscard]] std::string_view title() const { return title_; }

  /// Whether it is worth asking whether a program is of this kind when nobody says so: by what its
  /// file contains, or because asking is harmless.
  [[nodiscard]] virtual bool may_be(const FileText& file) const = 0;

  /// Asks a program whether it is of this kind, and for its benchmarks. `is_named`: --kind says so.
  [[nodiscard]] virtual Answer ask(const Strings& command, const Ask& ask, bool is_named) const = 0;

  /// Whether a program is surely of this kind: not one that would answer anything in this way.
  [[nodiscard]] virtual bool is_sure(const Strings& /*command*/, const Strings& /*listed*/,
                                     const Ask& /*ask*/) const {
    return true;
  }

  /// What the process of `request` executes. Its result is `file`, or what it prints.
  [[nodiscard]] virtual Strings arguments(const Strings& command, const SampleRequest& request,
                                          const fs::path& file) const = 0;
  /// NAME=VALUE besides.
  [[nodiscard]] virtual Strings environment(const SampleRequest& request,
                                            const fs::path& file) const;
  /// Puts what its process needs into the folder of `file`, and removes what an earlier one left.
  virtual void prepare(const fs::path& file) const;

  /// The result of a process that ended well. Throws json::ReadError, and ProgramError if there is
  /// none.
  [[nodiscard]] virtual model::Run read(const Strings& command, const ProcessOutcome& outcome,
                                        const fs::path& file) const = 0;

  /// Whether it lists all names that there are, and not only what they begin with.
  [[nodiscard]] virtual bool lists_all() const { return true; }

  /// Whether the number of iterations of a repetition can be set.
  [[nodiscard]] virtual bool takes_iterations() const { return false; }

  /// Whether it chooses iterations in each process, by the time that the first ones take: what
  /// meets another program then ends up with repetitions that are far too short.
  [[nodiscard]] virtual bool finds_iterations() const { return false; }

  /// How many repetitions a first run takes to show what a benchmark writes.
  [[nodiscard]] virtual std::int64_t trial_repetitions() const { return 1; }

  /// Whose CPU time it reports for a benchmark; empty if it reports none.
  [[nodiscard]] virtual std::optional<model::CpuTimeOf> cpu_time_of(
      const std::string& /*benchmark*/) const {
    return std::nullopt;
  }

  /// Whether reports say that it is of this kind.
  [[nodiscard]] virtual bool is_noted() const { return true; }

  /// Whether a command of this kind reads no file but its own.
  [[nodiscard]] virtual bool reads_no_files(const Strings& /*command*/) const { return false; }

  /// Whether the program of this command may be one in PATH, an interpreter: what is measured is
  /// then what its arguments name.
  [[nodiscard]] virtual bool may_be_in_path(const Strings& /*command*/) const { return false; }

  /// Whether an iteration is a whole process: then what it executes from its start to its end is
  /// counted, with its children, if somebody asks for that.
  [[nodiscard]] virtual bool is_counted_whole() const { return false; }

  /// Why callgrind cannot count what its benchmarks execute; empty if it can.
  [[nodiscard]] virtual std::string why_not_counted() const = 0;

 private:
  std::string_view name_;
  std::string_view title_;
};

/// A kind that cannot be recognised, as it is what the arguments of an interpreter, or of any
/// program, make of it: it is only named.
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

/// All kinds, in the order in which programs are asked for them.
[[nodiscard]] std::span<const ProgramKind* const> program_kinds();

/// The kind that --kind names; nullptr for an empty name. Throws UsageError for another.
[[nodiscard]] const ProgramKind* named_kind(const std::string& name);

/// How long a program may take to list what it measures: one that does not know the question may
/// begin to measure in answer.
inline constexpr double kListTimeout_s = 60;

/// The question that Google Benchmark's programs know, taskbench among them.
inline constexpr const char* kListing = "--benchmark_list_tests=true";

/// The lines that a program printed; none if it did not end well.
[[nodiscard]] Strings listed_in(const ProcessOutcome& outcome);

/// An expression that matches only what is requested, each name literally; empty for all.
[[nodiscard]] std::string filter_for(const SampleRequest& request);

/// What a program that ended well has written into `file`. Throws ProgramError if there is nothing,
/// as it is not of that kind.
[[nodiscard]] std::string written_by(const Strings& command, const ProgramKind& kind,
                                     const fs::path& file);

/// `run`, if it has a benchmark. Throws ProgramError with `why_none` otherwise.
[[nodiscard]] model::Run unless_empty(model::Run run, const std::string& why_none);

/// `each` of the names, once.
[[nodiscard]] Strings once_each(const Strings& names,
                                const std::function<std::string(const std::string& name)>& each);

/// `name`, as an expression that matches nothing else.
[[nodiscard]] std::string literal(const std::string& name);

/// The options of `taskbench run` that make it measure as requested. An empty filter is left out.
[[nodiscard]] Strings options_of_run(const SampleRequest& request, const fs::path& json,
                                     const std::string& filter = {});

[[nodiscard]] Strings with(Strings words, std::initializer_list<std::string> more);

}  // namespace taskbench::harness
