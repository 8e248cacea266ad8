#include "cli/output/output_file.hpp"

#include "cli/output/streams.hpp"
#include "reports/files/atomic_file.hpp"

namespace taskbench::cli {

void refuse_unwritable(const std::optional<fs::path>& file, std::size_t expected_bytes) {
  if (!file) return;
  const auto outcome = files::check_writable(*file, expected_bytes);
  if (!outcome.ok()) throw UsageError(outcome.error);
}

bool write_output(const std::optional<fs::path>& file, std::string_view content, bool notes) {
  if (!file) return true;
  const auto outcome = files::write_atomically(*file, content);
  if (!outcome.ok()) {
    print_error(outcome.error);
    return false;
  }
  if (notes) print_note(fmt::format("wrote {}", file->string()));
  return true;
}

}  // namespace taskbench::cli
