/* SPDX-License-Identifier: MIT */
/* Plain accesses, which CDSChecker has to be told of. The checker here sees them anyway. */
#pragma once

#include <stdint.h>

#define PEERS_ACCESS(bits)                                                                          \
  static inline void store_##bits(void* at, uint##bits##_t value) { *(uint##bits##_t*)at = value; } \
  static inline uint##bits##_t load_##bits(const void* at) { return *(const volatile uint##bits##_t*)at; }

PEERS_ACCESS(8)
PEERS_ACCESS(16)
PEERS_ACCESS(32)
PEERS_ACCESS(64)

#undef PEERS_ACCESS
