// The facts that determine how fast programs run on this machine and do not vary from run to run.
#pragma once

#include "harness/os/names.hpp"
#include "reports/model/machine_key.hpp"
#include "reports/model/run.hpp"

namespace taskbench::harness {

/// The fields of the machine: cpu_model, cpu_vendor, cpu_family, cpu_model_number, cpu_stepping,
/// cpu_microcode, cpus, cpus_allowed, cores_per_socket, sockets, smt, cpu_governor, cpu_boost,
/// kernel, hypervisor. All are present; unknown ones are empty. Nothing throws. `root` is the
/// folder that contains /proc and /sys.
[[nodiscard]] model::MachineKey probe_machine(const fs::path& root = "/");

/// Eight digits that distinguish this machine, since its last boot, from others of its kind. All
/// containers of a machine have the same; each virtual machine has its own.
[[nodiscard]] std::string probe_identity(const fs::path& root = "/");

/// The fields of the build that wrote `result`: compiler, compiler_flags and workloads_version for
/// a taskbench; benchmark_library_version and benchmark_library_build_type for any program that
/// uses Google Benchmark.
[[nodiscard]] std::vector<model::KeyField> build_fields(const model::Run& result);

}  // namespace taskbench::harness
