// SPDX-License-Identifier: MIT
// What the functions are declared with that the program calls by their names: the entry points of instrumented code,
// and the functions that take the place of others.
#pragma once

// Before the definition of such a function: its name is C's, and the program finds it.
#define RUNQ_HOOK extern "C" __attribute__((visibility("default")))

// In such a function: where in the program it was called.
#define RUNQ_CALLER __builtin_return_address(0)
