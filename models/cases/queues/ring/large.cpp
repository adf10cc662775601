// SPDX-License-Identifier: MIT
// Six moves of the owner and three thieves: apart from the other programs, because it takes as long as all of them.
#include "script.hpp"

namespace runq::model {
namespace {

const bool added = add_case<script<ring_of<4>, "", "pppgpp", steal, steal, steal>>({
    .name = "ring/three_thieves",
    .property = "three thieves and an owner of six moves run every task exactly once",
    .threads = 4,
    .quick = {.random = 50'000, .bound = 1},
});

}  // namespace
}  // namespace runq::model
