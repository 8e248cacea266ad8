#include "cli/options/benchmark_flags.hpp"

#include <algorithm>
#include <array>

#include "cli/options/near_miss.hpp"
#include "cli/options/options.hpp"

namespace taskbench::cli {
namespace {

constexpr std::string_view kFlagPrefix = "--benchmark_";

[[noreturn]] void refuse_flag(std::string_view flag, std::string_view value, std::string_view why) {
  throw UsageError(fmt::format("{}={}: {}", flag, value, why));
}

Strings out(std::string_view, std::string_view value) { return {"--json", std::string(value)}; }

Strings out_format(std::string_view flag, std::string_view value) {
  if (value != "json") refuse_flag(flag, value, "taskbench writes json");
  return {};
}

Strings printed_format(std::string_view flag, std::string_view value) {
  if (value == "console") return {};
  refuse_flag(flag, value, "taskbench prints its own table; --benchmark_out=FILE writes json");
}

Strings filter(std::string_view flag, std::string_view value) {
  if (value.empty() || value == "all") return {};
  if (value.starts_with('-')) {
    refuse_flag(flag, value, "taskbench cannot leave out what an expression matches");
  }
  return {"--filter", std::string(value)};
}

Strings repetitions(std::string_view, std::string_view value) {
  return {"--repetitions", std::string(value)};
}

Strings min_time(std::string_view flag, std::string_view value) {
  if (value.ends_with('x')) {
    refuse_flag(flag, value, "taskbench takes a time here; iterations are set by `--iterations`");
  }
  return {"--min-time", std::string(value)};
}

Strings list(std::string_view, std::string_view value) {
  constexpr std::array<std::string_view, 4> kNo{"false", "0", "no", "off"};
  if (std::ranges::find(kNo, value) != kNo.end()) return {};
  return {"--list"};
}

/// What decides only how Google Benchmark prints, or is so in taskbench anyway.
Strings nothing(std::string_view, std::string_view) { return {}; }

struct Flag {
  std::string_view name;
  Strings (*options)(std::string_view flag, std::string_view value);
  bool needs_value = true;
};

constexpr std::array<Flag, 12> kFlags{{
    {"--benchmark_out", out},
    {"--benchmark_out_format", out_format},
    {"--benchmark_format", printed_format},
    {"--benchmark_filter", filter},
    {"--benchmark_repetitions", repetitions},
    {"--benchmark_min_time", min_time},
    {"--benchmark_list_tests", list, false},
    {"--benchmark_counters_tabular", nothing, false},
    {"--benchmark_color", nothing, false},
    {"--benchmark_display_aggregates_only", nothing, false},
    {"--benchmark_report_aggregates_only", nothing, false},
    {"--benchmark_enable_random_interleaving", nothing, false},
}};

Strings translated(std::string_view word) {
  const auto equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const auto flag = std::ranges::find(kFlags, name, &Flag::name);
  if (flag == kFlags.end()) {
    throw UsageError(unknown_name("flag of Google Benchmark's", name, row_names(kFlags)));
  }
  if (equals == std::string_view::npos && flag->needs_value) {
    throw UsageError(fmt::format("{0} needs a value: {0}=VALUE", name));
  }
  return flag->options(name, equals == std::string_view::npos ? "true" : word.substr(equals + 1));
}

}  // namespace

Strings without_benchmark_flags(Strings words) {
  const auto is_flag = [](const std::string& word) { return word.starts_with(kFlagPrefix); };
  if (words.size() < 2 || std::ranges::none_of(words, is_flag)) return words;
  const bool names_run = words[1] == "run";
  if (!names_run && !words[1].starts_with('-')) return words;
  Strings result{words.front(), "run"};
  for (std::size_t i = names_run ? 2 : 1; i < words.size(); ++i) {
    const Strings options = is_flag(words[i]) ? translated(words[i]) : Strings{words[i]};
    result.insert(result.end(), options.begin(), options.end());
  }
  return result;
}

}  // namespace taskbench::cli
