#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seeded bugs for the property suites.

Each one is a change of one place in one shipped header, and names the laws that must fail on it. The place is exact
text that must occur exactly once: when the header changes, the mutant has to be looked at again.

  mutants.py list                          id, stem, header and laws of every mutant, one a line, split by '|'
  mutants.py patch ID HEADERS OUT          writes the changed header to OUT/runq/
  mutants.py coverage STEM=PROGRAM...      fails unless every law that PROGRAM --list names is killed by some mutant
  mutants.py table                         the table of docs/properties.md
  mutants.py check-doc FILE                fails unless FILE contains that table; update-doc writes it
"""
import pathlib
import re
import subprocess
import sys

ROAM = "linearizable_on_threads_that_roam"
PINNED = "linearizable_on_threads_that_are_pinned"
ONCE = "every_element_comes_out_once"
ORDER = "elements_come_out_in_the_order_they_went_in"
START = "counters_may_start_anywhere"
HAS_WORK = "has_work_is_exact_when_nobody_else_is_there"
LOOK = "look_is_exact_when_nobody_else_is_there"
SIZE = "size_approx_is_exact_when_nobody_else_is_there"
HALF = "steal_half_takes_ceil_of_half_of_the_oldest"
OUT = "steal_half_into_memory_takes_ceil_of_half_of_the_oldest_in_order"
HALF_ORDER = "steal_half_returns_the_newest_and_queues_the_others_in_order"

# (name, stem, header, old text, new text, laws that must fail)
MUTANTS = [
    # ring: one thread is enough to see these
    ("steal_half_takes_floor", "ring", "ring.hpp",
     "std::min(k - k / 2, limit)", "std::min(k / 2 + (k == 1 ? 1U : 0U), limit)",
     [HALF, "agrees_with_a_bounded_fifo"]),
    ("steal_half_ignores_its_limit", "ring", "ring.hpp", "std::min(k - k / 2, limit)", "k - k / 2", [HALF]),
    ("steal_half_ignores_the_room", "ring", "ring.hpp",
     "const std::size_t n = std::min(wanted, into.room(mt, wanted - 1) + 1);", "const std::size_t n = wanted;", [HALF]),
    ("steal_half_returns_the_oldest", "ring", "ring.hpp",
     "const T newest = ring_->slot(advance(h, n - 1))", "const T newest = ring_->slot(h)", [HALF_ORDER, ONCE]),
    ("steal_half_reverses_the_batch", "ring", "ring.hpp",
     "mine.slot(advance(mt, i)).store", "mine.slot(advance(mt, n - 2 - i)).store", [HALF_ORDER]),
    ("steal_half_into_memory_takes_floor", "ring", "ring.hpp",
     "std::min(k - k / 2, out.size())", "std::min(k / 2 + (k == 1 ? 1U : 0U), out.size())",
     [OUT, "agrees_with_a_bounded_fifo"]),
    ("steal_half_into_memory_reverses_the_batch", "ring", "ring.hpp",
     "out[i] = ring_->slot(advance(h, i))", "out[n - 1 - i] = ring_->slot(advance(h, i))", [OUT, ORDER]),
    ("steal_half_into_memory_fills_it", "ring", "ring.hpp",
     "std::min(k - k / 2, out.size())", "std::min(k, out.size())", [OUT]),
    ("steal_half_into_memory_skips_the_oldest", "ring", "ring.hpp",
     "out[i] = ring_->slot(advance(h, i))", "out[i] = ring_->slot(advance(h, i + 1))", [OUT, ONCE]),
    ("steal_takes_the_newest", "ring", "ring.hpp",
     "const T value = ring_->slot(h).load", "const T value = ring_->slot(static_cast<Index>(t - 1)).load",
     ["steal_takes_the_oldest", ORDER]),
    ("push_overfills", "ring", "ring.hpp",
     "if (room(t, 1) == 0) return false;",
     "if (distance(r.head_.load(std::memory_order::acquire), t) > Capacity) return false;",
     ["push_refuses_exactly_when_full"]),
    ("push_refuses_one_too_early", "ring", "ring.hpp", "if (room(t, 1) == 0)", "if (room(t, 2) <= 1)",
     ["push_refuses_exactly_when_full"]),
    ("push_batch_overwrites", "ring", "ring.hpp",
     "std::min(values.size(), room(t, values.size()))", "std::min(values.size(), Capacity)",
     ["push_batch_takes_the_longest_prefix_that_fits"]),
    ("pop_takes_the_newest", "ring", "ring.hpp",
     "const T value = r.slot(h).load", "const T value = r.slot(static_cast<Index>(t - 1)).load",
     ["pop_takes_the_oldest", ORDER]),
    ("shed_half_rounds_up", "ring", "ring.hpp",
     "const std::size_t n = distance(h, t) / 2;", "const std::size_t n = (distance(h, t) + 1) / 2;",
     ["shed_half_takes_floor_of_half_of_the_oldest"]),
    ("drain_forgets_the_last", "ring", "ring.hpp",
     "drained rest{*this, h, n};", "drained rest{*this, h, n - 1};",
     ["drain_takes_all_in_order", ONCE]),
    ("room_trusts_an_old_head", "ring", "ring.hpp",
     "return room(ring_->tail_.load(std::memory_order::relaxed), Capacity);",
     "return room(ring_->tail_.load(std::memory_order::relaxed), 1);",
     ["room_is_capacity_less_what_is_inside"]),
    ("has_work_looks_at_the_tail_only", "ring", "ring.hpp",
     "return !observe().empty();", "return observe().tail != 0;", [HAS_WORK]),
    ("size_of_a_full_ring_is_0", "ring", "ring.hpp",
     "return n <= Capacity ? n : 0;", "return n < Capacity ? n : 0;", [SIZE]),
    ("distance_is_promoted", "ring", "ring.hpp",
     "saturated<std::size_t>(static_cast<Index>(to - from))", "saturated<std::size_t>(to - from)", [START]),
    # ring: these need a second thread
    ("push_publishes_before_the_slot", "ring", "ring.hpp",
     """r.slot(t).store(value, std::memory_order::relaxed);
    // [ring.push.publish] release: pairs with [ring.steal.tail]; weaker: a thief takes a slot not yet written, or a
    // task whose contents it cannot see.
    r.tail_.store(advance(t, 1), std::memory_order::release);""",
     """r.tail_.store(advance(t, 1), std::memory_order::release);
    r.slot(t).store(value, std::memory_order::relaxed);""", [ROAM, PINNED]),
    ("push_batch_publishes_before_the_slots", "ring", "ring.hpp",
     "const std::size_t n = std::min(values.size(), room(t, values.size()));",
     """const std::size_t n = std::min(values.size(), room(t, values.size()));
    r.tail_.store(advance(t, n), std::memory_order::release);""", [ROAM, PINNED]),
    ("pop_claims_without_comparing", "ring", "ring.hpp",
     "if (r.head_.compare_exchange_weak(h, advance(h, 1), std::memory_order::release, std::memory_order::relaxed)) {",
     "if (r.head_.store(advance(h, 1), std::memory_order::release); true) {", [ROAM, PINNED]),
    ("steal_half_claims_without_comparing", "ring", "ring.hpp",
     """if (!ring_->head_.compare_exchange_strong(h, advance(h, n), std::memory_order::release,
                                              std::memory_order::relaxed)) {""",
     "if (ring_->head_.store(advance(h, n), std::memory_order::release); false) {", [ROAM, PINNED]),
    ("steal_half_publishes_before_the_claim", "ring", "ring.hpp",
     "// [ring.steal.newest] relaxed: as [ring.steal.slot].",
     "if (n > 1) mine.tail_.store(advance(mt, n - 1), std::memory_order::release);", [ROAM, PINNED]),
    ("steal_half_into_memory_claims_without_comparing", "ring", "ring.hpp",
     """ring_->head_.compare_exchange_strong(h, advance(h, n), std::memory_order::release, std::memory_order::relaxed);
    return claimed ? batch_result""",
     """(ring_->head_.store(advance(h, n), std::memory_order::release), true);
    return claimed ? batch_result""", [ROAM, PINNED]),
    ("steal_half_into_memory_reads_tail_before_head", "ring", "ring.hpp",
     """Index h = ring_->head_.load(std::memory_order::acquire);
    // [ring.steal_out.tail] acquire: as [ring.steal.tail].
    const Index t = ring_->tail_.load(std::memory_order::acquire);""",
     """const Index t = ring_->tail_.load(std::memory_order::acquire);
    Index h = ring_->head_.load(std::memory_order::acquire);""", [ROAM, PINNED]),
    ("steal_half_into_memory_copies_after_the_claim", "ring", "ring.hpp",
     "return claimed ? batch_result{steal_status::taken, n}",
     """for (std::size_t i = 0; claimed && i != n; ++i) {
      out[i] = ring_->slot(advance(h, i)).load(std::memory_order::relaxed);
    }
    return claimed ? batch_result{steal_status::taken, n}""", [ROAM, PINNED]),
    ("steal_reads_the_slot_after_the_claim", "ring", "ring.hpp",
     """std::memory_order::relaxed)) {
      return {steal_status::lost, T{}, 0};
    }
    return {steal_status::taken, value, 1};""",
     """std::memory_order::relaxed)) {
      return {steal_status::lost, T{}, 0};
    }
    return {steal_status::taken, ring_->slot(h).load(std::memory_order::relaxed), value != T{} ? 1U : 1U};""",
     [ROAM, PINNED]),
    ("steal_reads_tail_before_head", "ring", "ring.hpp",
     """Index h = ring_->head_.load(std::memory_order::acquire);
    // [ring.steal_one.tail] acquire: as [ring.steal.tail].
    const Index t = ring_->tail_.load(std::memory_order::acquire);""",
     """const Index t = ring_->tail_.load(std::memory_order::acquire);
    Index h = ring_->head_.load(std::memory_order::acquire);""", [ROAM, PINNED]),
    ("shed_half_claims_without_comparing", "ring", "ring.hpp",
     """r.head_.compare_exchange_strong(h, advance(h, n), std::memory_order::release, std::memory_order::relaxed);
    return claimed ? n : 0;""",
     "(r.head_.store(advance(h, n), std::memory_order::release), true);\n    return claimed ? n : 0;", [ROAM, PINNED]),
    # runnext
    ("put_drops_the_displaced", "runnext", "runnext.hpp", "return displaced;", "return std::nullopt;",
     ["put_returns_what_it_displaces", ONCE, "agrees_with_one_slot"]),
    ("take_leaves_it_there", "runnext", "runnext.hpp",
     "const T value = runnext_->slot_.exchange(T{}, std::memory_order::release);",
     "const T value = runnext_->slot_.load(std::memory_order::relaxed);",
     ["take_empties_the_slot", ONCE]),
    ("steal_gives_up_at_the_second_pause", "runnext", "runnext.hpp",
     "if (slot_->load(std::memory_order::relaxed) != seen)",
     "if (i == 1 || slot_->load(std::memory_order::relaxed) != seen)",
     ["steal_takes_what_is_there_after_any_number_of_pauses"]),
    ("has_work_is_always_true", "runnext", "runnext.hpp",
     "return slot_->load(std::memory_order::acquire) != T{};",
     "return slot_->load(std::memory_order::acquire) != T{} || true;", [HAS_WORK]),
    ("look_takes", "runnext", "runnext.hpp",
     "T empty{};\n    // [runnext.look]", "T empty = slot_->load(std::memory_order::relaxed);\n    // [runnext.look]", [LOOK, ONCE]),
    ("steal_claims_without_comparing", "runnext", "runnext.hpp",
     "if (!slot_->compare_exchange_strong(seen, T{}, std::memory_order::acquire, std::memory_order::relaxed)) {",
     "if (slot_->store(T{}, std::memory_order::release); false) {", [ROAM, PINNED]),
    ("take_is_a_load_and_a_store", "runnext", "runnext.hpp",
     "const T value = runnext_->slot_.exchange(T{}, std::memory_order::release);",
     "const T value = runnext_->slot_.load(std::memory_order::relaxed);\n"
     "    runnext_->slot_.store(T{}, std::memory_order::release);",
     [ROAM, PINNED]),
    # inject
    ("take_batch_ignores_max", "inject", "inject.hpp",
     "std::min({size, size / procs + 1, max, max_batch})", "std::min({size, size / procs + 1, max_batch})",
     ["take_batch_takes_the_least_of_size_share_max_and_128", "agrees_with_a_list"]),
    ("take_batch_gives_no_more_than_a_share", "inject", "inject.hpp",
     "std::min({size, size / procs + 1, max, max_batch})", "std::min({size, size / procs, max, max_batch})", ["take_batch_takes_the_least_of_size_share_max_and_128"]),
    ("take_batch_ignores_128", "inject", "inject.hpp",
     "std::min({size, size / procs + 1, max, max_batch})", "std::min({size, size / procs + 1, max + max})",
     ["take_batch_takes_the_least_of_size_share_max_and_128"]),
    ("splice_goes_to_the_front", "inject", "inject.hpp",
     "    list_.splice(std::move(batch));", "    batch.splice(std::move(list_));\n    list_.swap(batch);",
     ["splice_appends_in_order", "take_returns_the_oldest", ORDER]),
    ("splice_front_appends", "inject", "inject.hpp",
     "batch.splice(std::move(list_));\n    list_.swap(batch);", "list_.splice(std::move(batch));",
     ["splice_front_goes_before_everything_in_order"]),
    ("take_does_not_publish_the_size", "inject", "inject.hpp",
     "if (e != nullptr) publish_size();", "", [HAS_WORK, SIZE]),
    ("look_forgets_the_last", "inject", "inject.hpp",
     """const std::lock_guard lock(mutex_);
    return !list_.empty();""",
     """const std::lock_guard lock(mutex_);
    return list_.size() > 1;""", [LOOK]),
    ("swap_forgets_the_sizes", "inject", "inject.hpp",
     "std::swap(size_, other.size_);", "", ["a_chain_agrees_with_a_list"]),
    ("splice_loses_the_tail", "inject", "inject.hpp",
     "append(tail.first_, tail.last_, tail.size_);", "append(tail.first_, tail.first_, 1);", [ONCE]),
    ("take_batch_looks_at_the_size_without_the_lock", "inject", "inject.hpp",
     """const std::lock_guard lock(mutex_);
    const std::size_t size = list_.size();""",
     """const std::size_t size = size_approx();
    const std::lock_guard lock(mutex_);""", [ROAM, PINNED]),
    # local_queue
    ("overflow_puts_the_new_one_first", "local_queue", "local_queue.hpp",
     """for (std::size_t i = 0; i != n; ++i) batch.push_back(oldest[i]);
    batch.push_back(task);""",
     """batch.push_back(task);
    for (std::size_t i = 0; i != n; ++i) batch.push_back(oldest[i]);""",
     ["push_to_a_full_ring_sends_the_oldest_half_then_the_new_one", "agrees_with_runnext_ring_and_global_queue"]),
    ("push_next_drops_the_displaced", "local_queue", "local_queue.hpp",
     "return displaced ? push(*displaced) : 0;", "return displaced ? 0 : 0;",
     ["push_next_runs_next_and_sends_the_displaced_to_the_tail", ONCE,
      "overflow_series_follows_the_formula_for_every_number_of_spawns"]),
    ("push_batch_fills_half_of_the_room", "local_queue", "local_queue.hpp",
     "n != room && !batch.empty()", "n != (room + 1) / 2 && !batch.empty()",
     ["push_batch_fills_the_ring_and_sends_the_rest_in_order"]),
    ("pop_takes_the_ring_first", "local_queue", "local_queue.hpp",
     """if (const std::optional<element*> next = runnext_.take()) return {*next, true};
    if (const std::optional<element*> task = ring_.pop()) return {*task, false};""",
     """if (const std::optional<element*> task = ring_.pop()) return {*task, false};
    if (const std::optional<element*> next = runnext_.take()) return {*next, true};""",
     ["pop_takes_runnext_then_the_oldest_and_says_which"]),
    ("pop_does_not_say_that_it_was_runnext", "local_queue", "local_queue.hpp",
     "return {*next, true};", "return {*next, false};", ["pop_takes_runnext_then_the_oldest_and_says_which"]),
    ("take_from_takes_one_more_than_fits", "local_queue", "local_queue.hpp",
     "global.take_batch(procs, ring_.room() + 1)", "global.take_batch(procs, ring_.room() + 2)",
     ["take_from_takes_a_fair_share_in_order"]),
    ("steal_from_takes_runnext_unasked", "local_queue", "local_queue.hpp",
     "if (from_ring.status != steal_status::empty || next == steal_runnext::no) return {from_ring, false};",
     "if (from_ring.status != steal_status::empty) return {from_ring, false};\n    (void)next;",
     ["steal_from_takes_ceil_of_half_of_the_ring_and_leaves_runnext"]),
    ("steal_from_takes_runnext_first", "local_queue", "local_queue.hpp",
     "const steal_result<element*> from_ring =",
     """if (next == steal_runnext::yes && victim.runnext_.has_work()) return {victim.runnext_.steal(backoff), true};
    const steal_result<element*> from_ring =""",
     ["steal_from_takes_runnext_only_if_asked_and_if_the_ring_is_empty"]),
    ("drain_takes_runnext_last", "local_queue", "local_queue.hpp",
     """if (const std::optional<element*> next = runnext_.take()) all.push_back(*next);
    // The ring claims all before it hands out the first, so linking is safe: nobody else holds these tasks.
    ring_.drain([&all](element* task) noexcept { all.push_back(task); });""",
     """ring_.drain([&all](element* task) noexcept { all.push_back(task); });
    if (const std::optional<element*> next = runnext_.take()) all.push_back(*next);""",
     ["drain_takes_runnext_first_then_the_ring_in_order"]),
    ("has_work_forgets_runnext", "local_queue", "local_queue.hpp",
     "if (next_has_work()) return true;", "", [HAS_WORK]),
    ("look_forgets_runnext", "local_queue", "local_queue.hpp",
     "return ring_or([this] { return runnext_.look(); });", "return ring_or([] { return false; });", [LOOK]),
    ("size_approx_counts_runnext", "local_queue", "local_queue.hpp",
     """choosing victims. Wait-free.
  [[nodiscard]] std::size_t size_approx() const noexcept { return ring_.size_approx(); }""",
     """choosing victims. Wait-free.
  [[nodiscard]] std::size_t size_approx() const noexcept {
    return ring_.size_approx() + (runnext_.has_work() ? 1U : 0U);
  }""", [SIZE]),
    ("size_approx_compares_counters", "local_queue", "ring.hpp",
     "return n <= Capacity ? n : 0;", "return n <= Capacity && h <= t ? n : 0;", [START]),
    ("has_work_looks_at_the_ring_once", "local_queue", "local_queue.hpp",
     "if (!ring_.pushed_since(seen)) return false;", "return false;", [ROAM, PINNED]),
    ("overflow_sheds_a_ring_that_is_no_longer_full", "local_queue", "local_queue.hpp",
     "ring_.shed_half_of_full(oldest)", "ring_.shed_half(oldest)", [ROAM, PINNED]),
    ("overflow_claims_without_comparing", "local_queue", "ring.hpp",
     """r.head_.compare_exchange_strong(h, advance(h, n), std::memory_order::release, std::memory_order::relaxed);
    return claimed ? n : 0;""",
     "(r.head_.store(advance(h, n), std::memory_order::release), true);\n    return claimed ? n : 0;", [ROAM, PINNED]),
    ("pop_claims_without_comparing", "local_queue", "ring.hpp",
     "if (r.head_.compare_exchange_weak(h, advance(h, 1), std::memory_order::release, std::memory_order::relaxed)) {",
     "if (r.head_.store(advance(h, 1), std::memory_order::release); true) {", [ROAM, PINNED]),
    # chase_lev
    ("pop_takes_the_oldest", "chase_lev", "chase_lev.hpp",
     "const T value = a->slot(b).load", "const T value = a->slot(t).load",
     ["pop_takes_the_newest", "agrees_with_a_lifo_stolen_at_the_other_end", ONCE]),
    ("push_does_not_grow", "chase_lev", "chase_lev.hpp",
     "return publish(grown(a, t, b));", "return nullptr;", ["push_refuses_exactly_when_full"]),
    ("growth_forgets_the_oldest", "chase_lev", "chase_lev.hpp",
     "for (index i = t; i != b; ++i)", "for (index i = t + 1; i < b; ++i)",
     ["agrees_with_a_lifo_stolen_at_the_other_end", ONCE, "steal_takes_the_oldest"]),
    ("steal_takes_the_newest", "chase_lev", "chase_lev.hpp",
     "const T value = a->slot(t).load", "const T value = a->slot(b - 1).load", ["steal_takes_the_oldest", ONCE]),
    ("has_work_forgets_the_last", "chase_lev", "chase_lev.hpp",
     "return t < deque_->bottom_", "return t + 1 < deque_->bottom_", [HAS_WORK]),
    ("size_of_one_is_0", "chase_lev", "chase_lev.hpp",
     "return b > t ?", "return b > t + 1 ?", [SIZE]),
    ("push_publishes_before_the_slot", "chase_lev", "chase_lev.hpp",
     "a->slot(b).store(value, std::memory_order::relaxed);",
     """d.bottom_.store(b + 1, std::memory_order::release);
    a->slot(b).store(value, std::memory_order::relaxed);""", [ROAM, PINNED]),
    ("pop_takes_the_last_without_a_claim", "chase_lev", "chase_lev.hpp",
     "if (t < b) return value;", "if (t <= b) return value;", [ROAM, PINNED]),
    ("pop_claims_without_comparing", "chase_lev", "chase_lev.hpp",
     "d.top_.compare_exchange_strong(t, t + 1, std::memory_order::seq_cst, std::memory_order::relaxed);",
     "(d.top_.store(t + 1, std::memory_order::seq_cst), true);", [ROAM, PINNED]),
    ("steal_claims_without_comparing", "chase_lev", "chase_lev.hpp",
     "if (!deque_->top_.compare_exchange_strong(t, t + 1, std::memory_order::seq_cst, std::memory_order::relaxed)) {",
     "if (deque_->top_.store(t + 1, std::memory_order::seq_cst); false) {", [ROAM, PINNED]),
]

BEGIN = "<!-- mutants.py table: begin -->"
END = "<!-- mutants.py table: end -->"


def patch(mutant_id, headers, out):
    for name, stem, header, old, new, _ in MUTANTS:
        if f"{stem}.{name}" != mutant_id:
            continue
        text = (pathlib.Path(headers) / "runq" / header).read_text()
        found = text.count(old)
        if found != 1:
            sys.exit(f"mutant {mutant_id}: its text occurs {found} times in {header}, not once; look at it again:\n{old}")
        target = pathlib.Path(out) / "runq"
        target.mkdir(parents=True, exist_ok=True)
        (target / header).write_text(text.replace(old, new))
        return
    sys.exit(f"there is no mutant {mutant_id}")


def coverage(programs):
    bad = 0
    for word in programs:
        stem, program = word.split("=", 1)
        laws = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout.split()
        killed = {law for _, s, _, _, _, kills in MUTANTS if s == stem for law in kills}
        for law in laws:
            if law not in killed:
                print(f"{stem}/{law}: no seeded bug makes this law fail")
                bad += 1
        for law in sorted(killed - set(laws)):
            print(f"{stem}/{law}: a mutant names it, but there is no such law")
            bad += 1
        print(f"{stem}: {len(laws)} laws, {len([m for m in MUTANTS if m[1] == stem])} mutants")
    sys.exit(1 if bad else 0)


def table():
    rows = ["| law | seeded bugs that it must fail on |", "|---|---|"]
    seen = {}
    for name, stem, _, _, _, kills in MUTANTS:
        for law in kills:
            seen.setdefault((stem, law), []).append(name)
    stems = ["ring", "runnext", "inject", "local_queue", "chase_lev"]
    for (stem, law), names in sorted(seen.items(), key=lambda item: (stems.index(item[0][0]), item[0][1])):
        rows.append(f"| `{stem}/{law}` | {', '.join(f'`{n}`' for n in names)} |")
    return f"{BEGIN}\n" + "\n".join(rows) + f"\n{END}"


def main():
    words = sys.argv[1:]
    if words == ["list"]:
        for name, stem, header, _, _, kills in MUTANTS:
            print(f"{stem}.{name}|{stem}|{header}|{' '.join(kills)}")
    elif len(words) == 4 and words[0] == "patch":
        patch(*words[1:])
    elif len(words) > 1 and words[0] == "coverage":
        coverage(words[1:])
    elif words == ["table"]:
        print(table())
    elif len(words) == 2 and words[0] in ("check-doc", "update-doc"):
        page = pathlib.Path(words[1])
        text = page.read_text()
        fresh = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: table(), text, flags=re.DOTALL)
        if words[0] == "update-doc":
            page.write_text(fresh)
        elif fresh != text or BEGIN not in text:
            sys.exit(f"{page} does not show the table as it is now; run mutants.py update-doc")
    else:
        sys.exit(__doc__)


main()
