#include "harness/programs/program_kind.hpp"

#include <algorithm>

#include "harness/files/stored.hpp"

namespace taskbench::harness {
namespace {

constexpr double kVersionTimeout_s = 10;

// taskbench's answer when both its version and a list are requested.
constexpr std::string_view kRefusal = "taskbench: error: ";

/// Whether it measures other programs, not taskbench itself.
bool runs_commands(const Strings& command) {
  return std::ranges::any_of(command,
                             [](const std::string& word) { return word.starts_with("--command"); });
}

class TaskbenchKind final : public ProgramKind {
 public:
  TaskbenchKind() : ProgramKind("taskbench", "a taskbench") {}

 private:
  bool may_be(const FileText&) const override { return true; }

  Answer ask(const Strings& command, const Ask& ask, bool) const override {
    // Passed with --benchmark_list_tests, so that a benchmark that ignores unknown options lists
    // its names instead of running them all.
    const ProcessOutcome version = ask({command.front(), "--version", kListing}, kVersionTimeout_s);
    Answer answer{.is_of_kind = version.output.starts_with("taskbench ") ||
                                version.errors.starts_with(kRefusal),
                  .command = command};
    if (!answer.is_of_kind) return answer;
    if (command.size() > 1 && command[1] == "run") answer.command.erase(answer.command.begin() + 1);
    Strings to_list = answer.command;
    to_list.insert(to_list.begin() + 1, "run");
    answer.list = ask(with(std::move(to_list), {kListing}), kListTimeout_s);
    answer.listed = listed_in(answer.list);
    return answer;
  }

  // It lists nothing if it refuses its options.
  bool is_sure(const Strings&, const Strings& listed, const Ask&) const override {
    return !listed.empty();
  }

  Strings arguments(const Strings& command, const SampleRequest& request,
                    const fs::path& file) const override {
    Strings words{command.front(), "run"};
    words.insert(words.end(), command.begin() + 1, command.end());
    const Strings options = options_of_run(request, file, filter_for(request));
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }

  model::Run read(const Strings&, const SampleRequest&, const ProcessOutcome&,
                  const fs::path& file) const override {
    return read_result_file(file, json::UnusableRows::noted);
  }

  bool takes_iterations() const override { return true; }
  bool reads_no_files(const Strings& command) const override { return !runs_commands(command); }
  bool may_be_in_path(const Strings& command) const override { return runs_commands(command); }
  bool is_noted() const override { return false; }
  std::string why_not_counted() const override { return {}; }
  std::optional<model::CpuTimeOf> cpu_time_of(const std::string&) const override {
    return model::CpuTimeOf::process;
  }
};

}  // namespace

const ProgramKind& taskbench_kind() {
  static const TaskbenchKind kind;
  return kind;
}

}  // namespace taskbench::harness
