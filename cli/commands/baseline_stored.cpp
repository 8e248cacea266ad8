// `taskbench baseline list`, `show`, `promote` and `rm`: those that only look into the store.

#include <unistd.h>

#include "cli/commands/command.hpp"
#include "cli/options/options.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/terminal.hpp"
#include "cli/trials/baseline_store.hpp"
#include "reports/json/answers.hpp"
#include "reports/render/baseline.hpp"
#include "workloads/machine/machine.hpp"

namespace taskbench::cli {
namespace {

struct StoredArguments {
  std::optional<std::string> name;
  fs::path store{kDefaultStore};
  std::optional<std::string> key;
  const PrintedForm* form = kTableOrJson;
  bool all_keys = false;
};

void declare_name(Options& options, StoredArguments& arguments) {
  options.value("NAME", arguments.name, "NAME", By{baseline_name}, "Name of the baseline.")
      ->expected(0, 1);
}

void declare_store(Options& options, StoredArguments& arguments) {
  options.value("--store", arguments.store, "DIR", Path{}, "Where baselines are kept.");
}

CLI::Option* declare_key(Options& options, StoredArguments& arguments) {
  return options
      .value("--key", arguments.key, "KEY", Text{.may_be_empty = true},
             "That of this key, as `taskbench baseline list` shows it.")
      ->default_str("that of this machine");
}

BaselineStore store_of(const StoredArguments& arguments) { return BaselineStore(arguments.store); }

/// Which one is meant must be said where something is changed or removed.
const std::string& required_name(const StoredArguments& arguments, std::string_view command) {
  if (!arguments.name) {
    throw UsageError(fmt::format("baseline {} needs the name of a baseline", command));
  }
  return *arguments.name;
}

void tell_bad(const StoreContent& content) {
  for (const BadEntry& bad : content.bad) print_error(bad.what);
}

bool is_here(const model::Series& series, const model::MachineKey& here) {
  return differences(series.setup.key.machine, here.machine).empty();
}

class BaselineListCommand final : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  StoredArguments arguments_;
};

class BaselineShowCommand final : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  StoredArguments arguments_;
};

class BaselinePromoteCommand final : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  StoredArguments arguments_;
};

class BaselineRemoveCommand final : public Command {
 public:
  void declare(Options& options) override;
  [[nodiscard]] ExitCode execute(const Invocation& invocation) override;

 private:
  StoredArguments arguments_;
};

void BaselineListCommand::declare(Options& options) {
  options.app().description(
      "List the stored baselines.\n\n"
      "Files that are not baselines are named on standard error.");
  options.app().footer(
      "Examples:\n"
      "  taskbench baseline list\n"
      "  taskbench baseline list --format json\n\n"
      "Exit status: 0, or 2 when a file in the store is not a baseline.");
  declare_store(options, arguments_);
  declare_form(options, arguments_.form);
}

ExitCode BaselineListCommand::execute(const Invocation&) {
  const bool as_json = arguments_.form->is_json;
  const StoreContent content = store_of(arguments_).read();
  const model::MachineKey here = measure::probe_machine();
  std::vector<verdict::StoredBaseline> list;
  for (const StoreEntry& entry : content.entries) {
    list.push_back({entry.rolling, entry.anchor, is_here(entry.rolling, here)});
  }
  const bool printed =
      print_result(as_json ? json::to_json(list) : render::table(list, table_style(STDOUT_FILENO)));
  tell_bad(content);
  return printed && content.bad.empty() ? ExitCode::pass : ExitCode::usage;
}

void BaselineShowCommand::declare(Options& options) {
  options.app().description(
      "Show one baseline and its anchor.\n\n"
      "Each benchmark's median, median absolute deviation and range over the processes, the "
      "canary's, and the fields that the machine and the build are known by.");
  options.app().footer(
      "Examples:\n"
      "  taskbench baseline show default\n"
      "  taskbench baseline show nightly --format json\n\n"
      "Exit status: 0, or 2 for a usage or input error.");
  declare_name(options, arguments_);
  options.app().get_option("NAME")->default_str(std::string(kDefaultBaseline));
  declare_store(options, arguments_);
  declare_key(options, arguments_);
  declare_form(options, arguments_.form);
}

ExitCode BaselineShowCommand::execute(const Invocation&) {
  const bool as_json = arguments_.form->is_json;
  const std::string name = arguments_.name.value_or(std::string(kDefaultBaseline));
  const StoreContent content = store_of(arguments_).read();
  const model::MachineKey here = measure::probe_machine();
  const StoreEntry& entry = choose(content, name, arguments_.key, here);
  const verdict::StoredBaseline stored{entry.rolling, entry.anchor, is_here(entry.rolling, here)};
  const std::string text =
      as_json ? json::to_json(stored) : render::details(stored, table_style(STDOUT_FILENO));
  return print_result(text) ? ExitCode::pass : ExitCode::usage;
}

void BaselinePromoteCommand::declare(Options& options) {
  options.app().description(
      "Make the newest baseline its own anchor.\n\n"
      "What has drifted since the old one is accepted.");
  options.app().footer(
      "Examples:\n"
      "  taskbench baseline promote default\n\n"
      "Exit status: 0, or 2 for a usage or input error.");
  declare_name(options, arguments_);
  declare_store(options, arguments_);
  declare_key(options, arguments_);
}

ExitCode BaselinePromoteCommand::execute(const Invocation&) {
  const std::string name = required_name(arguments_, "promote");
  const StoreContent content = store_of(arguments_).read();
  const StoreEntry& entry = choose(content, name, arguments_.key, measure::probe_machine());
  BaselineStore::promote(entry);
  const std::string text =
      fmt::format("the anchor of '{}' is now the baseline of {}\n", name, entry.rolling.setup.date);
  return print_result(text) ? ExitCode::pass : ExitCode::usage;
}

void BaselineRemoveCommand::declare(Options& options) {
  options.app().description("Remove a baseline and its anchor.");
  options.app().footer(
      "Examples:\n"
      "  taskbench baseline rm nightly\n"
      "  taskbench baseline rm nightly --all-keys\n\n"
      "Exit status: 0, or 2 for a usage or input error.");
  declare_name(options, arguments_);
  declare_store(options, arguments_);
  auto* key = declare_key(options, arguments_);
  options.flag("--all-keys", arguments_.all_keys, "Those of every machine and build.")
      ->excludes(key);
}

ExitCode BaselineRemoveCommand::execute(const Invocation&) {
  const std::string name = required_name(arguments_, "rm");
  const StoreContent content = store_of(arguments_).read();
  std::vector<const StoreEntry*> chosen;
  if (arguments_.all_keys) {
    for (const StoreEntry& entry : content.entries) {
      if (entry.rolling.setup.name == name) chosen.push_back(&entry);
    }
    if (chosen.empty()) throw UsageError(unknown_baseline(name, content));
  } else {
    chosen = {&choose(content, name, arguments_.key, measure::probe_machine())};
  }
  std::string text;
  for (const StoreEntry* entry : chosen) {
    BaselineStore::remove(*entry);
    text +=
        fmt::format("removed '{}' of {}\n", name, model::baseline_key(entry->rolling.setup.key));
  }
  return print_result(text) ? ExitCode::pass : ExitCode::usage;
}

}  // namespace

std::unique_ptr<Command> baseline_list_command() { return std::make_unique<BaselineListCommand>(); }
std::unique_ptr<Command> baseline_show_command() { return std::make_unique<BaselineShowCommand>(); }
std::unique_ptr<Command> baseline_promote_command() {
  return std::make_unique<BaselinePromoteCommand>();
}
std::unique_ptr<Command> baseline_remove_command() {
  return std::make_unique<BaselineRemoveCommand>();
}

}  // namespace taskbench::cli
