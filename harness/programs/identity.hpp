// Whether two programs are so certainly the same that measuring them could show no difference.
#pragma once

#include "harness/programs/program.hpp"

namespace taskbench::harness {

/// One of the two programs, and the root of its files.
struct InstalledProgram {
  const Program* program = nullptr;
  fs::path root{};  ///< of the outputs' names; empty: the folder of the executable
  /// Whether the user says that this program sees no file outside the root that the other does not.
  bool root_has_all = false;
};

struct Identity {
  /// Why measuring the programs could show no difference, as a clause; empty if it could.
  std::string reason{};
  /// Why executables with equal bytes may behave differently, in words that follow "but"; empty if
  /// the bytes or the arguments already differ.
  std::string doubt{};

  [[nodiscard]] bool holds() const { return !reason.empty(); }
};

/// An output that neither program has; what() names it.
struct NoSuchOutput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Limits beyond which folders are assumed to differ, without a comparison.
inline constexpr std::size_t kMostComparedFiles = 2000;
inline constexpr std::uintmax_t kMostComparedBytes = std::uintmax_t{256} << 20;

/// Compares two programs. Executables with equal bytes and arguments that load the same libraries
/// may still read or load different files: they find them from their own path, from their working
/// folder, or by a path that was compiled in. They are the same if this is excluded: if `outputs`,
/// the files and folders that matter according to the user, are equal; if both are one file, called
/// by one path in one folder; if both are taskbench, which reads no such files; or if everything
/// below the roots is equal, up to the limits above, and the user says that there is nothing else.
/// Scripts are never the same: the programs that they call may differ. Throws NoSuchOutput.
[[nodiscard]] Identity identity_of(const InstalledProgram& base, const InstalledProgram& head,
                                   const Strings& outputs, const std::stop_token& stop);

}  // namespace taskbench::harness
