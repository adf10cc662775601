// SPDX-License-Identifier: MIT
// What a split_deque costs; the rows are those of queue_rows.hpp.
#include <benchmark/benchmark.h>
#include <runq/split_deque.hpp>

#include "queue_rows.hpp"
#include "split_candidate.hpp"
#include "support.hpp"

namespace {

using runq_bench::item;

using split_deque = runq_bench::split_candidate<runq::split_deque<item>>;
// Both fences are fences of the language.
using split_deque_fences = runq_bench::split_candidate<runq::basic_split_deque<item>>;
using split_deque_object = runq_bench::split_object_candidate<runq::split_deque<item>>;

}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_owner_rows<split_deque>("split_deque");
  runq_bench::add_owner_rows<split_deque_fences>("split_deque_fences");
  runq_bench::add_owner_rows<split_deque_object>("split_deque_object");
  return runq_bench::run(argc, argv);
}
