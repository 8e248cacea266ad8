#include <algorithm>

#include "reports/json/field.hpp"
#include "reports/json/reader.hpp"
#include "reports/json/writer.hpp"
#include "reports/verdict/ladder.hpp"

namespace taskbench::reports::json {

void describe(Writer& io, const verdict::Gain& gain) {
  io("ratio", gain.ratio);
  io("low", gain.interval ? std::optional(gain.interval->low) : std::nullopt);
  io("high", gain.interval ? std::optional(gain.interval->high) : std::nullopt);
  io("sure", gain.is_sure());
}

template <class Io, Like<model::LadderRung> Rung>
void describe(Io& io, Rung& rung) {
  io("scheduler", rung.scheduler);
  io("step", rung.step);
  io("ours", rung.is_ours);
}

void describe(Writer& io, const model::DocumentedTotal& total) {
  io("before_ns", total.before_ns);
  io("after_ns", total.after_ns);
  io("ratio", total.ratio());
}

constexpr const char* kLadderMark = "taskbench_ladder";

void are_two_or_more(const Field& rungs) {
  if (rungs.elements().size() < 2) rungs.fail("has fewer than two of them");
}

/// Values derived from the blocks of a workload, for readers without their own statistics.
void describe_verdict(Writer& io, const model::Ladder& ladder,
                      const verdict::LadderVerdict& verdict) {
  io("document", verdict.documented ? std::optional(*verdict.documented) : std::nullopt);
  auto rung = ladder.rungs.begin();
  io.each("rungs", verdict.rows, [&](Writer& row, const verdict::LadderRow& step) {
    row("scheduler", (rung++)->scheduler);
    row("median_ns", step.median_ns);
    row("step", step.step);
    row("total", step.total);
  });
}

/// Every workload has a block.
template <class Io, Like<model::Ladder> Ladder>
void describe(Io& io, Ladder& ladder) {
  io.version(kLadderMark, model::kLadderVersion, model::kLadderVersion);
  io("date", ladder.date);
  io.or_null("commit", ladder.commit);
  io("machine", ladder.machine);
  io("workers", ladder.workers, is_whole<1, 1 << 20>);
  io("repetitions", ladder.repetitions);
  io("min_time_s", ladder.min_time_s);
  io("seed", ladder.seed);
  io("partial", ladder.partial);
  io.derived("interval_level", [] { return verdict::kLadderConfidence; });
  io("rungs", ladder.rungs, are_two_or_more);
  const auto verdicts = verdict::climb(ladder);  // none while reading
  const auto are_sound = [&](const Field& blocks) {
    is_not_empty(blocks);
    for (const Field& block : blocks.elements()) {
      const auto times = block.elements();
      std::ranges::for_each(times, is_positive);
      if (times.size() != ladder.rungs.size())
        block.fail("has not as many times as there are rungs");
    }
  };
  auto verdict = verdicts.begin();
  io.each("workloads", ladder.workloads, [&](auto& of, auto& workload) {
    of("name", workload.name);
    if constexpr (std::same_as<Io, Writer>) describe_verdict(of, ladder, *verdict++);
    of("blocks_ns", workload.blocks_ns, are_sound);
  });
}

std::string to_json(model::Ladder ladder) {
  std::erase_if(ladder.workloads, [](const auto& each) { return each.blocks_ns.empty(); });
  return file_text(ladder);
}

bool is_ladder(std::string_view text) { return begins_with_key(text, kLadderMark); }

model::Ladder parse_ladder(const std::filesystem::path& path, std::string_view text) {
  return read_file_text(path, text, "not a sound answer of `taskbench ladder`: ", "create it again",
                        [](const Field& root) { return root.get<model::Ladder>(); });
}

}  // namespace taskbench::reports::json
