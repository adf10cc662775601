// SPDX-License-Identifier: MIT
#include "runq/detail/container.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>

namespace runq::detail {
namespace {

constexpr double none = std::numeric_limits<double>::infinity();

double ratio(double quota, double period) { return quota > 0 ? quota / period : none; }

// "150000 100000", or "max 100000".
double quota_of_version_2(const std::filesystem::path& group) {
  std::ifstream file(group / "cpu.max");
  double quota = 0;
  double period = 0;
  return file >> quota >> period ? ratio(quota, period) : none;
}

// A quota of -1 means that there is none.
double quota_of_version_1(const std::filesystem::path& group) {
  std::ifstream quota_file(group / "cpu.cfs_quota_us");
  std::ifstream period_file(group / "cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  return quota_file >> quota && period_file >> period ? ratio(quota, period) : none;
}

// The smallest quota of `group` and the groups above it, up to `top`. A container may not see the groups outside of it.
template <class QuotaOf>
double smallest(const std::filesystem::path& top, const std::string& group, QuotaOf quota_of) {
  double least = quota_of(top);
  std::filesystem::path here = top;
  for (const auto& name : std::filesystem::path(group).relative_path()) {
    here /= name;
    least = std::min(least, quota_of(here));
  }
  return least;
}

}  // namespace

unsigned cpus_of_quota(const std::filesystem::path& root) {
  const std::filesystem::path mounted = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");
  double least = none;
  // "0::/group" is of version 2, "4:cpu,cpuacct:/group" of version 1.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      least = std::min(least, smallest(mounted, group, quota_of_version_2));
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      least = std::min(least, smallest(mounted / "cpu", group, quota_of_version_1));
    }
  }
  return least > std::numeric_limits<unsigned>::max() ? 0 : static_cast<unsigned>(std::ceil(least));
}

unsigned cpus_to_use(unsigned cpus, unsigned quota) { return quota == 0 ? cpus : std::min(cpus, std::max(quota, 2U)); }

}  // namespace runq::detail
