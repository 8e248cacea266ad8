// A folder with the programs of both sides of a comparison, built once for many machines:
//
//   DIR/programs.json        what they are, and a digest of each file that decides their speed
//      /base/out/bench       at the same place as in the checkout; its layouts are beside it
//      /head/out/bench
//
// The folder may be moved. If nothing would be measured, it has no base and head, and programs.json
// gives the reason.
#pragma once

#include "harness/files/names.hpp"
#include "reports/model/paired.hpp"

namespace taskbench::harness {

/// Makes the folder, or replaces one that was made earlier. `setup` has both programs, built, or
/// says why they are identical. `outputs` names further files and folders of each checkout that
/// decide how fast the programs are; `cwd`, unless empty, is where they run and may write. Both are
/// copied. Throws UsageError.
void save_programs(const fs::path& folder, const model::PairedSetup& setup, const Strings& outputs,
                   const fs::path& cwd);

/// Throws UsageError unless save_programs() can make the folder.
void refuse_other_folder(const fs::path& folder);

/// Reads the folder into both programs of `setup`, and the reason why they are identical. Throws
/// UsageError if it is not such a folder, or if its files are not the saved ones.
void load_programs(const fs::path& folder, model::PairedSetup& setup);

}  // namespace taskbench::harness
