// Reads result files of Google Benchmark, of every version that writes JSON, and our own.
#pragma once

#include <filesystem>
#include <string_view>

#include "reports/json/parse.hpp"
#include "reports/model/run.hpp"

namespace taskbench::reports::json {

/// Larger files are refused before they are read; pipes and devices, once they have given more.
inline constexpr std::uintmax_t kMaxResultBytes = std::uintmax_t{256} << 20;

/// What happens to a benchmark whose rows cannot be used, because of a time that no measurement
/// gives, or of another benchmark with its name.
enum class UnusableRows {
  refused,  ///< the whole file is refused
  noted,    ///< in Case::unusable, in words that follow "it"
};

/// Reads a result. Times are converted to ns. Repetitions of one benchmark are collected in the
/// file's order. Rows of aggregates and of the asymptotic fit ("BigO", "RMS"), and unknown keys,
/// are left out; every other number of a row is a counter. Throws ReadError for what is no JSON or
/// no result of Google Benchmark, for a repetition without a finite positive time (the library
/// writes NaN in some rows), for an exact count of instructions that is not positive, and for two
/// benchmarks of one name. `path` is for the messages.
[[nodiscard]] model::Run parse_result_file(const std::filesystem::path& path, std::string_view text,
                                           UnusableRows unusable = UnusableRows::refused);

}  // namespace taskbench::reports::json
