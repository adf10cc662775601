#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks the explorer's runtime, one line at a time: each time a test must fail. All mutants are compiled into one library, as
those of the checker are (../../selftest/mutants/); a number in it says which one runs.

A mutant is a source, what is replaced there (which must be found once), by what, and the test that must notice: shapes of
litmus_test.py, a program of twins_test.py or one of its variants (`once`: its run with seed 0), failures_test.py, only_test.py, power_test.py, or
feedback_test.cpp."""
import argparse
import collections
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True
models = os.path.realpath(os.path.join(here, "../.."))
sys.path[:0] = [os.path.join(models, "compiled/test"), os.path.join(models, "verify")]
import kept_compiler  # noqa: E402
from mutant_variants import combined  # noqa: E402

# The number of the mutant that runs, as compiled; choose() puts another one in its place. (A variable of the environment would not
# reach an explored program, whose environment is always the same.)
NONE = 0x6e6f206d7574616e
LIBRARY = "librunq_explore.so"

# name: source, before, after, kind of test, what it runs
MUTANTS = {
    "coherence_ignored": ("locations.cpp", "if (self->now.ordered[o.thread] >= o.epoch) return true;", "", "litmus", "CoRR"),
    "others_reads_ignored": ("locations.cpp", "  know_last_step(nullptr);\n  return s.value;",
                             "  if (order == std::memory_order::relaxed) --s.observers;\n  return s.value;", "litmus",
                             "CoRR+others"),
    "fences_do_nothing": ("locations.cpp", "    of_fences[i] = self->now.ordered[i] =",
                          "    of_fences[i] =", "litmus", "SB+fences"),
    "seq_cst_reads_ignore_the_order": ("locations.cpp", "if (o.total_order != 0 && (by_seq_cst || ",
                                       "if (o.total_order != 0 && (false || ", "litmus", "SB+sc"),
    "acquire_does_nothing": ("locations.cpp", "    self->now.join(s.released);\n  } else {",
                             "  } else {", "litmus", "MP+ra"),
    "acquire_fence_does_nothing": ("locations.cpp",
                                   "if (acquires(order) && self->has_pending) self->now.join(self->pending);", "", "litmus",
                                   "MP+fences"),
    "release_fence_does_nothing": ("locations.cpp",
                                   "return self->has_released ? self->released.snapshot() : nullptr;", "return nullptr;",
                                   "litmus", "MP+fences"),
    "release_sequence_broken": ("locations.cpp", "s->released = joined(own, from.released);", "s->released = hold(own);",
                                "litmus", "RS"),
    "old_values_never": ("locations.cpp", "if (floor == newest) return", "if (true) return", "litmus", "MP"),
    "stores_only_at_the_end": ("locations.cpp", "while (after + 1U != l.count && l.stores[after]->is_read_by_rmw) ++after;",
                               "after = l.count - 1U;", "litmus", "2+2W"),
    "rmw_reads_the_same_twice": ("locations.cpp", "if (from->is_read_by_rmw) from = l.stores[l.count - 1];", "", "litmus",
                                 "RMW"),
    "what_follows_a_release_is_known": ("locations.cpp", "  if (releases(order)) begin_event();",
                                        "  if (order == std::memory_order::seq_cst) begin_event();", "twins",
                                        "after_release.cpp"),
    "mutex_hands_nothing_on": ("interpose_locks.cpp", "  hand_on(m);\n", "", "twins", "threads.cpp"),
    "guard_is_open_too_early": ("interpose_threads.cpp",
                                "RUNQ_HOOK void __cxa_guard_release(std::uint8_t* guard) noexcept {\n",
                                "RUNQ_HOOK void __cxa_guard_release(std::uint8_t* guard) noexcept {\n  guard[1] = 0;\n",
                                "twins", "threads.cpp"),
    "barrier_teaches_nobody": ("interpose_locks.cpp", "  teach_waiting(wait_kind::barrier, b);\n", "", "twins", "threads.cpp"),
    "freed_memory_is_not_marked": ("heap.cpp", "  shadow_mark_freed(address, h.size, code);\n", "", "twins",
                                   "endings.cpp -DWAY=12"),
    "a_pipe_teaches_nothing": ("descriptors.cpp", "  acquire(table().of(fd));\n  hand_on_as_reader(table().of(fd));\n", "", "twins",
                               "descriptors.cpp"),
    "a_number_without_a_file_teaches_nothing": (
        "descriptors.cpp", "  if (found != table().takers.end()) acquire(found->second);\n", "", "twins", "descriptors.cpp -DWAY=0"),
    "dup_takes_no_file": ("interpose_files.cpp", "  share_channel(fd, of);\n  take_file_from(fd);\n", "  share_channel(fd, of);\n",
                          "twins", "descriptors.cpp -DWAY=0"),
    "close_takes_no_file": ("interpose_files.cpp", "  forget_descriptor(fd);\n  take_file_from(fd);\n", "  forget_descriptor(fd);\n",
                            "twins", "descriptors.cpp -DWAY=0"),
    "a_number_given_out_again_teaches": ("descriptors.cpp", "  table().takers.erase(fd);\n  table().channels[fd] =",
                                         "  table().channels[fd] =", "twins", "descriptors.cpp -DWAY=6"),
    "a_shared_number_given_out_again_teaches": (
        "descriptors.cpp", "  table().takers.erase(fd);\n  const auto found", "  const auto found", "twins",
        "descriptors.cpp -DWAY=6"),
    "timers_never_end": ("descriptors.cpp", "  find_next_timer();\n  if (has_ended)", "  if (false)", "twins", "descriptors.cpp"),
    "events_teach_nothing": ("descriptors.cpp", "      acquire(table().of(w.fd));\n", "", "twins", "descriptors.cpp"),
    "membarrier_is_the_callers": ("interpose_system.cpp", "  seq_cst_fence_in_all_threads();", "  seq_cst_fence();", "twins",
                                  "membarrier.cpp"),
    "resolver_without_state": ("fibers.cpp", "  m.resolver = m.pointer + aligned(above);\n", "", "twins", "resolver.cpp"),
    "characters_without_tables": ("fibers.cpp", "void begin_thread_locals() { init_ctype(); }", "void begin_thread_locals() {}",
                                  "twins", "threads.cpp"),
    "nothing_is_followed": ("deviations.cpp", "  return found == followed.end() ||", "  return true ||", "failures", ""),
    "stops_nowhere": ("scheduler.cpp", "if (counts.steps == step_to_stop_at) stop_for_debugger();", "", "failures", ""),
    "shared_memory_anywhere": ("run.cpp", "      mmap(wanted, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);\n"
                               "  if (shared != wanted)",
                               "      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);\n  if (shared == MAP_FAILED)",
                               "failures", ""),
    "clocks_keep_their_room": ("threads.cpp", "      clock->make_room(known);\n", "", "twins",
                              "../many_threads.cpp -DTHREADS=1000"),
    "changes_are_not_seen": ("locations.cpp", "  if (s->value != l.stores[l.count - 1]->value) note_change(l);\n", "",
                             "failures", ""),
    "catches_teach_nothing": ("interpose_exceptions.cpp", "if (runq::model::explore::exploring && !runq::model::explore::in_runtime) let_go_of(handled());",
                              "", "twins", "exceptions.cpp"),
    "pointers_teach_nothing": ("interpose_exceptions.cpp", "!runq::model::explore::in_runtime) let_go_of(*pointer);",
                               "false) let_go_of(*pointer);", "twins", "exceptions.cpp -DBY_POINTER"),
    "ticks_hide_deadlocks": ("scheduler.cpp", "  if (!others_wait || timeouts_alone", "  if (true || timeouts_alone", "power", "strategies"),
    "who_is_alone_is_in_a_deadlock": ("scheduler.cpp", "if (!others_wait || timeouts_alone", "if (timeouts_alone", "twins",
                                      "ticks.cpp -DALONE -DTICKS=12000 -DMILLISECONDS=10"),
    "few_ticks_are_many": ("scheduler.cpp", "timeouts_alone < timeouts_in_vain || ", "", "twins",
                           "ticks.cpp -DTICKS=200 -DMILLISECONDS=1000"),
    "short_ticks_are_long": ("scheduler.cpp", " || clock_now() - alone_since < seconds_in_vain * second", "", "twins",
                             "ticks.cpp -DTICKS=12000 -DMILLISECONDS=1"),
    "limits_of_time_heal": ("scheduler.cpp", "if (!choices.timeouts_fail || ready_count != 1) return;", "return;", "power", "strategies"),
    "a_sleep_is_a_limit_of_time": ("scheduler.cpp", "ready[0]->timed_out && ready[0]->waited != wait_kind::sleep",
                                   "ready[0]->timed_out", "power", "strategies"),
    "points_are_steps": ("scheduler.cpp", "? counts.changes : counts.steps;", "? counts.steps : counts.steps;", "power", "strategies"),
    "reads_are_points": ("locations.cpp", "changes ? step_before_change(object) : step({object, false});", "step_before_change(object);", "power", "strategies"),
    "tiny_programs_in_one_file": ("start.cpp", "one_more(options.tiny, std::count_if(all.begin(), all.end(), wrote_tiny));",
                                  "options.tiny;", "only", "tests_of_googletest.cpp"),
    "skips_are_explored": ("tests.cpp", "if (output.find(\"\\n[  SKIPPED ] \") == std::string::npos) return {};", "return {};", "only",
                           "tests_of_googletest.cpp"),
    "character_tables_are_empty": ("start.cpp", "  fill_character_tables();\n", "", "twins", "characters.cpp"),
    "instrumented_is_not": ("modules.cpp", 'substr(0, 7) == "__tsan_"', 'substr(0, 7) == "__asan_"', "failures", ""),
    "priorities_are_kept": ("scheduler.cpp", "  if (by_partial_order()) draw_again_against(first);\n", "", "power", "orders"),
    "patience_is_ignored": ("scheduler.cpp", "return is_too_long(*blocked[i]) ? nullptr : blocked[i];", "return blocked[i];", "power", "strategies"),
    "patience_is_for_all": ("scheduler.cpp", "t.deadline >= clock_now() + choices.patience", "true", "power", "strategies"),
    "other_variables_race": ("scheduler.cpp", "a.object == b.object && ", "", "power", "orders"),
    "reads_race": ("scheduler.cpp", " && (a.changes || b.changes)", "", "power", "orders"),
    "a_wake_up_looks_at_memory": ("interpose_system.cpp", "    long woken = 0;\n",
                                  "    long woken = 0;\n    access<4>(reinterpret_cast<std::uintptr_t>(word), is_atomic, code);\n",
                                  "twins", "after_release.cpp -DAFTER=2"),
    "processors_are_not_handed_on": ("threads.cpp", "  t.processors = self->processors;\n", "", "twins", "threads.cpp"),
    "each_run_begins_by_itself": ("feedback.cpp", "if (random.below(2) == 0) return {};", "return {};", "feedback", ""),
    "no_run_begins_by_itself": ("feedback.cpp", "if (random.below(2) == 0) return {};", "", "feedback", ""),
    "often_shown_is_as_likely": ("feedback.cpp", "return (std::uint64_t{1} << 32) / runs;", "return 1 + 0 * runs;", "feedback", ""),
    "the_first_run_is_kept": ("feedback.cpp", "random.next() % known.runs == 0", "known.runs == 1", "feedback", ""),
    "the_last_run_is_kept": ("feedback.cpp", "if (random.next() % known.runs == 0) known", "known", "feedback", ""),
    "it_begins_until_before_the_pair": ("feedback.cpp", "p.step + 1", "p.step", "feedback", ""),
    "later_seeds_decide_in_a_beginning": ("feedback.cpp", "if (l.until >= until) {", "if (false) {", "feedback", ""),
    "a_run_knows_too_much": ("feedback.cpp", "learned_ + feedback_lag <= run", "learned_ <= run", "feedback", ""),
    "runs_are_learned_from_as_they_end": ("feedback.cpp", "noted_.empty() || noted_.begin()->first != learned_", "noted_.empty()",
                                          "feedback", ""),
    "steps_of_seeds_go_back": ("feedback.cpp", "    if (until <= (before.empty() ? 0 : before.back().until)) return false;\n", "",
                               "feedback", ""),
    "the_seed_stays": ("scheduler.cpp", "if (step_of_next_seed == 0 || counts.steps < step_of_next_seed) return;", "return;", "power", "feedback"),
    "the_next_seed_comes_late": ("scheduler.cpp", "  if (counts.steps < step_of_next_seed) {", "  if (false) {", "power", "feedback"),
    "the_next_seed_keeps_priorities": ("scheduler.cpp", "ready[i]->priority = draw_priority();\n  for", ";\n  for", "power", "feedback"),
    "who_was_there_is_no_matter": ("pairs.cpp", "before.thread == after.thread", "true", "power", "feedback"),
    "what_was_there_is_no_matter": ("pairs.cpp", "std::uint64_t{before.code} << 32 | ", "", "power", "feedback"),
    "who_comes_is_no_matter": ("pairs.cpp", " << 32 | after.code", " << 32", "power", "feedback"),
    "kinds_of_pairs_are_one": ("pairs.cpp", "static_cast<std::uint64_t>(kind) << 1 | ", "", "power", "feedback"),
    "old_values_are_as_new": ("locations.cpp", "is_old ? pair_kind::read_old : pair_kind::read", "pair_kind::read", "power", "feedback"),
    "stores_show_no_pairs": ("locations.cpp", "    note_pair(pair_kind::next_store, l.stores[after]->by_code, s->by_code);\n", "", "power", "feedback"),
    "calls_show_no_pairs": ("interpose_locks.cpp", "  if (notes_pairs) note_call_for(object, code);\n", "", "power", "feedback"),
    "calls_leave_nothing": ("locks.cpp", "  last = here;\n", "", "power", "feedback"),
    "crashes_count_as_statuses": ("exploration.cpp", "(options_.judges || o.status == 0)", "options_.judges", "failures", ""),
    "any_failure_is_the_same": ("smaller.cpp", "a.what == failure::deadlock || a.place == b.place", "true", "failures", ""),
    "weak_memory_is_turned_round": ("exploration.cpp", "!small->needs_weak_memory", "small->needs_weak_memory", "failures", ""),
    "a_race_is_with_itself": ("report.cpp", "e.thread == c.before.thread", "e.thread == c.mine.thread", "failures", ""),
    "each_test_has_its_part_of_all_time": ("start.cpp", "(tests.size() - i)", "(tests.size())", "only", "tests_of_googletest.cpp"),
    "no_verdict_hides_a_failure": ("start.cpp", "count(1) != 0 ? 1 : count(2) != 0 ? 2 : 0", "count(2) != 0 ? 2 : count(1) != 0 ? 1 : 0",
                                   "only", "tests_of_googletest.cpp"),
    "a_wait_unlocks_once_for_all": ("interpose_locks.cpp", "  state_of(m).again = again;\n", "", "twins", "rare_calls.cpp -DWAY=0"),
    "a_call_that_throws_is_done": ("interpose_threads.cpp", "is_done ? once_done : 0;", "once_done;", "twins", "rare_calls.cpp -DWAY=0"),
    "new_keys_have_old_values": ("interpose_threads.cpp", "thread_at(t)->specific[i] = nullptr;", ";", "twins", "rare_calls.cpp -DWAY=0"),
    "alarms_are_not_called_off": ("interpose_system.cpp", "alarm_time = seconds == 0 ? 0 : ", "alarm_time = ", "twins", "rare_calls.cpp -DWAY=0"),
    "timers_keep_what_they_have_counted": ("descriptors.cpp", "if (poll_kernel(&polled, 1, 0) == 1) system_call",
                                           "if (false) system_call", "twins",
                                           "rare_calls.cpp -DWAY=0"),
    "readers_teach_readers": ("interpose_locks.cpp", "hand_on_as_reader(l)", "hand_on(l)", "twins", "rare_calls.cpp -DWAY=1"),
    "failed_exchanges_acquire": ("locations.cpp", "acquire_from(*from, failure)", "acquire_from(*from, success)", "twins",
                                 "rare_calls.cpp -DWAY=2"),
    "wake_ups_end_no_waiting_alone": ("scheduler.cpp", "void judge_wake(const thread& woken) {\n  timeouts_alone = 0;",
                                      "void judge_wake(const thread& woken) {", "twins", "ticks.cpp -DWAKES=1000 -DTICKS=20000 -DMILLISECONDS=10"),
    "a_signal_wakes_all": ("interpose_locks.cpp", "  wake_one(wait_kind::condition, c);", "  wake_all(wait_kind::condition, c);", "twins", "misused_locks.cpp -DWAY=10"),
    "conditions_end_while_threads_wait": ("interpose_locks.cpp", "if (exploring && count_waiting(wait_kind::condition, c) != 0) {",
                                          "if (false) {", "twins", "misused_locks.cpp -DWAY=1"),
    "barriers_end_while_threads_wait": ("interpose_locks.cpp", "if (count_waiting(wait_kind::barrier, b) != 0) {", "if (false) {", "twins", "misused_locks.cpp -DWAY=2"),
    "semaphores_end_while_threads_wait": ("interpose_locks.cpp", "if (count_waiting(wait_kind::semaphore, s) != 0) {",
                                          "if (false) {", "twins", "misused_locks.cpp -DWAY=3"),
    "readers_keep_a_lock_that_ends": ("interpose_locks.cpp", "if (exploring && (state_of(l).readers != 0 || state_of(l).writer != 0)) {",
                                      "if (exploring && state_of(l).writer != 0) {", "twins", "misused_locks.cpp -DWAY=4"),
    "a_locked_mutex_ends": ("interpose_locks.cpp", "if (exploring && state_of(m).locked != 0) {", "if (false) {", "twins", "misused_locks.cpp -DWAY=5"),
    "a_lock_is_unlocked_by_anybody": ("interpose_locks.cpp", "  } else {\n    fail(failure::misuse, ",
                                      "  } else if (false) {\n    fail(failure::misuse, ", "twins", "misused_locks.cpp -DWAY=6"),
    "waits_need_no_locked_mutex": ("interpose_locks.cpp", "if (!is_mine(s)) fail(", "if (false) fail(", "twins", "misused_locks.cpp -DWAY=7"),
    "locks_begin_beside_others": ("interpose_locks.cpp", "  access(reinterpret_cast<std::uintptr_t>(object), size, is_a_write, code);",
                                  "  static_cast<void>(object), static_cast<void>(size), static_cast<void>(code);", "twins", "misused_locks.cpp -DWAY=8"),
    "locks_are_used_without_an_access": ("interpose_locks.cpp", "  access<4>(reinterpret_cast<std::uintptr_t>(object), is_atomic | is_a_write, code);\n",
                                         "", "twins", "misused_locks.cpp -DWAY=9"),
    "robust_mutexes_are_as_others": ("interpose_locks.cpp", "if (robust != PTHREAD_MUTEX_STALLED)", "if (false)", "twins", "misused_locks.cpp -DWAY=11"),
    "semaphores_between_processes_are_as_others": ("interpose_locks.cpp", "if (shared != 0)", "if (false)", "twins", "misused_locks.cpp -DWAY=12"),
    "all_that_meet_are_told_to_be_the_last": ("interpose_locks.cpp", "RUNQ_CALLER);\n    return 0;\n  }\n  s.arrived",
                                              "RUNQ_CALLER);\n    return PTHREAD_BARRIER_SERIAL_THREAD;\n  }\n  s.arrived", "twins", "misused_locks.cpp -DWAY=0"),
    "who_meets_once_has_met_for_ever": ("interpose_locks.cpp", "  s.arrived = 0;\n", "", "twins", "misused_locks.cpp -DWAY=0"),
    "waits_go_by_one_clock": ("interpose_locks.cpp", "return clock == CLOCK_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;",
                              "return CLOCK_REALTIME;", "twins", "misused_locks.cpp -DWAY=0"),
    "spin_locks_hand_nothing_on": ("interpose_locks.cpp", "  hand_on(const_cast<int*>(l));\n", "", "twins", "misused_locks.cpp -DWAY=0"),
    "who_tries_a_semaphore_learns_nothing": ("interpose_locks.cpp", "return fail_with(EAGAIN);\n  --value_of(s);\n  acquire(s);",
                                             "return fail_with(EAGAIN);\n  --value_of(s);", "twins", "misused_locks.cpp -DWAY=0"),
    "no_mutex_of_c11_is_recursive": ("interpose_locks.cpp", "(type & mtx_recursive) != 0", "false", "twins", "misused_locks.cpp -DWAY=0"),
    "sleeping_for_ever_is_no_livelock": ("scheduler.cpp", "  be_fair_after_too_many_steps();  // of a thread that sleeps", "  // of a thread that sleeps",
                                         "once", "sleeps_for_ever.cpp -DEND=3000000"),
    "handlers_of_fork_are_called": ("run.cpp", "slot.process = _Fork();", "pid_t with_handlers() asm(\"__fork\");\n  slot.process = with_handlers();",
                                    "twins", "handlers_of_fork.cpp"),
    "ticks_hide_livelocks": ("scheduler.cpp", "  if (is_silent_for_long()) {", "  if (false) {", "power", "silence"),
    "circles_are_not_seen": ("endless.cpp", "if (address == s.address &&", "if (false && address == s.address &&", "power", "circle"),
    "stacks_are_not_compared": ("endless.cpp", "if (std::memcmp(",
                                "if (place_of(reinterpret_cast<std::uintptr_t>(now.data())) == max_threads && std::memcmp(", "power", "circle"),
    "static_variables_are_not_compared": ("endless.cpp", "if (std::memcmp(",
                                          "if (reinterpret_cast<std::uintptr_t>(now.data()) >> 44 < 4 && std::memcmp(", "power", "circle"),
    "the_heap_is_not_compared": ("endless.cpp", "if (std::memcmp(", "if (!is_in_heap(now.data()) && std::memcmp(", "power", "circle"),
    "thread_locals_are_not_compared": ("endless.cpp", "thread_locals_of(self->number)};", "{}};", "power", "circle"),
    "what_is_elsewhere_is_no_matter": ("endless.cpp", "return *w.at != w.value;", "return w.at == nullptr;", "power", "circle"),
    "the_time_is_no_matter": ("endless.cpp", "if (step_now() != last_look) {", "if (last_look == ~std::uint64_t{0}) {", "power", "circle"),
    "looks_break_no_silence": ("locations.cpp", "  note_look(l);\n", "", "power", "silence"),
    "what_changed_before_breaks_silence": ("locations.cpp", " && l.changed_at >= silent_since", "", "power", "silence"),
    "work_is_as_silent_as_ticks": ("locations.cpp", "  if (!ticks()) break_silence();\n", "", "power", "silence"),
    "ticks_break_silence": ("locations.cpp", "  if (!ticks()) break_silence();\n", "  break_silence();\n", "power", "silence"),
    "wakes_break_no_silence": ("scheduler.cpp", "  timeouts_alone = 0;\n  break_silence();\n", "  timeouts_alone = 0;\n", "power", "silence"),
    "few_ticks_are_a_long_silence": ("scheduler.cpp", "timeouts_in_silence >= timeouts_in_vain &&", "", "power", "silence"),
    "short_ticks_are_a_long_silence": ("scheduler.cpp", " &&\n         clock_now() - silent_since_time >= seconds_in_vain * second", "", "power", "silence"),
    "join_teaches_nothing": ("threads.cpp", "  self->now.join(t.now);\n", "", "twins", "threads.cpp"),
}


def with_absolute_names(text):
    """Of the files that it includes from its own folder, or by a path from there."""
    def absolute(found):
        path = os.path.realpath(os.path.join(here, "..", found[1]))
        return f'#include "{path}"' if os.path.exists(path) else found[0]
    return re.sub(r'#include "([^"]+)"', absolute, text)


def write_sources(chosen, into):
    """Each source with all of its mutants beside what ships, and the number of the one that runs."""
    of_source = collections.defaultdict(list)
    for name, (source, before, after, *_) in chosen.items():
        of_source[source].append((name, before, after))
    for source, mutants in of_source.items():
        path = os.path.realpath(os.path.join(here, "..", source))
        with open(path) as file:
            text = file.read()
        changed = [(name, path, text.replace(before, after)) for name, before, after in mutants]
        with open(os.path.join(into, source), "w") as file:
            file.write(with_absolute_names(combined(text, path, changed)))
    with open(os.path.join(into, "chosen_mutant.cpp"), "w") as file:
        file.write(f'#include "variant.hpp"\nstd::uint64_t runq::model::chosen_mutant = {NONE}U;\n')
    return list(of_source)


def number_of(mutant):
    """As mutant_number() in variant.hpp."""
    number = 14695981039346656037
    for byte in mutant.encode():
        number = (number ^ byte) * 1099511628211 % 2**64
    return number


def choose(mutant, compiled, instead):
    """Writes the file `instead`: `compiled` with the mutant chosen."""
    with open(compiled, "rb") as file:
        content = file.read()
    if content.count(NONE.to_bytes(8, "little")) != 1:
        sys.exit(f"{compiled}: the number of the mutant is there {content.count(NONE.to_bytes(8, 'little'))} times")
    with open(instead + ".new", "wb") as file:
        file.write(content.replace(NONE.to_bytes(8, "little"), number_of(mutant).to_bytes(8, "little")))
    shutil.copymode(compiled, instead + ".new")
    os.rename(instead + ".new", instead)


def run(command, folder):
    done = subprocess.run(command, shell=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}\n{done.stdout}")


def build(options, sources, into):
    """The library with these sources from the folder `into`, there with the command."""
    commands = subprocess.run(["ninja", "-C", options.build, "-t", "commands", "runq_explore"], check=True, text=True,
                              capture_output=True).stdout.splitlines()
    link_command = next(c for c in commands if LIBRARY in c and "-shared" in c)
    folder = "models/explore/CMakeFiles/runq_explore"
    together = f"{folder}_reports.dir/Unity/unity_0_cxx.cxx"
    compiled = {}  # what is compiled instead, by the object
    with open(os.path.join(options.build, together)) as file:
        text = file.read()
    for source in sources:
        path, changed = os.path.realpath(os.path.join(here, "..", source)), os.path.join(into, source)
        if f'"{path}"' in text:
            text = text.replace(f'"{path}"', f'"{changed}"')
            compiled[f"{together}.o"] = os.path.join(options.build, together), f"{changed}.cxx"
        else:
            compiled[f"{folder}.dir/{source}.o"] = path, changed
    for object_name, (path, changed) in compiled.items():
        if changed.endswith(".cxx"):
            with open(changed, "w") as file:
                file.write(text)
        command = next(c for c in commands if f"-o {object_name} " in c)
        run(command.replace(f"-o {object_name}", f"-o {changed}.o").replace(path, changed) + " -O1 -w", options.build)
        link_command = link_command.replace(object_name, f"{changed}.o")
    choice = os.path.join(into, "chosen_mutant.o")
    run(shlex.join(["g++", "-std=c++20", "-fPIC", "-fvisibility=hidden", "-I", os.path.join(models, "check"), "-c",
                    os.path.join(into, "chosen_mutant.cpp"), "-o", choice]), into)
    # check/runtime.cpp has that variable, too: the first one counts.
    run(link_command.replace(f"-o models/explore/{LIBRARY}", f"-Wl,-z,muldefs -o {into}/{LIBRARY}.all {choice}"), options.build)
    shutil.copy(os.path.join(options.build, "models/explore/runq-explore"), into)


def texts_that_fit_no_more():
    found = []
    for name, (source, before, *_) in MUTANTS.items():
        with open(os.path.join(here, "..", source)) as file:
            count = file.read().count(before)
        if count != 1:
            found.append(f"{name}: its text is found {count} times in {source}")
    return found


def build_feedback_test(into):
    """The unit test of the pool with the source that has its mutants."""
    program = os.path.join(into, "feedback_test")
    run(shlex.join([os.environ.get("CXX", "g++"), "-std=c++20", "-DFMT_HEADER_ONLY", "-I", os.path.join(here, ".."), "-I",
                    os.path.join(models, "check"), os.path.join(here, "feedback_test.cpp"), os.path.join(into, "feedback.cpp"),
                    os.path.join(into, "chosen_mutant.cpp"), "-lgtest", "-lgtest_main", "-o", f"{program}.all"]), into)
    return program


def test_command(tool, kind, what, runs):
    if kind == "litmus":
        return [sys.executable, os.path.join(here, "litmus_test.py"), "--tool", tool, "--runs", runs, "--only", what,
                os.path.join(here, "litmus.cpp")]
    if kind == "power":
        return [sys.executable, os.path.join(here, "power_test.py"), "--tool", tool, "--only", what]
    if kind == "failures":
        return [sys.executable, os.path.join(here, "failures_test.py"), "--tool", tool, "--short"]
    if kind == "only":
        return [sys.executable, os.path.join(here, "only_test.py"), "--tool", tool, os.path.join(here, what)]
    steps = []
    if kind == "once":  # a run without an end takes long, and by other seeds another test notices it
        runs, steps = "1", ["--seed", "0", "--max-steps", "1000000"]
    program, *flags = what.split()
    variant = ["--variant=" + " ".join(flags)] if flags else []
    return [sys.executable, os.path.join(here, "twins_test.py"), "--tool", tool, "--replays", "0", "--runs", runs, *steps, *variant,
            os.path.join(here, "programs", program)]


def status_of_test(options, folder, name, kind, what):
    """The status of the test with that mutant."""
    if kind == "feedback":
        program = os.path.join(folder, "feedback_test")
        choose(name, f"{program}.all", program)
        return subprocess.run([program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60).returncode
    library = os.path.join(folder, LIBRARY)
    choose(name, f"{library}.all", library)
    done = subprocess.run(test_command(os.path.join(folder, "runq-explore"), kind, what, options.runs), text=True, capture_output=True,
                          env={**os.environ, "CXX": kept_compiler.name()})
    if kind in ("twins", "once") and done.returncode != 0 and "WRONG" not in done.stdout:
        sys.exit(f"{what}: the test has not looked: {done.stdout}{done.stderr}")
    return done.returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, help="the folder of the preset verify")
    parser.add_argument("--runs", default="3000")
    parser.add_argument("--only", default="", help="names of mutants")
    parser.add_argument("--every", type=int, default=1, help="only each N-th one")
    options = parser.parse_args()
    options.build = os.path.realpath(options.build)
    kept_compiler.set_up()  # the tests of several mutants compile the same program
    unknown = set(options.only.split()) - set(MUTANTS)
    if unknown:
        parser.error(f"there is no mutant {' '.join(sorted(unknown))}; there are {' '.join(MUTANTS)}")
    survivors = texts_that_fit_no_more()  # of all, although a slice is run
    chosen = {name: m for name, m in list(MUTANTS.items())[::options.every] if not options.only or name in options.only.split()}
    with tempfile.TemporaryDirectory() as folder:
        applying = {name: m for name, m in chosen.items() if not any(line.startswith(f"{name}: ") for line in survivors)}
        sources = write_sources(applying, folder)
        kinds = {kind for *_, kind, _ in applying.values()}
        if kinds - {"feedback"}:
            build(options, sources, folder)
        if "feedback" in kinds:
            build_feedback_test(folder)
        # Other tests run all of them with the library as it ships; these say that the one with the mutants is as good.
        for control in ("litmus", "twins", "feedback"):
            what = next((what for *_, kind, what in applying.values() if kind == control), None)
            if what is not None and status_of_test(options, folder, "", control, what) != 0:
                survivors.append(f"{control} {what}: fails without a mutant")
        for name, (*_, kind, what) in applying.items():
            status = status_of_test(options, folder, name, kind, what)
            print(f"{'survives' if status == 0 else 'killed'} {name}: {what}", flush=True)
            if status == 0:
                survivors.append(f"{name} survives")
    kept_compiler.tear_down()
    print("\n".join(survivors) if survivors else f"{len(chosen)} mutants, all killed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
