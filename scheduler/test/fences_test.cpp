// SPDX-License-Identifier: MIT
// Which fences the scheduler has: those of membarrier(2), or those of the language where the environment says so.
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <tuple>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <runq/detail/policy.hpp>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "support.hpp"

namespace {

using runq::task;
using runq::detail::scheduler_fences;

task<> fork_once() {
  co_await runq::fork([]() -> task<> { co_return; }());
  co_await runq::join();
}

/// How many barriers a run makes in which both machines go idle, after looking for work.
std::uint64_t barriers_of_a_run() {
  const std::uint64_t before = runq::membarrier_atomics::barriers();
  runq::run(
      []() -> task<> {
        for (int i = 0; i != 20; ++i) {
          for (int k = 0; k != 10; ++k) runq::go(fork_once());
          co_await runq::sleep_for(std::chrono::milliseconds(1));
        }
      },
      {.procs = 2});
  return runq::membarrier_atomics::barriers() - before;
}

// Run by the tests below in a process of its own, because the fences are chosen when a process starts.
TEST(fences, DISABLED_say_which) {
  const std::uint64_t barriers = barriers_of_a_run();
  std::printf("asymmetric %d, barriers %d\n", scheduler_fences::available() ? 1 : 0, barriers != 0 ? 1 : 0);
}

std::string said_with(const std::string& environment) {
  const std::string command = "exec env " + environment + " " +
                              std::filesystem::read_symlink("/proc/self/exe").string() +
                              " --gtest_also_run_disabled_tests --gtest_filter=fences.DISABLED_say_which";
  std::FILE* const from = popen(command.c_str(), "r");
  if (from == nullptr) return "popen() failed";
  std::string text;
  std::array<char, 256> line{};
  while (std::fgets(line.data(), line.size(), from) != nullptr) {
    if (std::string(line.data()).starts_with("asymmetric")) text = line.data();
  }
  return pclose(from) == 0 ? text : "the process failed";
}

TEST(fences, machines_that_go_idle_make_barriers_where_there_are_any) {
  EXPECT_EQ(barriers_of_a_run() != 0, scheduler_fences::available());
}

TEST(fences, RUNQ_MEMBARRIER_decides) {
  EXPECT_EQ(said_with("RUNQ_MEMBARRIER=0"), "asymmetric 0, barriers 0\n");
  EXPECT_EQ(said_with("RUNQ_MEMBARRIER=1"),
            runq::membarrier_atomics::asymmetric() ? "asymmetric 1, barriers 1\n" : "asymmetric 0, barriers 0\n");
}

// From now on the system refuses membarrier(2) to the calling thread, and to the processes that it starts. Returns
// whether that could be done.
bool lose_membarrier() {
  std::array<sock_filter, 4> refuses{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{static_cast<unsigned short>(refuses.size()), refuses.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(fences, RUNQ_MEMBARRIER_decides_nothing_where_the_system_has_no_barriers) {
  bool lost = false;
  std::string said;
  std::thread([&] {
    lost = lose_membarrier();
    if (lost) said = said_with("RUNQ_MEMBARRIER=1");
  }).join();
  if (!lost) GTEST_SKIP() << "the system lets no process refuse itself a call";
  EXPECT_EQ(said, "asymmetric 0, barriers 0\n");
}

using row = std::tuple<const char*, unsigned, bool>;

TEST(fences, asymmetric_ones_are_wanted_on_up_to_16_cpus_unless_the_environment_decides) {
  for (const auto& [said, cpus, wanted] :
       {row(nullptr, 0U, false), row(nullptr, 1U, true), row(nullptr, 16U, true), row(nullptr, 17U, false),
        row("0", 1U, false), row("0", 17U, false), row("1", 0U, true), row("1", 17U, true), row("no number", 1U, true),
        row("no number", 17U, false)}) {
    EXPECT_EQ(scheduler_fences::wanted(said, cpus), wanted) << (said == nullptr ? "" : said) << " on " << cpus;
  }
}

TEST(fences, RUNQ_MEMBARRIER_must_be_0_or_1) {
  for (const std::string text : {"", "2", "yes", " 1"}) {
    ::setenv("RUNQ_MEMBARRIER", text.c_str(), 1);
    EXPECT_EQ(sched_test::misuse_of([] { runq::scheduler s; }),
              "runq: the environment variable RUNQ_MEMBARRIER must be 0 or 1, but is \"" + text + "\"");
  }
  ::unsetenv("RUNQ_MEMBARRIER");
}

}  // namespace
