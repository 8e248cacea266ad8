// A paired trial as JSON: its journal, and the report of its result
// (docs/schema/paired-v1.schema.json).
//
// The journal has one object per line: the setup first, then a line for each count of instructions
// and for each process, and a last one with the reason for the end. Each line is on the disk before
// the next process begins, so that a killed trial loses at most one process's sample. Explanations
// of failures follow the end.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "reports/model/paired.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::json {

/// The digest of everything that all parts of a trial must share. It covers the request, not
/// findings such as numbers of iterations, since these differ by machine. `asked` is the setup
/// before anything is explored, `alike` what else must be the same: the benchmarks that were named,
/// and the arguments of the programs.
[[nodiscard]] std::string plan_digest(model::PairedSetup asked,
                                      const std::vector<std::string>& alike, int parts);

/// Lines of the journal.
[[nodiscard]] std::string journal_line(const model::PairedSetup& setup);
[[nodiscard]] std::string journal_line(const model::InstructionSample& sample);
[[nodiscard]] std::string journal_line(const model::ProcessSample& sample);
[[nodiscard]] std::string journal_line(const model::Explanation& explanation);
[[nodiscard]] std::string journal_line(const model::Uncounted& uncounted);
[[nodiscard]] std::string journal_line(model::TrialEnd end);

/// The state of a trial. A last line without its newline was cut off by a kill, and is left out.
/// Throws JournalError (parse.hpp) for any other damage. `path` is for the messages.
[[nodiscard]] model::PairedTrial parse_journal(const std::filesystem::path& path,
                                               std::string_view content);

/// The report. For a judged trial: the setup, the verdicts, and each process's time per benchmark,
/// which suffices to judge again. Equal trials give equal bytes.
[[nodiscard]] std::string to_json(const verdict::PairedFile& file);

/// The list in a folder of programs (harness/programs/program_folder.hpp). parse_programs() throws
/// ReadError.
[[nodiscard]] std::string to_json(const model::BuiltPrograms& programs);
[[nodiscard]] model::BuiltPrograms parse_programs(const std::filesystem::path& path,
                                                  std::string_view text);

/// Whether the text is meant to be the report of a comparison of two programs, complete or not.
[[nodiscard]] bool is_paired_report(std::string_view text);

/// Reads a report. Throws ReadError (parse.hpp) if it is not a report, or has another version.
/// `path` is for the messages.
[[nodiscard]] verdict::PairedFile parse_paired_report(const std::filesystem::path& path,
                                                      std::string_view text);

}  // namespace taskbench::reports::json
