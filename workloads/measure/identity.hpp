// Whether two programs are so surely the same that measuring them could tell nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "workloads/measure/program.hpp"

namespace taskbench::workloads::measure {

/// One of the two, and where what belongs to it lies.
struct InstalledProgram {
  const Program* program = nullptr;
  std::filesystem::path root;  ///< of the outputs' names; empty: the folder of the executable
};

struct Identity {
  bool holds = false;
  /// What may make executables of equal bytes behave differently, in words that follow "but"; empty
  /// where the bytes, or the arguments, differ already.
  std::string doubt{};
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
/// still read or load other files. They are the same where that is excluded: when both are
/// taskbench, which has no such files; when both are one file, called by one path; when `outputs`,
/// the files and folders that the user says matter, are equal; or when all that lies in the folders
/// of the two is, up to the limits above. Scripts are never the same: what they call may differ.
/// Throws NoSuchOutput.
[[nodiscard]] Identity identity_of(const InstalledProgram& base, const InstalledProgram& head,
                                   const std::vector<std::string>& outputs,
                                   const std::stop_token& stop);

/// Where two folders, or two files, differ: the path below them, and how. Empty when they are equal
/// in names, bytes, permissions and links.
[[nodiscard]] std::optional<std::string> first_difference(const std::filesystem::path& base,
                                                          const std::filesystem::path& head);

}  // namespace taskbench::workloads::measure
