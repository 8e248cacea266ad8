#include "reports/json/writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "reports/json/drift.hpp"
#include "reports/json/event_counts.hpp"
#include "reports/json/field.hpp"
#include "reports/json/rows.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::json {
namespace {

Json flag_or_null(std::optional<bool> flag) { return flag ? Json(*flag) : Json(); }

template <class Integer>
Json positive_or_null(Integer count) {
  return count > 0 ? Json(count) : Json();
}

Json finite_numbers(const std::vector<double>& numbers) {
  Json list = Json::array();
  for (const double number : numbers) {
    if (std::isfinite(number)) {
      list.push_back(number);
    }
  }
  return list;
}

/// As Google Benchmark's reporter writes it: what is not known is left out, but "caches" and
/// "load_avg" are always there, since readers demand the first and index the second.
Json context(const model::Environment& environment) {
  Json result;
  result["date"] = environment.date;
  result["host_name"] = environment.host_name;
  result["executable"] = environment.executable;
  if (environment.cpu_count > 0) {
    result["num_cpus"] = environment.cpu_count;
  }
  if (std::isfinite(environment.cpu_mhz) && environment.cpu_mhz > 0) {
    result["mhz_per_cpu"] = std::llround(environment.cpu_mhz);
  }
  if (environment.cpu_scaling_enabled) {
    result["cpu_scaling_enabled"] = *environment.cpu_scaling_enabled;
  }
  if (environment.aslr_enabled) {
    result["aslr_enabled"] = *environment.aslr_enabled;
  }
  result["caches"] = Json::array();
  for (const model::Cache& cache : environment.caches) {
    result["caches"].push_back({{"type", cache.type},
                                {"level", cache.level},
                                {"size", cache.size_bytes},
                                {"num_sharing", cache.num_sharing}});
  }
  result["load_avg"] = finite_numbers(environment.load_avg);
  if (!environment.benchmark_library_version.empty()) {
    result["library_version"] = environment.benchmark_library_version;
  }
  if (!environment.benchmark_library_build_type.empty()) {
    result["library_build_type"] = environment.benchmark_library_build_type;
  }
  result["json_schema_version"] = 1;
  // As Google Benchmark writes what a program adds by AddCustomContext(). `library_build_type` is
  // that of Google Benchmark's library, which a distribution may have built for debugging; how
  // what is measured was built, it does not tell.
  const auto add = [&result](const char* key, const std::string& value) {
    if (!value.empty()) result[key] = value;
  };
  add("taskbench_version", environment.taskbench_version);
  add("taskbench_build_type", environment.build_type);
  add("taskbench_compiler", environment.compiler);
  add("taskbench_compiler_flags", environment.compiler_flags);
  add("taskbench_git_commit", environment.git_commit);
  return result;
}

/// What Google Benchmark's context has no place for.
Json environment_object(const model::Environment& environment) {
  Json result;
  result["cpu_model"] = text_or_null(environment.cpu_model);
  result["cpu_microcode"] = text_or_null(environment.cpu_microcode);
  result["cpu_governor"] = text_or_null(environment.cpu_governor);
  result["smt_active"] = flag_or_null(environment.smt_active);
  result["memory_bytes"] = positive_or_null(environment.memory_bytes);
  result["kernel"] = text_or_null(environment.kernel);
  result["hypervisor"] = text_or_null(environment.hypervisor);
  result["compiler"] = text_or_null(environment.compiler);
  result["compiler_flags"] = text_or_null(environment.compiler_flags);
  result["build_type"] = text_or_null(environment.build_type);
  result["workloads_version"] = text_or_null(environment.workloads_version);
  result["git_commit"] = text_or_null(environment.git_commit);
  return result;
}

Json settings_object(const model::Settings& settings) {
  Json result;
  result["repetitions"] = settings.repetitions;
  result["min_time_s"] = number_or_null(settings.min_time_s);
  result["warmup_s"] = number_or_null(settings.warmup_s);
  result["time_budget_s"] = number_or_null(settings.time_budget_s);
  result["seed"] = settings.seed;
  result["pinned"] = settings.pinned;
  result["command_line"] = settings.command_line;
  return result;
}

Json summary_object(const stats::CaseSummary& summary) {
  // One repetition has no spread; 0 would look like a perfect measurement.
  const auto known_spread = [&summary](double ns) {
    return summary.samples > 1 ? Json(ns) : Json();
  };
  Json result;
  result["samples"] = summary.samples;
  result["real_ns_median"] = summary.real_ns_median;
  result["real_ns_mad"] = known_spread(summary.real_ns_mad);
  result["real_ns_min"] = summary.real_ns_min;
  result["real_ns_max"] = summary.real_ns_max;
  result["cpu_ns_median"] = summary.cpu_ns_median;
  result["cpu_ns_mad"] = known_spread(summary.cpu_ns_mad);
  result["ns_per_operation"] = number_or_null(summary.ns_per_operation);
  return result;
}

/// Medians per iteration; null with the reason for what was not measured.
Json switches_object(const model::Case& measured, const stats::CaseSummary& summary) {
  Json result;
  result["voluntary"] = number_or_null(summary.voluntary_switches);
  result["involuntary"] = number_or_null(summary.involuntary_switches);
  result["both"] = number_or_null(summary.context_switches);
  result["reason"] = Json();
  if (!summary.context_switches) {
    result["reason"] =
        measured.switches_unavailable.empty() ? "not measured" : measured.switches_unavailable;
  }
  return result;
}

/// One message for each thing that is wrong with the case; empty for a good one.
Json case_errors(const model::Case& measured) {
  Json errors = Json::array();
  if (!measured.error.empty()) {
    errors.push_back(measured.error);
    return errors;
  }
  for (const model::Repetition& repetition : measured.repetitions) {
    if (!stats::is_complete(repetition)) {
      errors.push_back(fmt::format(
          "repetition {} was left out: it has {} iterations, {} ns real and {} ns CPU time",
          repetition.index, repetition.iterations, repetition.real_ns, repetition.cpu_ns));
    }
  }
  if (measured.repetitions.empty()) {
    errors.push_back("no repetition was completed");
  }
  return errors;
}

Json case_object(const model::Case& measured, bool counted) {
  const std::optional<stats::CaseSummary> summary = stats::summarize(measured);
  Json result;
  result["name"] = measured.name;
  result["workload"] = measured.workload;
  result["scheduler"] = measured.scheduler;
  result["workers"] = measured.workers;
  result["parameters"] = Json::object();
  for (const auto& [name, value] : measured.parameters) {
    result["parameters"][name] = value;
  }
  result["operation"] = text_or_null(measured.operation);
  result["operations_per_iteration"] = positive_or_null(measured.operations);
  result["summary"] = summary ? summary_object(*summary) : Json();
  result["counters_per_iteration"] = Json::object();
  if (summary) {
    for (const auto& [name, value] : summary->counters) {
      result["counters_per_iteration"][name] = value;
    }
  }
  result["context_switches_per_iteration"] = summary ? switches_object(measured, *summary) : Json();
  if (counted) {
    result["events_per_iteration"] = events_array(measured.events, measured.operations);
  }
  result["failed"] = !measured.error.empty();
  result["errors"] = case_errors(measured);
  return result;
}

Json taskbench_object(const model::Run& run) {
  Json result;
  result["schema_version"] = model::kSchemaVersion;
  result["version"] = text_or_null(run.environment.taskbench_version);
  result["partial"] = run.partial;
  result["environment"] = environment_object(run.environment);
  result["drift"] = drift_object(run.drift);
  result["settings"] = settings_object(run.settings);
  if (run.counter_pass) {
    result["counter_pass"] = counter_pass_object(*run.counter_pass);
  }
  result["cases"] = Json::array();
  for (const model::Case& measured : run.cases) {
    result["cases"].push_back(case_object(measured, run.counter_pass.has_value()));
  }
  return result;
}

std::string to_text(const model::Run& run, Json rows) {
  Json file;
  file["context"] = context(run.environment);
  file["benchmarks"] = std::move(rows);
  file["taskbench"] = taskbench_object(run);
  // Host names, paths and messages come from outside and need not be UTF-8: such bytes become
  // U+FFFD rather than an exception that would cost the whole run.
  return file_text(file);
}

}  // namespace

std::string to_json(const model::Run& run) { return to_text(run, repetition_rows(run)); }

std::string to_flat_json(const model::Run& run) { return to_text(run, median_rows(run)); }

}  // namespace taskbench::reports::json
