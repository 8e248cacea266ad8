// The fields of a paired trial, as its journal and its report hold them.
#pragma once

#include <cstdint>

#include "reports/json/field.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::reports::json {

template <>
inline constexpr std::array<std::string_view, 2> kWords<model::Side>{"base", "head"};
template <>
inline constexpr std::array<std::string_view, 2> kWords<model::CpuTimeOf>{"process", "main_thread"};
template <>
inline constexpr std::array<std::string_view, 3> kWords<model::TrialEnd>{"decided", "budget",
                                                                         "blocks"};

template <class Io, Like<model::CpuUse> Use>
void describe(Io& io, Use& use) {
  io("cpu_s", use.total_s);
  io("others_s", use.others_s);
  io("stolen_s", use.stolen_s);
}

template <class Io, Like<model::MachineUse> Use>
void describe(Io& io, Use& use) {
  io("seconds", use.seconds, is_not_negative);
  io.members("cpu_s", use.cpu.value);
  io("thermal_throttles", use.thermal_throttles);
  io("quota_throttles", use.quota_throttles);
  io("swapped_pages", use.swapped_pages);
}

template <class Io, Like<model::PairedProgram> Program>
void describe(Io& io, Program& program) {
  io("command", program.command);
  io("digest", program.digest);
  io.unless_default("revision", program.revision);
  io.unless_default("commit", program.commit);
}

template <class Io, Like<model::NoiseFloor> Floor>
void describe(Io& io, Floor& floor) {
  io("epsilon", floor.epsilon, is_not_negative);
  io("source", floor.source);
}

template <class Io, Like<model::LeftOut> LeftOut>
void describe(Io& io, LeftOut& left_out) {
  io("name", left_out.name);
  io("reason", left_out.reason);
}

inline void is_below_one_half(const Field& field) {
  if (field.number() >= 0.5) field.fail("is not below one half");
}

inline void is_not_empty(const Field& field) {
  if (field.json().empty()) field.fail("is empty");
}

template <class Io, Like<model::PairedSetup> Setup>
void describe(Io& io, Setup& setup) {
  io("base", setup.base);
  io("head", setup.head);
  io("seed", setup.seed);
  io("alpha", setup.alpha, is_chance);
  io("pass_error", setup.pass_error, is_chance, is_below_one_half);
  io("delta", setup.delta, is_positive);
  io("repetitions", setup.repetitions, is_whole<1, 1'000'000'000>);
  io("min_time_s", setup.min_time_s, is_positive);
  io("max_blocks", setup.max_blocks, is_whole<1, 1'000'000>);
  io.since("counts_instructions", setup.counts_instructions);
  io("benchmarks", setup.benchmarks, is_not_empty);
  io("only_base", setup.only_base);
  io("only_head", setup.only_head);
  io.since("failing_in_base", setup.failing_in_base);
  io.since("left_out", setup.left_out);
  io("iterations", setup.iterations);
  io("noise_floors", setup.noise_floors);
  io.since("cpu_time_of", setup.cpu_time_of);
  io.since("reproduce", setup.reproduce);
  io.unless_default("budget_s", setup.budget_s, is_positive);
  io.unless_default("trials", setup.trials, is_positive);
  io.unless_default("timeout_s", setup.timeout_s, is_positive);
}

template <class Io, Like<model::InstructionSample> Sample>
void describe(Io& io, Sample& sample) {
  io("instructions_of", sample.benchmark);
  io("side", sample.side);
  io("per_iteration", sample.per_iteration);
  io.text_or_null("reason", sample.unavailable);
}

template <class Io, Like<model::ProcessSample> Sample>
void describe(Io& io, Sample& sample) {
  io("block", sample.block);
  io("position", sample.position);
  io("side", sample.side);
  io("took_s", sample.took_s, is_not_negative);
  io("real_ns", sample.real_ns);
  io("counters", sample.counters);
  io.since("machine", sample.machine);
}

/// The setup as the first line of a journal.
[[nodiscard]] inline Json setup_line(const model::PairedSetup& setup) {
  Json line{{"taskbench_journal", model::kJournalVersion}};
  line.update(json_of(setup));
  return line;
}

}  // namespace taskbench::reports::json
