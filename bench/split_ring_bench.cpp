// SPDX-License-Identifier: MIT
// What a split_ring costs; the rows are those of queue_rows.hpp.
#include <benchmark/benchmark.h>
#include <runq/split_ring.hpp>

#include "queue_rows.hpp"
#include "split_candidate.hpp"
#include "support.hpp"

namespace {

using runq_bench::item;

using split_ring = runq_bench::split_candidate<runq::split_ring<item>>;
// Both fences are fences of the language.
using split_ring_fences = runq_bench::split_candidate<runq::basic_split_ring<item>>;
using split_ring_object = runq_bench::split_object_candidate<runq::split_ring<item>>;

}  // namespace

int main(int argc, char** argv) {
  runq_bench::add_owner_rows<split_ring>("split_ring");
  runq_bench::add_owner_rows<split_ring_fences>("split_ring_fences");
  runq_bench::add_owner_rows<split_ring_object>("split_ring_object");
  return runq_bench::run(argc, argv);
}
