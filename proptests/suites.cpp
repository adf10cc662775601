// SPDX-License-Identifier: MIT
#include "suites.hpp"

#include "boxed_laws.hpp"
#include "counted_laws.hpp"
#include "fifo_laws.hpp"
#include "inject_laws.hpp"
#include "local_queue_laws.hpp"
#include "runner.hpp"
#include "runnext_laws.hpp"
#include "split_ring_laws.hpp"

namespace runq::props {

int run_ring_laws(int argc, char** argv, const std::vector<candidate>& alone, const std::vector<candidate>& threads) {
  suite s("ring");
  if (!alone.empty()) s.add(fifo_laws(alone));
  if (!threads.empty()) s.add(fifo_thread_laws(threads));
  return s.run(argc, argv);
}

int run_chase_lev_laws(int argc, char** argv, const std::vector<candidate>& alone,
                       const std::vector<candidate>& threads) {
  suite s("chase_lev");
  if (!alone.empty()) s.add(fifo_laws(alone));
  if (!threads.empty()) s.add(fifo_thread_laws(threads));
  return s.run(argc, argv);
}

int run_counted_laws(int argc, char** argv, const std::vector<candidate>& alone,
                     const std::vector<candidate>& threads) {
  suite s("counted");
  if (!alone.empty()) s.add(counted_laws(alone));
  if (!threads.empty()) s.add(counted_thread_laws(threads));
  return s.run(argc, argv);
}

int run_boxed_laws(int argc, char** argv, const std::vector<candidate>& alone, const std::vector<candidate>& threads) {
  suite s("boxed");
  if (!alone.empty()) s.add(boxed_laws(alone));
  if (!threads.empty()) s.add(boxed_thread_laws(threads));
  return s.run(argc, argv);
}

int run_split_ring_laws(int argc, char** argv, const std::vector<candidate>& alone,
                        const std::vector<candidate>& threads) {
  suite s("split_ring");
  if (!alone.empty()) s.add(split_ring_laws(alone));
  if (!threads.empty()) s.add(split_ring_thread_laws(threads));
  return s.run(argc, argv);
}

int run_split_deque_laws(int argc, char** argv, const std::vector<candidate>& alone,
                         const std::vector<candidate>& threads) {
  suite s("split_deque");
  if (!alone.empty()) s.add(fifo_laws(alone));
  if (!threads.empty()) s.add(fifo_thread_laws(threads));
  return s.run(argc, argv);
}

int run_runnext_laws(int argc, char** argv, const std::vector<candidate>& alone,
                     const std::vector<candidate>& threads) {
  suite s("runnext");
  if (!alone.empty()) s.add(slot_laws(alone));
  if (!threads.empty()) s.add(slot_thread_laws(threads));
  return s.run(argc, argv);
}

int run_inject_laws(int argc, char** argv, const std::vector<candidate>& alone, const std::vector<candidate>& threads,
                    const std::function<std::string(const std::vector<std::uint8_t>&)>& chain_disagrees) {
  suite s("inject");
  if (!alone.empty()) s.add(shared_laws(alone));
  if (chain_disagrees) s.add(chain_law(chain_disagrees));
  if (!threads.empty()) s.add(shared_thread_laws(threads));
  return s.run(argc, argv);
}

int run_shared_fifo_laws(int argc, char** argv, const std::vector<candidate>& alone,
                         const std::vector<candidate>& threads) {
  suite s("shared_fifo");
  if (!alone.empty()) s.add(shared_laws(alone));
  if (!threads.empty()) s.add(shared_thread_laws(threads));
  return s.run(argc, argv);
}

int run_local_queue_laws(int argc, char** argv, const std::vector<candidate>& alone,
                         const std::vector<candidate>& threads) {
  suite s("local_queue");
  if (!alone.empty()) s.add(processor_laws(alone));
  if (!threads.empty()) s.add(processor_thread_laws(threads));
  return s.run(argc, argv);
}

}  // namespace runq::props
