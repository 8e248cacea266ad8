#include "cli/verdict_output.hpp"

#include <cstddef>

#include "cli/output_file.hpp"
#include "cli/values.hpp"

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

void VerdictOutputOptions::declare(CLI::App& app, OptionValueTable& values,
                                   const std::string& resume_help, const std::string& json_help) {
  auto* journal = add_valued(app, "--journal", journal_, "FILE",
                             "Where each process's result is kept as soon as it is known.");
  journal->default_str(std::string(default_journal_));
  auto* resume = app.add_flag("--resume", resume_, resume_help);
  auto* json = add_valued(app, "--json", json_, "FILE", json_help);
  auto* markdown =
      add_valued(app, "--markdown", markdown_, "FILE", "Write a comment for reviewers.");
  auto* quiet = app.add_flag("--quiet", quiet_, "Print no progress and no result.");
  for (const auto* option : {journal, json, markdown}) {
    values.set(option, {OptionValues::Kind::file, {}});
  }
  for (auto* option : {journal, resume, json, markdown, quiet}) option->group("Output");
}

VerdictOutput VerdictOutputOptions::plan() const {
  VerdictOutput output;
  const auto journal = parse_journal(journal_);
  output.own_journal = journal.has_value();
  output.journal = journal.value_or(default_journal_);
  output.resume = resume_;
  output.json = parse_path("--json", json_);
  output.markdown = parse_path("--markdown", markdown_);
  output.quiet = quiet_;
  return output;
}

}  // namespace taskbench::cli
