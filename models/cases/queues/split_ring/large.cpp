// SPDX-License-Identifier: MIT
// More threads, calls and slots than elsewhere: in a file of its own, because each search takes as long as all the
// others.
#include "ring_of.hpp"

namespace runq::model {
namespace {

const bool added[] = {
    add_case<script<ring_of<4, 2>, "", "pppg", "t", "t", "t">>({
        .name = "split_ring/three_thieves",
        .property = "three thieves and an owner that makes four calls run every task exactly once",
        .threads = 4,
        .kept_for = "three thieves meet",
    }),
    // A run of four tasks, of which two are popped.
    add_case<script<ring_of<8, 4>, "ppppp", "pppgg", "o", "o", "o">>({
        .name = "split_ring/eight_slots",
        .property = "three thieves take halves of a ring of eight slots while its owner fills it and pops",
        .threads = 4,
        .kept_for = "a half is more than two of its tasks",
    }),
    add_case<script<ring_of<4, 2>, "ppp1", "h1", "k", "t", "t1", "t">>({
        .name = "split_ring/two_owners_three_thieves",
        .property = "two owners that steal from each other and three thieves run every task exactly once",
        .threads = 5,
        .kept_for = "five threads meet",
    }),
};

}  // namespace
}  // namespace runq::model
