// SPDX-License-Identifier: MIT
// Six calls of the owner and three thieves: in a file of its own, because its search takes as long as all the others.
#include "script.hpp"

namespace runq::model {
namespace {

const bool added = add_case<script<ring_of<4>, "", "pppgpp", steal, steal, steal>>({
    .name = "ring/three_thieves",
    .property = "three thieves and an owner that makes six calls run every task exactly once",
    .threads = 4,
});

}  // namespace
}  // namespace runq::model
