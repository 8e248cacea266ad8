#include "harness/counting/callgrind.hpp"

#include <array>
#include <cstdlib>
#include <set>

#include "harness/bench/measure.hpp"
#include "harness/files/scratch_folder.hpp"
#include "harness/files/stored.hpp"
#include "harness/os/atomic_file.hpp"
#include "harness/os/file_content.hpp"
#include "harness/os/process.hpp"
#include "harness/os/system_file.hpp"
#include "reports/json/reader.hpp"
#include "reports/perf/explain.hpp"

// The built library is embedded in this object file.
asm(R"(
  .pushsection .rodata
taskbench_allocation_marks:
  .incbin ")" TASKBENCH_ALLOCATION_MARKS R"("
taskbench_allocation_marks_end:
  .popsection
)");

extern "C" const char taskbench_allocation_marks[];
extern "C" const char taskbench_allocation_marks_end[];

namespace taskbench::harness {
namespace {

/// The path of the library of allocation_marks.cpp in `folder`; writes it if it is not there.
fs::path allocation_marks_in(const fs::path& folder) {
  fs::path file = folder / perf::kAllocationMarks;
  if (!fs::exists(file)) {
    const auto size = taskbench_allocation_marks_end - taskbench_allocation_marks;
    // If this fails, allocations are counted without their bytes.
    (void)write_atomically(file, {taskbench_allocation_marks, static_cast<std::size_t>(size)});
  }
  return file;
}

/// A minimum time so short that one iteration satisfies Google Benchmark.
constexpr double kNoMinTime_s = 1e-9;
constexpr int kRepetitions = 2;
constexpr const char* kLoopEnds = "--dump-before=benchmark::State::FinishKeepRunning*";
constexpr const char* kLoopBegins = "--dump-after=benchmark::State::StartKeepRunning*";

/// "chained_spawn/in_turn/workers:2" for "chained_spawn/work_stealing/workers:2".
std::string name_on(std::string_view scheduler, const std::string& benchmark) {
  const std::size_t begin = benchmark.find('/') + 1;
  const std::size_t end = std::min(benchmark.find('/', begin), benchmark.size());
  return benchmark.substr(0, begin) + std::string(scheduler) + benchmark.substr(end);
}

/// The scheduler on which a benchmark of taskbench does the same work in each run.
std::string repeatable_scheduler(const std::string& benchmark) {
  const std::size_t begin = benchmark.find('/') + 1;
  const std::string named = benchmark.substr(begin, benchmark.find('/', begin) - begin);
  const auto* scheduler = find_scheduler(named);
  return scheduler != nullptr && scheduler->repeatable ? named : "in_turn";
}

/// The words without an option and its value.
Strings without_option(const Strings& words, const std::string& option) {
  Strings result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == option) {
      ++i;
    } else if (!words[i].starts_with(option + '=')) {
      result.push_back(words[i]);
    }
  }
  return result;
}

/// The command that runs a benchmark under callgrind.
struct Call {
  Strings of_callgrind;
  Strings of_program;
};

Call call_of(const Program& program, const std::string& benchmark, std::uint64_t seed,
             const fs::path& json) {
  if (program.kind().is_counted_whole()) return {{}, program.command()};
  SampleRequest request;
  request.seed = seed;
  if (&program.kind() == &google_benchmark_kind()) {
    request.benchmarks = {benchmark};
    request.repetitions = kRepetitions;
    request.min_time_s = kNoMinTime_s;
    return {{kLoopBegins, kLoopEnds}, program.arguments(request, json)};
  }
  const std::string scheduler = repeatable_scheduler(benchmark);
  const std::string name = name_on(scheduler, benchmark);
  request.benchmarks = {name};
  request.repetitions = 1;
  request.min_time_s = kUnusedMinTime_s;
  request.iterations = {{name, kCountedIterations}};
  Strings words = without_option(program.arguments(request, json), "--scheduler");
  words.insert(words.end(), {"--scheduler", scheduler});
  return {{"--toggle-collect=taskbench_iteration"}, std::move(words)};
}

/// The number at the end of "callgrind.out.4242.3": files without one are written last.
int part_of(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::string parts = name.substr(name.find(".out.") + 5);
  const std::size_t point = parts.find('.');
  return point == std::string::npos ? 0 : std::atoi(parts.c_str() + point + 1);
}

/// The last file that holds a loop, of those that callgrind wrote.
std::optional<perf::CallgrindProfile> last_loop(const fs::path& folder, bool is_marked) {
  std::optional<perf::CallgrindProfile> result;
  int last = -1;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const int part = part_of(entry.path());
    if (part < last) continue;
    auto profile = perf::parse_callgrind(read_file(entry.path()).bytes);
    if (!profile || profile->instructions == 0) continue;
    if (is_marked && !profile->trigger.starts_with("--dump-before=")) continue;
    result = std::move(profile);
    last = part;
  }
  return result;
}

/// The iterations of the counted repetition, from the result of a program that uses Google
/// Benchmark; 0, with the reason in `failure`, if it has failed.
double iterations_in(const fs::path& json, const std::string& benchmark, std::string& failure) {
  try {
    const model::Run result = read_result_file(json, json::UnusableRows::noted);
    const auto found = std::ranges::find(result.cases, benchmark, &model::Case::name);
    if (found != result.cases.end() && !found->error.empty()) {
      failure = fmt::format("under callgrind it failed: {}", found->error);
    } else if (found == result.cases.end() || found->repetitions.empty() ||
               found->repetitions.back().iterations <= 0) {
      failure = "under callgrind it wrote no result of it";
    } else {
      return static_cast<double>(found->repetitions.back().iterations);
    }
  } catch (const json::ReadError& error) {
    failure = fmt::format("under callgrind it wrote no result: {}", error.what());
  }
  return 0;
}

}  // namespace

Strings under_callgrind(const fs::path& file, const Strings& options, const Strings& command) {
  Strings words{"valgrind", "--tool=callgrind", "--callgrind-out-file=" + file.string()};
  words.insert(words.end(), perf::kCallgrindFormat.begin(), perf::kCallgrindFormat.end());
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

std::optional<perf::CallgrindProfile> sum_of_callgrind_files(const fs::path& folder) {
  std::optional<perf::CallgrindProfile> result;
  for (const auto& entry : fs::directory_iterator(folder)) {
    auto profile = perf::parse_callgrind(read_file(entry.path()).bytes);
    if (!profile) continue;
    if (result) {
      perf::add(*profile, *result);
    } else {
      result = std::move(profile);
    }
  }
  return result;
}

std::string why_no_valgrind(const std::stop_token& stop) {
  constexpr double kPatience_s = 10;
  const ProcessOutcome version =
      run_process({.command = {"valgrind", "--version"}, .timeout_s = kPatience_s}, stop);
  return version.end == ProcessOutcome::End::not_started ? kValgrindMissing : "";
}

std::string why_interpreted(const Program& program) {
  constexpr std::array<std::string_view, 6> kShells{"sh", "bash", "dash", "ksh", "zsh", "ash"};
  const std::string line = first_line(program.executable());
  if (!line.starts_with("#!")) return {};
  std::string name;  // from "#!/usr/bin/env NAME" or "#!/bin/NAME OPTION"
  for (const std::string_view word : words_of(std::string_view(line).substr(2))) {
    name = fs::path(word).filename().string();
    if (name != "env" && !name.starts_with('-')) break;
  }
  if (contains(kShells, name)) return {};
  return "a script for " + name;
}

CallgrindCount count_by_callgrind(const Program& program, const std::string& benchmark,
                                  std::uint64_t seed, double timeout_s, const Bench& bench) {
  const bool is_whole = program.kind().is_counted_whole();
  const bool is_foreign = &program.kind() == &google_benchmark_kind();
  CallgrindCount count;
  count.failure = program.kind().why_not_counted();
  if (!count.failure.empty()) return count;
  if (is_foreign && benchmark.find("/threads:") != std::string::npos) {
    count.failure = kSeveralThreads;
    return count;
  }
  const ScratchFolder scratch;
  const fs::path json = bench.scratch.path() / "counted.json";
  std::error_code ignored;
  fs::remove(json, ignored);
  Call call = call_of(program, benchmark, seed, json);
  call.of_callgrind.emplace_back("--trace-children=yes");
  std::string& name = call.of_program.front();
  if (!is_looked_up(name)) name = fs::absolute(name).string();
  const Strings words =
      under_callgrind(scratch.path() / "callgrind.out.%p", call.of_callgrind, call.of_program);
  std::string preloaded = allocation_marks_in(bench.scratch.path()).string();
  const std::string others = environment_value("LD_PRELOAD");
  if (!others.empty()) preloaded += ':' + others;
  const ProcessOutcome outcome = run_process({.command = words,
                                              .environment = {"LD_PRELOAD=" + preloaded},
                                              .timeout_s = timeout_s,
                                              .folder = program.folder().string()},
                                             bench.stop);
  if (!outcome.ok()) {
    count.failure = fmt::format("under callgrind it {}", outcome.text());
    return count;
  }
  auto profile =
      is_whole ? sum_of_callgrind_files(scratch.path()) : last_loop(scratch.path(), is_foreign);
  if (!profile) {
    count.failure = is_foreign ? "callgrind found no loop of Google Benchmark: it needs the "
                                 "symbols of benchmark::State to see where one begins and ends"
                               : "callgrind wrote no count of it";
    return count;
  }
  count.iterations = is_whole     ? 1
                     : is_foreign ? iterations_in(json, benchmark, count.failure)
                                  : kCountedIterations;
  if (count.failure.empty()) count.profile = *std::move(profile);
  perf::leave_out_marks(count.profile);
  return count;
}

std::string Binutils::output_of(const Strings& command, double timeout_s,
                                std::string& failure) const {
  // Written to a file: the output is more than our pipes keep.
  const fs::path file = bench_.scratch.path() / "binutils";
  Strings words{"sh", "-c", "exec \"$@\" > \"$0\"", file.string()};
  words.insert(words.end(), command.begin(), command.end());
  const ProcessOutcome outcome = run_process(
      {.command = words, .environment = {"LC_ALL=C"}, .timeout_s = timeout_s}, bench_.stop);
  if (outcome.ok()) return read_file(file).bytes;
  constexpr int kNoSuchCommand = 127;  // the shell's exit status
  const bool is_missing =
      outcome.end == ProcessOutcome::End::exited && outcome.code == kNoSuchCommand;
  failure = is_missing ? fmt::format("{} is not installed; the package binutils provides it",
                                     command.front())
                       : fmt::format("{} {}", command.front(), outcome.text());
  return {};
}

void Binutils::disassemble(const perf::CallgrindProfile& profile, double timeout_s) {
#if defined(__x86_64__)
  std::set<std::size_t> objects;
  for (const auto& cost : profile.costs) objects.insert(cost.object);
  for (const std::size_t object : objects) {
    const std::string& name = profile.names[object];
    if (!why_no_instructions_.empty() || disassemblies_.contains(name) || !fs::exists(name)) {
      continue;
    }
    disassemblies_[name] = perf::parse_objdump(
        output_of({"objdump", "-d", "--no-show-raw-insn", name}, timeout_s, why_no_instructions_));
  }
#else
  why_no_instructions_ = "kinds of instructions are known of x86-64 only";
#endif
}

std::map<std::string, double> Binutils::kinds(const CallgrindCount& count, double timeout_s) {
  disassemble(count.profile, timeout_s);
  std::map<std::string, double> result;
  for (const auto& [kind, executed] : perf::count_by_kind(count.profile, disassemblies_)) {
    result[kind] = static_cast<double>(executed) / count.iterations;
  }
  if (why_no_instructions_.empty()) return result;
  for (const perf::InstructionKind& kind : perf::instruction_kinds()) {
    if (kind.is_instruction != nullptr) result.erase(std::string(kind.name));
  }
  return result;
}

std::map<std::string, perf::SourceLines> Binutils::sources(const CallgrindCount& count,
                                                           double timeout_s) {
  std::map<std::string, std::set<std::uint64_t>> executed;
  for (const auto& cost : count.profile.costs) {
    const std::string& object = count.profile.names[cost.object];
    if (!perf::is_of_system(object)) executed[object].insert(cost.address);
  }
  std::map<std::string, perf::SourceLines> result;
  for (const auto& [object, addresses] : executed) {
    if (!fs::exists(object)) continue;
    std::string text;
    for (const std::uint64_t address : addresses) text += fmt::format("0x{:x}\n", address);
    const fs::path list = bench_.scratch.path() / "addresses";
    (void)write_atomically(list, text);  // if it fails, so does addr2line
    std::string no_lines;                // without the list, functions have no lines
    result[object] = perf::parse_addr2line(
        output_of({"addr2line", "-a", "-f", "-i", "-C", "-e", object, "@" + list.string()},
                  timeout_s, no_lines));
  }
  return result;
}

}  // namespace taskbench::harness
