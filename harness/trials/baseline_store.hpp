// The folder of stored baselines: STORE/KEY/NAME.json, and beside each STORE/KEY/NAME.anchor.json.
// The key inside a file counts; the one in its path only keeps machines apart.
#pragma once

#include "harness/trials/names.hpp"
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

/// A file that is no baseline, or an anchor without a baseline.
struct BadEntry {
  std::string name;
  std::string what;  ///< names the file, and says what to do
};

struct StoreContent {
  std::vector<StoreEntry> entries;  ///< by name, then by key
  std::vector<BadEntry> bad;

  /// Throws UsageError if a file of that name is bad.
  void refuse_bad(const std::string& name) const;
};

class BaselineStore {
 public:
  explicit BaselineStore(fs::path folder) : folder_(std::move(folder)) {}

  [[nodiscard]] const fs::path& folder() const { return folder_; }

  /// Throws UsageError for a store that does not exist, is no folder or cannot be read.
  [[nodiscard]] StoreContent read() const;

  /// Finds out, before anything is measured, whether save() could work. Throws UsageError.
  void refuse_unwritable() const;

  /// Checks that what save() would replace is sound and of this key. Throws UsageError.
  void refuse_foreign(const model::SeriesSetup& setup) const;

  /// Stores a series as the rolling baseline, and as the anchor if there is none yet. True if it
  /// has become the anchor. Throws UsageError; what was stored before stays then.
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

/// The entry called `name` on this machine, of the given key if there is one. Throws UsageError if
/// there are none, or several, whose keys it names.
[[nodiscard]] const StoreEntry& choose(const StoreContent& content, const std::string& name,
                                       const std::optional<std::string>& key,
                                       const model::MachineKey& here);

/// <store>/<machine key>.noise.json
[[nodiscard]] fs::path noise_file(const fs::path& store, const model::MachineKey& key);

/// Stores a calibration, with what the file knows of other benchmarks. True if that was a file of
/// something else, which is replaced. Throws UsageError.
bool save_noise(const fs::path& file, const model::NoiseCalibration& noise);

/// The noise floor of each benchmark: calibrated on the machine of this key, or an assumption;
/// `source` says which, and whether the calibration is old. `today` is RFC 3339. Of as many
/// `layouts` that take turns on each side it is lower than of one. Throws UsageError for a
/// calibration that cannot be read.
[[nodiscard]] std::map<std::string, model::NoiseFloor> noise_floors(const fs::path& store,
                                                                    const model::MachineKey& key,
                                                                    const Strings& benchmarks,
                                                                    std::string_view today,
                                                                    std::size_t layouts = 1);

}  // namespace taskbench::harness
