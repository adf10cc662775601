// SPDX-License-Identifier: MIT
#include "program.hpp"

#include <algorithm>
#include <array>

namespace runq::model::selftest {

namespace {

using order = std::memory_order;

unsigned below(std::mt19937& random, unsigned n) { return static_cast<unsigned>(random() % n); }

template <std::size_t N>
order one_of(std::mt19937& random, const std::array<order, N>& orders) {
  return orders[below(random, N)];
}

constexpr std::array load_orders{order::relaxed, order::acquire, order::seq_cst};
constexpr std::array store_orders{order::relaxed, order::release, order::seq_cst};
constexpr std::array update_orders{order::relaxed, order::acquire, order::release, order::acq_rel, order::seq_cst};
constexpr std::array fence_orders{order::acquire, order::release, order::acq_rel, order::seq_cst, order::seq_cst};

instruction random_instruction(std::mt19937& random, unsigned variables) {
  constexpr std::array choice{action::load,  action::load,     action::load,
                              action::store, action::store,    action::store,
                              action::add,   action::exchange, action::compare_exchange,
                              action::fence};
  instruction i;
  i.what = choice[below(random, choice.size())];
  i.variable = below(random, variables);
  i.operand = 1 + below(random, 3);
  i.expected = below(random, 3);
  i.adds_last_read = below(random, 6) == 0;
  i.guarded = below(random, 8) == 0;
  switch (i.what) {
    case action::load: i.order = one_of(random, load_orders); break;
    case action::store: i.order = one_of(random, store_orders); break;
    case action::fence: i.order = one_of(random, fence_orders); break;
    case action::add:
    case action::exchange: i.order = one_of(random, update_orders); break;
    case action::compare_exchange:
    case action::weak_exchange:
      i.order = one_of(random, update_orders);
      i.failure_order = one_of(random, load_orders);
      break;
    default: break;
  }
  return i;
}

void insert(std::mt19937& random, thread_code& code, instruction i) {
  code.insert(code.begin() + below(random, static_cast<unsigned>(code.size()) + 1), i);
}

// Accesses to plain variables anywhere, and around some of them the mutex.
void add_memory(std::mt19937& random, program& p) {
  constexpr std::array accesses{action::plain_read, action::plain_read, action::plain_write};
  for (thread_code& code : p) {
    for (unsigned n = 1 + below(random, 2); n != 0; --n) {
      instruction i;
      i.what = accesses[below(random, accesses.size())];
      i.variable = below(random, max_plain);
      i.guarded = below(random, 4) == 0;
      insert(random, code, i);
    }
    if (below(random, 4) == 0) {
      instruction i;
      i.what = action::release;
      i.variable = below(random, max_plain);
      i.guarded = below(random, 2) == 0;
      insert(random, code, i);
    }
  }
  for (thread_code& code : p) {
    if (below(random, 2) == 0) continue;
    const unsigned first = below(random, static_cast<unsigned>(code.size()));
    const unsigned last = first + 1 + below(random, static_cast<unsigned>(code.size()) - first);
    instruction i;
    i.what = action::unlock;
    code.insert(code.begin() + last, i);
    i.what = action::lock;
    code.insert(code.begin() + first, i);
  }
}

// One or two loops that wait, mostly for a value that another thread writes.
void add_waiting(std::mt19937& random, program& p) {
  constexpr std::array kinds{action::wait_load, action::wait_load, action::wait_exchange, action::wait_compare};
  for (unsigned n = 1 + below(random, 2); n != 0; --n) {
    const unsigned waiting = below(random, static_cast<unsigned>(p.size()));
    const thread_code& other = p[(waiting + 1) % p.size()];
    const instruction& awaited = other[below(random, static_cast<unsigned>(other.size()))];
    instruction i;
    i.what = kinds[below(random, kinds.size())];
    i.variable = awaited.variable;
    i.order = one_of(random, load_orders);
    i.failure_order = one_of(random, load_orders);
    i.operand = 1 + below(random, 3);
    i.expected = below(random, 4) == 0 ? 0 : awaited.operand;
    i.guarded = below(random, 8) == 0;
    insert(random, p[waiting], i);
  }
}

void simplify(std::mt19937& random, instruction& i) {
  i.what = below(random, 2) == 0 ? action::load : action::store;
  if (below(random, 8) != 0) i.order = order::relaxed;
  if (i.what == action::load && i.order == order::release) i.order = order::acquire;
  if (i.what == action::store && i.order == order::acquire) i.order = order::release;
  if (i.order == order::acq_rel) i.order = order::relaxed;
}

const char* name(order o) {
  switch (o) {
    case order::relaxed: return "rlx";
    case order::acquire: return "acq";
    case order::release: return "rel";
    case order::acq_rel: return "acq_rel";
    default: return "sc";
  }
}

}  // namespace

program random_program(std::mt19937& random, unsigned max_instructions, flavour f) {
  program p(2 + below(random, 2));
  const unsigned variables = f == flavour::any || f == flavour::weak_exchanges ? 1 + below(random, 3) : 2;
  const unsigned instructions = 3 + below(random, max_instructions - 2);
  const bool mostly_sc = (f == flavour::any || f == flavour::weak_exchanges) && below(random, 3) == 0;
  for (unsigned i = 0; i != instructions; ++i) {
    thread_code& code = p[i < p.size() ? i : below(random, static_cast<unsigned>(p.size()))];
    code.push_back(random_instruction(random, variables));
    if (f == flavour::loads_and_stores) simplify(random, code.back());
    if (f == flavour::weak_exchanges && below(random, 2) == 0) {
      instruction& back = code.back();
      back.what = action::weak_exchange;
      back.order = one_of(random, update_orders);
      back.failure_order = one_of(random, load_orders);
    }
    if (mostly_sc && below(random, 3) != 0) code.back().order = order::seq_cst;
  }
  if (f == flavour::memory || (f == flavour::waiting && below(random, 2) == 0)) add_memory(random, p);
  if (f == flavour::waiting) add_waiting(random, p);
  return p;
}

program random_fenced_program(std::mt19937& random) {
  program p(4);
  for (unsigned accesses = 5 + below(random, 4), i = 0; i != accesses; ++i) {
    thread_code& code = p[i < p.size() ? i : below(random, static_cast<unsigned>(p.size()))];
    if (!code.empty()) {
      instruction fence;
      fence.what = action::fence;
      fence.order = order::seq_cst;
      code.push_back(fence);
    }
    instruction access;
    access.what = below(random, 2) == 0 ? action::load : action::store;
    access.variable = below(random, 2);
    access.operand = 1 + i;
    code.push_back(access);
  }
  return p;
}

namespace {

instruction random_access(std::mt19937& random, unsigned variable) {
  instruction i;
  do i = random_instruction(random, 1);
  while (i.what == action::fence);
  i.variable = variable;
  i.guarded = i.adds_last_read = false;
  return i;
}

void maybe_add_fence(std::mt19937& random, thread_code& code, bool guarded) {
  if (below(random, 3) != 0) return;
  instruction fence;
  fence.what = action::fence;
  fence.order = one_of(random, fence_orders);
  fence.guarded = guarded;
  code.push_back(fence);
}

instruction random_receive(std::mt19937& random, unsigned variable, bool waits) {
  constexpr std::array kinds{action::load, action::wait_load, action::wait_exchange, action::wait_compare};
  instruction i;
  i.what = kinds[waits ? 1 + below(random, 3) : 0];
  i.variable = variable;
  i.order = one_of(random, load_orders);
  i.failure_order = one_of(random, load_orders);
  i.operand = 0;  // what wait_exchange finds as long as nothing was sent
  i.expected = 1;
  return i;
}

instruction random_send(std::mt19937& random, unsigned variable) {
  constexpr std::array kinds{action::store, action::store, action::add, action::exchange};
  instruction i;
  i.what = kinds[below(random, kinds.size())];
  i.variable = variable;
  i.order = i.what == action::store ? one_of(random, store_orders) : one_of(random, update_orders);
  i.operand = 1;
  return i;
}

}  // namespace

program random_cycle(std::mt19937& random) {
  program p(2 + below(random, 2));
  for (unsigned t = 0; t != p.size(); ++t) {
    p[t].push_back(random_access(random, t));
    maybe_add_fence(random, p[t], false);
    p[t].push_back(random_access(random, (t + 1) % static_cast<unsigned>(p.size())));
  }
  return p;
}

program random_handover(std::mt19937& random, bool waits) {
  constexpr std::array accesses{action::plain_read, action::plain_read, action::plain_write, action::plain_write,
                                action::release};
  program p(2 + below(random, 2));
  for (unsigned t = 0; t != p.size(); ++t) {
    const bool guarded = t != 0 && !waits;
    if (t != 0) p[t].push_back(random_receive(random, t - 1, waits));
    maybe_add_fence(random, p[t], guarded);
    instruction access;
    access.what = accesses[below(random, t + 1 == p.size() ? 5 : 4)];
    access.guarded = guarded;
    p[t].push_back(access);
    maybe_add_fence(random, p[t], guarded);
    if (t + 1 == p.size()) continue;
    p[t].push_back(random_send(random, t));
    p[t].back().guarded = guarded;
  }
  return p;
}

bool has(const program& p, bool (*kind)(action)) {
  return std::any_of(p.begin(), p.end(), [kind](const thread_code& code) {
    return std::any_of(code.begin(), code.end(), [kind](const instruction& i) { return kind(i.what); });
  });
}

std::string to_text(const program& p) {
  constexpr std::array names{"load",       "store",         "add",      "exchange",   "cas",         "weak cas",
                             "fence",      "lock",          "unlock",   "plain_read", "plain_write", "free",
                             "wait_load",  "wait_exchange", "wait_cas", "try_lock",   "wait",        "notify_one",
                             "notify_all", "start",         "join",     "add_local",  "allocate"};
  std::string text;
  for (const thread_code& code : p) {
    text += "thread:";
    for (const instruction& i : code) {
      text += i.guarded ? " if(odd) " : " ";
      text += std::string(names[static_cast<unsigned>(i.what)]) + "(" + "xyzw"[i.variable] + "," + name(i.order);
      if (compares(i.what) || waits(i.what)) text += std::string(",") + name(i.failure_order);
      if (compares(i.what) || waits(i.what)) text += "," + std::to_string(i.expected);
      text += "," + std::to_string(i.operand) + (i.adds_last_read ? "+last" : "") + ");";
    }
    text += "\n";
  }
  return text;
}

}  // namespace runq::model::selftest
