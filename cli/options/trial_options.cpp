#include "cli/options/trial_options.hpp"

#include "cli/output/output.hpp"
#include "harness/os/atomic_file.hpp"
#include "harness/programs/measured_process.hpp"
#include "reports/render/sentences.hpp"

namespace taskbench::cli {
namespace {

/// Metrics to judge, such as "peak_memory_bytes=5%" or "more:score=3%".
struct Judged {
  static constexpr std::string_view kMore = "more:";
  static constexpr std::string_view kLess = "less:";

  [[nodiscard]] static std::vector<model::JudgedMetric> parse(std::string_view option,
                                                              const Strings& given) {
    std::vector<model::JudgedMetric> metrics;
    for (const std::string& text : parse_list(option, given)) {
      model::JudgedMetric metric = one(option, text);
      if (contains(metrics, metric.name, &model::JudgedMetric::name)) {
        refuse("{}: '{}' is named twice", option, metric.name);
      }
      metrics.push_back(std::move(metric));
    }
    return metrics;
  }
  [[nodiscard]] static std::string written(const std::vector<model::JudgedMetric>& metrics) {
    return joined(each_of(metrics,
                          [](const model::JudgedMetric& each) {
                            const std::string_view direction = each.more_is_better ? kMore : kLess;
                            return fmt::format(
                                "{}{}={}", each.direction_is_given ? direction : std::string_view(),
                                each.name, Percentage::written(each.delta));
                          }),
                  ",");
  }

 private:
  static model::JudgedMetric one(std::string_view option, std::string_view text) {
    const std::size_t equals = text.rfind('=');
    std::string_view name = text.substr(0, equals);
    // A rate per second should be higher.
    bool more_is_better = name.ends_with("_per_second") || name.ends_with("/s");
    bool direction_is_given = false;
    for (const std::string_view prefix : {kMore, kLess}) {
      if (!name.starts_with(prefix)) continue;
      direction_is_given = true;
      more_is_better = prefix == kMore;
      name.remove_prefix(prefix.size());
    }
    if (equals == std::string_view::npos || name.empty()) {
      refuse(
          "{} '{}': give a metric and the smallest change that matters, such as "
          "peak_memory_bytes=5%",
          option, text);
    }
    for (const std::string_view time : {"time", "real_time", "cpu_time", "cpu_ns"}) {
      if (name == time) refuse("{} '{}': times are always judged, by --delta", option, text);
    }
    const std::string percentage(text.substr(equals + 1));
    const double most = more_is_better ? 0.99 : 10;  // nothing falls by more than 100 %
    return {.name = std::string(name),
            .delta = Percentage{0.0001, most}.parse(option, {percentage}),
            .more_is_better = more_is_better,
            .direction_is_given = direction_is_given};
  }
};

}  // namespace

void declare_timeout(Options& options, double& timeout_s) {
  options.group("How to measure");
  options.value("--timeout", timeout_s, "TIME", Duration{0.1, 24 * 3600},
                "A process that takes longer is killed, and counts as failed.");
}

void declare_sampling(Options& options, model::Sampling& sampling, double& timeout_s) {
  options.group("How to measure");
  options.value("--repetitions", sampling.repetitions, "N", Number{1, kMaxRepetitions},
                "Repetitions of each benchmark in each process.");
  options.value("--min-time", sampling.min_time_s, "TIME", Duration{kMinMinTimeS, kMaxMinTimeS},
                "Shortest duration of a repetition.");
  declare_timeout(options, timeout_s);
  options.value("--seed", sampling.seed, "N", Number{0, kMaxSeed}, "Seed of all random choices.");
}

void declare_kind(Options& options, std::string& kind) {
  const Strings names = each_of(harness::program_kinds(), [](const harness::ProgramKind* each) {
    return std::string(each->name());
  });
  const auto parse = [](std::string_view option, const Strings& given) {
    return std::string(harness::named_kind(Text{}.parse(option, given))->name());
  };
  options.group("How to measure");
  options
      .value("--kind", kind, "KIND", By{parse, OptionValues{OptionValues::Kind::one_of, names}},
             fmt::format("What kind of program is measured: {}. command: any command, from its "
                         "start to its end. lines: a program that prints its times, as in 'sort "
                         "1.5 ms'.",
                         joined(names, ", ")))
      ->default_str("recognised, except pytest, pyperf, jmh, command and lines");
}

void declare_judged(Options& options, std::vector<model::JudgedMetric>& judged) {
  options.value("--judge", judged, "METRIC=PERCENTAGE[,...]", Judged{},
                "Judge something else that the benchmarks report as well, such as "
                "peak_memory_bytes of a command, or a counter of Google Benchmark, with the "
                "smallest change that matters. Less is better, unless its name ends with "
                "_per_second or /s, or is given as more:METRIC; less:METRIC says the opposite.");
}

CLI::Option* declare_allow_busy(Options& options, bool& given, std::string_view what) {
  options.group("How to measure");
  return options.flag("--allow-busy", given,
                      fmt::format("{} even if other processes use the CPUs.", what));
}

void VerdictOptions::declare(Options& options, double& delta, double& alpha,
                             const std::string& alpha_help) {
  options.group("Verdict");
  options.value("--delta", delta, "PERCENTAGE", Percentage{0.0001, 10},
                "The smallest slowdown that matters: 3% or 0.03.");
  options.value("--alpha", alpha, "PERCENTAGE", Percentage{1e-6, 0.2}, alpha_help);
  options.group("Verdict", false);
  options.value("--inconclusive", inconclusive, "MEANING",
                Choice<MeaningOfInconclusive>{"meaning", kMeanings},
                fmt::format("What an inconclusive result counts as: {}. With pass, what could "
                            "not have shown a slowdown of {} times --delta still exits with 3; "
                            "with pass-always it does not.",
                            fmt::join(row_names(kMeanings), ", "), verdict::kBlindFactor));
}

namespace {

/// Why an inconclusive result is meaningless; empty if it is not.
std::string why_blind(const Sight& sight) {
  if (!sight.could_fail) return "nothing could have failed";
  if (sight.blind.empty()) return {};
  return fmt::format("a slowdown of {} times --delta could not have been seen in {}",
                     verdict::kBlindFactor, render::some_of(sight.blind, ", ", 3));
}

}  // namespace

ExitCode VerdictOptions::exit_code(verdict::Verdict overall, const Sight& sight) const {
  if (overall == verdict::Verdict::pass) return ExitCode::pass;
  if (overall == verdict::Verdict::fail) return ExitCode::regression;
  if (const std::string why = why_blind(sight); inconclusive->name == "pass" && !why.empty()) {
    print_note(
        "{}, so --inconclusive pass does not make it pass; measure more, or use --inconclusive "
        "pass-always",
        why);
    return ExitCode::inconclusive;
  }
  return inconclusive->code;
}

void VerdictOutput::declare(Options& options, JournalPlan& plan, const std::string& resume_help,
                            const std::string& json_help) {
  options.group("Output", false);
  options.value("--journal", plan.path, "FILE", Journal{},
                "Where each process's result is kept as soon as it is known.");
  options.flag("--resume", plan.resume, resume_help);
  auto* printed = declare_format(options, format, "; markdown is the comment for reviewers",
                                 render::formats_of_measures());
  options.value("--json", json, "FILE", Path{}, json_help);
  options.value("--markdown", markdown, "FILE", Path{}, "Write a comment for reviewers.");
  options.flag("--quiet", quiet, "Print no progress and no result.")->excludes(printed);
}

void VerdictOutput::refuse_unwritable(const JournalPlan& plan) const {
  constexpr std::size_t kMostBytes = 1 << 20;
  for (const auto& file : {json, markdown}) cli::refuse_unwritable(file, kMostBytes);
  if (plan.path.empty()) return;  // nothing is kept
  if (!plan.resume || !fs::exists(plan.path)) cli::refuse_unwritable(plan.path, kMostBytes);
}

void VerdictOutput::remove_stale() const {
  for (const auto& file : {json, markdown}) {
    if (file) remove_replaced(*file);
  }
}

bool VerdictOutput::write(std::string_view verdicts, const render::Document& comment) const {
  const bool verdicts_written = write_output(json, verdicts);
  return write_output(markdown, render::markdown(comment)) && verdicts_written;
}

bool VerdictOutput::conclude(const render::Answer& answer) const {
  const bool written = write(json ? answer.json() : std::string(), *answer.comment);
  return (quiet || print_answer(answer, *format)) && written;
}

std::string baseline_name(std::string_view option, const Strings& given) {
  constexpr std::size_t kMaxName = 100;
  const std::string& name = single(option, given);
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  if (name.empty() || name.find_first_not_of(kAllowed) != std::string::npos ||
      name.starts_with('.') || name.starts_with('-') || name.size() > kMaxName) {
    refuse(
        "'{0}' cannot be the name of a baseline: use at most {1} letters, digits, '.', '_' and "
        "'-', and begin with a letter, a digit or '_'",
        name, kMaxName);
  }
  if (name.ends_with(".anchor")) {
    refuse("'{}': names that end in .anchor are those of anchors", name);
  }
  return name;
}

}  // namespace taskbench::cli
