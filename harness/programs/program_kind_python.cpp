#include <fstream>

#include "harness/os/system_file.hpp"
#include "harness/programs/program.hpp"
#include "harness/programs/program_kind.hpp"
#include "reports/tools/recorded.hpp"

namespace taskbench::harness {
namespace {

// A plugin for pytest. The timer measures a round's CPU time; pytest-benchmark only subtracts and
// divides its values. Without the plugin, each process would spend seconds on identifying the
// machine.
constexpr const char* kPlugin = R"(import time

import pytest


class Seconds(float):
    def __new__(cls, wall, cpu=0.0):
        self = super().__new__(cls, wall)
        self.cpu = cpu
        return self

    def __sub__(self, other):
        if not isinstance(other, Seconds):
            return float(self) - other
        return Seconds(float(self) - float(other), self.cpu - other.cpu)

    def __truediv__(self, iterations):
        return Seconds(float(self) / iterations, self.cpu / iterations)


def timer():
    return Seconds(time.perf_counter(), time.process_time())


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_benchmark_generate_machine_info(config):
    return {"node": ""}


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_update_json(config, benchmarks, output_json):
    data = {each.fullname: each.stats.data for each in benchmarks}
    for each in output_json["benchmarks"]:
        times = data.get(each["fullname"], [])
        if all(isinstance(time, Seconds) for time in times):
            each["stats"]["cpu_data"] = [time.cpu for time in times]
)";

/// Pytest tests that use the fixture of pytest-benchmark.
class PytestKind final : public NamedKind {
 public:
  PytestKind() : NamedKind("pytest", "pytest, with benchmarks of pytest-benchmark") {}

 private:
  Strings arguments(const Strings& command, const SampleRequest& request,
                    const fs::path& file) const override {
    Strings words = command;
    // The configuration may have --benchmark-disable. `env PYTHONPATH=src` would hide the plugin.
    for (std::string& word : words) {
      if (word.starts_with("PYTHONPATH=")) word += ":" + file.parent_path().string();
    }
    words = with(
        std::move(words),
        {"-q", "-p", "no:cacheprovider", "-p", "taskbench_pytest", "--benchmark-only",
         "--benchmark-enable", "--benchmark-timer=taskbench_pytest.timer",
         "--benchmark-columns=min", "--benchmark-json=" + file.string(),
         fmt::format("--benchmark-min-rounds={}", request.repetitions),
         fmt::format("--benchmark-min-time={}", request.min_time_s), "--benchmark-max-time=0"});
    // -k takes no parameters, and selects all functions whose names contain one of these.
    const Strings functions = once_each(request.benchmarks, [](const std::string& name) {
      const std::string test = name.substr(0, name.find('[', name.find("::")));  // "t.py::C::test"
      const std::size_t begin = test.rfind("::") == test.npos ? 0 : test.rfind("::") + 2;
      return test.substr(begin);
    });
    return functions.empty() ? words : with(std::move(words), {"-k", joined(functions, " or ")});
  }

  Strings environment(const SampleRequest&, const fs::path& file) const override {
    const std::string others = environment_value("PYTHONPATH");
    return {fmt::format("PYTHONPATH={}{}{}", file.parent_path().string(), others.empty() ? "" : ":",
                        others)};
  }

  void prepare(const fs::path& file) const override {
    const fs::path plugin = file.parent_path() / "taskbench_pytest.py";
    if (fs::exists(plugin)) return;
    if (!(std::ofstream(plugin) << kPlugin << std::flush)) {
      throw ProgramError(fmt::format("{} cannot be written", plugin.string()));
    }
  }

  model::Run read(const Strings& command, const SampleRequest&, const ProcessOutcome&,
                  const fs::path& file) const override {
    return unless_empty(
        reports::tools::parse_pytest_benchmark(file, written_by(command, *this, file)),
        fmt::format("'{}' ran no test with the fixture 'benchmark'", joined(command, " ")));
  }

  bool finds_iterations() const override { return true; }
  std::optional<model::CpuTimeOf> cpu_time_of(const std::string&) const override {
    return model::CpuTimeOf::process;
  }
  std::string why_not_counted() const override {
    return "callgrind cannot tell where a benchmark of Python begins and ends";
  }
};

/// A script whose benchmarks are run by a pyperf.Runner, each in a process of its own.
class PyperfKind final : public NamedKind {
 public:
  PyperfKind() : NamedKind("pyperf", "a script with benchmarks of pyperf.Runner") {}

 private:
  Strings arguments(const Strings& command, const SampleRequest& request,
                    const fs::path& file) const override {
    return with(
        command,
        {"--quiet", "--processes=1", "--warmups=1", fmt::format("--values={}", request.repetitions),
         fmt::format("--min-time={}", request.min_time_s), "--output=" + file.string()});
  }

  model::Run read(const Strings& command, const SampleRequest&, const ProcessOutcome&,
                  const fs::path& file) const override {
    return unless_empty(reports::tools::parse_pyperf(file, written_by(command, *this, file)),
                        fmt::format("'{}' ran no benchmark of pyperf", joined(command, " ")));
  }

  bool finds_iterations() const override { return true; }
  std::string why_not_counted() const override {
    return "callgrind cannot tell where a benchmark of Python begins and ends";
  }
};

}  // namespace

const ProgramKind& pytest_kind() {
  static const PytestKind kind;
  return kind;
}

const ProgramKind& pyperf_kind() {
  static const PyperfKind kind;
  return kind;
}

}  // namespace taskbench::harness
