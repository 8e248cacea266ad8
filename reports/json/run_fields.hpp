// The content of a run's files besides Google Benchmark's rows, field by field. Derived values are
// included, so that readers need no statistics of their own.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "reports/json/field.hpp"
#include "reports/model/lookup.hpp"
#include "reports/model/run.hpp"
#include "reports/stats/summary.hpp"
#include "reports/verdict/drift.hpp"

namespace taskbench::reports::json {

template <class Io, Like<model::Cache> Cache>
void describe(Io& io, Cache& cache) {
  io("type", cache.type);
  io("level", cache.level);
  io("size", cache.size_bytes);
  io("num_sharing", cache.num_sharing);
}

/// The context as Google Benchmark's reporter writes it: unknown values are left out, but "caches"
/// and "load_avg" are always there, since readers require the first and index the second.
template <class Io, Like<model::Environment> Environment>
void describe_context(Io& io, Environment& from) {
  io("date", from.date);
  io("host_name", from.host_name);
  io("executable", from.executable);
  io.unless_default("num_cpus", from.cpu_count, is_positive);
  io.unless_default("mhz_per_cpu", from.cpu_mhz, is_positive);
  io.unless_default("cpu_scaling_enabled", from.cpu_scaling_enabled);
  io.unless_default("aslr_enabled", from.aslr_enabled);
  io("caches", from.caches);
  io("load_avg", from.load_avg);
  io.unless_default("library_version", from.benchmark_library_version);
  io.unless_default("library_build_type", from.benchmark_library_build_type);
  io.derived("json_schema_version", [] { return 1; });
  // These keys are written as a program's AddCustomContext() would. `library_build_type` is that of
  // Google Benchmark's library, which a distribution may have built for debugging; it does not say
  // how the measured code was built.
  io.unless_default("taskbench_version", from.taskbench_version);
  io.unless_default("taskbench_build_type", from.build_type);
  io.unless_default("taskbench_compiler", from.compiler);
  io.unless_default("taskbench_compiler_flags", from.compiler_flags);
  io.unless_default("taskbench_git_commit", from.git_commit);
}

/// Facts that have no place in Google Benchmark's context.
template <class Io, Like<model::Environment> Environment>
void describe(Io& io, Environment& from) {
  for (const auto& [key, title, text] : model::kEnvironmentTexts) io.or_null(key, from.*text);
  io("smt_active", from.smt_active);
  io.or_null("memory_bytes", from.memory_bytes);
}

template <class Io, Like<model::Settings> Settings>
void describe(Io& io, Settings& settings) {
  io("repetitions", settings.repetitions);
  io("min_time_s", settings.min_time_s);
  io("warmup_s", settings.warmup_s);
  io("time_budget_s", settings.time_budget_s);
  io("seed", settings.seed);
  io("pinned", settings.pinned);
  io("command_line", settings.command_line);
  io.unless_default("processes", settings.processes, is_whole<0, 1 << 20>);
  io.unless_default("kind", settings.kind);
}

/// Each quantity, null if unknown; "reasons" gives the reason for each null, and "moved" names the
/// quantities that moved by more than their thresholds.
template <class Io, Like<model::Drift> Drift>
void describe(Io& io, Drift& drift) {
  Json reasons = Json::object();
  const auto fact = [&](const char* key, auto& known) {
    io(key, known.value);
    if (!known) reasons[key] = known.reason;
    if (known && !std::isfinite(static_cast<double>(*known))) {
      reasons[key] = "it is not a finite number";
    }
  };
  io("seconds", drift.seconds);
  fact("stolen_share", drift.stolen_share);
  fact("others_share", drift.others_share);
  fact("mhz_before", drift.mhz_before);
  fact("mhz_after", drift.mhz_after);
  fact("thermal_throttles", drift.thermal_throttles);
  fact("quota_throttles", drift.quota_throttles);
  fact("swapped_pages", drift.swapped_pages);
  io.derived("reasons", [&] { return reasons; });
  io.derived("moved", [&] {
    return model::each_of(verdict::movements(drift), &verdict::Movement::quantity);
  });
}

template <class Io, Like<model::CounterPass> Pass>
void describe(Io& io, Pass& pass) {
  io.or_null("tool", pass.tool);
  io("requested", pass.requested);
  io("processes", pass.processes);
  io.or_null("reason", pass.unavailable);
}

inline void describe(Writer& io, const stats::Spread& spread) {
  io("median", spread.median);
  io("mad", spread.mad);
  io("min", spread.min);
  io("max", spread.max);
}

/// An event of a case, with its spread over the counting processes; null and the reason if not
/// counted. `operations` is the number per iteration; 0: not known.
template <class Io, Like<model::EventCount> Event>
void describe_event(Io& io, Event& event, std::uint64_t operations) {
  io("event", event.event);
  io.or_null("unit", event.unit);
  if constexpr (std::same_as<Io, Writer>) {
    const auto spread = stats::spread_of(event.per_iteration);
    io("samples", spread ? spread->samples : 0);
    io.members("median", spread);
    std::optional<double> of_operation;
    if (spread && operations > 0) of_operation = spread->median / static_cast<double>(operations);
    io("median_per_operation", of_operation);
  }
  io("values", event.per_iteration);
  io("counted_share", event.counted_share);
  io("user_only", event.user_only);
  io.or_null("reason", event.unavailable);
}

template <class Io, Like<model::Load> Load>
void describe(Io& io, Load& load) {
  io("name", load.name);
  io("version", load.version);
}

/// Medians and similar values of a case with a complete repetition.
inline void describe(Writer& io, const stats::CaseSummary& summary) {
  io("samples", summary.real_ns.samples);
  io("real_ns_median", summary.real_ns.median);
  io("real_ns_mad", summary.real_ns.mad);
  io("real_ns_min", summary.real_ns.min);
  io("real_ns_max", summary.real_ns.max);
  const bool has_cpu = summary.cpu_ns.max > 0;  // some kinds of programs report none
  io("cpu_ns_median", has_cpu ? std::optional(summary.cpu_ns.median) : std::nullopt);
  io("cpu_ns_mad", has_cpu ? summary.cpu_ns.mad : std::nullopt);
  io("ns_per_operation", summary.ns_per_operation);
}

/// Medians per iteration.
inline void describe(Writer& io, const stats::SwitchesSummary& switches) {
  io("voluntary", switches.voluntary);
  io("involuntary", switches.involuntary);
  io("both", switches.both);
  io.or_null("reason", switches.unavailable);
}

/// `counted`: events were counted in a pass.
template <class Io, Like<model::Case> Case>
void describe_case(Io& io, Case& measured, bool counted) {
  const auto summary = [&] { return stats::summarize(measured); };
  io("name", measured.name);
  io("workload", measured.workload);
  io("scheduler", measured.scheduler);
  io("workers", measured.workers, is_whole<0, 1 << 20>);
  io("parameters", measured.parameters);
  io.or_null("operation", measured.operation);
  io.or_null("operations_per_iteration", measured.operations);
  io.derived("summary", summary);
  io.derived("counters_per_iteration",
             [&] { return summary().value_or(stats::CaseSummary{}).counters; });
  io.unless_default("observed", measured.observed);
  io.unless_default("load", measured.load);
  io.derived("context_switches_per_iteration", [&] {
    const auto known = summary();
    return known ? std::optional(known->switches) : std::nullopt;
  });
  if (counted) {
    io.each("events_per_iteration", measured.events,
            [&](auto& inner, auto& event) { describe_event(inner, event, measured.operations); });
  }
  io.derived("failed", [&] { return !measured.error.empty(); });
  io.derived("errors", [&] { return stats::errors_of(measured); });
}

/// The object "taskbench" without its cases, which are identified by their names.
template <class Io, Like<model::Run> Run>
void describe(Io& io, Run& run) {
  io.version("schema_version", 1, model::kSchemaVersion);
  io.or_null("version", run.environment.taskbench_version);
  io("partial", run.partial);
  io("environment", run.environment);
  io("drift", run.drift);
  io("settings", run.settings);
  io.unless_default("counter_pass", run.counter_pass);
}

/// Keys that Google Benchmark writes into a row itself; every other number is a counter.
inline constexpr auto kKeysOfRows = std::to_array<std::string_view>(
    {"name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions",
     "repetition_index", "threads", "aggregate_name", "aggregate_unit", "iterations", "real_time",
     "cpu_time", "time_unit", "label", "error_occurred", "error_message", "skipped",
     "skip_message"});

/// Prefix for a counter whose name would otherwise clash with a key.
inline constexpr std::string_view kOfCounter = "counter_";

/// The name of an event's counter in Google Benchmark's rows: "cycles", or "cycles:u" if only user
/// mode was counted.
[[nodiscard]] inline std::string row_key(const model::EventCount& event) {
  return event.user_only ? event.event + ":u" : event.event;
}

}  // namespace taskbench::reports::json
