#include "harness/machine/drift.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>

#include "harness/machine/cpu_quota.hpp"
#include "harness/os/system_file.hpp"
#include "harness/os/thread_time.hpp"

namespace taskbench::harness {
namespace {

using model::Drift;
using model::Fact;
using model::Unknown;
using Count = Fact<std::int64_t>;

constexpr double kShortest_s = 0.5;
constexpr double kBusy_s = 0.02;  // governors sample the load every 10 ms or less

/// The columns of a CPU's line in /proc/stat, in ticks. The time of guests is included in user and
/// nice.
enum Column { kUser, kNice, kSystem, kIdle, kIoWait, kIrq, kSoftIrq, kSteal, kColumns };

double own_cpu_s() {
  double sum = 0;
  for (const auto whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    if (getrusage(whose, &usage) != 0) continue;
    sum += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  }
  return sum;
}

/// Adds a line "cpu0 4705 356 …"; false if it cannot be parsed.
bool add_line(const std::vector<std::string_view>& words, CpuTimes& times) {
  if (words.size() < kColumns + 1) return false;
  std::array<double, kColumns> ticks{};
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const auto count = number<std::uint64_t>(words[i + 1]);
    if (!count) return false;
    ticks[i] = static_cast<double>(*count);
  }
  const auto ticks_per_s = static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  for (const Column column : {kUser, kNice, kSystem, kIrq, kSoftIrq}) {
    times.busy_s += ticks[column] / ticks_per_s;
  }
  times.stolen_s += ticks[kSteal] / ticks_per_s;
  for (const double each : ticks) times.total_s += each / ticks_per_s;
  return true;
}

Fact<CpuTimes> read_cpu_times(const fs::path& root) {
  const auto content = content_of(root / "proc/stat");
  if (!content) return Unknown{"/proc/stat cannot be read"};
  const std::vector<unsigned> allowed = allowed_cpus_below(root);
  CpuTimes times;
  bool any = false;
  for (const std::string_view line : lines_of(*content)) {
    if (!line.starts_with("cpu")) continue;
    const std::vector<std::string_view> words = words_of(line);
    const auto cpu = number<unsigned>(words[0].substr(3));
    // Without a list of CPUs, uses the line for all of them.
    const bool counts = allowed.empty() ? words[0] == "cpu" : cpu && contains(allowed, *cpu);
    if (!counts) continue;
    if (!add_line(words, times)) return Unknown{"/proc/stat is not understood"};
    if (cpu) times.cpus.push_back(*cpu);
    any = true;
  }
  if (!any) return Unknown{"/proc/stat has none of this process's CPUs"};
  return times;
}

/// Works until the governor has noticed. Limited both in time and in CPU time: on a busy machine
/// CPUs are awake anyway.
void keep_this_cpu_busy() {
  const double until_s = thread_cpu_s() + kBusy_s;
  const auto deadline = Clock::now() + std::chrono::duration<double>(2 * kBusy_s);
  while (thread_cpu_s() < until_s && Clock::now() < deadline) {
  }
}

double fastest_mhz(const fs::path& root) {
  double fastest = 0;
  for (const unsigned cpu : allowed_cpus_below(root)) {
    const auto khz = whole_number_in(
        root / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu));
    if (khz) fastest = std::max(fastest, static_cast<double>(*khz) / 1e3);
  }
  return fastest;
}

/// The clock rate of the fastest CPU under load. An idle machine's rate is different before the
/// first repetition and after the last, and describes neither. CPUs other than the reading one may
/// have slowed down for lack of work. /proc/cpuinfo is not used, since that of a virtual machine
/// never changes.
Fact<double> read_mhz(const fs::path& root) {
  if (fastest_mhz(root) > 0) keep_this_cpu_busy();
  const double fastest = fastest_mhz(root);
  if (fastest <= 0) {
    return Unknown{
        "the kernel shows no clock rates (no cpufreq in /sys, as in most virtual machines)"};
  }
  return fastest;
}

Count read_thermal_throttles(const fs::path& root) {
  std::int64_t sum = 0;
  bool any = false;
  for (const unsigned cpu : allowed_cpus_below(root)) {
    const fs::path folder =
        root / fmt::format("sys/devices/system/cpu/cpu{}/thermal_throttle", cpu);
    for (const char* name : {"core_throttle_count", "package_throttle_count"}) {
      const auto count = whole_number_in(folder / name);
      if (count) sum += *count;
      any = any || count;
    }
  }
  if (!any) return Unknown{"the kernel counts no thermal throttling (no thermal_throttle in /sys)"};
  return sum;
}

Count read_swapped_pages(const fs::path& root) {
  const auto content = content_of(root / "proc/vmstat");
  if (!content) return Unknown{"/proc/vmstat cannot be read"};
  std::int64_t sum = 0;
  int found = 0;
  for (const std::string_view line : lines_of(*content)) {
    if (!line.starts_with("pswp")) continue;
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() != 2 || (words[0] != "pswpin" && words[0] != "pswpout")) continue;
    const auto count = number<std::int64_t>(words[1]);
    if (!count) return Unknown{"/proc/vmstat is not understood"};
    sum += *count;
    ++found;
  }
  if (found != 2) return Unknown{"/proc/vmstat does not count swapping"};
  return sum;
}

/// The CPU time between two readings, accurate to a few ticks for any interval.
Fact<model::CpuUse> cpu_use(const MachineReading& before, const MachineReading& after) {
  if (!before.cpu || !after.cpu) return Unknown{(before.cpu ? after : before).cpu.reason};
  // A CPU that comes or goes brings or takes all that was counted of it since boot.
  if (before.cpu->cpus != after.cpu->cpus) {
    return Unknown{"the CPUs that this process may use have changed"};
  }
  model::CpuUse use;
  use.seconds = after.at_s - before.at_s;
  use.total_s = after.cpu->total_s - before.cpu->total_s;
  if (use.seconds <= 0 || use.total_s < 0) {
    return Unknown{"the kernel's counts of CPU time went backwards"};
  }
  // Not clamped at 0: wrongly assigned ticks cancel out over several processes.
  use.others_s = after.cpu->busy_s - before.cpu->busy_s - (after.own_cpu_s - before.own_cpu_s);
  use.stolen_s = after.cpu->stolen_s - before.cpu->stolen_s;
  return use;
}

Count grown(const Count& before, const Count& after) {
  if (!before) return before;
  if (!after) return after;
  // A group or a CPU that disappears takes its count with it.
  if (*after < *before) return Unknown{"the kernel's count went backwards"};
  return *after - *before;
}

void store_shares(const MachineReading& before, const MachineReading& after, Drift& drift) {
  const auto use = cpu_use(before, after);
  std::string reason;
  if (!use) {
    reason = use.reason;
  } else if (drift.seconds < kShortest_s) {
    reason = fmt::format(
        "it took {:.2g} s, and the kernel counts in ticks of 10 ms: too coarse for less than {} s",
        drift.seconds, kShortest_s);
  } else if (use->total_s <= 0) {
    reason = "the kernel's counts of CPU time did not grow";
  }
  if (!reason.empty()) {
    drift.stolen_share = drift.others_share = Unknown{reason};
    return;
  }
  drift.stolen_share = std::clamp(use->stolen_s / use->total_s, 0.0, 1.0);
  drift.others_share = std::clamp(use->others_s / use->total_s, 0.0, 1.0);
}

}  // namespace

MachineReading read_machine(const fs::path& root, bool with_clock_rate) {
  MachineReading reading;
  reading.at_s = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
  reading.own_cpu_s = own_cpu_s();
  reading.cpu = read_cpu_times(root);
  reading.thermal_throttles = read_thermal_throttles(root);
  reading.quota_throttles = count_quota_throttles(root);
  reading.swapped_pages = read_swapped_pages(root);
  if (with_clock_rate) {
    reading.mhz = read_mhz(root);  // last, so that no second reading includes its work
  }
  return reading;
}

Drift drift_between(const MachineReading& before, const MachineReading& after) {
  Drift drift;
  drift.seconds = after.at_s - before.at_s;
  store_shares(before, after, drift);
  drift.mhz_before = before.mhz;
  drift.mhz_after = after.mhz;
  drift.thermal_throttles = grown(before.thermal_throttles, after.thermal_throttles);
  drift.quota_throttles = grown(before.quota_throttles, after.quota_throttles);
  drift.swapped_pages = grown(before.swapped_pages, after.swapped_pages);
  return drift;
}

model::MachineUse use_between(const MachineReading& before, const MachineReading& after) {
  model::MachineUse use;
  use.seconds = after.at_s - before.at_s;
  use.cpu = cpu_use(before, after);
  use.thermal_throttles = grown(before.thermal_throttles, after.thermal_throttles).value;
  use.quota_throttles = grown(before.quota_throttles, after.quota_throttles).value;
  use.swapped_pages = grown(before.swapped_pages, after.swapped_pages).value;
  return use;
}

}  // namespace taskbench::harness
