#include "cli/verdict_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "cli/near_miss.hpp"
#include "cli/streams.hpp"
#include "cli/usage_error.hpp"
#include "cli/values.hpp"

namespace taskbench::cli {
namespace {

struct Meaning {
  std::string_view name;
  ExitCode code;
};

constexpr std::string_view kPassesAlways = "pass-always";

constexpr std::array<Meaning, 4> kMeanings{{
    {"inconclusive", ExitCode::inconclusive},
    {"pass", ExitCode::pass},
    {kPassesAlways, ExitCode::pass},
    {"fail", ExitCode::regression},
}};

}  // namespace

void VerdictOptions::declare(CLI::App& app, OptionValueTable& values) {
  auto* delta = add_valued(app, "--delta", delta_text_, "SHARE",
                           "The smallest slowdown that matters: 3% or 0.03.");
  delta->default_str(fmt::format("{:g}%", 100 * delta_));
  auto* alpha = add_valued(app, "--alpha", alpha_text_, "SHARE",
                           "Chance that anything fails where nothing is slower.");
  alpha->default_str(fmt::format("{:g}%", 100 * alpha_));
  const auto meanings = row_names(kMeanings);
  auto* inconclusive =
      add_valued(app, "--inconclusive", inconclusive_text_, "MEANING",
                 fmt::format("How to exit then: {}. With pass, what could not have "
                             "failed still exits with 3.",
                             fmt::join(meanings, ", ")));
  inconclusive->default_str(meanings.front());
  values.set(inconclusive, {OptionValues::Kind::one_of, meanings});
  for (auto* option : {delta, alpha, inconclusive}) option->group("Verdict");
}

void VerdictOptions::parse() {
  if (const auto text = parse_single("--alpha", alpha_text_)) {
    alpha_ = parse_fraction("--alpha", *text, 1e-6, 0.2);
  }
  if (const auto text = parse_single("--delta", delta_text_)) {
    delta_ = parse_fraction("--delta", *text, 0.0001, 10);
  }
  if (const auto text = parse_single("--inconclusive", inconclusive_text_)) {
    const auto found = std::ranges::find(kMeanings, *text, &Meaning::name);
    if (found == kMeanings.end()) {
      std::array<std::string_view, kMeanings.size()> names{};
      std::ranges::transform(kMeanings, names.begin(), &Meaning::name);
      throw UsageError("--inconclusive: " + unknown_name("meaning", *text, names));
    }
    inconclusive_ = found->code;
    passes_always_ = found->name == kPassesAlways;
  }
}

ExitCode VerdictOptions::exit_code(reports::verdict::Verdict overall, bool could_fail) const {
  switch (overall) {
    case reports::verdict::Verdict::pass:
      return ExitCode::pass;
    case reports::verdict::Verdict::fail:
      return ExitCode::regression;
    case reports::verdict::Verdict::inconclusive:
      break;
  }
  if (inconclusive_ == ExitCode::pass && !could_fail && !passes_always_) {
    print_note(fmt::format(
        "nothing could have failed, so --inconclusive pass does not make it pass; measure more, or "
        "give --inconclusive {}",
        kPassesAlways));
    return ExitCode::inconclusive;
  }
  return inconclusive_;
}

}  // namespace taskbench::cli
