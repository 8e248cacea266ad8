#include "cli/trials/paired_instructions.hpp"

#include <algorithm>
#include <stdexcept>

#include "cli/trials/measured_process.hpp"
#include "reports/json/paired.hpp"
#include "reports/model/event_count.hpp"

namespace taskbench::cli {
namespace {

using measure::Program;
using measure::SampleRequest;
using model::InstructionSample;
using model::Side;

void take_counts(const model::Run& result, InstructionSample& sample) {
  sample.unavailable = "it wrote no count of them";
  for (const model::Case& benchmark : result.cases) {
    if (benchmark.name != sample.benchmark) continue;
    for (const model::EventCount& event : benchmark.events) {
      if (event.event != model::kInstructionsExact) continue;
      sample.per_iteration = event.per_iteration;
      sample.unavailable = event.per_iteration.empty() ? event.unavailable : std::string();
    }
  }
}

/// Fills in the counts, or why there are none.
void count(const Program& program, double timeout_s, const fs::path& scratch,
           const std::stop_token& stop, InstructionSample& sample) {
  if (program.kind() != Program::Kind::taskbench) {
    sample.unavailable =
        "only programs that are taskbench tell callgrind where an iteration begins";
    return;
  }
  SampleRequest request;
  request.benchmarks = {sample.benchmark};
  request.iterations = {{sample.benchmark, 1}};  // of the times, which nobody will read
  request.repetitions = 1;
  request.timeout_s = timeout_s;
  request.counts_instructions = true;
  try {
    take_counts(measure_once(program, request, scratch, stop), sample);
  } catch (const std::runtime_error& error) {  // it failed, or wrote what cannot be read
    sample.unavailable = error.what();
  }
}

}  // namespace

void count_instructions(const TrialPrograms& programs, const fs::path& scratch, double timeout_s,
                        const std::stop_token& stop,
                        const std::function<void(const std::string&)>& progress,
                        files::LineFile& journal, model::PairedTrial& trial) {
  if (!trial.setup.counts_instructions) return;
  const auto& names = trial.setup.benchmarks;
  const std::size_t all = 2 * names.size();
  while (trial.instructions.size() < all && !stop.stop_requested()) {
    const std::size_t done = trial.instructions.size();
    InstructionSample sample;
    sample.side = done % 2 == 0 ? Side::base : Side::head;
    sample.benchmark = names[done / 2];
    progress(fmt::format("counting instructions, {} of {}: {}, {}", done + 1, all,
                         name_of(sample.side), sample.benchmark));
    count(sample.side == Side::base ? programs.base : programs.head, timeout_s, scratch, stop,
          sample);
    if (stop.stop_requested()) return;  // what was told to stop has not failed
    journal.append(json::journal_line(sample));
    trial.instructions.push_back(std::move(sample));
  }
}

}  // namespace taskbench::cli
