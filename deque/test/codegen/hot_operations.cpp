// SPDX-License-Identifier: MIT
// One function for each hot operation. count_barriers.py counts the barriers in the code that the compiler makes of it.
#include <runq/chase_lev.hpp>
#include <runq/inject.hpp>
#include <runq/local_queue.hpp>
#include <runq/ring.hpp>
#include <runq/runnext.hpp>

namespace {
struct task {
  runq::inject_link<task> link;
};
using ring = runq::ring<task*>;
using runnext = runq::runnext<task*>;
using chase_lev = runq::chase_lev<task*>;
using bounded_chase_lev = runq::bounded_chase_lev<task*>;
using local_queue = runq::local_queue<&task::link>;
using inject = runq::inject<&task::link>;
}  // namespace

extern "C" {
bool ring_push(ring::owner& o, task* t) { return o.push(t); }
std::size_t ring_push_batch(ring::owner& o, task* const* t, std::size_t n) { return o.push_batch({t, n}); }
task* ring_pop(ring::owner& o) { return o.pop().value_or(nullptr); }
std::size_t ring_shed_half(ring::owner& o, task** out) { return o.shed_half(std::span<task*, 128>(out, 128)); }
task* ring_steal(const ring::thief& v) { return v.steal().value; }
task* ring_steal_half_into(const ring::thief& v, ring::owner& o) { return v.steal_half_into(o).value; }
std::size_t ring_steal_half(const ring::thief& v, task** out) { return v.steal_half(std::span(out, 128)).count; }
bool ring_has_work(const ring::thief& v) { return v.has_work(); }

task* runnext_put(runnext::owner& o, task* t) { return o.put(t).value_or(nullptr); }
task* runnext_take(runnext::owner& o) { return o.take().value_or(nullptr); }
task* runnext_steal(const runnext::thief& v) { return v.steal().value; }
bool runnext_has_work_approx(const runnext::thief& v) { return v.has_work_approx(); }
bool runnext_has_work(const runnext::thief& v) { return v.has_work(); }

bool chase_lev_push(chase_lev::owner& o, task* t) { return o.push(t); }
task* chase_lev_pop(chase_lev::owner& o) { return o.pop().value_or(nullptr); }
task* chase_lev_steal(const chase_lev::thief& v) { return v.steal().value; }
bool chase_lev_has_work(const chase_lev::thief& v) { return v.has_work(); }
std::size_t chase_lev_capacity(const chase_lev& d) { return d.capacity(); }
bool bounded_chase_lev_push(bounded_chase_lev::owner& o, task* t) { return o.push(t); }

task* local_queue_pop(local_queue::owner& o) { return o.pop().task; }
bool local_queue_has_work_approx(const local_queue::thief& v) { return v.has_work_approx(); }
bool inject_has_work_approx(const inject& q) { return q.has_work_approx(); }
}
