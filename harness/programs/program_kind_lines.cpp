#include "harness/programs/program.hpp"
#include "harness/programs/program_kind.hpp"
#include "reports/tools/printed.hpp"

namespace taskbench::harness {
namespace {

/// Any program that prints its samples itself.
class LinesKind final : public NamedKind {
 public:
  LinesKind() : NamedKind("lines", "a program that prints lines 'NAME VALUE UNIT'") {}

 private:
  bool is_sure(const Strings&, const Strings&, const Ask&) const override { return false; }

  Strings arguments(const Strings& command, const SampleRequest&, const fs::path&) const override {
    return command;
  }

  Strings environment(const SampleRequest& request, const fs::path&) const override {
    return {fmt::format("TASKBENCH_REPETITIONS={}", request.repetitions),
            fmt::format("TASKBENCH_MIN_TIME_S={}", request.min_time_s),
            "TASKBENCH_ONLY=" + joined(request.benchmarks, "\n")};
  }

  model::Run read(const Strings& command, const SampleRequest&, const ProcessOutcome& outcome,
                  const fs::path&) const override {
    return unless_empty(
        reports::tools::parse_lines(outcome.output),
        fmt::format("'{}' printed no line of the form NAME VALUE UNIT, such as 'sort 1.5 ms'",
                    command.front()));
  }

  std::string why_not_counted() const override {
    return "callgrind cannot tell where a benchmark begins and ends in a program that prints lines";
  }
};

}  // namespace

const ProgramKind& lines_kind() {
  static const LinesKind kind;
  return kind;
}

}  // namespace taskbench::harness
