// Reads result files of every version of Google Benchmark that writes JSON, and our own; ladders,
// and the noise of machines.
#pragma once

#include <filesystem>
#include <string_view>

#include "reports/json/parse.hpp"
#include "reports/model/ladder.hpp"
#include "reports/model/noise.hpp"
#include "reports/model/run.hpp"

namespace taskbench::reports::json {

/// Larger files are refused before they are read, pipes and devices after that many bytes.
inline constexpr std::uintmax_t kMaxResultBytes = std::uintmax_t{256} << 20;

/// The handling of a benchmark whose rows cannot be used, because of an impossible time, or of
/// another benchmark with its name.
enum class UnusableRows {
  refused,  ///< the whole file is refused
  noted,    ///< in Case::unusable, in words that follow "it"
};

/// Reads a result. Times are converted to ns. Repetitions of one benchmark are collected in the
/// file's order. Rows of aggregates and of the asymptotic fit ("BigO", "RMS"), and unknown keys,
/// are left out; every other number of a row is a counter. Throws ReadError if it is not JSON or
/// not a result of Google Benchmark, for a repetition without a finite positive time (the library
/// writes NaN in some rows), for an exact count of instructions that is not positive, and for two
/// benchmarks of one name. `path` is for the messages.
[[nodiscard]] model::Run parse_result_file(const std::filesystem::path& path, std::string_view text,
                                           UnusableRows unusable = UnusableRows::refused);

/// Whether a text is an answer of `taskbench ladder`, complete or damaged.
[[nodiscard]] bool is_ladder(std::string_view text);

/// Reads the measurements; derived values are computed again. Throws ReadError (parse.hpp) if it is
/// not such an answer, or has another version; the message names `path`.
[[nodiscard]] model::Ladder parse_ladder(const std::filesystem::path& path, std::string_view text);

/// `now`, completed by the benchmarks that only `before` has. Benchmarks of another machine are
/// dropped.
[[nodiscard]] model::NoiseCalibration merged(model::NoiseCalibration now,
                                             const model::NoiseCalibration& before);

/// Reads the file of a machine's noise. Throws ReadError (parse.hpp) for a file of another type;
/// what() names the file, `path`, and says what to do.
[[nodiscard]] model::NoiseCalibration parse_noise(const std::filesystem::path& path,
                                                  std::string_view text);

}  // namespace taskbench::reports::json
