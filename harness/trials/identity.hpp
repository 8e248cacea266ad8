// Whether two programs are so surely the same that measuring them could tell nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "harness/trials/program.hpp"

namespace taskbench::harness {

/// One of the two, and where what belongs to it lies.
struct InstalledProgram {
  const Program* program = nullptr;
  std::filesystem::path root{};  ///< of the outputs' names; empty: the folder of the executable
  /// The user says that it sees no file elsewhere that another program does not see as well.
  bool root_has_all = false;
};

struct Identity {
  /// Why measuring them could tell nothing, as a clause; empty when it could.
  std::string reason{};
  /// What may make executables of equal bytes behave differently, in words that follow "but"; empty
  /// where the bytes, or the arguments, differ already.
  std::string doubt{};

  [[nodiscard]] bool holds() const { return !reason.empty(); }
};

/// Outputs that neither program has: what() says which.
class NoSuchOutput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Beyond these a folder is not compared, but taken to differ.
inline constexpr std::size_t kMostComparedFiles = 2000;
inline constexpr std::uintmax_t kMostComparedBytes = std::uintmax_t{256} << 20;

/// Executables of equal bytes, called with the same arguments, that load the same libraries may
/// still read or load other files, wherever these are: they find them from their own path, from
/// where they run, or by a path that was compiled in. They are the same where that is excluded:
/// when `outputs`, the files and folders that the user says matter, are equal; when both are one
/// file, called by one path in one folder; when both are taskbench, which reads no such files; or
/// when all that lies below the roots is equal, up to the limits above, and the user says that this
/// is all. Scripts are never the same: what they call may differ. Throws NoSuchOutput.
[[nodiscard]] Identity identity_of(const InstalledProgram& base, const InstalledProgram& head,
                                   const std::vector<std::string>& outputs,
                                   const std::stop_token& stop);

/// Where two folders, or two files, differ: the path below them, and how. Empty when they are equal
/// in names, bytes, permissions and links.
[[nodiscard]] std::optional<std::string> first_difference(const std::filesystem::path& base,
                                                          const std::filesystem::path& head);

}  // namespace taskbench::harness
