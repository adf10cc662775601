// SPDX-License-Identifier: MIT
// The same for programs in C++.
#include "harness.c"
