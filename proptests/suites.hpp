// SPDX-License-Identifier: MIT
// The programs of the suites without their queues: the laws are compiled once, for the queues that ship and for all
// mutants of them. The laws about one thread run on `alone`, those about real threads on `threads`. Either may be
// empty.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "operations.hpp"

namespace runq::props {

int run_ring_laws(int argc, char** argv, const std::vector<candidate>& alone, const std::vector<candidate>& threads);
int run_split_ring_laws(int argc, char** argv, const std::vector<candidate>& alone,
                        const std::vector<candidate>& threads);
int run_chase_lev_laws(int argc, char** argv, const std::vector<candidate>& alone,
                       const std::vector<candidate>& threads);
int run_split_deque_laws(int argc, char** argv, const std::vector<candidate>& alone,
                         const std::vector<candidate>& threads);
int run_counted_laws(int argc, char** argv, const std::vector<candidate>& alone, const std::vector<candidate>& threads);
int run_boxed_laws(int argc, char** argv, const std::vector<candidate>& alone, const std::vector<candidate>& threads);
int run_runnext_laws(int argc, char** argv, const std::vector<candidate>& alone, const std::vector<candidate>& threads);
int run_inject_laws(int argc, char** argv, const std::vector<candidate>& alone, const std::vector<candidate>& threads,
                    const std::function<std::string(const std::vector<std::uint8_t>&)>& chain_disagrees);
int run_shared_fifo_laws(int argc, char** argv, const std::vector<candidate>& alone,
                         const std::vector<candidate>& threads);
int run_local_queue_laws(int argc, char** argv, const std::vector<candidate>& alone,
                         const std::vector<candidate>& threads);

}  // namespace runq::props
