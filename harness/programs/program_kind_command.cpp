#include "harness/files/stored.hpp"
#include "harness/programs/program.hpp"
#include "harness/programs/program_kind.hpp"

namespace taskbench::harness {
namespace {

constexpr const char* kName = "command";

/// Any command, measured from its start to its end by `taskbench run --command`.
class CommandKind final : public NamedKind {
 public:
  CommandKind() : NamedKind("command", "a command, as a whole") {}

 private:
  Answer ask(const Strings& command, const Ask&, bool is_named) const override {
    return {.is_of_kind = is_named, .command = command, .listed = {kName}};
  }

  Strings arguments(const Strings& command, const SampleRequest& request,
                    const fs::path& file) const override {
    Strings absolute = command;  // it may run in another folder
    if (!is_looked_up(absolute.front())) {
      absolute.front() = fs::absolute(absolute.front()).string();
    }
    Strings words{fs::read_symlink("/proc/self/exe").string(), "run", "--command",
                  fmt::format("{}={}", kName, command_of(absolute))};
    const Strings options = options_of_run(request, file);
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }

  model::Run read(const Strings&, const SampleRequest&, const ProcessOutcome&,
                  const fs::path& file) const override {
    return read_result_file(file, json::UnusableRows::noted);
  }

  bool takes_iterations() const override { return true; }
  std::optional<model::CpuTimeOf> cpu_time_of(const std::string&) const override {
    return model::CpuTimeOf::process;
  }
  bool is_counted_whole() const override { return true; }
  std::string why_not_counted() const override { return {}; }
};

}  // namespace

const ProgramKind& command_kind() {
  static const CommandKind kind;
  return kind;
}

}  // namespace taskbench::harness
