#include "cli/options/trial_options.hpp"

#include "cli/output/output.hpp"

namespace taskbench::cli {

void declare_timeout(Options& options, double& timeout_s) {
  options.group("How to measure");
  options.value("--timeout", timeout_s, "TIME", Duration{0.1, 24 * 3600},
                "A process that takes longer is killed, and counts as failed.");
}

CLI::Option* declare_allow_busy(Options& options, bool& given, std::string_view what) {
  options.group("How to measure");
  return options.flag(
      "--allow-busy", given,
      fmt::format("{} even if other processes use the CPUs, or the host moves the CPUs.", what));
}

void VerdictOptions::declare(Options& options, double& delta, double& alpha) {
  options.group("Verdict");
  options.value("--delta", delta, "PERCENTAGE", Percentage{0.0001, 10},
                "The smallest slowdown that matters: 3% or 0.03.");
  options.value("--alpha", alpha, "PERCENTAGE", Percentage{1e-6, 0.2},
                "Chance that anything fails although nothing is slower.");
  options.value("--inconclusive", inconclusive, "MEANING",
                Choice<MeaningOfInconclusive>{"meaning", kMeanings},
                fmt::format("What an inconclusive result counts as: {}. With pass, a trial that "
                            "could not have failed still exits with 3.",
                            fmt::join(row_names(kMeanings), ", ")));
}

ExitCode VerdictOptions::exit_code(verdict::Verdict overall, bool could_fail) const {
  if (overall == verdict::Verdict::pass) return ExitCode::pass;
  if (overall == verdict::Verdict::fail) return ExitCode::regression;
  if (inconclusive->name == "pass" && !could_fail) {
    print_note(
        "nothing could have failed, so --inconclusive pass does not make it pass; measure more, or "
        "use --inconclusive pass-always");
    return ExitCode::inconclusive;
  }
  return inconclusive->code;
}

void VerdictOutput::declare(Options& options, const std::string& resume_help,
                            const std::string& json_help) {
  options.group("Output");
  options.value("--journal", journal, "FILE", Journal{},
                "Where each process's result is kept as soon as it is known.");
  options.flag("--resume", resume, resume_help);
  options.value("--json", json, "FILE", Path{}, json_help);
  options.value("--markdown", markdown, "FILE", Path{}, "Write a comment for reviewers.");
  options.flag("--quiet", quiet, "Print no progress and no result.");
}

void VerdictOutput::refuse_unwritable() const {
  constexpr std::size_t kMostBytes = 1 << 20;
  for (const auto& file : {json, markdown}) cli::refuse_unwritable(file, kMostBytes);
}

bool VerdictOutput::write(std::string_view verdicts, std::string_view comment) const {
  const bool verdicts_written = write_output(json, verdicts);
  return write_output(markdown, comment) && verdicts_written;
}

}  // namespace taskbench::cli
