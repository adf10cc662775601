// SPDX-License-Identifier: MIT
// A resolver that knows no names, neither from /etc/hosts nor from a server, which may take its time to say so. The
// header defines getaddrinfo(), so only one source file of a program may include it.
#pragma once

#include <atomic>

#include <netdb.h>

#include "interposed.hpp"

namespace sched_test {

inline std::atomic<int> names_asked{0};         // how often getaddrinfo() was called for a name
inline std::atomic<bool> look_ups_last{false};  // look-ups of names return when it is false

}  // namespace sched_test

extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** found) {
  static auto* const real =
      sched_test::next_one<int(const char*, const char*, const addrinfo*, addrinfo**)>("getaddrinfo");
  addrinfo numbers_only = *hints;
  numbers_only.ai_flags |= AI_NUMERICHOST;
  const int error = real(node, service, &numbers_only, found);
  if (error == EAI_NONAME) {
    ++sched_test::names_asked;
    sched_test::look_ups_last.wait(true);
  }
  return error;
}
