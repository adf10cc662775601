// SPDX-License-Identifier: MIT
#include "program.hpp"

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
  if (f == flavour::memory) add_memory(random, p);
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

std::string to_text(const program& p) {
  constexpr std::array names{"load",  "store", "add",    "exchange",   "cas",         "weak cas",
                             "fence", "lock",  "unlock", "plain_read", "plain_write", "free"};
  std::string text;
  for (const thread_code& code : p) {
    text += "thread:";
    for (const instruction& i : code) {
      text += i.guarded ? " if(odd) " : " ";
      text += std::string(names[static_cast<unsigned>(i.what)]) + "(" + "xyzw"[i.variable] + "," + name(i.order);
      if (compares(i.what)) text += std::string(",") + name(i.failure_order);
      if (compares(i.what)) text += "," + std::to_string(i.expected);
      text += "," + std::to_string(i.operand) + (i.adds_last_read ? "+last" : "") + ");";
    }
    text += "\n";
  }
  return text;
}

}  // namespace runq::model::selftest
