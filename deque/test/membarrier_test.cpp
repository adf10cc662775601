// SPDX-License-Identifier: MIT
// Which fences membarrier_atomics uses, and that it notices when the system forbids the barrier.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>
#include <runq/membarrier.hpp>
#include <runq/split_ring.hpp>

#include "support.hpp"

#if RUNQ_DETAIL_MEMBARRIER
#include <linux/filter.h>
#include <sys/wait.h>
#endif

namespace {

using runq::membarrier_atomics;

TEST(membarrier, a_heavy_fence_is_a_call_where_the_light_one_is_nothing) {
  const std::uint64_t before = membarrier_atomics::barriers();
  membarrier_atomics::heavy_fence(std::memory_order::seq_cst);
  membarrier_atomics::light_fence(std::memory_order::seq_cst);
  EXPECT_EQ(membarrier_atomics::barriers() - before, membarrier_atomics::asymmetric() ? 1U : 0U);
}

TEST(membarrier, a_passive_owner_with_a_full_ring_costs_one_barrier) {
  runq::split_ring<int> r;
  auto owner = r.make_owner();
  for (int i = 0; i != 256; ++i) ASSERT_TRUE(owner.push(i));
  for (int i = 0; i != 8; ++i) ASSERT_EQ(owner.pop(), i);
  const std::uint64_t before = membarrier_atomics::barriers();
  std::array<int, 256> out{};
  std::size_t taken = 0;
  while (const auto got = r.make_thief().steal_half(out)) taken += got.count;
  EXPECT_EQ(taken, 248U);
  EXPECT_EQ(membarrier_atomics::barriers() - before, membarrier_atomics::asymmetric() ? 1U : 0U);
}

#if RUNQ_DETAIL_MEMBARRIER

// From now on membarrier(2) fails in this process, and in what it executes.
bool forbid_membarrier() {
  std::array<sock_filter, 4> program{{{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
                                      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_membarrier},
                                      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | 1},
                                      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}}};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(membarrier, it_works_in_a_child_of_fork) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    membarrier_atomics::heavy_fence(std::memory_order::seq_cst);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(membarrier, a_process_in_which_it_is_forbidden_has_fences_of_the_language) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (!forbid_membarrier()) _exit(77);
    execl("/proc/self/exe", "membarrier_test", "--gtest_also_run_disabled_tests", "--gtest_filter=*forbidden_here",
          static_cast<char*>(nullptr));
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no filters of system calls here";
  EXPECT_EQ(status, 0);
}

// Run by the test above, in a process of its own.
TEST(membarrier, DISABLED_forbidden_here) {
  EXPECT_FALSE(membarrier_atomics::asymmetric());
  membarrier_atomics::heavy_fence(std::memory_order::seq_cst);
  membarrier_atomics::light_fence(std::memory_order::seq_cst);
  EXPECT_EQ(membarrier_atomics::barriers(), 0U);
}

TEST(membarrier, a_process_in_which_it_is_forbidden_later_ends) {
  if (!membarrier_atomics::asymmetric()) GTEST_SKIP() << "there is no membarrier(2) here";
  const auto forbidden_later = [] {
    if (!forbid_membarrier()) runq::detail::contract_violated("does not work any more: the test cannot be made");
    membarrier_atomics::heavy_fence(std::memory_order::seq_cst);
  };
  EXPECT_DEATH(forbidden_later(), "does not work any more");
}

#else

TEST(membarrier, without_it_both_are_fences_of_the_language) { EXPECT_FALSE(membarrier_atomics::asymmetric()); }

#endif

}  // namespace
