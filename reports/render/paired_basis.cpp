#include "reports/render/paired_basis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <string_view>

#include "reports/render/counts.hpp"
#include "reports/render/machines.hpp"
#include "reports/render/verdict_table.hpp"
#include "reports/render/verdict_text.hpp"

namespace taskbench::reports::render {
namespace {

using model::PairedTrial;
using verdict::BenchmarkVerdict;
using verdict::PairedReport;
using verdict::Verdict;

bool layouts_take_turns(const model::PairedSetup& setup) {
  return setup.base.layouts.size() > 1 && setup.head.layouts.size() > 1;
}

/// Whether layout may look like a change: one side has linked programs with a single layout, and
/// its effect has not been measured.
bool layout_may_show(const model::PairedSetup& setup) {
  constexpr std::array<std::string_view, 3> kInterpreted = {"pytest", "pyperf", "jmh"};
  const bool is_linked = std::ranges::find(kInterpreted, setup.kind) == kInterpreted.end();
  return is_linked && !layouts_take_turns(setup) && setup.base.digest != setup.head.digest &&
         std::ranges::any_of(std::views::values(setup.noise_floors),
                             &model::NoiseFloor::is_assumed);
}

/// How the CPU times were judged, if any were.
std::string cpu_basis(const model::PairedSetup& setup) {
  if (setup.cpu_time_of.empty()) return {};
  std::string text = fmt::format(
      " CPU times are judged separately, with the same noise floors and a chance of a false alarm "
      "of {} of their own; their rows are left out where both times simply pass.",
      percent(setup.alpha));
  if (model::contains(std::views::values(setup.cpu_time_of), model::CpuTimeOf::main_thread)) {
    text +=
        " Google Benchmark's are those of the main thread alone, unless MeasureProcessCPUTime() is "
        "called.";
  }
  return text;
}

/// How requested metrics were judged.
std::string judged_basis(const model::PairedSetup& setup) {
  if (setup.judged.empty()) return {};
  return fmt::format(" Also judged: {}; each with its own chance of a false alarm of {}.",
                     fmt::join(judged_thresholds(setup.judged), ", "), percent(setup.alpha));
}

/// The use of the machine by other processes, if the journal has it.
std::string machine_basis(const model::Drift& machine) {
  if (!machine.others_share || !machine.stolen_share) return {};
  return fmt::format(" Others used {} of the CPUs meanwhile, the hypervisor {}.",
                     percent(*machine.others_share), percent(*machine.stolen_share));
}

/// Whether layouts are drawn; if not, the consequence, unless a remark states it.
std::string layout_basis(const model::PairedSetup& setup, bool is_remarked) {
  if (layouts_take_turns(setup)) {
    return fmt::format(
        " Each side is linked several times, its code in another order each time, and these "
        "executables take turns: {} of base, {} of head.",
        setup.base.layouts.size(), setup.head.layouts.size());
  }
  if (is_remarked || setup.base.digest == setup.head.digest) return {};
  return ' ' + one_layout_text(setup);
}

/// How repetitions were fitted into the budget, in brackets; empty if they were not.
std::string fitting_text(const model::PairedSetup& setup) {
  const model::PairedSetup usual;
  if (!setup.fits_budget) return {};
  if (setup.repetitions < usual.repetitions || setup.min_time_s < usual.min_time_s) {
    return fmt::format(" (fewer or shorter than {} of {:g} ms, so that more blocks fit the budget)",
                       usual.repetitions, 1e3 * usual.min_time_s);
  }
  if (setup.min_time_s > usual.min_time_s) {
    return fmt::format(" (longer than {:g} ms, as the program takes long to start)",
                       1e3 * usual.min_time_s);
  }
  return {};
}

}  // namespace

std::string threshold_text(const model::PairedSetup& setup, const PairedReport& report) {
  if (report.benchmarks.empty()) return percent(setup.delta);
  const auto [a, b] = std::ranges::minmax(report.benchmarks, {}, &BenchmarkVerdict::delta);
  return range_text(percent(a.delta), percent(b.delta)) +
         (a.delta == b.delta ? "" : " (by benchmark)");
}

bool may_be_layout(const PairedTrial& trial, const PairedReport& report) {
  return layout_may_show(trial.setup) &&
         std::ranges::any_of(report.benchmarks, [](const BenchmarkVerdict& row) {
           return row.verdict == Verdict::fail || (row.cpu && row.cpu->verdict == Verdict::fail);
         });
}

std::string one_layout_text(const model::PairedSetup& setup) {
  std::string why;
  for (const model::PairedProgram* each : {&setup.base, &setup.head}) {
    if (why.empty() && !each->one_layout.empty()) why = ": " + each->one_layout;
  }
  const bool is_built = !setup.base.commit.empty() && !setup.head.commit.empty();
  const auto executables = [](const model::PairedProgram& of) {
    return counted(std::max<std::size_t>(1, of.layouts.size()), "executable");
  };
  return fmt::format(
      "{} of base, {} of head{}. Where the linker puts code can shift times by 1 to 4 %, "
      "which looks like a change, however many blocks there are. Several executables that are "
      "linked differently and take turns prevent that{}; taskbench calibrate measures how much it "
      "is.",
      executables(setup.base), executables(setup.head), why,
      is_built ? "" : " (--base 'old/*' --head 'new/*', with copies by scripts/relink)");
}

std::string noise_floors_text(const std::map<std::string, model::NoiseFloor>& floors) {
  std::map<std::string, Extent> ranges;  // by source
  for (const auto& [name, floor] : floors) ranges[floor.source].take(floor.epsilon);
  std::string text;
  for (const auto& [source, range] : ranges) {
    text += fmt::format(" Noise floor: {}, {}.",
                        range_text(percent(range.least), percent(range.most)), source);
  }
  return text;
}

std::string basis(const PairedTrial& trial, const PairedReport& report, bool layout_aside) {
  const auto& setup = trial.setup;
  std::string text = fmt::format(
      "{} of {} processes, {} of {} ms in each process{}; seed {}. FAIL: slower by {} or more, "
      "with a chance of {} that any benchmark is a false alarm. PASS: the upper end of the "
      "interval is below that.",
      counted(report.blocks, "block"), model::kBlockSize, counted(setup.repetitions, "repetition"),
      setup.min_time_s * 1e3, fitting_text(setup), setup.seed, threshold_text(setup, report),
      percent(setup.alpha));
  text += report.machines.empty()
              ? " From 8 blocks on, the verdict is checked repeatedly; the first clear one stands, "
                "unless its later blocks do not confirm it. A benchmark whose verdict has been "
                "confirmed leaves the later blocks to the others."
              : merged_basis(trial, report);
  text += cpu_basis(setup);
  text += judged_basis(setup);
  if (trial.uncounted.reason.empty()) text += counts_basis(setup);
  if (!setup.kind.empty()) {
    text += fmt::format(" The programs are of the kind {}{}.", setup.kind,
                        setup.cpu_time_of.empty() ? ", which reports no CPU time" : "");
  }
  return text + machine_basis(report.machine) + layout_basis(setup, layout_aside) +
         noise_floors_text(setup.noise_floors);
}

}  // namespace taskbench::reports::render
