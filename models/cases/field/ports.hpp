// SPDX-License-Identifier: MIT
// What the cases of this folder share. Each part of a file is a port of what evidence/field.md reports of somebody
// else's header: the same operations in the same order with the same memory orders, written over the atomics policy, so
// that both native engines judge it. The compiled front end, which made the report, has no part in it. Next to each
// port stands its twin, fixed as the report says: the port must be caught, and the twin must pass.
#pragma once

#include "../corpus/corpus.hpp"

namespace runq::model::field {

using corpus::acq_rel;
using corpus::acquire;
using corpus::bug;
using corpus::relaxed;
using corpus::release;
using corpus::seq_cst;

}  // namespace runq::model::field
