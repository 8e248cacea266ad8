#include "cli/command_line.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>

#include "cli/commands/command.hpp"
#include "cli/options/benchmark_flags.hpp"
#include "cli/options/completion.hpp"
#include "cli/options/help_format.hpp"
#include "cli/options/near_miss.hpp"
#include "cli/options/values.hpp"
#include "cli/output/streams.hpp"
#include "cli/output/terminal.hpp"
#include "reports/files/line_file.hpp"
#include "workloads/machine/environment.hpp"

namespace taskbench::cli {
namespace {

constexpr std::string_view kProgram = "taskbench";

constexpr std::string_view kGeneralDescription =
    "Measures task schedulers.\n\n"
    "Runs chained_spawn, ping_pong, spawn_many, yield_many and other workloads on a work-stealing "
    "scheduler, and prints and stores what they cost.";

constexpr std::string_view kFooter =
    "Examples:\n"
    "  taskbench run\n"
    "  taskbench run ping_pong --workers 1,2 --json result.json\n"
    "  taskbench list parameters\n"
    "\n"
    "`taskbench help COMMAND` explains a command; taskbench(1) is the manual page.";

constexpr std::string_view kNoMemory =
    "there is not enough memory for what was asked for; ask for less (fewer cases, repetitions, "
    "events or files), or permit the process more (ulimit -v, the container's limit)";

std::string version_text(const std::string& executable) {
  const auto build = measure::probe_environment(executable);
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
    root_.formatter(std::make_shared<HelpFormat>(columns(STDOUT_FILENO, kHelpWidth)));
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
      Options options(*app, values_);
      command->declare(options);
      commands_.push_back({app, std::move(command)});
    }
  }

  [[nodiscard]] ExitCode run() {
    if (words_.size() > 1 && words_[1] == kCompleteWord) {
      const std::string text = candidates(root_, values_, std::span(words_).subspan(2));
      return print_result(text) ? ExitCode::pass : ExitCode::usage;
    }
    try {
      parse();
    } catch (const CLI::CallForHelp&) {
      return print_result(root_.help()) ? ExitCode::pass : ExitCode::usage;
    } catch (const CLI::CallForVersion& version) {
      return print_result(version.what()) ? ExitCode::pass : ExitCode::usage;
    } catch (const CLI::ExtrasError&) {
      return refuse(explain_extras());
    } catch (const CLI::ArgumentMismatch& error) {
      // The values of options that are not known count as arguments, and those are then too many.
      Strings problems = explain_unknown_options();
      if (problems.empty()) problems.push_back(explain_mismatch(error.what()));
      return refuse(problems);
    } catch (const CLI::ParseError& error) {
      return refuse(explain(error.what()));
    } catch (const UsageError&) {
      // Values are parsed before the parser looks for --help, and for options that it does not
      // know.
      if (active().get_help_ptr()->count() > 0) {
        return print_result(root_.help()) ? ExitCode::pass : ExitCode::usage;
      }
      const Strings problems = explain_unknown_options();
      if (problems.empty()) throw;
      return refuse(problems);
    }
    if (has_commands(active())) return refuse_without_command();
    for (const auto& [app, command] : commands_) {
      if (app->parsed()) return command->execute({words_, root_});
    }
    return ExitCode::usage;  // not reached: a command was parsed, or active() is the root
  }

 private:
  struct DeclaredCommand {
    CLI::App* app;
    std::unique_ptr<Command> command;
  };

  void parse() {
    // CLI11 takes the words from the back, and without the program's name.
    const Strings words = without_benchmark_flags(words_);
    Strings reversed(words.rbegin(), words.rend() - 1);
    root_.parse(std::move(reversed));
  }

  [[nodiscard]] const CLI::App& active() const {
    const CLI::App* app = &root_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    return *app;
  }

  static bool has_commands(const CLI::App& app) { return !commands_of(app).empty(); }

  /// A sentence for each option that the command does not have.
  [[nodiscard]] Strings explain_unknown_options() const {
    Strings names;
    for (const CLI::Option* option : active().get_options()) {
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    Strings problems;
    for (const std::string& word : root_.remaining(true)) {
      if (word.size() < 2 || !word.starts_with('-')) continue;
      // None of those that are near: refuse() says where all are listed.
      const std::string name = word.substr(0, word.find('='));
      const auto near = nearest(name, views);
      std::string problem = fmt::format("unknown option '{}'", shortened(name));
      if (near) problem += fmt::format("; did you mean '{}'?", *near);
      if (std::ranges::find(problems, problem) == problems.end()) problems.push_back(problem);
    }
    return problems;
  }

  [[nodiscard]] Strings explain_extras() const {
    Strings problems = explain_unknown_options();
    if (!problems.empty()) return problems;
    const std::string word = root_.remaining(true).front();
    Strings names;
    for (const CLI::App* sub : commands_of(active())) names.push_back(sub->get_name());
    if (names.empty()) return {fmt::format("unexpected argument '{}'", shortened(word))};
    const std::vector<std::string_view> views(names.begin(), names.end());
    return {unknown_name("command", word, views)};
  }

  // CLI11 says "--quiet excludes --format", and "--allow-busy requires --baseline".
  [[nodiscard]] Strings explain(std::string message) const {
    Strings problems = explain_unknown_options();
    if (!problems.empty()) return problems;
    constexpr std::string_view kExcludes = " excludes ";
    if (const auto at = message.find(kExcludes); at != std::string::npos) {
      message.replace(at, kExcludes.size(), " and ").append(" exclude each other");
    }
    return {message};
  }

  // CLI11 says "--json: 1 required FILE missing".
  [[nodiscard]] std::string explain_mismatch(const std::string& message) const {
    const std::string name = message.substr(0, message.find(':'));
    const CLI::Option* option = active().get_option_no_throw(name);
    if (option == nullptr) return message;
    if (option->get_positional()) return fmt::format("give one {} only", name);
    return fmt::format("{0} needs a value: {0} {1}", name, option->get_type_name());
  }

  [[nodiscard]] std::string path_of_active() const {
    std::string path;
    for (const CLI::App* app = &active(); app != &root_; app = app->get_parent()) {
      path = " " + app->get_name() + path;
    }
    return fmt::format("{}{}", kProgram, path);
  }

  [[nodiscard]] ExitCode refuse(const Strings& problems) const {
    for (const std::string& problem : problems) print_error(problem);
    print_note(fmt::format("`{} --help` shows what there is", path_of_active()));
    return ExitCode::usage;
  }

  [[nodiscard]] ExitCode refuse_without_command() const {
    print_error(fmt::format("name a command: `{} COMMAND`", path_of_active()));
    const std::string list = command_list(active(), columns(STDERR_FILENO, kHelpWidth));
    std::fwrite(list.data(), 1, list.size(), stderr);
    return refuse({});
  }

  Strings words_;
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
  } catch (const files::JournalError& error) {
    print_error(error.what());
    return ExitCode::usage;
  } catch (const std::bad_alloc&) {
    print_error(kNoMemory);
    return ExitCode::usage;
  } catch (const std::length_error&) {  // of a container that would be larger than any memory
    print_error(kNoMemory);
    return ExitCode::usage;
  } catch (const fs::filesystem_error& error) {
    print_error(fmt::format("'{}': {}", error.path1().string(), error.code().message()));
    return ExitCode::usage;
  } catch (const std::exception& error) {
    print_error(fmt::format("internal error: {}", error.what()));
    return ExitCode::usage;
  }
}

}  // namespace taskbench::cli
