// SPDX-License-Identifier: MIT
// Row X16: the CPU quota of a container, read from files in the kernel's format.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <runq/detail/container.hpp>

#include "support.hpp"

namespace {

using runq::detail::cpus_of_quota;

/// A temporary directory that holds the files of / that describe control groups.
class container : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "runq_container_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  void file(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text << '\n';
  }

  std::filesystem::path root;
};

TEST_F(container, X16_no_control_groups_set_no_limit) { EXPECT_EQ(cpus_of_quota(root), 0U); }

TEST_F(container, X16_quotas_of_version_2_are_rounded_up) {
  file("proc/self/cgroup", "0::/");
  for (const auto& [text, cpus] :
       {std::pair("max 100000", 0U), std::pair("150000 100000", 2U), std::pair("200000 100000", 2U),
        std::pair("1000 100000", 1U), std::pair("nonsense", 0U), std::pair("100000 0", 0U), std::pair("", 0U)}) {
    file("sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(cpus_of_quota(root), cpus) << text;
  }
}

TEST_F(container, X16_the_smallest_of_all_groups_counts) {
  file("proc/self/cgroup", "0::/slice/service");
  file("sys/fs/cgroup/slice/service/cpu.max", "max 100000");
  EXPECT_EQ(cpus_of_quota(root), 0U);
  file("sys/fs/cgroup/slice/cpu.max", "300000 100000");
  EXPECT_EQ(cpus_of_quota(root), 3U);
  file("sys/fs/cgroup/slice/service/cpu.max", "500000 100000");
  EXPECT_EQ(cpus_of_quota(root), 3U);
}

TEST_F(container, X16_a_container_that_does_not_see_its_own_path_reads_the_top) {
  file("proc/self/cgroup", "0::/host/only/path");
  file("sys/fs/cgroup/cpu.max", "400000 100000");
  EXPECT_EQ(cpus_of_quota(root), 4U);
}

TEST_F(container, X16_quotas_of_version_1) {
  file("proc/self/cgroup", "9:cpuset:/others\n4:cpu,cpuacct:/a\n0::/");
  file("sys/fs/cgroup/cpu/others/cpu.cfs_period_us", "100000");
  file("sys/fs/cgroup/cpu/others/cpu.cfs_quota_us", "100000");
  file("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000");
  file("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(cpus_of_quota(root), 0U);
  file("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "250000");
  EXPECT_EQ(cpus_of_quota(root), 3U);
}

TEST_F(container, X16_a_quota_of_version_1_without_a_period_sets_no_limit) {
  file("proc/self/cgroup", "4:cpu:/");
  file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000");
  EXPECT_EQ(cpus_of_quota(root), 0U);
  file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000");
  EXPECT_EQ(cpus_of_quota(root), 2U);
}

TEST_F(container, X16_lines_without_two_colons_are_nobodys) {
  file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000");
  file("proc/self/cgroup", "cpu\n4:cpu\n");
  EXPECT_EQ(cpus_of_quota(root), 0U);
  file("proc/self/cgroup", "cpu\n4:cpu\n4:cpu:/");
  EXPECT_EQ(cpus_of_quota(root), 1U);
}

TEST_F(container, X16_the_default_number_of_processors_is_that_of_the_quota_but_at_least_two) {
  using runq::detail::cpus_to_use;
  EXPECT_EQ(cpus_to_use(8, 0), 8U) << "no quota";
  EXPECT_EQ(cpus_to_use(8, 1), 2U);
  EXPECT_EQ(cpus_to_use(8, 5), 5U);
  EXPECT_EQ(cpus_to_use(8, 9), 8U);
  EXPECT_EQ(cpus_to_use(1, 1), 1U);
}

}  // namespace
