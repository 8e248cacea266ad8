// Whether two programs are so surely the same that measuring them could show nothing.
#pragma once

#include "harness/trials/program.hpp"

namespace taskbench::harness {

/// One of the two programs, and the place of what belongs to it.
struct InstalledProgram {
  const Program* program = nullptr;
  fs::path root{};  ///< of the outputs' names; empty: the folder of the executable
  /// Whether the user says that it sees no file elsewhere that the other program does not see, too.
  bool root_has_all = false;
};

struct Identity {
  /// Why measuring the programs could show nothing, as a clause; empty if it could.
  std::string reason{};
  /// What may make executables with equal bytes behave differently, in words that follow "but";
  /// empty if the bytes, or the arguments, already differ.
  std::string doubt{};

  [[nodiscard]] bool holds() const { return !reason.empty(); }
};

/// An output that neither program has; what() names it.
struct NoSuchOutput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Limits beyond which folders are not compared, but assumed to differ.
inline constexpr std::size_t kMostComparedFiles = 2000;
inline constexpr std::uintmax_t kMostComparedBytes = std::uintmax_t{256} << 20;

/// Compares two programs. Executables with equal bytes, called with the same arguments, that load
/// the same libraries may still read or load other files, wherever these are: they find them from
/// their own path, from the folder they run in, or by a path that was compiled in. They are the
/// same if that is excluded: if `outputs`, the files and folders that the user says matter, are
/// equal; if both are one file, called by one path in one folder; if both are taskbench, which
/// reads no such files; or if everything below the roots is equal, up to the limits above, and the
/// user says that this is all. Scripts are never the same: what they call may differ. Throws
/// NoSuchOutput.
[[nodiscard]] Identity identity_of(const InstalledProgram& base, const InstalledProgram& head,
                                   const Strings& outputs, const std::stop_token& stop);

/// The first difference between two folders or files: the path below them, and how it differs.
/// Empty if they are equal in names, bytes, permissions and links.
[[nodiscard]] std::optional<std::string> first_difference(const fs::path& base,
                                                          const fs::path& head);

}  // namespace taskbench::harness
