#include "harness/programs/program.hpp"

#include <unistd.h>

#include <cerrno>
#include <set>

#include "harness/os/atomic_file.hpp"
#include "harness/os/process.hpp"
#include "harness/os/system_file.hpp"
#include "reports/json/parse.hpp"
#include "reports/model/fingerprint.hpp"

namespace taskbench::harness {
namespace {

constexpr double kLddTimeout_s = 60;
constexpr std::size_t kMostPrinted_bytes = std::size_t{64} << 20;  // the output of a process

/// Why a program could not be started, if the system's own message would be misleading.
std::string why_not_started(const std::string& name, const ProcessOutcome& outcome) {
  std::error_code failed;
  if (is_looked_up(name)) {
    if (outcome.code != ENOENT) return outcome.text();
    const bool is_here = fs::exists(name, failed);
    return is_here ? fmt::format("is not in PATH; write './{}' for the one in this folder", name)
                   : "is not a program in PATH; give the path of its file";
  }
  if (fs::is_directory(name, failed)) return "is a directory; name the program in it";
  return outcome.text();
}

/// Runs a command in a folder. The path of its program is relative to the current folder; a name to
/// be looked up in PATH stays as it is.
ProcessOutcome run_in(const fs::path& folder, ProcessRequest request, const std::stop_token& stop) {
  std::string& name = request.command.front();
  if (!folder.empty() && !is_looked_up(name)) name = fs::absolute(name).string();
  request.folder = folder.string();
  return run_process(request, stop);
}

/// Shared objects in the executable's folder or below, which it may load, too. Empty if there are
/// so many files that the folder cannot be the program's own.
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

/// Whether a backslash before `next` quotes it, within that kind of quotes; 0: outside of any.
bool is_quoted_by_backslash(char next, char quote) {
  if (quote == '"') return std::string_view("$`\"\\\n").find(next) != std::string_view::npos;
  return quote == 0;
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
    } else if (each == '\\' && i + 1 < text.size() && is_quoted_by_backslash(text[i + 1], quote)) {
      if (text[++i] == '\n') continue;  // the line goes on
      if (!word) word.emplace();
      *word += text[i];
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

namespace {

/// Throws an error that says why a program is of no kind, or not of the named one.
[[noreturn]] void refuse_kind(const Strings& command, const ProgramKind* named,
                              const ProcessOutcome& list) {
  const std::string text = joined(command, " ");
  const std::string why =
      named == nullptr ? why_no_benchmark(command) : fmt::format("it is not {}", named->title());
  if (list.ok()) throw NotMeasurable(fmt::format("'{}' lists no benchmarks; {}", text, why));
  const std::string asked = (named == nullptr ? fmt::format("asked with {}", kListing) : "asked") +
                            " for what it measures";
  if (list.end == ProcessOutcome::End::timed_out) {
    throw ProgramError(fmt::format("'{}', {}, {}; {}", text, asked, list.text(), why));
  }
  if (list.end != ProcessOutcome::End::exited) {
    throw ProgramError(fmt::format("'{}', {}, {}", text, asked, list.text()));
  }
  throw NotMeasurable(fmt::format("'{}' is not a benchmark of a known kind: {}, it {}; {}", text,
                                  asked, list.text(), why),
                      true);
}

}  // namespace

Program Program::find_out(Strings command, const std::stop_token& stop, const Asking& asking) {
  const auto start = Clock::now();
  const auto waiting = [&](double) {
    if (asking.waiting) asking.waiting(seconds_since(start));
  };
  const auto ask = [&](Strings words, double timeout_s) {
    ProcessOutcome outcome =
        run_in(asking.folder,
               {.command = std::move(words),
                .timeout_s = limit_s(std::min(timeout_s, asking.timeout_s), asking.deadline),
                .waiting = waiting},
               stop);
    if (outcome.end == ProcessOutcome::End::not_started) {
      throw NotMeasurable(
          fmt::format("'{}' {}", command.front(), why_not_started(command.front(), outcome)));
    }
    return outcome;
  };
  const fs::path executable = executable_of(command);
  std::error_code failed;
  const bool is_folder = fs::is_directory(executable, failed);
  if (asking.kind != nullptr && (is_folder || ::access(executable.c_str(), X_OK) != 0)) {
    ProcessOutcome not_started;
    not_started.code = is_folder ? EISDIR : errno;
    throw NotMeasurable(
        fmt::format("'{}' {}", command.front(), why_not_started(command.front(), not_started)));
  }
  std::optional<std::string> content;
  const FileText file = [&]() -> std::string_view {
    if (!content) content = content_of(executable).value_or("");
    return *content;
  };
  Answer answer;
  for (const ProgramKind* kind : program_kinds()) {
    if (asking.kind == nullptr ? !kind->may_be(file) : kind != asking.kind) continue;
    answer = kind->ask(command, ask, asking.kind != nullptr);
    if (!answer.is_of_kind) continue;
    return {*kind, std::move(answer.command), asking.folder, std::move(answer.listed)};
  }
  refuse_kind(command, asking.kind, answer.list);
}

Program Program::in(const fs::path& executable) const {
  Program other = *this;
  other.command_.front() = executable.string();
  return other;
}

bool Program::is_sure(const std::stop_token& stop) const {
  return kind_->is_sure(command_, listed_, [&](Strings words, double timeout_s) {
    return run_in(folder_, {.command = std::move(words), .timeout_s = timeout_s}, stop);
  });
}

bool is_looked_up(const std::string& program) { return program.find('/') == std::string::npos; }

fs::path called_path(const Strings& command) {
  const auto found = [](const fs::path& path) {
    std::error_code failed;
    const auto folder = fs::canonical(path.has_parent_path() ? path.parent_path() : ".", failed);
    return failed ? fs::path() : folder / path.filename();
  };
  const std::string& name = command.front();
  if (!is_looked_up(name)) return found(name);
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
  const auto runs = [&](std::string_view word) {
    return std::ranges::any_of(command, [&](const std::string& each) {
      return fs::path(each).filename() == fs::path(word);
    });
  };
  if (runs("pytest")) return "--kind pytest measures its benchmarks of pytest-benchmark";
  if (runs("-jar")) return "--kind jmh measures a program of JMH";
  const std::string line = first_line(executable_of(command));
  if (line.starts_with("#!")) {
    return "it is a script, which has to hand its arguments on to a benchmark (exec "
           "path/to/benchmark \"$@\"), or is measured by what it prints (--kind lines) or as a "
           "whole (--kind command)";
  }
  return "what can be measured is taskbench, a program that uses Google Benchmark (its main is "
         "BENCHMARK_MAIN()), Catch2, Criterion or Rust's libtest, a test binary of Go (go test "
         "-c), or a script that hands its arguments on to one of them; with --kind, benchmarks of "
         "Python and Java, any command as a whole, and what a program prints";
}

Strings words_of_ldd(const fs::path& executable, const fs::path& folder,
                     const std::stop_token& stop) {
  const ProcessOutcome outcome = run_process({.command = {"ldd", executable.string()},
                                              .environment = {"LC_ALL=C"},
                                              .timeout_s = kLddTimeout_s,
                                              .folder = folder.string()},
                                             stop);
  // For a program without libraries, ldd says so and exits with 1. Any other failure would look
  // like another program.
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

std::set<fs::path> libraries_of(const fs::path& executable) {
  const std::stop_token never;
  std::set<fs::path> result;
  for (const std::string& word : words_of_ldd(executable, {}, never)) {
    if (word.starts_with('/')) result.emplace(word);
  }
  return result;
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

SampleRequest Program::fitting(SampleRequest request, const fs::path& file) const {
  const auto fit = [&] {
    // A regular expression of libstdc++, as Google Benchmark uses, has at most 100,000 states, and
    // up to three for each two bytes of the shortest names.
    constexpr std::size_t kLongestArgument = std::size_t{64} << 10;
    constexpr std::size_t kLongestVariable = std::size_t{128} << 10;  // of Linux, with a zero
    const auto fit_into = [](const Strings& words, std::size_t longest) {
      return std::ranges::all_of(words, [&](const auto& word) { return word.size() < longest; });
    };
    return fit_into(kind_->arguments(command_, request, file), kLongestArgument) &&
           fit_into(kind_->environment(request, file), kLongestVariable);
  };
  if (fit()) return request;
  std::set<std::string> beginnings;
  for (const std::string& name : request.benchmarks) {
    beginnings.insert(name.substr(0, name.find('/')));
  }
  request.benchmarks.clear();
  request.families.assign(beginnings.begin(), beginnings.end());
  if (!fit()) request.families.clear();
  return request;
}

model::Run Program::measure(const SampleRequest& request, const fs::path& file,
                            const std::stop_token& stop) const {
  kind_->prepare(file);
  const SampleRequest fitted = fitting(request, file);
  Strings environment = kind_->environment(fitted, file);
  environment.push_back("TASKBENCH_PADDING=" + std::string(request.padding_bytes, 'x'));
  environment.push_back(fmt::format("{}={}", kScratchVariable, file.string()));
  const ProcessOutcome outcome = run_in(folder_,
                                        {.command = kind_->arguments(command_, fitted, file),
                                         .environment = std::move(environment),
                                         .timeout_s = request.timeout_s,
                                         .waiting = request.waiting,
                                         .most_output_bytes = kMostPrinted_bytes},
                                        stop);
  if (!outcome.ok()) {
    throw ProgramError(fmt::format("'{}' {}", joined(command_, " "), outcome.text()));
  }
  try {
    model::Run result = kind_->read(command_, request, outcome, file);
    result.queued_s = outcome.queued_s;
    if (!request.benchmarks.empty()) {  // more may have been measured
      std::erase_if(result.cases, [&](const model::Case& benchmark) {
        return !contains(request.benchmarks, benchmark.name);
      });
    }
    return result;
  } catch (const json::ReadError& error) {
    throw ProgramError(
        fmt::format("'{}' wrote an unusable result: {}", command_.front(), error.what()));
  }
}

}  // namespace taskbench::harness
