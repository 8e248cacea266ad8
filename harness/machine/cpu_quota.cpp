#include "harness/machine/cpu_quota.hpp"

#include "harness/os/system_file.hpp"

namespace taskbench::harness {
namespace {

using model::CpuQuota;
using model::Fact;
using model::Unknown;

/// The mount point of a hierarchy of groups, and the group that is visible there.
struct Mount {
  fs::path point;
  std::string group;
};

struct Hierarchy {
  bool version_2 = false;
  std::string group;  ///< of this process
};

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
    if (contains(parts_of(controllers, ','), "cpu")) found.push_back({false, group});
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
        version_2 ? type == "cgroup2" : type == "cgroup" && contains(parts_of(dash[3], ','), "cpu");
    if (wanted) return Mount{fs::path(words[4]), std::string(words[3])};
  }
  return std::nullopt;
}

/// The folders of the process's group and of its ancestors, as far as they are visible.
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

/// The quota in CPUs from "max 100000" or "50000 100000", which is 50,000 µs in every 100,000;
/// version 1 has the second number in a separate file. Without the file, the group has no such
/// limit.
Fact<std::optional<double>> quota_in(const fs::path& file) {
  constexpr std::optional<double> kNone;
  std::error_code failed;
  if (!fs::exists(file, failed)) return kNone;
  std::string text = first_line(file);
  if (file.filename() != "cpu.max") {
    text += ' ' + first_line(file.parent_path() / "cpu.cfs_period_us");
  }
  const std::vector<std::string_view> words = words_of(text);
  if (!words.empty() && (words[0] == "max" || words[0] == "-1")) return kNone;
  const auto quota_us = words.size() == 2 ? number<std::int64_t>(words[0]) : std::nullopt;
  const auto period_us = words.size() == 2 ? number<std::int64_t>(words[1]) : std::nullopt;
  if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0) {
    return Unknown{fmt::format("{} is not understood", file.string())};
  }
  return std::optional(static_cast<double>(*quota_us) / static_cast<double>(*period_us));
}

struct Group {
  fs::path file;  ///< of the quota
  double cpus = 0;
};

/// Every group with a quota, from the process's own upwards.
Fact<std::vector<Group>> limiting_groups(const fs::path& root) {
  const auto cgroup = content_of(root / "proc/self/cgroup");
  if (!cgroup) return Unknown{"/proc/self/cgroup cannot be read"};
  const auto mountinfo = content_of(root / "proc/self/mountinfo");
  if (!mountinfo) return Unknown{"/proc/self/mountinfo cannot be read"};
  std::vector<Group> groups;
  bool seen = false;
  for (const auto& [version_2, group] : hierarchies(*cgroup)) {
    const auto mount = mount_of(*mountinfo, version_2);
    if (!mount) continue;
    for (const fs::path& folder : folders(root, *mount, group)) {
      std::error_code failed;
      seen = seen || fs::is_directory(folder, failed);
      const fs::path file = folder / (version_2 ? "cpu.max" : "cpu.cfs_quota_us");
      const auto quota = quota_in(file);
      if (!quota) return Unknown{quota.reason};
      if (*quota) groups.push_back({file, **quota});
    }
  }
  if (!seen) return Unknown{"no file system of control groups is mounted here"};
  return groups;
}

}  // namespace

Fact<CpuQuota> probe_cpu_quota(const fs::path& root) {
  const auto groups = limiting_groups(root);
  if (!groups) return Unknown{groups.reason};
  CpuQuota tightest;
  for (const Group& group : *groups) {
    if (tightest.cpus && *tightest.cpus <= group.cpus) continue;
    tightest = {group.cpus, group.file.string()};
  }
  return tightest;
}

Fact<std::int64_t> count_quota_throttles(const fs::path& root) {
  const auto groups = limiting_groups(root);
  if (!groups) return Unknown{groups.reason};
  std::int64_t count = 0;
  for (const Group& group : *groups) {
    const fs::path file = group.file.parent_path() / "cpu.stat";
    const std::string content = content_of(file).value_or("");
    std::optional<std::int64_t> throttled;
    for (const std::string_view line : lines_of(content)) {
      const std::vector<std::string_view> words = words_of(line);
      if (words.size() == 2 && words[0] == "nr_throttled") {
        throttled = number<std::int64_t>(words[1]);
      }
    }
    if (!throttled) return Unknown{fmt::format("{} has no nr_throttled", file.string())};
    count += *throttled;
  }
  return count;
}

}  // namespace taskbench::harness
