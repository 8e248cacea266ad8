#include "harness/trials/program.hpp"

#include <unistd.h>

#include <cerrno>
#include <set>

#include "harness/os/process.hpp"
#include "harness/os/system_file.hpp"
#include "reports/model/fingerprint.hpp"

namespace taskbench::harness {
namespace {

// Limits for questions. A program that knows neither may begin to measure in answer, so they are
// short.
constexpr double kVersionTimeout_s = 10;
constexpr double kLddTimeout_s = 60;
constexpr double kListTimeout_s = 60;

constexpr const char* kListing = "--benchmark_list_tests=true";

// What taskbench answers when it is asked for its version and for a list at once.
constexpr std::string_view kRefusal = "taskbench: error: ";

std::string escaped(const std::string& name) {
  constexpr std::string_view kSpecial = R"(\^$.|?*+()[]{})";
  std::string result;
  for (const char each : name) {
    if (kSpecial.find(each) != std::string_view::npos) result += '\\';
    result += each;
  }
  return result;
}

/// An expression that matches only the requested names; empty for all.
std::string filter_for(const SampleRequest& request) {
  const bool exactly = !request.benchmarks.empty();
  const Strings alternatives = each_of(exactly ? request.benchmarks : request.families, escaped);
  if (alternatives.empty()) return {};
  return fmt::format("^({}){}", fmt::join(alternatives, "|"), exactly ? "$" : "(/|$)");
}

/// Why a program could not be started, if the system's own message would mislead.
std::string why_not_started(const std::string& name, const ProcessOutcome& outcome) {
  std::error_code failed;
  if (name.find('/') == std::string::npos) {
    if (outcome.code != ENOENT) return outcome.text();
    const bool is_here = fs::exists(name, failed);
    return is_here ? fmt::format("is not in PATH; write './{}' for the one in this folder", name)
                   : "is not a program in PATH; give the path of its file";
  }
  if (fs::is_directory(name, failed)) return "is a directory; name the program in it";
  return outcome.text();
}

/// Runs a command in a folder. The path of its program is one from here; a name that is looked up
/// in PATH stays as it is.
ProcessOutcome run_in(const fs::path& folder, ProcessRequest request, const std::stop_token& stop) {
  std::string& name = request.command.front();
  if (!folder.empty() && name.find('/') != std::string::npos) name = fs::absolute(name).string();
  request.folder = folder.string();
  return run_process(request, stop);
}

Strings with(Strings words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
  return words;
}

/// The libraries that the loader loads with an executable, if ldd can say.
std::set<fs::path> libraries_of(const fs::path& executable) {
  const std::stop_token never;
  std::set<fs::path> result;
  for (const std::string& word : words_of_ldd(executable, {}, never)) {
    if (word.starts_with('/')) result.emplace(word);
  }
  return result;
}

/// Shared objects in the executable's folder or below, which it may load, too. Empty if there are
/// so many files that the folder is not its own.
std::set<fs::path> plug_ins_beside(const fs::path& executable) {
  constexpr int kMostFiles = 2000;
  std::set<fs::path> result;
  std::error_code failed;
  int files = 0;
  auto each = fs::recursive_directory_iterator(executable.parent_path(), failed);
  for (; !failed && each != fs::end(each); each.increment(failed)) {
    if (++files > kMostFiles) return {};
    const std::string name = each->path().filename().string();
    const bool is_library = name.ends_with(".so") || name.find(".so.") != std::string::npos;
    if (is_library && each->is_regular_file(failed)) result.insert(each->path());
  }
  return result;
}

}  // namespace

Strings split_command(std::string_view text) {
  Strings words;
  std::optional<std::string> word;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char each = text[i];
    if (quote != 0 && each == quote) {
      quote = 0;
    } else if (quote == 0 && (each == '\'' || each == '"')) {
      quote = each;
      if (!word) word.emplace();
    } else if (each == '\\' && quote != '\'' && i + 1 < text.size()) {
      if (!word) word.emplace();
      *word += text[++i];
    } else if (quote == 0 && (each == ' ' || each == '\t' || each == '\n')) {
      if (word) words.push_back(std::move(*word));
      word.reset();
    } else {
      if (!word) word.emplace();
      *word += each;
    }
  }
  if (quote != 0) throw std::invalid_argument(fmt::format("the quote {} is not closed", quote));
  if (word) words.push_back(std::move(*word));
  if (words.empty()) throw std::invalid_argument("the command is empty");
  return words;
}

Program Program::find_out(Strings command, const std::stop_token& stop, const Asking& asking) {
  const auto start = Clock::now();
  const auto waiting = [&](double) {
    if (asking.waiting) asking.waiting(seconds_since(start));
  };
  const auto ask = [&](Strings words, double timeout_s) {
    return run_in(asking.folder,
                  {.command = std::move(words),
                   .timeout_s = limit_s(std::min(timeout_s, asking.timeout_s), asking.deadline),
                   .waiting = waiting},
                  stop);
  };
  // Beside --benchmark_list_tests, so that a benchmark that overlooks words it does not know lists
  // its names, and does not run them all.
  const ProcessOutcome version = ask({command.front(), "--version", kListing}, kVersionTimeout_s);
  if (version.end == ProcessOutcome::End::not_started) {
    throw NotMeasurable(
        fmt::format("'{}' {}", command.front(), why_not_started(command.front(), version)));
  }
  const bool is_ours =
      version.output.starts_with("taskbench ") || version.errors.starts_with(kRefusal);
  if (is_ours && command.size() > 1 && command[1] == "run") command.erase(command.begin() + 1);
  Strings to_list = command;
  if (is_ours) to_list.insert(to_list.begin() + 1, "run");
  const ProcessOutcome list = ask(with(std::move(to_list), {kListing}), kListTimeout_s);
  Strings names;
  if (list.ok()) {
    const std::vector<std::string_view> lines = lines_of(list.output);
    names.assign(lines.begin(), lines.end());
  }
  if (is_ours) return {Kind::taskbench, std::move(command), asking.folder, std::move(names)};
  if (!names.empty()) {
    return {Kind::google_benchmark, std::move(command), asking.folder, std::move(names)};
  }
  const std::string text = joined(command, " ");
  const std::string why = why_no_benchmark(command);
  if (list.ok()) throw NotMeasurable(fmt::format("'{}' lists no benchmarks; {}", text, why));
  const std::string asked = fmt::format("{} for what it measures", kListing);
  if (list.end == ProcessOutcome::End::timed_out) {
    throw ProgramError(fmt::format("'{}', asked with {}, {}; {}", text, asked, list.text(), why));
  }
  if (list.end != ProcessOutcome::End::exited) {
    throw ProgramError(fmt::format("'{}', asked with {}, {}", text, asked, list.text()));
  }
  throw NotMeasurable(
      fmt::format(
          "'{}' is neither taskbench nor a Google Benchmark program: asked with {}, it {}; {}",
          text, asked, list.text(), why),
      true);
}

Program Program::in(const fs::path& executable) const {
  Program other = *this;
  other.command_.front() = executable.string();
  return other;
}

bool Program::lists_by_filter(const std::stop_token& stop) const {
  if (kind_ == Kind::taskbench) return true;
  const ProcessOutcome none = run_in(
      folder_,
      {.command = with(command_, {kListing, "--benchmark_filter=^$"}), .timeout_s = kListTimeout_s},
      stop);
  const std::vector<std::string_view> names = lines_of(none.output);
  const auto is_listed = [&](std::string_view name) { return contains(listed_, name); };
  return none.end == ProcessOutcome::End::exited && names.size() < listed_.size() &&
         std::ranges::all_of(names, is_listed);  // what a main of its own prints besides
}

fs::path called_path(const Strings& command) {
  const auto found = [](const fs::path& path) {
    std::error_code failed;
    const auto folder = fs::canonical(path.has_parent_path() ? path.parent_path() : ".", failed);
    return failed ? fs::path() : folder / path.filename();
  };
  const std::string& name = command.front();
  if (name.find('/') != std::string::npos) return found(name);
  const std::string path = environment_value("PATH");
  for (const std::string_view folder : parts_of(path, ':')) {
    const auto candidate = fs::path(folder) / name;
    if (!path.empty() && ::access(candidate.c_str(), X_OK) == 0) return found(candidate);
  }
  return {};
}

fs::path executable_of(const Strings& command) {
  std::error_code failed;
  return fs::canonical(called_path(command), failed);
}

std::string shell_word(const std::string& word) {
  if (word.find_first_of(" \t\n'\"\\$`*?&|;<>(){}[]~#!") == std::string::npos && !word.empty())
    return word;
  std::string result = "'";
  for (const char each : word) result += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return result + "'";
}

std::string command_of(const Strings& words) { return joined(each_of(words, shell_word), " "); }

std::string digest_of(std::string_view bytes) {
  return fmt::format("{:016x}", model::fingerprint(bytes));
}

std::string why_no_benchmark(const Strings& command) {
  const std::string line = first_line(executable_of(command));
  if (line.starts_with("#!")) {
    return "it is a script, which has to hand its arguments on to a benchmark: exec "
           "path/to/benchmark \"$@\"";
  }
  return "what can be measured is taskbench, a program that uses Google Benchmark (its main is "
         "BENCHMARK_MAIN()), or a script that hands its arguments on to one of them";
}

Strings words_of_ldd(const fs::path& executable, const fs::path& folder,
                     const std::stop_token& stop) {
  const ProcessOutcome outcome = run_process({.command = {"ldd", executable.string()},
                                              .environment = {"LC_ALL=C"},
                                              .timeout_s = kLddTimeout_s,
                                              .folder = folder.string()},
                                             stop);
  // Of a program without libraries it says so, and exits with 1. Else a failure would look like
  // another program.
  const bool has_answered =
      outcome.end == ProcessOutcome::End::exited || outcome.end == ProcessOutcome::End::not_started;
  if (!has_answered && !stop.stop_requested()) {
    throw ProgramError(fmt::format("ldd, which names the libraries of '{}', {}",
                                   executable.string(), outcome.text()));
  }
  if (!outcome.ok()) return {};
  const auto words = words_of(outcome.output);
  return {words.begin(), words.end()};
}

std::string digest_of_program(const Strings& command) {
  const fs::path executable = executable_of(command);
  const auto content = content_of(executable);
  if (!content) return {};
  std::string digest = digest_of(*content);
  if (!content->starts_with(kElf)) return digest;
  std::set<fs::path> loaded = plug_ins_beside(executable);
  loaded.merge(libraries_of(executable));
  for (const auto& file : loaded) digest += digest_of(content_of(file).value_or(""));
  return loaded.empty() ? digest : digest_of(digest);
}

Strings Program::arguments(const SampleRequest& request, const fs::path& json) const {
  const std::string filter = filter_for(request);
  if (kind_ == Kind::google_benchmark) {
    auto words =
        with(command_, {fmt::format("--benchmark_out={}", json.string()),
                        "--benchmark_out_format=json", "--benchmark_report_aggregates_only=false",
                        "--benchmark_display_aggregates_only=true",
                        "--benchmark_enable_random_interleaving=true",
                        fmt::format("--benchmark_repetitions={}", request.repetitions),
                        fmt::format("--benchmark_min_time={}", request.min_time_s)});
    if (!filter.empty()) words.push_back(fmt::format("--benchmark_filter={}", filter));
    return words;
  }
  Strings words{command_.front(), "run"};
  words.insert(words.end(), command_.begin() + 1, command_.end());
  words =
      with(std::move(words), {"--repetitions", std::to_string(request.repetitions), "--min-time",
                              fmt::format("{}s", request.min_time_s), "--seed",
                              std::to_string(request.seed), "--json", json.string(), "--quiet"});
  if (!filter.empty()) words = with(std::move(words), {"--filter", filter});
  for (const auto& [name, count] : request.iterations) {
    words = with(std::move(words), {"--iterations", fmt::format("{}={}", name, count)});
  }
  return words;
}

std::optional<double> Program::measure(const SampleRequest& request, const fs::path& json,
                                       const std::stop_token& stop) const {
  const ProcessOutcome outcome =
      run_in(folder_,
             {.command = arguments(request, json),
              .environment = {"TASKBENCH_PADDING=" + std::string(request.padding_bytes, 'x')},
              .timeout_s = request.timeout_s,
              .waiting = request.waiting},
             stop);
  if (!outcome.ok()) {
    throw ProgramError(fmt::format("'{}' {}", joined(command_, " "), outcome.text()));
  }
  return outcome.queued_s;
}

}  // namespace taskbench::harness
