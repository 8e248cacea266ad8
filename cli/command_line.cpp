#include "cli/command_line.hpp"

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <new>

#include <CLI/CLI.hpp>

#include "cli/commands/command.hpp"
#include "cli/options/benchmark_flags.hpp"
#include "cli/options/completion.hpp"
#include "cli/options/help_format.hpp"
#include "cli/output/output.hpp"
#include "harness/files/line_file.hpp"
#include "harness/files/near_miss.hpp"
#include "harness/machine/environment.hpp"
#include "reports/json/parse.hpp"
#include "workloads/base/workload.hpp"

namespace taskbench::cli {
namespace {

constexpr const char* kProgram = "taskbench";

constexpr const char* kGeneralDescription =
    "Measures task schedulers.\n\n"
    "Runs chained_spawn, ping_pong, spawn_many, yield_many and other workloads on a work-stealing "
    "scheduler, and prints and stores what they cost.";

constexpr const char* kFooter =
    "Examples:\n"
    "  taskbench run\n"
    "  taskbench run ping_pong --workers 1,2 --json result.json\n"
    "  taskbench list parameters\n"
    "\n"
    "`taskbench help COMMAND` explains a command; taskbench(1) is the manual page.";

constexpr std::string_view kNoMemory =
    "there is not enough memory for what was asked for; ask for less (fewer cases, repetitions, "
    "events or files), or allow the process more (ulimit -v, the container's limit)";

std::string version_text(const std::string& executable) {
  const auto build = probe_environment(executable, workloads::kWorkloadsVersion);
  const auto known = [](const std::string& text) {
    return text.empty() ? std::string("unknown") : text;
  };
  return fmt::format("taskbench {}\ngit commit: {}\ncompiler: {}\nbuild type: {}\n",
                     known(build.taskbench_version), known(build.git_commit), known(build.compiler),
                     known(build.build_type));
}

class CommandLine {
 public:
  CommandLine(int argc, const char* const* argv)
      : words_(argv, argv + argc), root_(kGeneralDescription, kProgram) {
    if (words_.empty()) words_.emplace_back(kProgram);  // execve() allows an empty argv
    root_.formatter(std::make_shared<HelpFormat>(columns(STDOUT_FILENO, kHelpWidth)));
    root_.footer(kFooter);
    root_.set_help_flag("-h,--help", "Print this help.");
    root_.set_version_flag(
        "--version", [this] { return version_text(words_.front()); },
        "Print version, git commit, compiler and build type.");
    declare(root_, all_commands());
  }

  [[nodiscard]] ExitCode run() {
    if (words_.size() > 1 && words_[1] == kCompleteWord) {
      return printed(candidates(root_, declared_, std::span(words_).subspan(2)));
    }
    try {
      // CLI11 takes the words in reverse order, without the program's name.
      const Strings words = without_benchmark_flags(words_);
      root_.parse(Strings(words.rbegin(), words.rend() - 1));
    } catch (const CLI::CallForHelp&) {
      return printed(root_.help());
    } catch (const CLI::CallForVersion& version) {
      return printed(version.what());
    } catch (const CLI::ParseError& error) {
      Strings problems = unknown_options();
      if (problems.empty()) problems.push_back(explain(error));
      return refuse(problems);
    } catch (const UsageError&) {
      // The parser looks for --help, and for unknown options, only after it has parsed values.
      if (active().get_help_ptr()->count() > 0) return printed(root_.help());
      const Strings problems = unknown_options();
      if (problems.empty()) throw;
      return refuse(problems);
    }
    const CLI::App& app = active();
    if (!commands_of(app).empty()) return refuse_without_command();
    return commands_.at(&app)->execute({words_, root_, app});
  }

 private:
  void declare(CLI::App& parent, std::span<const CommandEntry> entries) {
    parent.require_subcommand(0, 1);
    for (const CommandEntry& entry : entries) {
      CLI::App* app = parent.add_subcommand(std::string(entry.name))->group("Commands");
      Options options(*app, declared_);
      commands_[app] = entry.make();
      commands_[app]->declare(options);
      if (!entry.commands.empty()) declare(*app, entry.commands);
    }
  }

  [[nodiscard]] const CLI::App& active() const {
    const CLI::App* app = &root_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    return *app;
  }

  /// A sentence for each option that the command does not have. The values of such options are
  /// counted as arguments, of which there are then too many: so these sentences come first.
  [[nodiscard]] Strings unknown_options() const {
    Strings names;
    for (const CLI::Option* option : active().get_options()) {
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    }
    Strings problems;
    for (const std::string& word : root_.remaining(true)) {
      if (word.size() < 2 || !word.starts_with('-')) continue;
      // If no name is near, refuse() says where the options are listed.
      const std::string name = word.substr(0, word.find('='));
      std::string problem = fmt::format("unknown option '{}'", shortened(name));
      if (contains(names, name)) {  // it stands before the command, or after "--"
        problem = fmt::format("'{}' is an option of `{}`: write it directly after that", name,
                              path_of_active());
      } else if (const auto near = nearest(name, names)) {
        problem += fmt::format("; did you mean '{}'?", *near);
      }
      if (!contains(problems, problem)) problems.push_back(problem);
    }
    return problems;
  }

  [[nodiscard]] std::string explain(const CLI::ParseError& error) const {
    std::string message = error.what();
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
      const std::string word = root_.remaining(true).front();
      const Strings names = command_names(active());
      return names.empty() ? fmt::format("unexpected argument '{}'", shortened(word))
                           : unknown_name("command", word, names);
    }
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
      // CLI11 says "--json: 1 required FILE missing".
      const std::string name = message.substr(0, message.find(':'));
      const CLI::Option* option = active().get_option_no_throw(name);
      if (option == nullptr) return message;
      if (option->get_positional()) return fmt::format("give one {} only", name);
      return fmt::format("{0} needs a value: {0} {1}", name, option->get_type_name());
    }
    // CLI11 says "--quiet excludes --format", and "--allow-busy requires --baseline".
    constexpr std::string_view kExcludes = " excludes ";
    if (const auto at = message.find(kExcludes); at != std::string::npos) {
      message.replace(at, kExcludes.size(), " and ").append(" exclude each other");
    }
    return message;
  }

  [[nodiscard]] std::string path_of_active() const {
    std::string path;
    for (const CLI::App* app = &active(); app != &root_; app = app->get_parent()) {
      path = " " + app->get_name() + path;
    }
    return kProgram + path;
  }

  [[nodiscard]] ExitCode refuse(const Strings& problems) const {
    for (const std::string& problem : problems) print_error(problem);
    print_note("`{} --help` lists what there is", path_of_active());
    return ExitCode::usage;
  }

  [[nodiscard]] ExitCode refuse_without_command() const {
    print_error("name a command: `{} COMMAND`", path_of_active());
    const std::string list = command_list(active(), columns(STDERR_FILENO, kHelpWidth));
    std::fwrite(list.data(), 1, list.size(), stderr);
    return refuse({});
  }

  Strings words_;
  CLI::App root_;
  DeclaredOptions declared_;
  std::map<const CLI::App*, std::unique_ptr<Command>> commands_;
};

}  // namespace

ExitCode run_command_line(int argc, const char* const* argv) noexcept {
  try {
    return CommandLine(argc, argv).run();
  } catch (const UsageError& error) {
    print_error(error.what());
  } catch (const json::JournalError& error) {
    print_error(error.what());
  } catch (const std::bad_alloc&) {
    print_error(kNoMemory);
  } catch (const std::length_error&) {  // a container too large for any memory
    print_error(kNoMemory);
  } catch (const fs::filesystem_error& error) {
    print_error("'{}': {}", error.path1().string(), error.code().message());
  } catch (const std::exception& error) {
    print_error("internal error: {}", error.what());
  }
  return ExitCode::usage;
}

}  // namespace taskbench::cli
