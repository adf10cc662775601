// SPDX-License-Identifier: MIT
// version: the version of these headers, as macros. The build reads it here, so it stands nowhere else.
//
// RUNQ_VERSION is 10,000 times the major number, plus 100 times the minor one, plus the patch: 1.2.3 is 10203. While
// the major number is 0, a new minor number may break its users, and a new patch may not; from 1.0.0 on only a new
// major number may.
#pragma once

#if __cplusplus <= 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG <= 201703L)
#error "runqkit needs C++20: compile with -std=c++20, or as your compiler calls it"
#else

#define RUNQ_VERSION_MAJOR 0
#define RUNQ_VERSION_MINOR 1
#define RUNQ_VERSION_PATCH 0

#define RUNQ_VERSION (RUNQ_VERSION_MAJOR * 10000 + RUNQ_VERSION_MINOR * 100 + RUNQ_VERSION_PATCH)

#endif  // C++20
