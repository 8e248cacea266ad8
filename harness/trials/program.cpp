#include "harness/trials/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>

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

std::string escaped(std::string_view name) {
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
  std::vector<std::string> alternatives;
  for (const std::string& name : exactly ? request.benchmarks : request.families) {
    alternatives.push_back(escaped(name));
  }
  if (alternatives.empty()) return {};
  return fmt::format("^({}){}", fmt::join(alternatives, "|"), exactly ? "$" : "(/|$)");
}

/// Why a program could not be started, if the system's own message would mislead.
std::string why_not_started(const std::string& name, const ProcessOutcome& outcome) {
  std::error_code failed;
  if (name.find('/') == std::string::npos) {
    if (outcome.code != ENOENT) return outcome.text();
    const bool is_here = std::filesystem::exists(name, failed);
    return is_here ? fmt::format("is not in PATH; write './{}' for the one in this folder", name)
                   : "is not a program in PATH; give the path of its file";
  }
  if (std::filesystem::is_directory(name, failed)) return "is a directory; name the program in it";
  return outcome.text();
}

/// Makes a path absolute, so that it means the same in another folder. A name that is looked up in
/// PATH stays as it is.
std::vector<std::string> from_here(std::vector<std::string> command,
                                   const std::filesystem::path& folder) {
  std::string& name = command.front();
  if (!folder.empty() && name.find('/') != std::string::npos) {
    name = std::filesystem::absolute(name).string();
  }
  return command;
}

std::vector<std::string> with(std::vector<std::string> words,
                              std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
  return words;
}

/// The libraries that the loader loads with an executable, if ldd can say.
std::set<std::filesystem::path> libraries_of(const std::filesystem::path& executable) {
  const std::stop_token never;
  std::set<std::filesystem::path> result;
  for (const std::string& word : words_of_ldd(executable, {}, never)) {
    if (word.starts_with('/')) result.emplace(word);
  }
  return result;
}

/// Shared objects in the executable's folder or below, which it may load, too. Empty if there are
/// so many files that the folder is not its own.
std::set<std::filesystem::path> plug_ins_beside(const std::filesystem::path& executable) {
  constexpr int kMostFiles = 2000;
  std::set<std::filesystem::path> result;
  std::error_code failed;
  int files = 0;
  auto each = std::filesystem::recursive_directory_iterator(executable.parent_path(), failed);
  for (; !failed && each != std::filesystem::end(each); each.increment(failed)) {
    if (++files > kMostFiles) return {};
    const std::string name = each->path().filename().string();
    const bool is_library = name.ends_with(".so") || name.find(".so.") != std::string::npos;
    if (is_library && each->is_regular_file(failed)) result.insert(each->path());
  }
  return result;
}

}  // namespace

std::vector<std::string> split_command(std::string_view text) {
  std::vector<std::string> words;
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

Program Program::find_out(std::vector<std::string> command, const std::stop_token& stop,
                          const Asking& asking) {
  const auto start = std::chrono::steady_clock::now();
  const auto ask = [&](std::vector<std::string> words, double timeout_s) {
    return run_process({.command = from_here(std::move(words), asking.folder),
                        .environment = {},
                        .timeout_s = std::min(timeout_s, asking.timeout_s),
                        .waiting =
                            [&](double) {
                              const std::chrono::duration<double> so_far =
                                  std::chrono::steady_clock::now() - start;
                              if (asking.waiting) asking.waiting(so_far.count());
                            },
                        .folder = asking.folder.string()},
                       stop);
  };
  // Beside --benchmark_list_tests, so that a benchmark that overlooks words it does not know lists
  // its names, and does not run them all.
  const ProcessOutcome version = ask({command.front(), "--version", kListing}, kVersionTimeout_s);
  if (version.end == ProcessOutcome::End::not_started) {
    throw NotMeasurable(
        fmt::format("'{}' {}", command.front(), why_not_started(command.front(), version)));
  }
  if (version.output.starts_with("taskbench ") || version.errors.starts_with(kRefusal)) {
    return {Kind::taskbench, std::move(command), asking.folder, {}};
  }
  const ProcessOutcome list = ask(with(command, {kListing}), kListTimeout_s);
  if (list.ok() && !list.output.empty()) {
    const std::vector<std::string_view> names = lines_of(list.output);
    return {
        Kind::google_benchmark, std::move(command), asking.folder, {names.begin(), names.end()}};
  }
  const std::string text = fmt::format("{}", fmt::join(command, " "));
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

Program Program::in(const std::filesystem::path& executable) const {
  Program other = *this;
  other.command_.front() = executable.string();
  return other;
}

bool Program::lists_by_filter(const std::stop_token& stop) const {
  if (kind_ == Kind::taskbench) return true;
  const ProcessOutcome none = run_process(
      {.command = from_here(with(command_, {kListing, "--benchmark_filter=^$"}), folder_),
       .environment = {},
       .timeout_s = kListTimeout_s,
       .folder = folder_.string()},
      stop);
  const std::vector<std::string_view> names = lines_of(none.output);
  const auto is_listed = [&](std::string_view name) {
    return std::ranges::find(listed_, name) != listed_.end();
  };
  return none.end == ProcessOutcome::End::exited && names.size() < listed_.size() &&
         std::ranges::all_of(names, is_listed);  // what a main of its own prints besides
}

std::filesystem::path called_path(const std::vector<std::string>& command) {
  const auto found = [](const std::filesystem::path& path) {
    std::error_code failed;
    const auto folder =
        std::filesystem::canonical(path.has_parent_path() ? path.parent_path() : ".", failed);
    return failed ? std::filesystem::path() : folder / path.filename();
  };
  const std::string& name = command.front();
  if (name.find('/') != std::string::npos) return found(name);
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path != nullptr ? path : ""; !rest.empty();) {
    const auto end = rest.find(':');
    const auto candidate = std::filesystem::path(rest.substr(0, end)) / name;
    if (::access(candidate.c_str(), X_OK) == 0) return found(candidate);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  return {};
}

std::filesystem::path executable_of(const std::vector<std::string>& command) {
  std::error_code failed;
  return std::filesystem::canonical(called_path(command), failed);
}

std::string shell_word(const std::string& word) {
  if (word.find_first_of(" \t\n'\"\\$`*?&|;<>(){}[]~#!") == std::string::npos && !word.empty())
    return word;
  std::string result = "'";
  for (const char each : word) result += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return result + "'";
}

std::string command_of(const std::vector<std::string>& words) {
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + shell_word(word);
  return command;
}

std::string digest_of(std::string_view bytes) {
  return fmt::format("{:016x}", reports::model::fingerprint(bytes));
}

std::string why_no_benchmark(const std::vector<std::string>& command) {
  const std::string begins = content_of(executable_of(command), 2).value_or("");
  if (begins.starts_with("#!")) {
    return "it is a script, which has to hand its arguments on to a benchmark: exec "
           "path/to/benchmark \"$@\"";
  }
  return "what can be measured is taskbench, a program that uses Google Benchmark (its main is "
         "BENCHMARK_MAIN()), or a script that hands its arguments on to one of them";
}

std::vector<std::string> words_of_ldd(const std::filesystem::path& executable,
                                      const std::filesystem::path& folder,
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

std::string digest_of_program(const std::vector<std::string>& command) {
  const std::filesystem::path executable = executable_of(command);
  const auto content = content_of(executable, kWholeFile);
  if (!content) return {};
  constexpr std::string_view kElf =
      "\x7f"
      "ELF";
  std::string digest = digest_of(*content);
  if (!content->starts_with(kElf)) return digest;
  std::set<std::filesystem::path> loaded = plug_ins_beside(executable);
  loaded.merge(libraries_of(executable));
  for (const auto& file : loaded) digest += digest_of(content_of(file, kWholeFile).value_or(""));
  return loaded.empty() ? digest : digest_of(digest);
}

std::vector<std::string> Program::arguments(const SampleRequest& request,
                                            const std::filesystem::path& json) const {
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
  std::vector<std::string> words{command_.front(), "run"};
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

std::optional<double> Program::measure(const SampleRequest& request,
                                       const std::filesystem::path& json,
                                       const std::stop_token& stop) const {
  const ProcessOutcome outcome =
      run_process({.command = from_here(arguments(request, json), folder_),
                   .environment = {"TASKBENCH_PADDING=" + std::string(request.padding_bytes, 'x')},
                   .timeout_s = request.timeout_s,
                   .waiting = request.waiting,
                   .folder = folder_.string()},
                  stop);
  if (!outcome.ok()) {
    throw ProgramError(fmt::format("'{}' {}", fmt::join(command_, " "), outcome.text()));
  }
  return outcome.queued_s;
}

}  // namespace taskbench::harness
