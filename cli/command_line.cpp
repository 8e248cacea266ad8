#include "cli/command_line.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/help_format.hpp"
#include "cli/near_miss.hpp"
#include "cli/streams.hpp"
#include "cli/usage_error.hpp"
#include "workloads/measure/environment.hpp"

namespace taskbench::cli {
namespace {

constexpr std::string_view kProgram = "taskbench";

constexpr std::string_view kGeneralDescription =
    "Measures task schedulers: runs chained_spawn, ping_pong, spawn_many, spawn_local and "
    "yield_many\n"
    "on a work-stealing scheduler, and prints and stores what they cost.";

constexpr std::string_view kFooter =
    "Examples:\n"
    "  taskbench run\n"
    "  taskbench run ping_pong --workers 1,2 --json result.json\n"
    "  taskbench list parameters\n"
    "\n"
    "`taskbench COMMAND --help` explains a command; taskbench(1) is the manual page.";

std::string version_text(const std::string& executable) {
  const auto build = workloads::measure::probe_environment(executable);
  const auto known = [](const std::string& text) -> std::string_view {
    return text.empty() ? std::string_view("unknown") : std::string_view(text);
  };
  return fmt::format("taskbench {}\ngit commit: {}\ncompiler: {}\nbuild type: {}\n",
                     known(build.taskbench_version), known(build.git_commit), known(build.compiler),
                     known(build.build_type));
}

class CommandLine {
 public:
  CommandLine(int argc, const char* const* argv)
      : words_(argv, argv + argc), root_(std::string(kGeneralDescription), std::string(kProgram)) {
    if (words_.empty()) words_.emplace_back(kProgram);  // execve() allows an empty argv
    root_.formatter(std::make_shared<HelpFormat>());
    root_.footer(std::string(kFooter));
    root_.set_help_flag("-h,--help", "Print this help.");
    root_.set_version_flag(
        "--version", [this] { return version_text(words_.front()); },
        "Print version, git commit, compiler and build type.");
    root_.require_subcommand(0, 1);
    for (const CommandEntry& entry : all_commands()) {
      auto* app = root_.add_subcommand(std::string(entry.name));
      app->group("Commands");
      auto command = entry.make();
      command->declare(*app, values_);
      commands_.push_back({app, std::move(command)});
    }
  }

  [[nodiscard]] ExitCode run() {
    try {
      parse();
    } catch (const CLI::CallForHelp&) {
      return print_result(root_.help()) ? ExitCode::pass : ExitCode::usage;
    } catch (const CLI::CallForVersion& version) {
      return print_result(version.what()) ? ExitCode::pass : ExitCode::usage;
    } catch (const CLI::ExtrasError&) {
      return refuse(explain_extra());
    } catch (const CLI::ArgumentMismatch& error) {
      return refuse(explain_mismatch(error.what()));
    } catch (const CLI::ParseError& error) {
      return refuse(error.what());
    }
    for (const auto& [app, command] : commands_) {
      if (app->parsed()) return command->execute({words_, root_, values_});
    }
    return refuse("name a command: run, list or completion");
  }

 private:
  struct DeclaredCommand {
    CLI::App* app;
    std::unique_ptr<Command> command;
  };

  void parse() {
    // CLI11 takes the words from the back, and without the program's name.
    std::vector<std::string> reversed(words_.rbegin(), words_.rend() - 1);
    root_.parse(std::move(reversed));
  }

  [[nodiscard]] const CLI::App& active() const {
    const CLI::App* app = &root_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    return *app;
  }

  [[nodiscard]] std::string explain_extra() const {
    const CLI::App& app = active();
    const std::string word = root_.remaining(true).front();
    if (word.size() > 1 && word.starts_with('-')) {
      std::vector<std::string> names;
      for (const CLI::Option* option : app.get_options()) {
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
      }
      const std::vector<std::string_view> views(names.begin(), names.end());
      return unknown_name("option", word.substr(0, word.find('=')), views);
    }
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(sub->get_name());
    }
    if (names.empty()) return fmt::format("unexpected argument '{}'", word);
    const std::vector<std::string_view> views(names.begin(), names.end());
    return unknown_name("command", word, views);
  }

  // CLI11 says "--json: 1 required FILE missing".
  [[nodiscard]] std::string explain_mismatch(const std::string& message) const {
    const std::string name = message.substr(0, message.find(':'));
    const CLI::Option* option = active().get_option_no_throw(name);
    if (option == nullptr) return message;
    if (option->get_positional()) return fmt::format("give one {} only", name);
    return fmt::format("{0} needs a value: {0} {1}", name, option->get_type_name());
  }

  [[nodiscard]] ExitCode refuse(const std::string& problem) const {
    print_error(problem);
    std::string command;
    for (const CLI::App* app = &active(); app != &root_; app = app->get_parent()) {
      command = " " + app->get_name() + command;
    }
    print_note(fmt::format("`{}{} --help` shows what there is", kProgram, command));
    return ExitCode::usage;
  }

  std::vector<std::string> words_;
  CLI::App root_;
  OptionValueTable values_;
  std::vector<DeclaredCommand> commands_;
};

}  // namespace

ExitCode run_command_line(int argc, const char* const* argv) noexcept {
  try {
    return CommandLine(argc, argv).run();
  } catch (const UsageError& error) {
    print_error(error.what());
    return ExitCode::usage;
  } catch (const std::exception& error) {
    print_error(fmt::format("internal error: {}", error.what()));
    return ExitCode::usage;
  }
}

}  // namespace taskbench::cli
