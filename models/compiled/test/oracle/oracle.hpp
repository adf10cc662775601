// SPDX-License-Identifier: MIT
// The generated programs of models/selftest/oracle as C++ sources: write.cpp writes them, with what is expected;
// run.cpp checks them. The same sources are compiled without optimisation, with -O1 and with -O2.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

#include "random.hpp"

namespace oracle_programs {

using random_programs::expectation;
using random_programs::most_threads;
using random_programs::plain_variables;
using random_programs::thread_result;
using random_programs::variables;

struct state;
using thread_function = void (*)(state&, thread_result&);

/// What the threads of a program share.
struct state {
  std::array<std::atomic<unsigned>, variables> v{};
  std::mutex mutex;
  std::condition_variable condition;
  std::array<unsigned*, plain_variables> plain{};
  std::array<bool, plain_variables> is_freed{};
  std::array<std::thread, most_threads> threads;
  std::array<thread_result, most_threads> results;
  const thread_function* code = nullptr;  ///< of each thread
};

void start(state& s, unsigned thread);
// What these write into `state` is written by code that is not instrumented (outside.cpp): it is no part of the
// program.
void allocate_plain(state& s, unsigned variable);
void free_plain(state& s, thread_result& r, unsigned variable);

inline thread_local unsigned local = 0;

struct oracle_program {
  const char* family;
  const char* text;
  std::array<thread_function, most_threads> threads;  ///< those that there are, then nullptr
  bool has_main;                                      ///< thread 0 starts the others
  bool has_memory;                                    ///< plain variables, which are there from the beginning
  bool counts;  ///< not, where the checker has more executions: in loops that wait, and condition variables
  std::array<expectation, 3> expected;  ///< by the number of spurious failures
};

/// Some programs of one level of optimisation. All lists of a level have the same programs in the same order.
struct program_list {
  program_list(const char* optimised, const oracle_program* first, std::size_t size);
  const char* level;
  const oracle_program* programs;
  std::size_t count;
  const program_list* next;
};
extern const program_list* all_lists;

/// Executes it once, and adds its outcome.
void run(const oracle_program& p);

}  // namespace oracle_programs
