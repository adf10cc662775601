// expect: must be trivially copyable
// SPDX-License-Identifier: MIT
// A thief may read a slot and then lose the race for it, so a slot cannot hold a std::string; a pointer to one is fine.
#include <string>

#include "runq/ring.hpp"

#ifdef RUNQ_CONTROL
using element = std::string*;
#else
using element = std::string;
#endif

runq::ring<element> queue;
