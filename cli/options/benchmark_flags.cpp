#include "cli/options/benchmark_flags.hpp"

#include <array>

#include "cli/options/options.hpp"

namespace taskbench::cli {
namespace {

constexpr std::string_view kFlagPrefix = "--benchmark_";

/// --json writes every repetition; --json-flat writes only the medians, if --benchmark_out already
/// has the repetitions.
constexpr std::string_view kStandardOutput = "--json";
constexpr std::string_view kBesideOut = "--json-flat";

/// A flag of Google Benchmark. A flag without an option here only changes Google Benchmark's
/// output, or requests what taskbench does anyway.
struct Flag {
  std::string_view name;
  std::string_view option = {};      ///< the option of `run` for its value
  std::string_view only_value = {};  ///< any other is refused, for the reason `why_only`
  std::string_view why_only = {};
};

constexpr std::array<Flag, 12> kFlags{{
    {"--benchmark_out", "--json"},
    {"--benchmark_out_format", {}, "json", "taskbench writes json"},
    {"--benchmark_format", kStandardOutput, {}, "taskbench prints console or json"},
    {"--benchmark_filter", "--filter"},
    {"--benchmark_repetitions", "--repetitions"},
    {"--benchmark_min_time", "--min-time"},
    {"--benchmark_list_tests", "--list"},
    {"--benchmark_counters_tabular"},
    {"--benchmark_color"},
    {"--benchmark_display_aggregates_only"},
    {"--benchmark_report_aggregates_only"},
    {"--benchmark_enable_random_interleaving"},
}};

/// The words that replace a flag. `has_out`: --benchmark_out is given, too.
Strings translated(const std::string& word, bool has_out) {
  const auto equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const auto* flag = find_row<Flag>("", "flag of Google Benchmark's", kFlags, name);
  const bool is_list = flag->option == "--list";
  const bool needs_value = !is_list && !(flag->option.empty() && flag->why_only.empty());
  if (equals == std::string::npos && needs_value) refuse("{0} needs a value: {0}=VALUE", name);
  const std::string value = equals == std::string::npos ? "true" : word.substr(equals + 1);
  const auto refuse_if = [&](bool is_refused, std::string_view why) {
    if (is_refused) refuse("{}={}: {}", name, value, why);
  };
  if (name == "--benchmark_format") {
    refuse_if(value != "console" && value != "json", flag->why_only);
    if (value == "console") return {};
    return {std::string(has_out ? kBesideOut : kStandardOutput), "/dev/stdout", "--quiet"};
  }
  refuse_if(!flag->why_only.empty() && value != flag->only_value, flag->why_only);
  if (flag->option.empty()) return {};
  if (is_list) {
    constexpr std::array<std::string_view, 4> kNo{"false", "0", "no", "off"};
    return contains(kNo, value) ? Strings{} : Strings{"--list"};
  }
  if (flag->option == "--filter") {
    if (value.empty() || value == "all") return {};
    refuse_if(value.starts_with('-'), "taskbench cannot leave out what an expression matches");
  }
  refuse_if(flag->option == "--min-time" && value.ends_with('x'),
            "taskbench takes a time here; iterations are set by `--iterations`");
  return {std::string(flag->option), value};
}

}  // namespace

Strings without_benchmark_flags(Strings words) {
  const auto is_flag = [](const std::string& word) { return word.starts_with(kFlagPrefix); };
  if (words.size() < 2 || std::ranges::none_of(words, is_flag)) return words;
  const bool names_run = words[1] == "run";
  if (!names_run && !words[1].starts_with('-')) return words;
  const bool has_out = std::ranges::any_of(
      words, [](const std::string& word) { return word.starts_with("--benchmark_out="); });
  Strings result{words.front(), "run"};
  for (std::size_t i = names_run ? 2 : 1; i < words.size(); ++i) {
    const Strings options = is_flag(words[i]) ? translated(words[i], has_out) : Strings{words[i]};
    result.insert(result.end(), options.begin(), options.end());
  }
  return result;
}

}  // namespace taskbench::cli
