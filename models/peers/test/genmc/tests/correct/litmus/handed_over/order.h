/* SPDX-License-Identifier: MIT */
#pragma once
#ifdef RELAXED
#define ORDER memory_order_relaxed
#else
#define ORDER memory_order_acquire
#endif
