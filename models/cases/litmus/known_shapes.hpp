// SPDX-License-Identifier: MIT
// What is known of the shapes: USE(name, shape, threads, graphs, absent, present) for each, with the number of
// execution graphs that RC11 gives it (0: the program has a data race), an outcome that RC11 forbids, and one that must
// be among those seen. Both front ends of the exact engine are compared with it: models/selftest/exact_test.cpp runs
// the shapes as scenarios, models/compiled/test/litmus/ as compiled programs.
#pragma once

#include "shapes.hpp"

#define RUNQ_FOR_EACH_LITMUS(USE)                                                            \
  USE("SB", store_buffering, 2, 4, nullptr, "00")                                            \
  USE("SB+fences", store_buffering_fences, 2, 3, "00", "01")                                 \
  USE("SB+sc", store_buffering_seq_cst, 2, 3, "00", "01")                                    \
  USE("SB+sc+fence", store_buffering_mixed, 2, 3, "00", "01")                                \
  USE("SB+sc+acquire+fence", store_buffering_mixed_acquire, 2, 4, nullptr, "00")             \
  USE("LB", load_buffering, 2, 3, "11", "01")                                                \
  USE("MP", message_passing, 2, 4, nullptr, "10")                                            \
  USE("MP+rel+acq", message_passing_release_acquire, 2, 3, "10", "11")                       \
  USE("IRIW+rel+acq", iriw_release_acquire, 4, 16, nullptr, "1010")                          \
  USE("IRIW+sc", iriw_seq_cst, 4, 15, "1010", "1011")                                        \
  USE("IRIW+fences", iriw_fences, 4, 15, "1010", "1011")                                     \
  USE("2+2W", two_plus_two_w, 2, 4, nullptr, "11")                                           \
  USE("2+2W+rel", two_plus_two_w_release, 2, 4, nullptr, "11")                               \
  USE("2+2W+fences", two_plus_two_w_fences, 2, 3, "11", "22")                                \
  USE("CoRR", coherence, 2, 6, "21", "12")                                                   \
  USE("CoWW", coherent_writes, 3, 12, nullptr, "21")                                         \
  USE("WRC", wrc, 3, 8, nullptr, "110")                                                      \
  USE("WRC+rel+acq", wrc_release_acquire, 3, 7, "110", "111")                                \
  USE("RWC+fences", rwc_fences, 3, 7, "100", "101")                                          \
  USE("stale failed CAS", stale_failed_cas, 2, 4, nullptr, "10")                             \
  USE("stale depth", stale_depth, 2, 10, nullptr, "10")                                      \
  USE("release sequence, same thread", release_sequence_same_thread, 2, 0, nullptr, nullptr) \
  USE("release sequence, RMW", release_sequence_rmw, 3, 6, nullptr, "1")                     \
  USE("Dekker+fences, flag", dekker_fences, 2, 0, nullptr, nullptr)                          \
  USE("Dekker+fences", dekker_exclusion, 2, 3, nullptr, nullptr)                             \
  USE("3 CAS", three_exchanges, 3, 3, nullptr, "711")                                        \
  USE("3 fetch_add", three_additions, 3, 6, nullptr, "210")                                  \
  USE("2 fetch_add + 2 readers", two_additions_two_reads, 4, 18, nullptr, "0112")            \
  USE("CAS mix", exchanges_and_stores, 3, 27, nullptr, nullptr)                              \
  USE("Z6.U", z6_u, 3, 24, nullptr, nullptr)                                                 \
  USE("2 writers + 2 readers", two_writers_two_readers, 4, 324, nullptr, nullptr)
