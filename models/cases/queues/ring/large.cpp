// SPDX-License-Identifier: MIT
// More threads, calls and slots than elsewhere: in a file of its own, because each search takes as long as all the
// others.
#include "script.hpp"

namespace runq::model {
namespace {

const bool added[] = {
    add_case<script<ring_of<4>, "", "pppgpp", steal, steal, steal>>({
        .name = "ring/three_thieves",
        .property = "three thieves and an owner that makes six calls run every task exactly once",
        .threads = 4,
        .kept_for = "three thieves meet",
    }),
    // Thieves take up to four tasks of eight, and the owner's pushes wrap around.
    add_case<script<ring_of<8>, "ppppp", "pppggg", "h", "h", "h">>({
        .name = "ring/eight_slots",
        .property =
            "three thieves take halves of a ring of eight slots while its owner fills it and pops, all in order",
        .threads = 4,
        .kept_for = "a half is more than two of its tasks",
    }),
    // What was stolen comes behind what was there, so order cannot be judged.
    add_case<script<ring_of<4, std::uint64_t, 0, order_judged::no>, "ppp1p1", "h1gp", "hpg", "t", "t1", "h">>({
        .name = "ring/two_owners_three_thieves",
        .property = "two owners that steal from each other and three thieves run every task exactly once",
        .threads = 5,
        .kept_for = "five threads meet",
    }),
};

}  // namespace
}  // namespace runq::model
