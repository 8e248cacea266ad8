// When a journal that is in the way of a new one may go.
#pragma once

#include <functional>

#include "cli/names.hpp"

namespace taskbench::cli {

struct JournalRoom {
  const fs::path& path;
  bool named_by_user;
  bool replaces;          ///< for CI: one that is there is started afresh, whatever became of it
  std::string_view what;  ///< of which it is the journal: "trial"
  /// Whether that has come to its end. Throws files::JournalError for what is not such a journal.
  std::function<bool(const fs::path&)> has_ended;
};

/// One at the default place that has ended is not needed any more and is removed, as is any that is
/// replaced. What is not a journal stays. Throws UsageError when one is in the way.
void make_room_for_journal(const JournalRoom& room);

}  // namespace taskbench::cli
