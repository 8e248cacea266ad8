#include "harness/trials/journaled_trial.hpp"

#include "harness/programs/program.hpp"
#include "reports/json/parse.hpp"

namespace taskbench::harness {

Ending JournaledTrial::run() {
  try {
    return run_steps();
  } catch (const UsageError&) {
    if (!stop_.stop_requested()) throw;
  } catch (const ProgramError&) {
    if (!stop_.stop_requested()) throw;
  }
  return has_begun_ ? Ending::interrupted : Ending::not_begun;
}

Ending JournaledTrial::run_steps() {
  look_up();
  has_begun_ = open();
  if (has_begun_) refuse_other();
  std::optional<LineFile> file;
  while (!is_complete() || wants_more()) {
    if (has_begun_ && !file) file.emplace(LineFile::resume(journal_.path));
    if (!prepare(has_begun_)) return Ending::needless;
    if (!file) file.emplace(LineFile::create(journal_.path, first_line()));
    has_begun_ = true;
    measure(*file);
    if (!is_complete()) return Ending::interrupted;
  }
  return Ending::complete;
}

bool JournaledTrial::open() {
  const bool is_there = !journal_.path.empty() && fs::exists(journal_.path);
  const bool goes_on = journal_.resume && (is_there || !journal_.is_replaced);
  if (goes_on) {
    read();
  } else if (is_there) {
    make_room();
  }
  return goes_on;
}

void JournaledTrial::make_room() const {
  const std::string path = journal_.path.string();
  bool ended = false;
  try {
    ended = has_ended();
  } catch (const json::JournalError&) {  // not ours to remove
    refuse("{} exists, and is not the journal of a {}; remove it, or name another by --journal",
           path, noun());
  }
  if (!journal_.is_replaced && (journal_.is_named || !ended)) {
    refuse("{} exists{}; continue it with --resume, remove it, or name another by --journal", path,
           ended ? "" : fmt::format(", and its {} has not ended", noun()));
  }
  LineFile::refuse_in_use(journal_.path);
  fs::remove(journal_.path);
}

}  // namespace taskbench::harness
