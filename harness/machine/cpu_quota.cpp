#include "harness/machine/cpu_quota.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/os/system_file.hpp"

namespace taskbench::harness {
namespace {

namespace fs = std::filesystem;
using reports::model::CpuQuota;
using reports::model::Fact;

/// The place where a hierarchy of groups is mounted, and the group that is visible there.
struct Mount {
  fs::path point;
  std::string group;
};

struct Hierarchy {
  bool version_2 = false;
  std::string group;  ///< of this process
};

bool has_item(std::string_view list, std::string_view item) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == item) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

/// Parses the lines of /proc/self/cgroup: "4:cpu,cpuacct:/group" for version 1, "0::/group" for
/// version 2. If there are both, the CPU controller belongs to version 1 if that names it.
std::vector<Hierarchy> hierarchies(std::string_view cgroup) {
  std::vector<Hierarchy> found;
  for (const std::string_view line : lines_of(cgroup)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == line.npos ? first : first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string group = trimmed(line.substr(second + 1));
    if (!group.starts_with('/')) continue;
    if (controllers.empty()) found.push_back({true, group});
    if (has_item(controllers, "cpu")) found.push_back({false, group});
  }
  return found;
}

/// Finds the mount in lines of /proc/self/mountinfo: "32 31 0:29 /group /mount/point rw - cgroup
/// cgroup rw,cpu".
std::optional<Mount> mount_of(std::string_view mountinfo, bool version_2) {
  for (const std::string_view line : lines_of(mountinfo)) {
    const std::vector<std::string_view> words = words_of(line);
    const auto dash = std::ranges::find(words, std::string_view("-"));
    if (words.size() < 6 || words.end() - dash < 4) continue;
    const std::string_view type = dash[1];
    const bool wanted =
        version_2 ? type == "cgroup2" : type == "cgroup" && has_item(dash[3], "cpu");
    if (wanted) return Mount{fs::path(words[4]), std::string(words[3])};
  }
  return std::nullopt;
}

/// The folders of the process's group and of those above it, as far as they are visible.
std::vector<fs::path> folders(const fs::path& root, const Mount& mount, const std::string& group) {
  std::string below = group;
  if (mount.group != "/") {
    // In a container the mounted group is in the middle of the tree.
    below = group.starts_with(mount.group) ? group.substr(mount.group.size()) : std::string{};
  }
  const fs::path top = root / mount.point.relative_path();
  std::vector<fs::path> result;
  for (fs::path relative = fs::path(below).relative_path(); !relative.empty();
       relative = relative.parent_path()) {
    result.push_back(top / relative);
  }
  result.push_back(top);
  return result;
}

/// The quota in CPUs from "max 100000" or "50000 100000", which is 50,000 µs in every 100,000.
/// Without the file, the group has no such limit.
Fact<std::optional<double>> quota_in(const fs::path& folder, bool version_2) {
  using Quota = Fact<std::optional<double>>;
  std::string quota;
  std::string period;
  const fs::path file = folder / (version_2 ? "cpu.max" : "cpu.cfs_quota_us");
  std::error_code failed;
  if (!fs::exists(file, failed)) return Quota::known(std::nullopt);
  if (version_2) {
    const std::string line = first_line(file);
    const std::vector<std::string_view> words = words_of(line);
    if (words.size() == 2) {
      quota = words[0];
      period = words[1];
    }
  } else {
    quota = first_line(file);
    period = first_line(folder / "cpu.cfs_period_us");
  }
  if (quota == "max" || quota == "-1") return Quota::known(std::nullopt);
  const auto quota_us = number<std::int64_t>(quota);
  const auto period_us = number<std::int64_t>(period);
  if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0) {
    return Quota::unknown(fmt::format("{} is not understood", file.string()));
  }
  return Quota::known(static_cast<double>(*quota_us) / static_cast<double>(*period_us));
}

struct Group {
  fs::path folder;
  double cpus = 0;
  bool version_2 = false;
};

/// Every group with a quota, from the process's own upwards.
Fact<std::vector<Group>> limiting_groups(const fs::path& root) {
  using Groups = Fact<std::vector<Group>>;
  const auto cgroup = content_of(root / "proc/self/cgroup");
  if (!cgroup) return Groups::unknown("/proc/self/cgroup cannot be read");
  const auto mountinfo = content_of(root / "proc/self/mountinfo");
  if (!mountinfo) return Groups::unknown("/proc/self/mountinfo cannot be read");
  std::vector<Group> groups;
  bool seen = false;
  for (const auto& [version_2, group] : hierarchies(*cgroup)) {
    const auto mount = mount_of(*mountinfo, version_2);
    if (!mount) continue;
    for (const fs::path& folder : folders(root, *mount, group)) {
      std::error_code failed;
      seen = seen || fs::is_directory(folder, failed);
      const auto quota = quota_in(folder, version_2);
      if (!quota) return Groups::unknown(quota.reason);
      if (*quota) groups.push_back({folder, **quota, version_2});
    }
  }
  if (!seen) return Groups::unknown("no file system of control groups is mounted here");
  return Groups::known(std::move(groups));
}

}  // namespace

Fact<CpuQuota> probe_cpu_quota(const fs::path& root) {
  const auto groups = limiting_groups(root);
  if (!groups) return Fact<CpuQuota>::unknown(groups.reason);
  CpuQuota tightest;
  for (const Group& group : *groups) {
    if (tightest.cpus && *tightest.cpus <= group.cpus) continue;
    tightest.cpus = group.cpus;
    tightest.where = (group.folder / (group.version_2 ? "cpu.max" : "cpu.cfs_quota_us")).string();
  }
  return Fact<CpuQuota>::known(std::move(tightest));
}

Fact<std::int64_t> count_quota_throttles(const fs::path& root) {
  const auto groups = limiting_groups(root);
  if (!groups) return Fact<std::int64_t>::unknown(groups.reason);
  std::int64_t count = 0;
  for (const Group& group : *groups) {
    const fs::path file = group.folder / "cpu.stat";
    const auto content = content_of(file);
    std::optional<std::int64_t> throttled;
    for (const std::string_view line :
         lines_of(content ? std::string_view(*content) : std::string_view{})) {
      const std::vector<std::string_view> words = words_of(line);
      if (words.size() == 2 && words[0] == "nr_throttled") {
        throttled = number<std::int64_t>(words[1]);
      }
    }
    if (!throttled) {
      return Fact<std::int64_t>::unknown(fmt::format("{} has no nr_throttled", file.string()));
    }
    count += *throttled;
  }
  return Fact<std::int64_t>::known(count);
}

}  // namespace taskbench::harness
