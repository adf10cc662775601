// SPDX-License-Identifier: MIT
// More threads, calls and slots than elsewhere: in a file of its own, because each search takes as long as all the
// others.
#include "deque_of.hpp"

namespace runq::model {
namespace {

const bool added[] = {
    // The owner makes four of its tasks public, and takes two of these back.
    add_case<script<deque_of<8, 4>, "ppppp", "pppggg", "t", "t">>({
        .name = "split_deque/eight_slots",
        .property = "two thieves take halves of a deque of eight slots while its owner fills it and pops",
        .threads = 3,
        .kept_for = "a half is more than two of its tasks",
    }),
    add_case<script<deque_of<4, 2>, "pp1", "h1", "k", "t", "t1", "w">>({
        .name = "split_deque/two_owners_three_thieves",
        .property = "two owners that steal from each other and three thieves run every task exactly once",
        .threads = 5,
        .kept_for = "five threads meet",
    }),
};

}  // namespace
}  // namespace runq::model
