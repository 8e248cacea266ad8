#include "harness/files/baseline_store.hpp"

#include <cmath>
#include <set>
#include <system_error>

#include "harness/files/near_miss.hpp"
#include "harness/files/stored.hpp"
#include "harness/os/atomic_file.hpp"
#include "reports/json/baseline.hpp"
#include "reports/json/reader.hpp"
#include "reports/json/writer.hpp"
#include "reports/model/date.hpp"

namespace taskbench::harness {
namespace {

constexpr std::string_view kSuffix = ".json";
constexpr std::string_view kAnchorSuffix = ".anchor.json";
constexpr std::size_t kFileBytes = 1 << 20;

fs::path anchor_of(const fs::path& file) {
  const std::string path = file.native();
  return path.substr(0, path.size() - kSuffix.size()) + std::string(kAnchorSuffix);
}

void write(const fs::path& file, const std::string& content) {
  const auto outcome = write_atomically(file, content);
  if (!outcome.ok()) throw UsageError(outcome.error);
}

void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) refuse("cannot make the folder {}: {}", folder.string(), failed.message());
}

StoreEntry read_entry(const fs::path& file, const std::string& name) {
  StoreEntry entry{file, read_baseline(file), std::nullopt};
  if (entry.rolling.setup.name != name) {
    throw json::ReadError(fmt::format("{}: holds the baseline '{}'; give the file its name",
                                      file.string(), entry.rolling.setup.name));
  }
  const fs::path anchor = anchor_of(file);
  std::error_code failed;
  if (fs::exists(anchor, failed)) {
    entry.anchor = read_baseline(anchor);
    const auto differing = differences(entry.rolling.setup.key, entry.anchor->setup.key);
    if (!differing.empty()) {
      throw json::ReadError(
          fmt::format("{}: is of another machine or build than its baseline: {} is '{}', not '{}'; "
                      "remove it, or restore it",
                      anchor.string(), differing.front().name, differing.front().second,
                      differing.front().first));
    }
  }
  return entry;
}

void read_folder(const fs::path& folder, StoreContent& content) {
  std::error_code failed;
  for (const auto& each : fs::directory_iterator(folder, failed)) {
    const std::string file = each.path().filename().string();
    if (file.starts_with('.') || !file.ends_with(kSuffix)) continue;
    const bool anchor = file.ends_with(kAnchorSuffix);
    const std::string name =
        file.substr(0, file.size() - (anchor ? kAnchorSuffix : kSuffix).size());
    try {
      if (!anchor) {
        content.entries.push_back(read_entry(each.path(), name));
      } else if (!fs::exists(folder / (name + std::string(kSuffix)), failed)) {
        throw json::ReadError(
            fmt::format("{}: is an anchor without its baseline; restore that, or remove it", file));
      }
    } catch (const json::ReadError& error) {
      content.bad.push_back({name, error.what()});
    }
  }
  if (failed) content.bad.push_back({"", fmt::format("{}: {}", folder.string(), failed.message())});
}

// Two builds of the same sources differ by about this much merely because their functions are at
// different addresses. Not measured here: this is experience from several machines.
constexpr double kAssumed = 0.01;
constexpr std::chrono::days kOld{90};

std::string origin(const model::NoiseOrigin& from, std::string_view today) {
  std::string text = fmt::format("calibrated {}", model::day_of(from.date));
  if (!from.checked) text += " with programs that were not checked to be copies of one build";
  const auto then = model::instant_of(from.date);
  const auto now = model::instant_of(today);
  if (then && now && *now - *then > kOld) {
    text += fmt::format(", {} days ago: measure it again with taskbench calibrate",
                        std::chrono::floor<std::chrono::days>(*now - *then).count());
  }
  return text;
}

/// Lowers a floor for two executables of one build to the floor for the means of `layouts` of them.
/// An assumed floor is not lowered: it is too small for one layout, and right for eight (ADR 0043).
void take_turns(model::NoiseFloor& floor, std::size_t layouts) {
  const double of_one = floor.epsilon;
  floor.epsilon /= std::sqrt(static_cast<double>(layouts));
  floor.source += fmt::format(" as {:.1f} % for one layout; {} take turns", 100 * of_one, layouts);
}

model::NoiseFloor assumed(std::string_view why) {
  return {kAssumed, fmt::format("assumed: {}", why)};
}

}  // namespace

void StoreContent::refuse_bad(const std::string& name) const {
  for (const BadEntry& each : bad) {
    if (each.name == name) throw UsageError(each.what);
  }
}

StoreContent BaselineStore::read() const {
  StoreContent content;
  std::error_code failed;
  const auto status = fs::status(folder_, failed);
  if (status.type() == fs::file_type::not_found) {
    refuse(
        "--store {}: there is no such folder; `taskbench baseline save{}` makes it, and --store "
        "names another",
        folder_.string(),
        folder_ == kDefaultStore ? std::string() : " --store " + folder_.string());
  }
  if (!fs::is_directory(status)) {
    refuse("--store {}: is not a folder{}", folder_.string(),
           failed ? ": " + failed.message() : std::string());
  }
  for (const auto& each : fs::directory_iterator(folder_, failed)) {
    if (each.is_directory(failed)) read_folder(each.path(), content);
  }
  if (failed) refuse("--store {}: {}", folder_.string(), failed.message());
  std::ranges::sort(content.entries, {}, [](const StoreEntry& entry) {
    return std::pair(entry.rolling.setup.name, entry.file.native());
  });
  std::ranges::sort(content.bad, {}, &BadEntry::what);
  return content;
}

fs::path BaselineStore::file_of(const model::SeriesSetup& setup) const {
  return folder_ / model::baseline_key(setup.key) / (setup.name + std::string(kSuffix));
}

void BaselineStore::refuse_unwritable() const {
  // Checks the nearest folder that exists: nothing is created before there is something to store.
  fs::path there = fs::absolute(folder_).lexically_normal();
  std::error_code failed;
  const auto is_there = [&] { return fs::exists(fs::symlink_status(there, failed)); };
  while (!is_there() && there.has_relative_path()) there = there.parent_path();
  if (!fs::is_directory(there, failed)) {
    refuse("--store {}: {} is not a folder", folder_.string(), there.string());
  }
  const WriteOutcome outcome = check_writable(there / "baseline.json", kFileBytes);
  if (!outcome.ok()) refuse("--store {}: {}", folder_.string(), outcome.error);
}

void BaselineStore::refuse_foreign(const model::SeriesSetup& setup) const {
  const fs::path file = file_of(setup);
  std::error_code failed;
  try {
    if (!fs::exists(file, failed)) {
      if (fs::exists(anchor_of(file), failed)) {
        refuse("{}: is an anchor without its baseline; restore that, or remove it",
               anchor_of(file).string());
      }
      return;
    }
    const StoreEntry entry = read_entry(file, setup.name);
    const auto differing = differences(entry.rolling.setup.key, setup.key);
    if (differing.empty()) return;
    refuse(
        "{}: is in the folder of this machine, but is of another: {} is '{}', not '{}'; move it "
        "away",
        file.string(), differing.front().name, differing.front().first, differing.front().second);
  } catch (const json::ReadError& error) {
    throw UsageError(error.what());
  }
}

bool BaselineStore::save(const model::Series& series) const {
  refuse_foreign(series.setup);
  const fs::path file = file_of(series.setup);
  make_folder(file.parent_path());
  const fs::path anchor = anchor_of(file);
  std::error_code failed;
  const bool first = !fs::exists(file, failed) && !fs::exists(anchor, failed);
  // The baseline is written before its anchor. A kill in between leaves a baseline without an
  // anchor, which the next save does not change and `promote` repairs; an anchor alone would be
  // refused.
  write(file, json::baseline_file(series));
  if (first) write(anchor, json::baseline_file(series));
  return first;
}

void BaselineStore::promote(const StoreEntry& entry) {
  write(anchor_of(entry.file), json::baseline_file(entry.rolling));
}

void BaselineStore::remove(const StoreEntry& entry) {
  for (const fs::path& file : {anchor_of(entry.file), entry.file}) {
    std::error_code failed;
    fs::remove(file, failed);
    if (failed) refuse("cannot remove {}: {}", file.string(), failed.message());
  }
  std::error_code ignored;  // the folder holds other baselines
  fs::remove(entry.file.parent_path(), ignored);
}

std::string unknown_baseline(const std::string& name, const StoreContent& content) {
  const std::string save = fmt::format("; `taskbench baseline save{}` saves one",
                                       name == kDefaultBaseline ? std::string() : ' ' + name);
  std::set<std::string> names;
  for (const StoreEntry& entry : content.entries) names.insert(entry.rolling.setup.name);
  if (names.empty()) return fmt::format("no baseline '{}': none is stored{}", name, save);
  return unknown_name("baseline", name, names) + save;
}

const StoreEntry& choose(const StoreContent& content, const std::string& name,
                         const std::optional<std::string>& key, const model::MachineKey& here) {
  std::vector<const StoreEntry*> named;
  std::vector<const StoreEntry*> chosen;
  for (const StoreEntry& entry : content.entries) {
    const auto& setup = entry.rolling.setup;
    if (setup.name != name) continue;
    named.push_back(&entry);
    const bool meant = key ? model::baseline_key(setup.key) == *key
                           : differences(setup.key.machine, here.machine).empty();
    if (meant) chosen.push_back(&entry);
  }
  if (chosen.size() == 1) return *chosen.front();
  content.refuse_bad(name);
  if (named.empty()) throw UsageError(unknown_baseline(name, content));
  const Strings keys = each_of(chosen.empty() ? named : chosen, [](const StoreEntry* entry) {
    return model::baseline_key(entry->rolling.setup.key);
  });
  if (key) throw UsageError("--key: " + unknown_name("key", *key, keys));
  refuse("'{}' is stored {}; choose by --key: {}", name,
         chosen.empty() ? "for other machines only" : "for several builds", fmt::join(keys, ", "));
}

fs::path noise_file(const fs::path& store, const model::MachineKey& key) {
  return store / (machine_key(key) + ".noise.json");
}

bool save_noise(const fs::path& file, const model::NoiseCalibration& noise) {
  make_folder(file.parent_path());
  bool replaces = false;
  model::NoiseCalibration all = noise;
  std::error_code ignored;
  if (fs::exists(file, ignored)) {
    try {
      all = json::merged(noise, read_noise(file));
    } catch (const json::ReadError&) {
      replaces = true;
    }
  }
  write(file, json::to_json(all));
  return replaces;
}

std::map<std::string, model::NoiseFloor> noise_floors(const fs::path& store,
                                                      const model::MachineKey& key,
                                                      const Strings& benchmarks,
                                                      std::string_view today, std::size_t layouts) {
  const fs::path file = noise_file(store, key);
  std::error_code ignored;
  std::optional<model::NoiseCalibration> noise;
  if (fs::exists(file, ignored)) {
    try {
      noise = read_noise(file);
    } catch (const json::ReadError& error) {
      throw UsageError(error.what());
    }
  }
  std::map<std::string, model::NoiseFloor> floors;
  for (const std::string& name : benchmarks) {
    if (!noise) {
      floors[name] = assumed("taskbench calibrate has not been run on this machine");
    } else if (const auto found = noise->benchmarks.find(name); found == noise->benchmarks.end()) {
      floors[name] = assumed(fmt::format("the calibration has no {}", name));
    } else {
      const auto& earlier = found->second.earlier;
      floors[name] = {found->second.epsilon, origin(earlier ? *earlier : *noise, today)};
      if (layouts > 1) take_turns(floors[name], layouts);
    }
  }
  return floors;
}

}  // namespace taskbench::harness
