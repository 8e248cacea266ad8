#include "harness/machine/disturbances.hpp"

#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <set>
#include <system_error>

#include "harness/machine/build_info.hpp"
#include "harness/machine/counter_access.hpp"
#include "harness/machine/cpu_quota.hpp"
#include "harness/machine/drift.hpp"
#include "harness/machine/environment.hpp"
#include "harness/os/process.hpp"
#include "harness/os/system_file.hpp"

namespace taskbench::harness {
namespace {

using model::Fact;
using model::Unknown;

constexpr const char* kCpus = "sys/devices/system/cpu";

/// The reason for a file that could not be understood or does not exist.
std::string unreadable(const fs::path& root, const fs::path& file) {
  std::error_code failed;
  return fmt::format("/{} {}", file.string(),
                     fs::exists(root / file, failed) ? "is not understood" : "is not there");
}

Fact<std::map<std::string, int>> governors(const fs::path& root) {
  std::map<std::string, int> count;
  for (const unsigned cpu : allowed_cpus_below(root)) {
    const auto name = first_line(root / kCpus / fmt::format("cpu{}/cpufreq/scaling_governor", cpu));
    if (!name.empty()) ++count[name];
  }
  if (count.empty()) {
    return Unknown{
        "the kernel shows no governor (no cpufreq in /sys); of a virtual machine the host decides"};
  }
  return count;
}

Fact<model::SharedCores> shared_cores(const fs::path& root) {
  const std::vector<unsigned> allowed = allowed_cpus_below(root);
  std::set<std::vector<unsigned>> cores;
  model::SharedCores result;
  for (const unsigned cpu : allowed) {
    std::vector<unsigned> siblings = cpu_list(
        first_line(root / kCpus / fmt::format("cpu{}/topology/thread_siblings_list", cpu)));
    if (siblings.empty()) continue;
    ++result.cpus;
    cores.insert(std::move(siblings));
  }
  if (result.cpus == 0) return Unknown{"no CPU's topology/thread_siblings_list in /sys"};
  result.cores = static_cast<int>(cores.size());
  for (const std::vector<unsigned>& core : cores) {
    result.foreign_siblings += static_cast<int>(
        std::ranges::count_if(core, [&](unsigned cpu) { return !contains(allowed, cpu); }));
  }
  return result;
}

Fact<double> load_average(const fs::path& root) {
  const std::string line = first_line(root / "proc/loadavg");
  const std::vector<std::string_view> words = words_of(line);
  constexpr double kMostLoad = 1e6;
  const auto load = words.empty() ? std::nullopt : number<double>(words[0]);
  if (load && *load >= 0 && *load < kMostLoad) return *load;
  return Unknown{unreadable(root, "proc/loadavg")};
}

Fact<model::Aslr> aslr(const fs::path& root) {
  const fs::path file = "proc/sys/kernel/randomize_va_space";
  const auto level = whole_number_in(root / file);
  if (!level || *level < 0 || *level > 2) return Unknown{unreadable(root, file)};
  const auto persona = number<unsigned>(first_line(root / "proc/self/personality"), 16);
  if (!persona) return Unknown{unreadable(root, "proc/self/personality")};
  return model::Aslr{static_cast<int>(*level),
                     (*persona & static_cast<unsigned>(ADDR_NO_RANDOMIZE)) != 0};
}

Fact<model::ClockSource> clock_source(const fs::path& root) {
  const fs::path folder = "sys/devices/system/clocksource/clocksource0";
  model::ClockSource source{first_line(root / folder / "current_clocksource"),
                            first_line(root / folder / "available_clocksource")};
  if (source.current.empty()) return Unknown{unreadable(root, folder / "current_clocksource")};
  return source;
}

std::optional<std::int64_t> kib_in(const fs::path& file, std::string_view name) {
  const std::string value = value_of_line(file, name);
  const std::vector<std::string_view> words = words_of(value);
  if (words.size() != 2 || words[1] != "kB") return std::nullopt;
  return number<std::int64_t>(words[0]);
}

Fact<model::Memory> memory(const fs::path& root) {
  const auto total = kib_in(root / "proc/meminfo", "MemTotal");
  const auto available = kib_in(root / "proc/meminfo", "MemAvailable");
  if (!total || !available || *total <= 0 || *available < 0) {
    return Unknown{unreadable(root, "proc/meminfo")};
  }
  return model::Memory{*total * 1024, *available * 1024};
}

/// Reads the line "some avg10=0.14 avg60=…" of the pressure stall information.
Fact<double> memory_stall_percent(const fs::path& root) {
  const fs::path file = "proc/pressure/memory";
  const std::string line = first_line(root / file);
  const std::vector<std::string_view> words = words_of(line);
  constexpr std::string_view kKey = "avg10=";
  if (words.size() > 1 && words[0] == "some" && words[1].starts_with(kKey)) {
    const auto percent = number<double>(words[1].substr(kKey.size()));
    if (percent && *percent >= 0 && *percent <= 100) return *percent;
  }
  return Unknown{unreadable(root, file)};
}

/// The lowest of the zone's trip points at which the system does more than start a fan.
std::optional<double> trip_celsius(const fs::path& zone) {
  std::optional<double> lowest;
  for (int i = 0; i < 32; ++i) {
    const std::string type = first_line(zone / fmt::format("trip_point_{}_type", i));
    if (type.empty()) break;
    if (type == "active") continue;
    const auto millidegrees = whole_number_in(zone / fmt::format("trip_point_{}_temp", i));
    if (!millidegrees || *millidegrees <= 0) continue;
    const double celsius = static_cast<double>(*millidegrees) / 1e3;
    lowest = lowest ? std::min(*lowest, celsius) : celsius;
  }
  return lowest;
}

Fact<std::vector<model::ThermalZone>> thermal_zones(const fs::path& root) {
  std::vector<model::ThermalZone> zones;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(root / "sys/class/thermal", failed)) {
    const fs::path& folder = entry.path();
    if (!folder.filename().native().starts_with("thermal_zone")) continue;
    const auto millidegrees = whole_number_in(folder / "temp");
    const auto trip = trip_celsius(folder);
    if (!millidegrees || !trip) continue;
    zones.push_back({first_line(folder / "type"), static_cast<double>(*millidegrees) / 1e3, *trip});
  }
  if (zones.empty()) return Unknown{"no thermal zone with a trip point in /sys"};
  std::ranges::sort(zones, {}, &model::ThermalZone::name);
  return zones;
}

/// The value, with 0 and an empty text converted to "unknown".
template <class T>
Fact<T> unless_nothing(T value, std::string reason) {
  if (value == T()) return Unknown{std::move(reason)};
  return value;
}

/// Reads "always [madvise] never" as "madvise".
Fact<std::string> huge_pages(const fs::path& root) {
  const fs::path file = "sys/kernel/mm/transparent_hugepage/enabled";
  const std::string line = first_line(root / file);
  for (const std::string_view word : words_of(line)) {
    if (word.size() > 2 && word.starts_with('[') && word.ends_with(']')) {
      return std::string(word.substr(1, word.size() - 2));
    }
  }
  return Unknown{unreadable(root, file)};
}

/// Parses "4711 (a name) S 1 …": the name may contain blanks and brackets.
std::optional<ProcessTime> process_time(const std::string& stat) {
  const std::size_t open = stat.find('(');
  const std::size_t close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  const std::vector<std::string_view> words = words_of(std::string_view(stat).substr(close + 1));
  constexpr std::size_t kUserTicks = 11;
  constexpr std::size_t kSystemTicks = 12;
  if (words.size() <= kSystemTicks) return std::nullopt;
  const auto in_user = number<std::uint64_t>(words[kUserTicks]);
  const auto in_system = number<std::uint64_t>(words[kSystemTicks]);
  if (!in_user || !in_system) return std::nullopt;
  const auto ticks_per_s = static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  return ProcessTime{stat.substr(open + 1, close - open - 1),
                     static_cast<double>(*in_user + *in_system) / ticks_per_s, false};
}

}  // namespace

Fact<model::Boost> probe_boost(const fs::path& root) {
  struct Switch {
    const char* file;
    std::string_view on;
    const char* off;
  };
  constexpr std::array<Switch, 2> kSwitches{{
      {"sys/devices/system/cpu/cpufreq/boost", "1", "0"},
      {"sys/devices/system/cpu/intel_pstate/no_turbo", "0", "1"},
  }};
  for (const Switch& each : kSwitches) {
    const std::string value = first_line(root / each.file);
    if (value == "0" || value == "1") {
      return model::Boost{value == each.on, fmt::format("/{}", each.file), each.off};
    }
  }
  return Unknown{"neither cpufreq/boost nor intel_pstate/no_turbo is in /sys"};
}

model::DoctorFacts probe_disturbances(const fs::path& root) {
  model::DoctorFacts facts;
  facts.build_type = std::string(kBuildType);
  facts.compiler_flags = std::string(kCompilerFlags);
  facts.governors = governors(root);
  facts.boost = probe_boost(root);
  facts.shared_cores = shared_cores(root);
  facts.load_average = load_average(root);
  const std::size_t online = cpu_list(first_line(root / kCpus / "online")).size();
  facts.cpus_online =
      unless_nothing(static_cast<int>(online), unreadable(root, fs::path(kCpus) / "online"));
  facts.cpus_allowed = unless_nothing(static_cast<int>(allowed_cpus_below(root).size()),
                                      "/proc/self/status has no Cpus_allowed_list");
  facts.quota = probe_cpu_quota(root);
  facts.aslr = aslr(root);
  facts.counters = probe_counter_access(root);
  facts.clock_source = clock_source(root);
  facts.memory = memory(root);
  facts.memory_stall_percent = memory_stall_percent(root);
  facts.thermal_throttles = read_machine(root, false).thermal_throttles;
  facts.thermal_zones = thermal_zones(root);
  facts.hypervisor =
      unless_nothing(hypervisor(), "this CPU does not say, and /sys/hypervisor is not there");
  facts.huge_pages = huge_pages(root);
  return facts;
}

std::map<int, ProcessTime> read_process_times(const fs::path& root) {
  std::map<int, ProcessTime> times;
  std::error_code failed;
  const int own = static_cast<int>(::getpid());
  for (const auto& entry : fs::directory_iterator(root / "proc", failed)) {
    const auto pid = number<int>(entry.path().filename().native());
    if (!pid || *pid == own) continue;
    const auto stat = content_of(entry.path() / "stat");
    auto time = stat ? process_time(*stat) : std::nullopt;
    if (!time) continue;
    struct stat owner {};
    time->is_own = ::stat(entry.path().c_str(), &owner) == 0 && owner.st_uid == ::geteuid();
    times[*pid] = std::move(*time);
  }
  return times;
}

std::vector<model::BusyProcess> busiest_processes(const std::map<int, ProcessTime>& before,
                                                  const std::map<int, ProcessTime>& after,
                                                  double seconds) {
  constexpr double kLeastCpus = 0.01;
  constexpr std::size_t kMost = 3;
  std::vector<model::BusyProcess> busy;
  for (const auto& [pid, time] : after) {
    const auto earlier = before.find(pid);
    // All CPU time of a process that started after the first reading counts.
    const double used = time.cpu_s - (earlier == before.end() ? 0 : earlier->second.cpu_s);
    if (seconds > 0 && used / seconds >= kLeastCpus)
      busy.push_back({time.name, pid, used / seconds, time.is_own});
  }
  std::ranges::stable_sort(busy, std::ranges::greater{}, &model::BusyProcess::cpus);
  if (busy.size() > kMost) busy.resize(kMost);
  return busy;
}

std::vector<model::Tool> probe_tools(const std::stop_token& stop) {
  constexpr double kTimeout_s = 2;
  std::vector<model::Tool> tools{
      {"perf", "linux-perf", "hardware counters and profiles"},
      {"gnuplot", "gnuplot-nox", "plots"},
      {"valgrind", "valgrind", "exact counts of instructions"},
      {"objdump", "binutils", "which of them are fences and the like"},
  };
  for (model::Tool& tool : tools) {
    const ProcessOutcome outcome =
        run_process({.command = {tool.name, "--version"}, .timeout_s = kTimeout_s}, stop);
    if (outcome.ok()) continue;
    tool.missing = outcome.is_missing() ? "is not installed" : outcome.text();
  }
  return tools;
}

}  // namespace taskbench::harness
