#include "cli/trials/journal_room.hpp"

#include <fmt/format.h>

#include "cli/usage_error.hpp"
#include "reports/json/line_file.hpp"

namespace taskbench::cli {

void make_room_for_journal(const JournalRoom& room) {
  if (!std::filesystem::exists(room.path)) return;
  bool is_journal = false;
  bool ended = false;
  try {
    ended = room.has_ended(room.path);
    is_journal = true;
  } catch (const reports::json::JournalError&) {  // not ours to remove
  }
  if (!is_journal) {
    throw UsageError(
        fmt::format("{} exists, and is not the journal of a {}; remove it, or name another by "
                    "--journal",
                    room.path.string(), room.what));
  }
  const bool removable = room.replaces || !room.named_by_user;
  if (!removable || (!ended && !room.replaces)) {
    throw UsageError(fmt::format(
        "{} exists{}; continue it with --resume, remove it, or name another by --journal",
        room.path.string(), ended ? "" : fmt::format(", and its {} has not ended", room.what)));
  }
  std::filesystem::remove(room.path);
}

}  // namespace taskbench::cli
