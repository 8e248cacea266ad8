#include "cli/trials/journal_room.hpp"

#include "reports/files/line_file.hpp"

namespace taskbench::cli {

void make_room_for_journal(const JournalRoom& room) {
  if (!fs::exists(room.path)) return;
  bool is_journal = false;
  bool ended = false;
  try {
    ended = room.has_ended(room.path);
    is_journal = true;
  } catch (const files::JournalError&) {  // not ours to remove
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
  fs::remove(room.path);
}

}  // namespace taskbench::cli
