#include "reports/json/ladder.hpp"

#include <algorithm>

#include "reports/json/field.hpp"
#include "reports/verdict/ladder.hpp"

namespace taskbench::reports::json {

void describe(Writer& io, const verdict::Gain& gain) {
  io("ratio", gain.ratio);
  io("low", gain.interval ? std::optional(gain.interval->low) : std::nullopt);
  io("high", gain.interval ? std::optional(gain.interval->high) : std::nullopt);
  io("sure", gain.is_sure());
}

void describe(Writer& io, const model::LadderRung& rung) {
  io("scheduler", rung.scheduler);
  io("step", rung.step);
  io("ours", rung.is_ours);
}

void describe(Writer& io, const model::DocumentedTotal& total) {
  io("before_ns", total.before_ns);
  io("after_ns", total.after_ns);
  io("ratio", total.ratio());
}

void describe(Writer& io, const model::Ladder& ladder) {
  io.version("taskbench_ladder", model::kLadderVersion, model::kLadderVersion);
  io("date", ladder.date);
  io.or_null("commit", ladder.commit);
  io("machine", ladder.machine);
  io("workers", ladder.workers);
  io("repetitions", ladder.repetitions);
  io("min_time_s", ladder.min_time_s);
  io("seed", ladder.seed);
  io("partial", ladder.partial);
  io("interval_level", verdict::kLadderConfidence);
  io("rungs", ladder.rungs);
  io.each("workloads", verdict::climb(ladder), [&](Writer& of, const auto& verdict) {
    of("name", verdict.workload);
    of("document", verdict.documented ? std::optional(*verdict.documented) : std::nullopt);
    auto rung = ladder.rungs.begin();
    of.each("rungs", verdict.rows, [&](Writer& row, const verdict::LadderRow& step) {
      row("scheduler", (rung++)->scheduler);
      row("median_ns", step.median_ns);
      row("step", step.step);
      row("total", step.total);
    });
    const auto& all = ladder.workloads;
    of("blocks_ns",
       std::ranges::find(all, verdict.workload, &model::LadderWorkload::name)->blocks_ns);
  });
}

std::string to_json(const model::Ladder& ladder) { return file_text(ladder); }

}  // namespace taskbench::reports::json
