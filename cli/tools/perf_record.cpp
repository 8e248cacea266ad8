#include "cli/tools/perf_record.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>

#include "reports/files/file_content.hpp"
#include "reports/perf/script.hpp"
#include "reports/perf/stat.hpp"
#include "workloads/measure/counting_region.hpp"
#include "workloads/measure/process.hpp"

namespace taskbench::cli {
namespace {

using measure::ProcessOutcome;
using measure::ProcessRequest;

// Unwound by what the compiler leaves in every binary: a Release build has no frame pointers.
constexpr const char* kUnwinding = "dwarf,8192";
// That much of the stack in each sample; what else is in it, and the sample as text.
constexpr double kSampleBytes = 8192 + 2048;

std::string why(const char* tool, const ProcessOutcome& outcome) {
  if (outcome.end == ProcessOutcome::End::not_started && outcome.code == ENOENT) {
    return kPerfMissing;
  }
  const std::string reason = perf::perf_reason(outcome.errors);
  const bool told = outcome.end == ProcessOutcome::End::exited && !reason.empty();
  return fmt::format(
      "{} {}", tool,
      told ? fmt::format("exited with status {}: {}", outcome.code, reason) : outcome.text());
}

/// The first of them that perf can sample here.
std::string choose_event(const fs::path& scratch, const std::stop_token& stop) {
  ProcessOutcome outcome;
  for (const char* event : {"cycles", "cpu-clock"}) {
    outcome = measure::run_process({.command = {"perf", "record", "-q", "-e", event, "-o",
                                                (scratch / "probe").string(), "--", "true"},
                                    .environment = {"LC_ALL=C"},
                                    .timeout_s = kProbeTimeout_s},
                                   stop);
    if (outcome.ok()) return event;
    if (outcome.end != ProcessOutcome::End::exited) break;
  }
  throw PerfError(why("perf record", outcome));
}

/// What was sampled in truth: most versions of perf take the clock by themselves where they cannot
/// count cycles, and user mode alone where they may not look into the kernel, and end well. Without
/// a name when they do not tell.
perf::PerfEvent recorded_event(const std::string& data, const std::stop_token& stop) {
  const ProcessOutcome outcome = measure::run_process({.command = {"perf", "evlist", "-i", data},
                                                       .environment = {"LC_ALL=C"},
                                                       .timeout_s = kProbeTimeout_s},
                                                      stop);
  if (!outcome.ok()) return {};
  return perf::perf_event(std::string_view(outcome.output).substr(0, outcome.output.find('\n')));
}

/// Whether perf has written its data to the end. It does so when what it has run was killed, too,
/// before it dies of the same signal; when it is killed itself, the size that stands at the
/// beginning of the file stays 0. (perf.data-file-format.txt of its sources: the magic, two sizes,
/// the section of attributes, and the section of data, each by offset and size.)
bool has_ended_by_itself(const std::string& data) {
  std::array<char, 8> magic{};
  std::array<std::uint64_t, 6> header{};
  std::ifstream file(data, std::ios::binary);
  file.read(magic.data(), magic.size());
  file.read(reinterpret_cast<char*>(header.data()), sizeof(header));
  return file && std::string_view(magic.data(), magic.size()) == "PERFILE2" && header[5] > 0;
}

/// What the workload has said of itself, at the end of its errors.
std::string last_error(std::string_view errors) {
  constexpr std::string_view kError = "taskbench: error: ";
  const auto at = errors.rfind(kError);
  if (at == std::string_view::npos) return {};
  errors.remove_prefix(at + kError.size());
  return std::string(errors.substr(0, errors.find('\n')));
}

/// perf passes on the status of what it has run, the signal that ended it, and its errors: throws
/// WorkloadError where it was that, and PerfError where it was perf.
[[noreturn]] void fail_recording(const ProcessOutcome& outcome, const std::string& data) {
  if (outcome.end == ProcessOutcome::End::exited) {
    if (std::string error = last_error(outcome.errors); !error.empty()) {
      const auto of_perf = error.find(measure::kPerfDidNot);
      if (of_perf == std::string::npos) throw WorkloadError(error);
      throw PerfError(error.substr(of_perf));
    }
  }
  if (outcome.end == ProcessOutcome::End::killed && has_ended_by_itself(data)) {
    throw WorkloadError(fmt::format("under perf it {}", outcome.text()));
  }
  throw PerfError(why("perf record", outcome));
}

}  // namespace

double recording_bytes(unsigned frequency, unsigned cpus, double duration_s) {
  return frequency * static_cast<double>(cpus) * duration_s * kSampleBytes;
}

Recording record(const Strings& command, unsigned frequency, double timeout_s,
                 const fs::path& scratch, const std::stop_token& stop,
                 const std::function<void(double)>& waiting) {
  Recording recording;
  recording.event = choose_event(scratch, stop);
  const std::string pipes = make_perf_pipes(scratch);
  const std::string data = (scratch / "data").string();
  ProcessRequest request;
  request.command = {"perf",
                     "record",
                     "-q",
                     "-D",
                     "-1",
                     "--control",
                     "fifo:" + pipes,
                     "-F",
                     std::to_string(frequency),
                     "-e",
                     recording.event,
                     "--call-graph",
                     kUnwinding,
                     "-o",
                     data,
                     "--"};
  request.command.insert(request.command.end(), command.begin(), command.end());
  request.environment = {"LC_ALL=C", fmt::format("{}={}", measure::kPerfControlVariable, pipes)};
  request.timeout_s = timeout_s;
  request.waiting = waiting;
  ProcessOutcome outcome = measure::run_process(request, stop);
  if (!outcome.ok()) fail_recording(outcome, data);
  if (auto event = recorded_event(data, stop); !event.name.empty()) {
    recording.event = std::move(event.name);
    recording.user_only = event.user_only;
  }

  // Into a file: it has more lines than a pipe of ours keeps. Inlined functions would be looked up
  // one by one, which takes minutes.
  const fs::path script = scratch / "script";
  request.command = {"sh",   "-c",     "exec \"$@\" > \"$0\"", script.string(),
                     "perf", "script", "--no-inline",          "-i",
                     data,   "-F",     "comm,tid,ip,sym"};
  request.environment = {"LC_ALL=C"};
  outcome = measure::run_process(request, stop);
  if (!outcome.ok()) throw PerfError(why("perf script", outcome));
  recording.profile = perf::parse_perf_script(files::read_file(script).bytes);
  return recording;
}

}  // namespace taskbench::cli
