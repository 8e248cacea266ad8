// Reads the result files of Google Benchmark: of every version that writes JSON, and our own.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "reports/model/run.hpp"

namespace taskbench::reports::json {

/// A file that cannot be read or trusted; what() names it, says what is wrong with it and, where
/// that is not plain, what to do.
class ReadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Larger files are refused before they are read; what is no regular file, when it has given more.
inline constexpr std::uintmax_t kMaxResultBytes = std::uintmax_t{256} << 20;

/// What becomes of a benchmark whose rows cannot be used, for a time that no measurement gives, or
/// for another benchmark of its name.
enum class UnusableRows {
  refused,  ///< the whole file is
  noted,    ///< in Benchmark::unusable, in words that follow "it"
};

/// Times are converted to ns. Repetitions of one benchmark are collected in the file's order; rows
/// of aggregates, of the asymptotic fit ("BigO", "RMS") and unknown keys are left out, every other
/// number of a row is a counter. Throws ReadError for what is no JSON or no result of Google
/// Benchmark, for a repetition without a finite positive time (the library writes NaN in some
/// rows), for an exact count of instructions that is not positive, and for two benchmarks of one
/// name. `path` is for the messages.
[[nodiscard]] model::Run parse_result_file(const std::filesystem::path& path, std::string_view text,
                                           UnusableRows unusable = UnusableRows::refused);

}  // namespace taskbench::reports::json
