#include "cli/options/verdict_output.hpp"

#include <cstddef>

#include "cli/output/output_file.hpp"

namespace taskbench::cli {
namespace {

/// More than a verdict takes, as JSON or as a comment.
constexpr std::size_t kVerdictFileBytes = 1 << 20;

}  // namespace

void VerdictOutput::refuse_unwritable() const {
  cli::refuse_unwritable(json, kVerdictFileBytes);
  cli::refuse_unwritable(markdown, kVerdictFileBytes);
}

bool VerdictOutput::write(std::string_view verdicts, std::string_view comment) const {
  const bool verdicts_written = write_output(json, verdicts);
  return write_output(markdown, comment) && verdicts_written;
}

void VerdictOutputOptions::declare(Options& options, const std::string& resume_help,
                                   const std::string& json_help) {
  options.group("Output");
  journal_option_ = options.value("--journal", output_.journal, "FILE", Journal{},
                                  "Where each process's result is kept as soon as it is known.");
  options.flag("--resume", output_.resume, resume_help);
  options.value("--json", output_.json, "FILE", Path{}, json_help);
  options.value("--markdown", output_.markdown, "FILE", Path{}, "Write a comment for reviewers.");
  options.flag("--quiet", output_.quiet, "Print no progress and no result.");
}

VerdictOutput VerdictOutputOptions::plan() const {
  VerdictOutput output = output_;
  output.own_journal = journal_option_->count() > 0;
  return output;
}

}  // namespace taskbench::cli
