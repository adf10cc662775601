/* SPDX-License-Identifier: MIT */
/* C's header in C; in C++, where that header came with C++23 only, the same names from <atomic>. */
#pragma once

#ifdef __cplusplus
#include <atomic>
using std::atomic;
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;
#else
#include_next <stdatomic.h>
#include <stdbool.h> /* as their header does */
#endif
