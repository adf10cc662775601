// SPDX-License-Identifier: MIT
#include "shapes.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace runq::model::selftest {

namespace {

using order = std::memory_order;
constexpr auto rlx = order::relaxed, acq = order::acquire, rel = order::release, acq_rel = order::acq_rel,
               sc = order::seq_cst;

instruction access(action what, unsigned variable, order o, unsigned operand = 0) {
  instruction i;
  i.what = what;
  i.variable = variable;
  i.order = o;
  i.operand = operand;
  return i;
}
instruction fence(order o) { return access(action::fence, 0, o); }
instruction guarded(instruction i) {
  i.guarded = true;
  return i;
}
instruction compare(action what, unsigned variable, order o, order failing, unsigned expected, unsigned operand) {
  instruction i = access(what, variable, o, operand);
  i.failure_order = failing;
  i.expected = expected;
  return i;
}

bool begins_with_write(cycle::between e) { return e != cycle::between::fre; }
bool ends_with_write(cycle::between e) { return e != cycle::between::rfe; }

const cycle::thread& before(const cycle& c, std::size_t t) {
  return c.threads[(t + c.threads.size() - 1) % c.threads.size()];
}
/// Whether the first access of the thread, or the last one, is a write.
bool first_writes(const cycle& c, std::size_t t) { return ends_with_write(before(c, t).leads); }
bool last_writes(const cycle& c, std::size_t t) { return begins_with_write(c.threads[t].leads); }

bool fits(const cycle& c) {
  std::size_t pods = 0;
  for (std::size_t t = 0; t != c.threads.size(); ++t) {
    const bool first = first_writes(c, t), last = last_writes(c, t);
    if (c.threads[t].has == cycle::inside::one && first != last) return false;
    if (c.threads[t].has == cycle::inside::rmw && (first || !last)) return false;
    pods += c.threads[t].has == cycle::inside::pod ? 1 : 0;
  }
  return pods != 1;  // which would have to come back to the location that it has left
}

/// Whether no rotation of it comes before it.
template <class Numbers>
bool is_first_rotation(const Numbers& numbers) {
  Numbers other = numbers;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    std::rotate(other.begin(), other.begin() + 1, other.end());
    if (other < numbers) return false;
  }
  return true;
}

std::vector<unsigned> numbers_of(const cycle& c) {
  std::vector<unsigned> numbers;
  for (const cycle::thread& t : c.threads) numbers.push_back(t.number());
  return numbers;
}

void extend(cycle& c, std::size_t threads, unsigned most_edges, std::vector<cycle>& to) {
  if (c.threads.size() == threads) {
    if (c.edges() <= most_edges && fits(c) && is_first_rotation(numbers_of(c))) to.push_back(c);
    return;
  }
  for (unsigned n = 0; n != 12; ++n) {
    c.threads.push_back({static_cast<cycle::inside>(n / 3), static_cast<cycle::between>(n % 3)});
    extend(c, threads, most_edges, to);
    c.threads.pop_back();
  }
}

/// The place of a thread in a cycle: what it accesses, and the values that it writes.
struct role {
  cycle::inside has{};
  bool first_writes = false, last_writes = false;
  unsigned first = 0, last = 0;              ///< locations
  unsigned first_value = 0, last_value = 0;  ///< odd
  unsigned expected = 0;                     ///< by a compare-exchange: what the thread before has written, or 0
};

std::vector<role> roles_of(const cycle& c) {
  std::vector<role> roles;
  unsigned pods = 0;
  for (const cycle::thread& t : c.threads) pods += t.has == cycle::inside::pod ? 1 : 0;
  unsigned location = 0, value = 1, written = 0;
  for (std::size_t t = 0; t != c.threads.size(); ++t) {
    role r{.has = c.threads[t].has, .first_writes = first_writes(c, t), .last_writes = last_writes(c, t)};
    r.first = location;
    if (r.has == cycle::inside::pod) location = (location + 1) % pods;
    r.last = location;
    r.first_value = std::exchange(value, value + 2);
    r.last_value = r.has == cycle::inside::one ? r.first_value : std::exchange(value, value + 2);
    r.expected = t != 0 && before(c, t).leads == cycle::between::rfe ? written : 0;
    written = r.last_value;
    roles.push_back(r);
  }
  return roles;
}

const std::vector<order>& all_orders(bool writes) {
  static const std::vector<order> loads{rlx, acq, sc}, stores{rlx, rel, sc};
  return writes ? stores : loads;
}
instruction load_or_store(bool writes, unsigned variable, order o, unsigned value) {
  return access(writes ? action::store : action::load, variable, o, writes ? value : 0);
}
instruction update(bool writes, unsigned variable, order o, unsigned value) {
  return access(writes ? action::exchange : action::add, variable, o, writes ? value : 0);
}
order strong(bool writes) { return writes ? rel : acq; }

std::vector<thread_code> updates(const role& r, orders which) {
  std::vector<thread_code> all;
  const auto add = [&](order o) { all.push_back({access(action::add, r.first, o, 2)}); };
  const auto exchange = [&](order o) { all.push_back({access(action::exchange, r.first, o, r.last_value)}); };
  const auto cas = [&](order o, order failing) {
    all.push_back({compare(action::compare_exchange, r.first, o, failing, r.expected, r.last_value)});
  };
  if (which == orders::typical) {
    add(rlx), exchange(rel), cas(acq_rel, rlx), add(sc);
    return all;
  }
  for (const order o : {rlx, acq, rel, acq_rel, sc}) add(o), exchange(o), cas(o, rlx);
  cas(rlx, acq), cas(sc, sc);
  return all;
}

std::vector<thread_code> pairs_of_any_orders(const role& r) {
  std::vector<thread_code> all;
  for (const order first : all_orders(r.first_writes)) {
    for (const order last : all_orders(r.last_writes)) {
      const instruction a = load_or_store(r.first_writes, r.first, first, r.first_value);
      const instruction b = load_or_store(r.last_writes, r.last, last, r.last_value);
      all.push_back({a, b});
      for (const order f : {acq, rel, acq_rel, sc}) all.push_back({a, fence(f), b});
    }
  }
  return all;
}

std::vector<thread_code> typical_pairs(const role& r) {
  const auto a = [&](order o) { return load_or_store(r.first_writes, r.first, o, r.first_value); };
  const auto b = [&](order o) { return load_or_store(r.last_writes, r.last, o, r.last_value); };
  const instruction strong_a = a(strong(r.first_writes)), strong_b = b(strong(r.last_writes));
  return {{a(rlx), b(rlx)},
          {strong_a, strong_b},
          {a(sc), b(sc)},
          {a(rlx), fence(acq_rel), b(rlx)},
          {a(rlx), fence(sc), b(rlx)},
          {strong_a, b(sc)},
          {a(sc), b(rlx)},
          {update(r.first_writes, r.first, acq_rel, r.first_value), b(rlx)},
          {a(rlx), update(r.last_writes, r.last, sc, r.last_value)}};
}

/// For what orders two seq_cst accesses by way of others between them.
std::vector<thread_code> sequential_codes(const role& r) {
  const auto a = [&](order o) { return load_or_store(r.first_writes, r.first, o, r.first_value); };
  const auto b = [&](order o) { return load_or_store(r.last_writes, r.last, o, r.last_value); };
  const order strong_a = strong(r.first_writes), strong_b = strong(r.last_writes);
  if (r.has == cycle::inside::rmw)
    return {{access(action::add, r.first, sc, 2)}, {access(action::add, r.first, acq_rel, 2)}};
  if (r.has == cycle::inside::one) return {{a(sc)}, {a(strong_a)}};
  return {{a(sc), b(sc)}, {a(sc), b(strong_b)}, {a(strong_a), b(sc)}, {a(sc), b(rlx)}, {a(rlx), b(sc)}};
}

std::vector<thread_code> codes_of(const role& r, orders which) {
  if (which == orders::sequential) return sequential_codes(r);
  if (r.has == cycle::inside::rmw) return updates(r, which);
  if (r.has != cycle::inside::one) return which == orders::all ? pairs_of_any_orders(r) : typical_pairs(r);
  std::vector<thread_code> all;
  for (const order o : all_orders(r.first_writes))
    all.push_back({load_or_store(r.first_writes, r.first, o, r.first_value)});
  return all;
}

/// Every choice of one of `choices[t]` for each thread.
void for_each_product(const std::vector<std::vector<thread_code>>& choices,
                      const std::function<void(const program&, const std::vector<std::size_t>&)>& sink) {
  std::vector<std::size_t> chosen(choices.size());
  for (;;) {
    program p;
    for (std::size_t t = 0; t != choices.size(); ++t) p.push_back(choices[t][chosen[t]]);
    sink(p, chosen);
    std::size_t t = 0;
    while (t != choices.size() && ++chosen[t] == choices[t].size()) chosen[t++] = 0;
    if (t == choices.size()) return;
  }
}

/// Whether a rotation of the cycle, which is the same cycle, has these choices in an earlier order.
bool is_rotation_of_another(const cycle& c, const std::vector<std::size_t>& chosen) {
  const std::vector<unsigned> numbers = numbers_of(c);
  std::vector<unsigned> rotated = numbers;
  std::vector<std::size_t> choices = chosen;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    std::rotate(rotated.begin(), rotated.begin() + 1, rotated.end());
    std::rotate(choices.begin(), choices.begin() + 1, choices.end());
    if (rotated == numbers && choices < chosen) return true;
  }
  return false;
}

/// The program with location `v` as plain variable 0; nothing, if an order or an RMW would be lost with that.
program plain_twin(const program& p, unsigned v) {
  program twin;
  unsigned reads = 0, writes = 0;
  for (const thread_code& code : p) {
    thread_code plain;
    bool has_read = false;
    for (instruction i : code) {
      if (i.what != action::fence && i.variable == v) {
        if ((i.what != action::load && i.what != action::store) || i.order != rlx) return {};
        ++(i.what == action::load ? reads : writes);
        i.what = i.what == action::load ? action::plain_read : action::plain_write;
        i.variable = 0;
        i.guarded = has_read;
      }
      has_read =
          has_read || i.what == action::load || i.what == action::add || compares(i.what) || i.what == action::exchange;
      plain.push_back(i);
    }
    twin.push_back(plain);
  }
  return writes == 0 || reads + writes < 2 ? program{} : twin;
}

}  // namespace

unsigned cycle::edges() const {
  unsigned count = 0;
  for (const thread& t : threads) count += t.has == inside::one ? 1 : 2;
  return count;
}

std::string cycle::name() const {
  constexpr std::array within{"", " pod", " pos", " rmw"};
  constexpr std::array names{"rfe", "fre", "wse"};
  std::string text;
  for (std::size_t t = 0; t != threads.size(); ++t) {
    if (t != 0) text += ' ';
    text += names[static_cast<std::size_t>(before(*this, t).leads)];
    text += within[static_cast<std::size_t>(threads[t].has)];
  }
  return text;
}

std::vector<cycle> all_cycles(unsigned most_edges) {
  std::vector<cycle> all;
  cycle c;
  for (std::size_t threads = 2; threads <= 4; ++threads) extend(c, threads, most_edges, all);
  return all;
}

void for_each_program(const cycle& c, orders which, const program_sink& sink) {
  std::vector<std::vector<thread_code>> choices;
  for (const role& r : roles_of(c)) choices.push_back(codes_of(r, which));
  for_each_product(choices, [&](const program& p, const std::vector<std::size_t>& chosen) {
    if (!is_rotation_of_another(c, chosen)) sink(p);
  });
}

void for_each_plain_twin(const cycle& c, orders which, const program_sink& sink) {
  for_each_program(c, which, [&](const program& p) {
    for (unsigned v = 0; v != max_variables; ++v) {
      if (const program twin = plain_twin(p, v); !twin.empty()) sink(twin);
    }
  });
}

// --- families --------------------------------------------------------------------------------------------------------

namespace {

using bodies = std::vector<thread_code>;

thread_code operator+(thread_code a, const thread_code& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// Each of them, and each after each.
bodies one_or_two(const bodies& alphabet) {
  bodies all = alphabet;
  for (const thread_code& a : alphabet) {
    for (const thread_code& b : alphabet) all.push_back(a + b);
  }
  return all;
}

/// All multisets of so many bodies, of which at least one has an instruction for which `about` holds.
void for_each_choice(const bodies& from, unsigned threads, bool (*about)(action), const program_sink& sink) {
  program p;
  const std::function<void(std::size_t)> choose = [&](std::size_t first) {
    if (p.size() == threads) {
      if (has(p, about)) sink(p);
      return;
    }
    for (std::size_t i = first; i != from.size(); ++i) {
      p.push_back(from[i]);
      choose(i);
      p.pop_back();
    }
  };
  choose(0);
}
/// Pairs of bodies of one or two letters, triples of bodies of one.
void for_each_pair_and_triple(const bodies& alphabet, bool (*about)(action), const program_sink& sink) {
  for_each_choice(one_or_two(alphabet), 2, about, sink);
  for_each_choice(alphabet, 3, about, sink);
}

constexpr unsigned x = 0, y = 1, d = 0;  // d is plain
instruction plain_read(unsigned v = d) { return access(action::plain_read, v, rlx); }
instruction plain_write(unsigned value, unsigned v = d) { return access(action::plain_write, v, rlx, value); }
const instruction lock = access(action::lock, 0, rlx), unlock = access(action::unlock, 0, rlx);

instruction wait_load(unsigned v, order o) {
  instruction i = access(action::wait_load, v, o);
  i.expected = 1;
  return i;
}

void awaits(const program_sink& sink) {
  const bodies alphabet{{access(action::store, x, rlx, 1)},
                        {access(action::store, x, rel, 1)},
                        {access(action::store, y, sc, 1)},
                        {access(action::load, y, rlx)},
                        {access(action::load, x, acq)},
                        {access(action::add, x, acq_rel, 1)},
                        {wait_load(x, rlx)},
                        {wait_load(x, acq)},
                        {wait_load(y, sc)},
                        {compare(action::wait_compare, x, acq_rel, rlx, 1, 2)},
                        {compare(action::wait_compare, y, sc, acq, 0, 1)},
                        {plain_write(3)},
                        {plain_read()}};
  for_each_pair_and_triple(alphabet, waits, sink);
}

void exchanging_awaits(const program_sink& sink) {
  const bodies alphabet{{access(action::wait_exchange, x, acq, 1)},  // a lock by exchange
                        {access(action::wait_exchange, y, sc, 1)},
                        {access(action::store, x, rel, 0)},
                        {access(action::store, y, rlx, 0)},
                        {access(action::load, y, rlx)},
                        {plain_write(3)}};
  for_each_pair_and_triple(alphabet, waits, sink);
}

bool locks(action a) { return a == action::lock; }
void locking(const program_sink& sink) {
  const bodies alphabet{{lock, plain_write(1), unlock},
                        {lock, plain_read(), unlock},
                        {plain_write(3)},
                        {plain_read()},
                        {lock, access(action::store, x, rlx, 1), unlock},
                        {lock, access(action::add, x, rlx, 1), access(action::load, y, rlx), unlock},
                        {access(action::load, x, rlx)},
                        {access(action::load, x, acq), guarded(plain_read())},
                        {access(action::store, x, rel, 1)},
                        {access(action::store, y, sc, 1)}};
  for_each_pair_and_triple(alphabet, locks, sink);
}

bool tries(action a) { return a == action::try_lock; }
void trying(const program_sink& sink) {
  const instruction try_lock = access(action::try_lock, 0, rlx);
  const instruction unlock_taken = guarded(unlock);
  const bodies alphabet{{try_lock, guarded(plain_write(1)), unlock_taken},
                        {try_lock, guarded(access(action::store, x, rlx, 1)), unlock_taken},
                        {try_lock, unlock_taken},
                        {lock, plain_write(5), unlock},
                        {lock, unlock},
                        {access(action::load, x, rlx)},
                        {access(action::store, y, rel, 1)},
                        {access(action::load, y, acq)},
                        {plain_read()}};
  for_each_pair_and_triple(alphabet, tries, sink);
}

bool sleeps(action a) { return a == action::wait; }
/// `which`: how the threads are woken.
void conditions(action which, const program_sink& sink) {
  const instruction wait = access(action::wait, 0, rlx), notify = access(which, 0, rlx);
  const bodies alphabet{{lock, wait, unlock},
                        {lock, wait, plain_read(), unlock},
                        {lock, access(action::add, x, rlx, 1), guarded(wait), unlock},
                        {notify},
                        {lock, notify, unlock},
                        {lock, plain_write(1), notify, unlock},
                        {lock, access(action::add, x, rlx, 1), guarded(notify), unlock},
                        {plain_write(3)},
                        {access(action::load, x, acq)}};
  for_each_pair_and_triple(alphabet, sleeps, sink);
}

/// main, with an operation or none between any two steps, beside threads that it starts, or that a thread starts.
void starting(const program_sink& sink) {
  const bodies operations{{},
                          {access(action::store, x, rlx, 1)},
                          {access(action::load, x, rlx)},
                          {access(action::load, y, rlx)},
                          {plain_write(3)},
                          {plain_read()}};
  const bodies threads{{access(action::store, x, rlx, 3), access(action::store, y, rlx, 1)},
                       {access(action::load, y, rlx), access(action::load, x, rlx)},
                       {plain_write(5)},
                       {plain_read(), access(action::store, y, rel, 1)},
                       {access(action::load, y, acq), guarded(plain_read())},
                       {access(action::add, x, rlx, 2)}};
  const auto start = [](unsigned t) { return thread_code{access(action::start, t, rlx)}; };
  const auto join = [](unsigned t) { return thread_code{access(action::join, t, rlx)}; };
  for (const thread_code& first : threads) {
    for (const thread_code& second : threads) {
      for (const thread_code& a : operations) {
        for (const thread_code& b : operations) {
          sink({a + start(1) + b + join(1) + start(2) + join(2), first, second});
          sink({start(1) + a + start(2) + b + join(2) + join(1), first, second});
          sink({a + start(1) + join(1) + b, start(2) + first + join(2), second});  // nested
          sink({start(1) + start(2) + join(1) + a + join(2) + b, first, second});
        }
      }
    }
  }
}

void heap(const program_sink& sink) {
  const instruction allocate = access(action::allocate, d, rlx), release = access(action::release, d, rlx);
  bodies makers, users;
  for (const order o : {rlx, rel, sc}) {
    const thread_code publish{access(action::store, x, o, 1)};
    for (const thread_code& after :
         bodies{{}, {plain_read()}, {release}, {access(action::load, y, acq), guarded(release)}}) {
      makers.push_back(thread_code{allocate, plain_write(7)} + publish + after);
      makers.push_back(thread_code{allocate} + publish + after);
    }
  }
  for (const order o : {rlx, acq, sc}) {
    for (const thread_code& use : bodies{{guarded(plain_read())},
                                         {guarded(plain_write(9))},
                                         {guarded(release)},
                                         {guarded(plain_read()), guarded(release)},
                                         {guarded(plain_read()), guarded(access(action::store, y, rel, 1))},
                                         {guarded(plain_read()), access(action::store, y, rlx, 1)}}) {
      users.push_back(thread_code{access(action::load, x, o)} + use);
    }
  }
  // Whoever takes the 1 away has the memory.
  users.push_back({access(action::exchange, x, acq_rel, 0), guarded(plain_read()), guarded(release)});
  users.push_back({access(action::exchange, x, rlx, 0), guarded(release)});
  for (const thread_code& maker : makers) {
    for (std::size_t a = 0; a != users.size(); ++a) {
      sink({maker, users[a]});
      for (std::size_t b = a; b != users.size(); ++b) sink({maker, users[a], users[b]});
    }
  }
}

bool frees(action a) { return a == action::release; }
/// Memory that is there from the beginning.
void freeing(const program_sink& sink) {
  const instruction release = access(action::release, d, rlx);
  const bodies alphabet{{plain_read()},
                        {plain_write(1)},
                        {release},
                        {lock, plain_write(5), unlock},
                        {lock, release, unlock},
                        {access(action::store, x, rel, 1)},
                        {access(action::load, x, acq), guarded(release)},
                        {access(action::load, x, rlx), guarded(plain_read())},
                        {access(action::add, x, acq_rel, 1), guarded(release)}};
  for_each_pair_and_triple(alphabet, frees, sink);
}

bool is_weak(action a) { return a == action::weak_exchange; }
void weak_exchanges(const program_sink& sink) {
  const auto weak = [](unsigned v, order o, order failing, unsigned expected, unsigned operand) {
    return thread_code{compare(action::weak_exchange, v, o, failing, expected, operand)};
  };
  const bodies alphabet{weak(x, rlx, rlx, 0, 1),        weak(x, acq_rel, acq, 0, 1),
                        weak(x, rel, rlx, 1, 2),        weak(x, sc, sc, 1, 3),
                        weak(y, acq, acq, 0, 1),        {access(action::store, x, rel, 1)},
                        {access(action::load, x, acq)}, {access(action::store, y, rlx, 1)},
                        {access(action::load, y, sc)},  {access(action::add, x, acq_rel, 1)}};
  for_each_pair_and_triple(alphabet, is_weak, sink);
}

bool is_local(action a) { return a == action::add_local; }
void thread_local_storage(const program_sink& sink) {
  instruction store_last = access(action::store, x, rlx);
  store_last.adds_last_read = true;
  instruction swap_last = access(action::exchange, y, acq_rel, 1);
  swap_last.adds_last_read = true;
  const bodies alphabet{{access(action::add_local, 0, rlx, 1)},
                        {access(action::add_local, 0, rlx, 2)},
                        {store_last},
                        {swap_last},
                        {access(action::load, x, acq)},
                        {access(action::load, y, rlx), guarded(access(action::add_local, 0, rlx, 4))}};
  for_each_pair_and_triple(alphabet, is_local, sink);
}

/// Up to four edges with all orders, of five and six with typical ones. With all, a cycle of three pairs would have
/// 91,125 programs.
void cycles(unsigned fewest, unsigned most, orders which, bool twins, const program_sink& sink) {
  for (const cycle& c : all_cycles(most)) {
    if (c.edges() < fewest) continue;
    twins ? for_each_plain_twin(c, which, sink) : for_each_program(c, which, sink);
  }
}

}  // namespace

const std::vector<family>& families() {
  using sink = const program_sink&;
  static const std::vector<family> all{
      {"cycles_to_4", [](sink s) { cycles(2, 4, orders::all, false, s); }},
      {"cycles_of_5", [](sink s) { cycles(5, 5, orders::typical, false, s); }},
      {"cycles_of_6", [](sink s) { cycles(6, 6, orders::typical, false, s); }},
      {"cycles_seq_cst", [](sink s) { cycles(5, 6, orders::sequential, false, s); }},
      {"plain_twins_to_4", [](sink s) { cycles(2, 4, orders::all, true, s); }},
      {"plain_twins_of_5", [](sink s) { cycles(5, 5, orders::typical, true, s); }},
      {"plain_twins_of_6", [](sink s) { cycles(6, 6, orders::typical, true, s); }},
      {"awaits", awaits},
      {"exchanging_awaits", exchanging_awaits},
      {"locks", locking},
      {"try_lock", trying},
      {"notify_all", [](sink s) { conditions(action::notify_all, s); }},
      {"notify_one", [](sink s) { conditions(action::notify_one, s); }},
      {"start_and_join", starting},
      {"heap", heap},
      {"free", freeing},
      {"weak_exchanges", weak_exchanges, 2},
      {"thread_local", thread_local_storage},
  };
  return all;
}

}  // namespace runq::model::selftest
