// SPDX-License-Identifier: MIT
// pthread_key_create() and what belongs to it.
#pragma once

namespace runq::model::explore {

/// The running thread ends: destructors of what it has set.
void destroy_specific();

}  // namespace runq::model::explore
