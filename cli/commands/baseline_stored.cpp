// `taskbench baseline list`, `show`, `promote` and `rm`: the subcommands that only access the
// store.
#include "cli/commands/command.hpp"
#include "cli/options/trial_options.hpp"
#include "cli/output/output.hpp"
#include "harness/files/baseline_store.hpp"
#include "harness/machine/machine.hpp"
#include "reports/json/baseline.hpp"
#include "reports/render/baseline.hpp"

namespace taskbench::cli {
namespace {

/// Options and checks that these commands share.
class StoredCommand : public Command {
 protected:
  void declare_name(Options& options) {
    options.value("NAME", name_, "NAME", By{baseline_name}, "Name of the baseline.")
        ->expected(0, 1);
  }

  void declare_store(Options& options) {
    options.value("--store", store_, "DIR", Path{}, "Where baselines are kept.");
  }

  CLI::Option* declare_key(Options& options) {
    return options
        .value("--key", key_, "KEY", Text{.may_be_empty = true},
               "Key of the machine and build, as `taskbench baseline list` shows it.")
        ->default_str("that of this machine");
  }

  /// Throws UsageError without a name: a change or removal needs one.
  void require_name(std::string_view command) const {
    if (name_.empty()) refuse("baseline {} needs the name of a baseline", command);
  }

  [[nodiscard]] StoreContent read() {
    here_ = probe_machine();
    return BaselineStore(store_).read();
  }

  [[nodiscard]] const StoreEntry& chosen(const StoreContent& content) const {
    return choose(content, name_, key_, here_);
  }

  [[nodiscard]] verdict::StoredBaseline stored(const StoreEntry& entry) const {
    const auto& machine = entry.rolling.setup.key.machine;
    return {entry.rolling, entry.anchor, differences(machine, here_.machine).empty()};
  }

  std::string name_;
  fs::path store_{kDefaultStore};
  std::optional<std::string> key_;
  const render::Format* format_ = nullptr;
  model::MachineKey here_;
};

class BaselineListCommand final : public StoredCommand {
  void declare(Options& options) override {
    options.describe(
        "List the stored baselines.\n\n"
        "Files that are not baselines are named on standard error.",
        "Examples:\n"
        "  taskbench baseline list\n"
        "  taskbench baseline list --format json\n\n"
        "Exit status: 0, or 2 if a file in the store is not a baseline.");
    declare_store(options);
    options.group("Output");
    declare_format(options, format_);
  }

  ExitCode execute(const Invocation&) override {
    const StoreContent content = read();
    const auto list = each_of(content.entries, [&](const auto& entry) { return stored(entry); });
    const bool printed = print_answer(
        {.document = render::document(list), .json = [&] { return json::to_json(list); }},
        *format_);
    for (const BadEntry& bad : content.bad) print_error(bad.what);
    return printed && content.bad.empty() ? ExitCode::pass : ExitCode::usage;
  }
};

class BaselineShowCommand final : public StoredCommand {
  void declare(Options& options) override {
    options.describe(
        "Show one baseline and its anchor.\n\n"
        "Each benchmark's median, median absolute deviation and range over the processes, those of "
        "the canary, and the fields that identify the machine and the build.",
        "Examples:\n"
        "  taskbench baseline show default\n"
        "  taskbench baseline show nightly --format json\n\n"
        "Exit status: 0, or 2 for a usage or input error.");
    name_ = kDefaultBaseline;
    declare_name(options);
    options["NAME"]->default_str(name_);
    declare_store(options);
    declare_key(options);
    options.group("Output");
    declare_format(options, format_);
  }

  ExitCode execute(const Invocation&) override {
    const StoreContent content = read();
    const verdict::StoredBaseline shown = stored(chosen(content));
    const render::Answer answer{.document = render::document(shown),
                                .json = [&] { return json::to_json(shown); }};
    return print_answer(answer, *format_) ? ExitCode::pass : ExitCode::usage;
  }
};

class BaselinePromoteCommand final : public StoredCommand {
  void declare(Options& options) override {
    options.describe(
        "Make the newest baseline its own anchor.\n\n"
        "Whatever has drifted since the old one is accepted.",
        "Examples:\n"
        "  taskbench baseline promote default\n\n"
        "Exit status: 0, or 2 for a usage or input error.");
    declare_name(options);
    declare_store(options);
    declare_key(options);
  }

  ExitCode execute(const Invocation&) override {
    require_name("promote");
    const StoreContent content = read();
    const StoreEntry& entry = chosen(content);
    BaselineStore::promote(entry);
    return printed(fmt::format("the anchor of '{}' is now the baseline of {}\n", name_,
                               entry.rolling.setup.date));
  }
};

class BaselineRmCommand final : public StoredCommand {
  void declare(Options& options) override {
    options.describe("Remove a baseline and its anchor.",
                     "Examples:\n"
                     "  taskbench baseline rm nightly\n"
                     "  taskbench baseline rm nightly --all-keys\n\n"
                     "Exit status: 0, or 2 for a usage or input error.");
    declare_name(options);
    declare_store(options);
    auto* key = declare_key(options);
    options.flag("--all-keys", all_keys_, "Those of every machine and build.")->excludes(key);
  }

  ExitCode execute(const Invocation&) override {
    require_name("rm");
    const StoreContent content = read();
    std::vector<const StoreEntry*> removed;
    for (const StoreEntry& entry : content.entries) {
      if (all_keys_ && entry.rolling.setup.name == name_) removed.push_back(&entry);
    }
    if (all_keys_ && removed.empty()) throw UsageError(unknown_baseline(name_, content));
    if (!all_keys_) removed.push_back(&chosen(content));
    std::string text;
    for (const StoreEntry* entry : removed) {
      BaselineStore::remove(*entry);
      text +=
          fmt::format("removed '{}' of {}\n", name_, model::baseline_key(entry->rolling.setup.key));
    }
    return printed(text);
  }

  bool all_keys_ = false;
};

}  // namespace

std::unique_ptr<Command> baseline_list_command() { return std::make_unique<BaselineListCommand>(); }
std::unique_ptr<Command> baseline_show_command() { return std::make_unique<BaselineShowCommand>(); }
std::unique_ptr<Command> baseline_promote_command() {
  return std::make_unique<BaselinePromoteCommand>();
}
std::unique_ptr<Command> baseline_rm_command() { return std::make_unique<BaselineRmCommand>(); }

}  // namespace taskbench::cli
