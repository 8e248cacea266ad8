// The fields of verdicts and their bases, shared by all files that contain them.
#pragma once

#include "reports/json/field.hpp"
#include "reports/model/paired.hpp"
#include "reports/verdict/counter_move.hpp"
#include "reports/verdict/decision.hpp"
#include "reports/verdict/exact.hpp"
#include "reports/verdict/metric.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::json {

template <>
inline constexpr auto kWords<verdict::Verdict> = verdict::kVerdictWords;

template <class Io, Like<model::NoiseFloor> Floor>
void describe(Io& io, Floor& floor) {
  io("epsilon", floor.epsilon, is_not_negative);
  io("source", floor.source);
}

template <class Io, Like<verdict::CounterMove> Move>
void describe(Io& io, Move& move) {
  io("name", move.name);
  io("base", move.base);
  io("head", move.head);
  io("score", move.score);
}

template <class Io, Like<verdict::ExactChange> Change>
void describe(Io& io, Change& exact) {
  io("base", exact.base);
  io("head", exact.head);
  io("change", exact.change);
  io("threshold", exact.threshold);
  io("repeats", exact.repeats);
}

template <class Io, Like<verdict::InstructionsVerdict> Instructions>
void describe(Io& io, Instructions& instructions) {
  io("verdict", instructions.verdict);
  io.or_null("reason", instructions.reason);
  io.members("base", instructions.exact);
  io.unless_default("acknowledged", instructions.acknowledged);
  io.unless_default("only_shown", instructions.only_shown);
}

template <class Io, Like<verdict::KindVerdict> Kind>
void describe(Io& io, Kind& kind) {
  io("kind", kind.kind);
  io("verdict", kind.verdict);
  io("base", kind.base, is_not_negative);
  io("head", kind.head, is_not_negative);
  io("threshold", kind.threshold, is_not_negative);
  io("repeats", kind.repeats);
  io.unless_default("acknowledged", kind.acknowledged);
}

template <class Io, Like<verdict::LookDecision> Decision>
void describe(Io& io, Decision& decided) {
  io("verdict", decided.verdict);
  io("improved", decided.improved);
  io("blocks", decided.blocks);
  io("change", decided.change);
}

/// `base` and `head` are the names of the values of both sides.
template <class Io, class Metric>
void describe_metric(Io& io, Metric& row, const char* base, const char* head) {
  io("verdict", row.verdict);
  io("improved", row.improved);
  io.since("decided", row.decided);
  io("blocks", row.blocks);
  io(base, row.base, is_not_negative);
  io(head, row.head, is_not_negative);
  io("change", row.change);
  io("interval_level", row.interval_level);
  io("interval_low", row.low);
  io("interval_high", row.high);
  io("p", row.p);
  io("p_adjusted", row.p_adjusted);
  io.since("alpha", row.alpha);
  io("epsilon", row.epsilon);
  io("delta", row.delta);
  io("detectable", row.detectable);
  io("blocks_needed", row.blocks_needed);
  io.unless_default("layout_error", row.layout_error, is_not_negative);
}

template <class Io, Like<verdict::MetricVerdict> Metric>
void describe(Io& io, Metric& row) {
  describe_metric(io, row, "base_ns", "head_ns");
}

template <class Io, Like<verdict::JudgedVerdict> Judged>
void describe(Io& io, Judged& row) {
  io("metric", row.metric);
  io.unless_default("more_is_better", row.more_is_better);
  io.unless_default("reason", row.reason);
  describe_metric(io, row, "base", "head");
}

template <class Io, Like<verdict::Machine> Machine>
void describe(Io& io, Machine& machine) {
  io("host", machine.host);
  io("kind", machine.kind);
  io("parts", machine.parts);
  io("blocks", machine.blocks);
}

template <class Io, Like<verdict::MachineEffect> Effect>
void describe(Io& io, Effect& effect) {
  io("blocks", effect.blocks);
  io("change", effect.change);
  io("interval_low", effect.low);
  io("interval_high", effect.high);
  io("change_without", effect.change_without);
}

template <class Io, Like<verdict::KindEffect> Effect>
void describe(Io& io, Effect& effect) {
  io("kind", effect.kind);
  io("machines", effect.machines);
  io("blocks", effect.blocks);
  io("change", effect.change);
  io("interval_low", effect.low);
  io("interval_high", effect.high);
}

template <class Io, Like<verdict::ByMachine> ByMachine>
void describe(Io& io, ByMachine& by) {
  io("machines", by.machines);
  io.unless_default("kinds", by.kinds);
  io("spread", by.spread, is_not_negative);
  io("p_equal", by.p_equal);
  io("other_unit", by.other);
  io("detectable_with_another", by.detectable_with_another);
}

template <class Io, Like<verdict::BenchmarkVerdict> Row>
void describe(Io& io, Row& row) {
  io("name", row.name);
  describe_metric(io, row, "base_ns", "head_ns");
  io.since("cpu_time", row.cpu);
  io.unless_default("judged", row.judged);
  io("counters", row.counters);
  io.since("instructions", row.instructions);
  io.since("kinds", row.kinds);
  io.unless_default("by_machine", row.by_machine);
}

}  // namespace taskbench::reports::json
