#include "cli/options/verdict_options.hpp"

#include <array>

#include "cli/output/streams.hpp"

namespace taskbench::cli {

struct MeaningOfInconclusive {
  std::string_view name;
  ExitCode code;
};

namespace {

constexpr std::string_view kPassesAlways = "pass-always";

constexpr std::array<MeaningOfInconclusive, 4> kMeanings{{
    {"inconclusive", ExitCode::inconclusive},
    {"pass", ExitCode::pass},
    {kPassesAlways, ExitCode::pass},
    {"fail", ExitCode::regression},
}};

}  // namespace

VerdictOptions::VerdictOptions() : inconclusive_(kMeanings.data()) {}

void VerdictOptions::declare(Options& options) {
  options.group("Verdict");
  delta_option_ = options.value("--delta", delta_, "PERCENTAGE", Percentage{0.0001, 10},
                                "The smallest slowdown that matters: 3% or 0.03.");
  alpha_option_ = options.value("--alpha", alpha_, "PERCENTAGE", Percentage{1e-6, 0.2},
                                "Chance that anything fails where nothing is slower.");
  options.value("--inconclusive", inconclusive_, "MEANING",
                Choice<MeaningOfInconclusive>{"meaning", kMeanings},
                fmt::format("How to exit then: {}. With pass, what could not have failed still "
                            "exits with 3.",
                            fmt::join(row_names(kMeanings), ", ")));
}

ExitCode VerdictOptions::exit_code(verdict::Verdict overall, bool could_fail) const {
  switch (overall) {
    case verdict::Verdict::pass:
      return ExitCode::pass;
    case verdict::Verdict::fail:
      return ExitCode::regression;
    case verdict::Verdict::inconclusive:
      break;
  }
  if (inconclusive_->name == "pass" && !could_fail) {
    print_note(fmt::format(
        "nothing could have failed, so --inconclusive pass does not make it pass; measure more, or "
        "give --inconclusive {}",
        kPassesAlways));
    return ExitCode::inconclusive;
  }
  return inconclusive_->code;
}

}  // namespace taskbench::cli
