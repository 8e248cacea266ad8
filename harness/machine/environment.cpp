#include "harness/machine/environment.hpp"

#include <benchmark/benchmark.h>
#include <sys/personality.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <sstream>

#include "harness/machine/build_info.hpp"
#include "harness/os/system_file.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace taskbench::harness {
namespace {

using model::Environment;

/// Reads a file with one number: 0 is false, everything else true.
std::optional<bool> flag_in(const char* path) {
  const std::string line = first_line(path);
  if (line.empty()) return std::nullopt;
  return line != "0";
}

std::optional<bool> aslr_enabled() {
  const auto system_wide = flag_in("/proc/sys/kernel/randomize_va_space");
  if (!system_wide) return std::nullopt;
  // 0xffffffff only queries the value. `setarch -R` switches ASLR off for one process.
  const int persona = personality(0xffffffff);
  if (persona < 0) return std::nullopt;
  return *system_wide && (persona & ADDR_NO_RANDOMIZE) == 0;
}

void probe_cpu_model(Environment& environment) {
  constexpr const char* kCpuInfo = "/proc/cpuinfo";
  environment.cpu_model = value_of_line(kCpuInfo, "model name");
  if (environment.cpu_model.empty()) environment.cpu_model = value_of_line(kCpuInfo, "Model");
  environment.cpu_microcode = value_of_line(kCpuInfo, "microcode");
}

void probe_google_benchmark(Environment& environment) {
  const benchmark::CPUInfo& cpu = benchmark::CPUInfo::Get();
  environment.host_name = benchmark::SystemInfo::Get().name;
  environment.cpu_count = cpu.num_cpus;
  environment.cpu_mhz = std::isfinite(cpu.cycles_per_second)
                            ? std::max(0LL, std::llround(cpu.cycles_per_second / 1e6))
                            : 0;
  if (cpu.scaling != benchmark::CPUInfo::UNKNOWN) {
    environment.cpu_scaling_enabled = cpu.scaling == benchmark::CPUInfo::ENABLED;
  }
  for (const auto& cache : cpu.caches) {
    environment.caches.push_back({.type = cache.type,
                                  .level = cache.level,
                                  .size_bytes = cache.size,
                                  .num_sharing = cache.num_sharing});
  }
}

/// A fact about the library. Google Benchmark reports such facts only in its JSON; older versions
/// report no version.
std::string library_fact(std::string_view context, std::string_view key) {
  const std::string quoted = fmt::format("\"{}\": \"", key);
  const auto start = context.find(quoted);
  if (start == std::string_view::npos) return {};
  const std::string_view value = context.substr(start + quoted.size());
  return std::string(value.substr(0, value.find('"')));
}

void probe_google_benchmark_build(Environment& environment) {
  std::ostringstream out;
  benchmark::JSONReporter reporter;
  reporter.SetOutputStream(&out);
  reporter.SetErrorStream(&out);
  (void)reporter.ReportContext(benchmark::BenchmarkReporter::Context());
  environment.benchmark_library_version = library_fact(out.str(), "library_version");
  environment.benchmark_library_build_type = library_fact(out.str(), "library_build_type");
}

/// Hypervisors identify themselves in the CPUID leaves from 0x40000000 on. Empty if the CPU reports
/// no hypervisor, or has no CPUID.
std::string hypervisor_signature() {
#if defined(__x86_64__) || defined(__i386__)
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned kHypervisorPresent = 1U << 31;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kHypervisorPresent) == 0) return {};
  __cpuid(0x40000000, eax, ebx, ecx, edx);
  std::array<char, 12> signature{};
  std::memcpy(signature.data(), &ebx, 4);
  std::memcpy(signature.data() + 4, &ecx, 4);
  std::memcpy(signature.data() + 8, &edx, 4);
  std::string text;
  for (const char c : signature) {
    if (c >= ' ' && c <= '~') text += c;
  }
  return text.empty() ? "unknown" : text;
#else
  return {};
#endif
}

void probe_system(Environment& environment) {
  utsname system{};
  if (uname(&system) == 0) {
    environment.kernel = fmt::format("{} {}", system.sysname, system.release);
  }
  std::array<double, 3> load{};
  const int count = getloadavg(load.data(), static_cast<int>(load.size()));
  if (count > 0) environment.load_avg.assign(load.begin(), std::next(load.begin(), count));
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) environment.memory_bytes = std::int64_t{pages} * page_bytes;
  environment.aslr_enabled = aslr_enabled();
  environment.smt_active = flag_in("/sys/devices/system/cpu/smt/active");
  environment.cpu_governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  environment.hypervisor = hypervisor();
}

void store_build(Environment& environment) {
  environment.compiler = std::string(kCompiler);
  environment.compiler_flags = std::string(kCompilerFlags);
  environment.build_type = std::string(kBuildType);
  environment.git_commit = std::string(kGitCommit);
  environment.taskbench_version = std::string(kVersion);
}

}  // namespace

std::string local_date() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  if (localtime_r(&now, &local) == nullptr) return {};
  std::array<char, 64> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S%z", &local);
  if (length < 2) return {};
  // RFC 3339 requires a colon in the offset, which %z leaves out.
  const std::string_view date(text.data(), length);
  return fmt::format("{}:{}", date.substr(0, length - 2), date.substr(length - 2));
}

std::string hypervisor() {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kNames{{
      {"KVMKVMKVM", "kvm"},
      {"Linux KVM Hv", "kvm"},
      {"XenVMMXenVMM", "xen"},
      {"VMwareVMware", "vmware"},
      {"Microsoft Hv", "hyperv"},
      {"TCGTCGTCGTCG", "qemu"},
      {"VBoxVBoxVBox", "virtualbox"},
      {"bhyve bhyve ", "bhyve"},
      {"ACRNACRNACRN", "acrn"},
  }};
  const std::string signature = hypervisor_signature();
  if (signature.empty()) {
    if (std::string type = first_line("/sys/hypervisor/type"); !type.empty()) return type;
#if defined(__x86_64__) || defined(__i386__)
    return "none";
#else
    return {};
#endif
  }
  const auto name = std::ranges::find(kNames, signature, &decltype(kNames)::value_type::first);
  return name == kNames.end() ? trimmed(signature) : std::string(name->second);
}

Environment probe_environment(std::string executable, std::string_view workloads_version) {
  Environment environment;
  environment.executable = std::move(executable);
  environment.date = local_date();
  store_build(environment);
  environment.workloads_version = workloads_version;
  probe_system(environment);
  probe_cpu_model(environment);
  probe_google_benchmark(environment);
  probe_google_benchmark_build(environment);
  return environment;
}

}  // namespace taskbench::harness
