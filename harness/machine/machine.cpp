#include "harness/machine/machine.hpp"

#include <array>
#include <fstream>
#include <map>
#include <set>

#include "harness/machine/disturbances.hpp"
#include "harness/machine/environment.hpp"
#include "harness/os/cpu_affinity.hpp"
#include "harness/os/system_file.hpp"
#include "reports/model/fingerprint.hpp"

namespace taskbench::harness {
namespace {

using model::KeyField;
using model::MachineKey;

/// The facts about the first CPU. The first column has their names on x86, the second those on Arm.
std::map<std::string, std::string> cpu_facts(const fs::path& root) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kNames{{
      {"model name", "cpu_model"},
      {"Model", "cpu_model"},
      {"vendor_id", "cpu_vendor"},
      {"CPU implementer", "cpu_vendor"},
      {"cpu family", "cpu_family"},
      {"CPU architecture", "cpu_family"},
      {"model", "cpu_model_number"},
      {"CPU part", "cpu_model_number"},
      {"stepping", "cpu_stepping"},
      {"CPU revision", "cpu_stepping"},
      {"microcode", "cpu_microcode"},
  }};
  std::map<std::string, std::string> facts;
  std::ifstream cpuinfo(root / "proc/cpuinfo");
  std::string line;
  while (std::getline(cpuinfo, line)) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) {
      if (!facts.empty()) break;  // the blank line that ends the first CPU
      continue;
    }
    const std::string key = trimmed(std::string_view(line).substr(0, colon));
    for (const auto& [theirs, ours] : kNames) {
      if (key == theirs) {
        facts[std::string(ours)] = trimmed(std::string_view(line).substr(colon + 1));
      }
    }
  }
  return facts;
}

bool is_cpu_folder(std::string_view name) {
  if (!name.starts_with("cpu") || name.size() == 3) return false;
  return name.find_first_not_of("0123456789", 3) == std::string_view::npos;
}

struct Topology {
  std::string cpus;
  std::string cores_per_socket;
  std::string sockets;
};

/// The topology of the online CPUs: others have no folder `topology`.
Topology topology(const fs::path& root) {
  std::size_t cpus = 0;
  std::set<std::string> sockets;
  std::set<std::pair<std::string, std::string>> cores;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(root / "sys/devices/system/cpu", failed)) {
    if (!is_cpu_folder(entry.path().filename().native())) continue;
    const std::string socket = first_line(entry.path() / "topology/physical_package_id");
    const std::string core = first_line(entry.path() / "topology/core_id");
    if (socket.empty() || core.empty()) continue;
    ++cpus;
    sockets.insert(socket);
    cores.emplace(socket, core);
  }
  if (cpus == 0) return {};
  const bool even = cores.size() % sockets.size() == 0;
  return {std::to_string(cpus), even ? std::to_string(cores.size() / sockets.size()) : "uneven",
          std::to_string(sockets.size())};
}

std::string smt(const fs::path& root) {
  const std::string active = first_line(root / "sys/devices/system/cpu/smt/active");
  if (active != "0" && active != "1") return {};
  return active == "1" ? "on" : "off";
}

std::string frequency_boost(const fs::path& root) {
  const auto boost = probe_boost(root);
  if (!boost) return {};
  return boost->on ? "on" : "off";
}

std::string allowed_cpu_count() {
  const std::size_t count = allowed_cpus().size();
  return count == 0 ? std::string{} : std::to_string(count);
}

}  // namespace

MachineKey probe_machine(const fs::path& root) {
  std::map<std::string, std::string> cpu = cpu_facts(root);
  const Topology cpus = topology(root);
  MachineKey key;
  for (const char* name : {"cpu_model", "cpu_vendor", "cpu_family", "cpu_model_number",
                           "cpu_stepping", "cpu_microcode"}) {
    key.machine.push_back({name, cpu[name]});
  }
  const fs::path first_cpu = root / "sys/devices/system/cpu/cpu0";
  key.machine.insert(key.machine.end(),
                     {{"cpus", cpus.cpus},
                      {"cpus_allowed", allowed_cpu_count()},
                      {"cores_per_socket", cpus.cores_per_socket},
                      {"sockets", cpus.sockets},
                      {"smt", smt(root)},
                      {"cpu_governor", first_line(first_cpu / "cpufreq/scaling_governor")},
                      {"cpu_boost", frequency_boost(root)},
                      {"kernel", first_line(root / "proc/sys/kernel/osrelease")},
                      {"hypervisor", hypervisor()}});
  return key;
}

std::string probe_identity(const fs::path& root) {
  const std::string boot = first_line(root / "proc/sys/kernel/random/boot_id");
  return model::fingerprint_digits(boot.empty() ? probe_environment("").host_name : boot);
}

std::vector<KeyField> build_fields(const model::Run& result) {
  const auto& from = result.environment;
  return {{"compiler", from.compiler},
          {"compiler_flags", from.compiler_flags},
          {"workloads_version", from.workloads_version},
          {"benchmark_library_version", from.benchmark_library_version},
          {"benchmark_library_build_type", from.benchmark_library_build_type}};
}

}  // namespace taskbench::harness
