/* SPDX-License-Identifier: MIT */
/* The assertion of CDSChecker's harness. */
#pragma once

#include <assert.h>

#ifdef NDEBUG
#error "the programs are judged by their assertions"
#endif
#define MODEL_ASSERT(condition) assert(condition)
