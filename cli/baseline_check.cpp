#include "cli/baseline_check.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "cli/paired_trial.hpp"
#include "cli/progress_line.hpp"
#include "cli/series.hpp"
#include "cli/streams.hpp"
#include "cli/terminal.hpp"
#include "cli/usage_error.hpp"
#include "reports/json/atomic_file.hpp"
#include "reports/json/reader.hpp"
#include "reports/render/baseline.hpp"
#include "reports/verdict/baseline.hpp"
#include "workloads/measure/machine.hpp"

namespace taskbench::cli {
namespace {

namespace json = reports::json;
namespace model = reports::model;
namespace render = reports::render;
using Clock = std::chrono::steady_clock;
using workloads::measure::ProgramError;

/// The baseline is of another machine or build; what() says wherein.
class WrongMachine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string shown(const std::string& value) {
  return value.empty() ? std::string("unknown") : fmt::format("'{}'", value);
}

/// Every field that differs, of every baseline of that name, the nearest first.
std::string refusal(const std::string& name, std::vector<const StoreEntry*> others,
                    const model::MachineKey& here, bool with_build) {
  const auto differing = [&](const StoreEntry* entry) {
    const model::MachineKey& key = entry->rolling.setup.key;
    return with_build ? differences(key, here) : differences(key.machine, here.machine);
  };
  std::ranges::stable_sort(others, {}, [&](const StoreEntry* e) { return differing(e).size(); });
  std::string text = fmt::format("no baseline '{}' of this {}", name,
                                 with_build ? "build on this machine" : "machine");
  for (const StoreEntry* entry : others) {
    std::string fields;
    for (const auto& each : differing(entry)) {
      fields += fmt::format("{}{}: {} there, {} here", fields.empty() ? "" : "; ", each.name,
                            shown(each.first), shown(each.second));
    }
    text +=
        fmt::format("\n  {} differs in {}", model::baseline_key(entry->rolling.setup.key), fields);
  }
  return text;
}

/// Those of this machine. Throws UsageError when none has the name, WrongMachine when others have.
std::vector<const StoreEntry*> of_this_machine(const StoreContent& content, const std::string& name,
                                               const model::MachineKey& here) {
  std::vector<const StoreEntry*> others;
  std::vector<const StoreEntry*> ours;
  for (const StoreEntry& entry : content.entries) {
    if (entry.rolling.setup.name != name) continue;
    const bool same = differences(entry.rolling.setup.key.machine, here.machine).empty();
    (same ? ours : others).push_back(&entry);
  }
  if (!ours.empty()) return ours;
  for (const BadEntry& bad : content.bad) {
    if (bad.name == name) throw UsageError(bad.what);
  }
  if (others.empty()) throw UsageError(unknown_baseline(name, content));
  throw WrongMachine(refusal(name, others, here, false));
}

void refuse_unwritable(const BaselineCheck& check) {
  constexpr std::size_t kReportBytes = 1 << 20;
  for (const auto& path : {check.json, check.markdown}) {
    if (!path) continue;
    const auto outcome = json::check_writable(*path, kReportBytes);
    if (!outcome.ok()) throw UsageError(outcome.error);
  }
}

/// The same way of measuring as the baseline's, but for what is drawn.
model::SeriesSetup fresh_setup(const model::SeriesSetup& stored, int processes) {
  model::SeriesSetup setup;
  setup.name = stored.name;
  setup.processes = processes;
  setup.seed = stored.seed + 1;
  setup.repetitions = stored.repetitions;
  setup.min_time_s = stored.min_time_s;
  return setup;
}

std::vector<std::string> common(const model::SeriesSetup& stored, const model::SeriesSetup& now) {
  std::vector<std::string> names;
  for (const std::string& name : stored.benchmarks) {
    if (std::ranges::find(now.benchmarks, name) != now.benchmarks.end()) names.push_back(name);
  }
  if (names.empty()) {
    throw UsageError(fmt::format(
        "the program and the baseline '{}' have no benchmark in common; nothing can be compared",
        stored.name));
  }
  return names;
}

/// Measures. Its report is not made yet.
render::BaselineComparison measure(const BaselineCheck& check, const std::atomic<bool>& stop) {
  const StoreContent content = BaselineStore(check.store).read();
  const model::MachineKey here = workloads::measure::probe_machine();
  const auto ours = of_this_machine(content, check.name, here);
  const std::string command =
      check.program.empty() ? ours.front()->rolling.setup.command : check.program;
  const SeriesProgram program = series_program(command, check.timeout_s, stop);
  const ScratchFolder scratch;
  render::BaselineComparison comparison;
  model::Series& now = comparison.now;
  now.setup = fresh_setup(ours.front()->rolling.setup, check.processes);
  explore(program, scratch.path(), stop, now.setup);
  const auto same_build = std::ranges::find_if(ours, [&](const StoreEntry* entry) {
    return differences(entry->rolling.setup.key, now.setup.key).empty();
  });
  if (same_build == ours.end()) throw WrongMachine(refusal(check.name, ours, now.setup.key, true));
  comparison.rolling = (*same_build)->rolling;
  comparison.anchor = (*same_build)->anchor;
  const model::SeriesSetup& stored = comparison.rolling.setup;
  now.setup.seed = stored.seed + 1;
  now.setup.repetitions = stored.repetitions;
  now.setup.min_time_s = stored.min_time_s;
  now.setup.iterations = stored.iterations;
  ProgressLine line(progress_style(check.quiet));
  const Clock::time_point start = Clock::now();
  run_series(program, common(stored, now.setup), scratch.path(), stop,
             {.begun =
                  [&](std::size_t done) {
                    line.show(fmt::format("process {} of {}", done + 1, check.processes),
                              std::chrono::duration<double>(Clock::now() - start).count());
                  },
              .measured = [](const model::SeriesProcess&, std::size_t) {}},
             now);
  return comparison;
}

bool write_files(const BaselineCheck& check, const render::BaselineComparison& comparison) {
  bool all_written = true;
  const auto write = [&](const std::filesystem::path& path, const std::string& content) {
    const auto outcome = json::write_file_atomically(path, content);
    if (outcome.ok()) return;
    print_error(outcome.error);
    all_written = false;
  };
  if (check.json) write(*check.json, render::json(comparison));
  if (check.markdown) write(*check.markdown, render::markdown(comparison, check.comment));
  return all_written;
}

ExitCode interrupted() {
  print_note("interrupted; a comparison is begun anew");
  return ExitCode::interrupted;
}

}  // namespace

ExitCode check_baseline(const BaselineCheck& check, const VerdictOptions& verdict,
                        const std::atomic<bool>& stop) {
  refuse_unwritable(check);
  try {
    render::BaselineComparison comparison = measure(check, stop);
    if (!comparison.now.complete()) return interrupted();
    comparison.policy.alpha = verdict.alpha();
    comparison.policy.delta = verdict.delta();
    comparison.report = reports::verdict::compare_with_baseline(
        comparison.now, comparison.rolling, comparison.anchor ? &*comparison.anchor : nullptr,
        comparison.policy);
    const bool written = write_files(check, comparison);
    render::TableStyle style;
    style.colour = takes_colour(STDOUT_FILENO);
    style.width = columns(STDOUT_FILENO, style.width);
    const bool printed = check.quiet || print_result(render::table(comparison, style));
    if (!written || !printed) return ExitCode::usage;
    if (comparison.report.environment_moved) return ExitCode::wrong_machine;
    return verdict.exit_code(comparison.report.overall);
  } catch (const UsageError&) {
    if (!stop) throw;
    return interrupted();
  } catch (const WrongMachine& error) {
    print_error(error.what());
    return ExitCode::wrong_machine;
  } catch (const std::filesystem::filesystem_error& error) {
    throw UsageError(error.what());
  } catch (const ProgramError& error) {
    if (stop) return interrupted();
    print_error(error.what());
  } catch (const json::ReadError& error) {
    print_error(fmt::format("the measured program wrote an unusable result: {}", error.what()));
  }
  return ExitCode::measured_program_failed;
}

}  // namespace taskbench::cli
