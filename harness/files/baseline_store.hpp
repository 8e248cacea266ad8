// The folder of stored baselines: STORE/KEY/NAME.json and, beside it, STORE/KEY/NAME.anchor.json.
// The key inside a file counts; the one in its path only keeps machines apart.
#pragma once

#include "harness/files/names.hpp"
#include "reports/model/baseline.hpp"
#include "reports/model/noise.hpp"

namespace taskbench::harness {

inline constexpr std::string_view kDefaultStore = "ci/baselines";
inline constexpr std::string_view kDefaultBaseline = "default";

struct StoreEntry {
  fs::path file;
  model::Series rolling;
  std::optional<model::Series> anchor;
};

/// A file that is not a baseline, or an anchor without a baseline.
struct BadEntry {
  std::string name;
  std::string what;  ///< names the file, and says what to do
};

struct StoreContent {
  std::vector<StoreEntry> entries;  ///< by name, then by key
  std::vector<BadEntry> bad;

  /// Throws UsageError if a file of this name is bad.
  void refuse_bad(const std::string& name) const;
};

class BaselineStore {
 public:
  explicit BaselineStore(fs::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] const fs::path& folder() const { return folder_; }

  /// Throws UsageError for a store that does not exist, is not a folder or cannot be read.
  [[nodiscard]] StoreContent read() const;

  /// Checks, before anything is measured, that save() can write. Throws UsageError.
  void refuse_unwritable() const;

  /// Checks that the files that save() would replace are sound, of this key. Throws UsageError.
  void refuse_foreign(const model::SeriesSetup& setup) const;

  /// Stores a series as the rolling baseline, and as the anchor if there is none yet. Returns true
  /// if it became the anchor. On UsageError, the earlier files stay as they were.
  bool save(const model::Series& series) const;

  /// Makes the rolling baseline the anchor. Throws UsageError.
  static void promote(const StoreEntry& entry);

  /// Removes the baseline and its anchor, and the key's folder if nothing else is in it. Throws
  /// UsageError.
  static void remove(const StoreEntry& entry);

 private:
  [[nodiscard]] fs::path file_of(const model::SeriesSetup& setup) const;

  fs::path folder_;
};

/// "no baseline 'x'; did you mean …", with the command that saves one.
[[nodiscard]] std::string unknown_baseline(const std::string& name, const StoreContent& content);

/// The entry called `name` on this machine, with the given key if any. Throws UsageError if there
/// is none, or if there are several; the message then lists their keys.
[[nodiscard]] const StoreEntry& choose(const StoreContent& content, const std::string& name,
                                       const std::optional<std::string>& key,
                                       const model::MachineKey& here);

/// <store>/<machine key>.noise.json
[[nodiscard]] fs::path noise_file(const fs::path& store, const model::MachineKey& key);

/// Stores a calibration and keeps what the file says about other benchmarks. Returns true if the
/// file was something else and has been replaced. Throws UsageError.
bool save_noise(const fs::path& file, const model::NoiseCalibration& noise);

/// The noise floor of each benchmark, calibrated on the machine of this key or assumed; `source`
/// says which, and whether the calibration is old. `today` is RFC 3339. With several `layouts` that
/// take turns on each side, the floor is lower than with one. Throws UsageError for a calibration
/// that cannot be read.
[[nodiscard]] std::map<std::string, model::NoiseFloor> noise_floors(const fs::path& store,
                                                                    const model::MachineKey& key,
                                                                    const Strings& benchmarks,
                                                                    std::string_view today,
                                                                    std::size_t layouts = 1);

}  // namespace taskbench::harness
