// expect: a link must be a pointer to a member of type runq::inject_link<element>
// SPDX-License-Identifier: MIT
// The link leads from element to element, so it must know the type that it is in.
#include "runq/inject.hpp"

struct base;

struct task {
#ifdef RUNQ_CONTROL
  runq::inject_link<task> link;
#else
  runq::inject_link<base> link;
#endif
};

runq::inject<&task::link> queue;
