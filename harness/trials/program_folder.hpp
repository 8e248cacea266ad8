// A folder with the programs of both sides of a comparison, built once for many machines:
//
//   DIR/programs.json        what they are, and a digest of each file
//      /base/out/bench       at the same place as in the checkout; its layouts are beside it
//      /head/out/bench
//
// The folder may be moved. It is without base and head, and with the reason in programs.json, if
// nothing would be measured.
#pragma once

#include "harness/trials/names.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::harness {

/// Makes the folder, or replaces one that was made earlier. `setup` has both programs, built, or
/// says why they are identical. Of each checkout, `also` is copied, too: files and folders that a
/// program reads. Throws UsageError.
void save_programs(const fs::path& folder, const model::PairedSetup& setup, const Strings& also);

/// Throws UsageError unless save_programs() can make the folder.
void refuse_other_folder(const fs::path& folder);

/// Reads the folder into both programs of `setup`, and the reason why they are identical. Throws
/// UsageError for what is no such folder, and for files that are not those that were saved.
void load_programs(const fs::path& folder, model::PairedSetup& setup);

}  // namespace taskbench::harness
