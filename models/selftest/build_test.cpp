// SPDX-License-Identifier: MIT
// The runner builds what it needs, and says why it cannot.
#include "build.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "jobs.hpp"

namespace runq::model {
namespace {

namespace fs = std::filesystem;

/// A folder with a program that takes the place of cmake.
class building : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "runq_build_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] manifest with(const std::string& script) const {
    const fs::path cmake = folder_ / "cmake";
    std::ofstream(cmake) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(cmake, fs::perms::owner_all);
    manifest m;
    m.cmake = cmake;
    m.build_dir = folder_;
    return m;
  }
  [[nodiscard]] std::string said() const { return read_file(folder_ / "modules.log"); }

 private:
  fs::path folder_;
};

TEST_F(building, asks_cmake_for_the_targets) {
  build_targets(with("echo \"$1 $3 $5 $6\"; echo error >&2"), {"cases_ring", "variants_ring"});
  EXPECT_EQ(said(), "--build -j --target=cases_ring --target=variants_ring\nerror\n");
}

TEST_F(building, of_nothing_starts_nothing) {
  build_targets(with("echo started"), {});
  EXPECT_EQ(said(), "");
}

TEST_F(building, that_fails_ends_the_run_and_shows_the_end_of_what_was_said) {
  const manifest m = with("seq 100; exit 3");
  EXPECT_EXIT(build_targets(m, {"cases_ring"}), testing::ExitedWithCode(1), "\n41\n(.*\n)*100\nverify: failed: build");
  EXPECT_EXIT(build_targets({}, {"cases_ring"}), testing::ExitedWithCode(2), "cannot start");
}

}  // namespace
}  // namespace runq::model
