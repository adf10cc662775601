// SPDX-License-Identifier: MIT
// How a machine finds its next task. The queues are fakes that answer as the test wants, on one thread. The models
// check the interleavings of several threads.
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <runq/protocol/machine_loop.hpp>

namespace {

using runq::steal_status;

/// A fake of a task, which has only a number. 0 means no task.
struct work {
  work() = default;
  explicit work(int n) : number(n) {}
  explicit work(const int* n, bool = false) : number(n == nullptr ? 0 : *n) {}
  [[nodiscard]] explicit operator bool() const { return number != 0; }
  int number = 0;
};
using tasks = std::vector<int*>;
struct global_queue {
  [[nodiscard]] bool has_work() const { return !all.empty(); }
  [[nodiscard]] bool has_work_approx() const { return has_work(); }
  struct shard {
    [[nodiscard]] bool has_work_approx() const { return has_work; }
    bool has_work;
    unsigned number;
  };
  [[nodiscard]] shard near(unsigned which) const { return {has_work(), which}; }
  template <class Owner>
  [[nodiscard]] int* take_share(Owner&, unsigned, unsigned near) {
    return take(near);
  }
  [[nodiscard]] int* take(unsigned near) {
    asked.push_back(near);
    if (all.empty()) return nullptr;
    int* const first = all.front();
    all.pop_front();
    return first;
  }
  void splice(const tasks& more, unsigned) { all.insert(all.end(), more.begin(), more.end()); }
  void splice_front(const tasks& more, unsigned) { all.insert(all.begin(), more.begin(), more.end()); }
  std::deque<int*> all;
  std::vector<unsigned> asked;  // which shard first, at each take
};

/// A fake of a victim's handle. steal() returns the given answers one by one, and finds nothing after the last.
struct victim_queue {
  [[nodiscard]] std::size_t size_approx() const { return size; }
  [[nodiscard]] bool has_work() const { return !answers.empty(); }
  [[nodiscard]] bool has_work_approx() const { return has_work(); }
  [[nodiscard]] runq::steal_result<int> steal() const {
    if (answers.empty()) return {};
    const steal_status status = answers.front();
    answers.pop_front();
    return {status, status == steal_status::taken ? 7 : 0, 1};
  }
  template <class Owner>
  [[nodiscard]] runq::steal_result<int> steal_half_into(Owner&) const {
    return steal();
  }
  [[nodiscard]] std::size_t oldest_approx() const { return moves ? watched++ : watched; }
  mutable std::deque<steal_status> answers;
  std::size_t size = 1;
  bool moves = false;  // each look at the oldest element finds another one
  mutable std::size_t watched = 0;
};
struct owner {
  struct loot : runq::steal_result<int> {
    bool from_runnext = false;
  };
  [[nodiscard]] loot steal_from(const victim_queue& victim, runq::steal_runnext, std::size_t, int) const {
    return {victim.steal(), false};
  }
  [[nodiscard]] std::size_t size_approx() const { return size; }
  [[nodiscard]] tasks drain() { return std::exchange(waiting, {}); }
  [[nodiscard]] runq::popped<int> pop() { return {std::exchange(next, nullptr), false}; }
  [[nodiscard]] static int* pop_oldest() { return nullptr; }
  void overflow_into(const global_queue::shard& to) { overflows_into.push_back(to.number); }
  void rebind() {}
  std::size_t size = 0;
  int* next = nullptr;                   // what pop() gives
  std::vector<unsigned> overflows_into;  // the shards, as they were set
  tasks waiting;                         // only drain() gives them
};
struct fork_owner {
  [[nodiscard]] static std::size_t size_approx() { return 0; }
  [[nodiscard]] std::optional<int*> pop() {
    if (waiting.empty()) return std::nullopt;
    int* const newest = waiting.back();
    waiting.pop_back();
    return newest;
  }
  void rebind() {}
  tasks waiting;
};
struct yielded_owner {
  [[nodiscard]] std::size_t size_approx() const { return size; }
  [[nodiscard]] std::optional<int*> pop() {
    if (waiting.empty()) return std::nullopt;
    int* const oldest = waiting.front();
    waiting.erase(waiting.begin());
    return oldest;
  }
  [[nodiscard]] bool push(int* task) {
    if (waiting.size() == room) return false;
    waiting.push_back(task);
    return true;
  }
  template <class Sink>
  std::size_t drain(Sink&& sink) {
    for (int* const task : waiting) sink(task);
    return std::exchange(waiting, {}).size();
  }
  void rebind() {}
  std::size_t size = 0;
  tasks waiting;
  std::size_t room = 2;
};
/// A walk that visits the victims in order: 0, 1, 2, …
struct in_turn {
  struct walk {
    [[nodiscard]] bool done() const { return at == n; }
    [[nodiscard]] unsigned position() const { return at; }
    void advance() { ++at; }
    unsigned n;
    unsigned at = 0;
  };
  void reset(unsigned to) { n = to; }
  [[nodiscard]] unsigned size() const { return n; }
  [[nodiscard]] walk start(unsigned) const { return {n}; }
  unsigned n = 1;
};
struct counter {
  [[nodiscard]] unsigned get() const { return n; }
  void operator++() { ++n; }
  unsigned n = 0;
};
struct endless_slice {
  [[nodiscard]] static bool over() { return false; }
};
struct short_chain {
  [[nodiscard]] static bool due(bool) { return false; }
  template <class Clock>
  [[nodiscard]] static bool full(bool, Clock&&) {
    return false;
  }
  void grow() {}
  void end() {}
  void forget() {}
};
struct processor {
  static constexpr std::size_t queue_capacity = 256;
  [[nodiscard]] static unsigned random() { return 0; }
  unsigned index = 0;
  counter dispatches;
  counter polls;
  counter runnext_hits;
  endless_slice slice;
  short_chain chain;
  in_turn order;
  owner own_queue;
  victim_queue queue_thief;
  fork_owner own_forks;
  victim_queue forks_thief;
  yielded_owner own_yielded;
  victim_queue yielded_thief;
  unsigned shard = 3;
  unsigned turns = 0;
  unsigned overflows = 0;
  unsigned unwatched_forks = 0;
  std::uint64_t looked_at = 0;
};
struct machine {
  processor* held = nullptr;
  std::uint64_t begun = 0;
  std::uint64_t polls = 0;
  struct {
    [[nodiscard]] bool get() const { return set; }
    bool set = true;
  } spinning;
};

/// The fakes around a machine that holds processor 0. The machine may always spin. When it finds nothing it goes to
/// sleep and is never woken.
struct host {
  static constexpr unsigned processors = 4;
  struct parking_of_test {
    [[nodiscard]] unsigned limit() const { return processors_left; }
    [[nodiscard]] bool may_spin(machine&) {
      ++asked_to_spin;
      return true;
    }
    [[nodiscard]] bool need_spinning() const { return request; }
    [[nodiscard]] bool may_start_more() const { return processors_are_idle; }
    void start_more(std::size_t seen) { counted.push_back(seen); }
    [[nodiscard]] static bool somebody_returns() { return false; }
    static void found(machine&) {}
    void submitted() { ++submissions; }
    static void submitted_in_order() {}
    [[nodiscard]] std::size_t submit_next(owner&, const int* overflowed) const {
      return static_cast<std::size_t>(*overflowed);
    }
    [[nodiscard]] static processor* machine_idle(machine&, processor&) { return nullptr; }
    template <class Look>
    [[nodiscard]] processor* machine_dozes(machine&, processor&, Look&& look) {
      dozes_on = look();
      return nullptr;
    }
    [[nodiscard]] static processor* idle_without_processor(machine&) { return nullptr; }
    [[nodiscard]] static processor* hand_processor_over(machine&, processor&) { return nullptr; }
    [[nodiscard]] static processor* retire_processor(machine&, processor&) { return nullptr; }
    unsigned processors_left = processors;
    unsigned submissions = 0;
    unsigned asked_to_spin = 0;
    bool request = false;
    bool processors_are_idle = false;
    std::vector<std::size_t> counted;
    std::optional<bool> dozes_on;  // when it looks again: whether it may
  };
  struct monitor_of_test {
    static void wake() {}
  };
  using task_list = tasks;
  static constexpr int looks = 1;
  static constexpr int look_pauses = 0;
  static constexpr int steal_rounds = 1;
  static constexpr int watch_pauses = 0;
  static constexpr int fork_pauses = 0;
  static constexpr unsigned unwatched_forks = 1;
  static constexpr std::uint64_t uncounted_pace = 4;
  static constexpr unsigned most_counted = 3;
  static constexpr std::uint64_t chain_pace = 1;
  static constexpr std::uint64_t poll_pace = 1;

  host() {
    for (unsigned i = 0; i != processors; ++i) all[i].index = i;
    m.held = &all[0];
  }
  [[nodiscard]] processor& processor_at(unsigned i) { return all[i]; }
  [[nodiscard]] bool global_first(processor&) { return ++dispatches % 61 == 0; }
  [[nodiscard]] bool nobody_polls() const { return descriptors && !somebody_in_the_poller; }
  [[nodiscard]] bool unwatched() const { return (descriptors || timers_for_later) && !somebody_in_the_poller; }
  void poll() { polled_at.push_back(dispatches); }
  [[nodiscard]] static int clock() { return 0; }
  [[nodiscard]] bool poll_now(processor& p) {
    return (p.own_queue.next = std::exchange(ready_when_polled, nullptr)) != nullptr;
  }
  [[nodiscard]] bool timers_pending() const { return timers_for_later; }
  [[nodiscard]] bool timers_due() const { return wakes_when_due != nullptr; }
  [[nodiscard]] bool fire_due_timers() {
    m.held->own_queue.next = std::exchange(wakes_when_due, nullptr);
    return m.held->own_queue.next != nullptr;
  }
  static void hold(machine& of, processor& p) { of.held = &p; }
  static void leave(machine&) {}
  [[nodiscard]] static int& strand_of(processor&, int& fork) { return fork; }
  [[nodiscard]] int& task_of(processor&, const work&) { return some_task; }
  static void searches(machine&) {}
  static void spins(machine&) {}
  static void rests(machine&) {}
  [[nodiscard]] static int begins() { return 0; }
  void looked(processor&, int) {
    all[1].dispatches.n += tasks_of_a_chain;
    all[2].polls.n += polls_of_a_chain;
    wakes_when_due = std::exchange(due_next, nullptr);
  }
  void stole(processor&, processor& victim, std::size_t, bool, int) {
    victims.push_back(victim.index);
    if (comes_and_ends_the_run == nullptr) return;
    global.all.push_back(comes_and_ends_the_run);
    looping.end();
  }
  void lost(processor& by) {
    EXPECT_EQ(by.index, 0U);
    ++races_lost;
  }
  [[nodiscard]] bool watches_forks() const { return fences_are_heavy; }

  std::vector<processor> all = std::vector<processor>(processors);
  machine m;
  int some_task = 5;
  int* wakes_when_due = nullptr;
  int* ready_when_polled = nullptr;
  int* due_next = nullptr;                // when the machine has looked around
  unsigned tasks_of_a_chain = 0;          // that processor 1 begins meanwhile
  unsigned polls_of_a_chain = 0;          // that give processor 2 a task meanwhile
  int* comes_and_ends_the_run = nullptr;  // into the global queue, at a steal
  int dispatches = 0;
  bool descriptors = false;
  bool timers_for_later = false;
  bool somebody_in_the_poller = false;
  std::vector<int> polled_at;
  std::vector<unsigned> victims;
  int races_lost = 0;
  bool fences_are_heavy = false;
  parking_of_test parking;
  monitor_of_test monitoring;
  global_queue global;
  runq::machine_loop<machine, processor, work, host> looping{*this};
};

// A host whose machine does not spin, while a request stands. Processor 2 has a task.
struct host_with_a_request : host {
  host_with_a_request() {
    m.spinning.set = false;
    parking.request = true;
    all[0].dispatches.n = uncounted_pace;
    all[2].queue_thief.answers = {steal_status::taken};
  }
};

TEST(machine_loop, a_machine_looks_around_without_being_counted_while_a_request_stands) {
  host_with_a_request h;
  EXPECT_EQ(h.looping.next(h.m).number, 7);
  EXPECT_EQ(h.parking.asked_to_spin, 0U);
  EXPECT_EQ(h.victims, (std::vector<unsigned>{2}));
  h.all[3].queue_thief.answers = {steal_status::taken};
  h.parking.request = false;
  h.all[0].dispatches.n += host::uncounted_pace;
  EXPECT_EQ(h.looping.next(h.m).number, 7);
  EXPECT_EQ(h.parking.asked_to_spin, 1U) << "there was no request";
}

TEST(machine_loop, a_machine_that_has_begun_few_tasks_since_is_counted) {
  host_with_a_request h;
  EXPECT_EQ(h.looping.next(h.m).number, 7);
  h.all[0].dispatches.n += host::uncounted_pace - 1;
  h.all[2].queue_thief.answers = {steal_status::taken};
  EXPECT_EQ(h.looping.next(h.m).number, 7);
  EXPECT_EQ(h.parking.asked_to_spin, 1U);
  ++h.all[0].dispatches.n;
  h.all[2].queue_thief.answers = {steal_status::taken};
  EXPECT_EQ(h.looping.next(h.m).number, 7);
  EXPECT_EQ(h.parking.asked_to_spin, 1U) << "it has begun enough of them since it looked without being counted";
}

TEST(machine_loop, a_machine_that_spins_already_does_not_look_around_once_more) {
  host_with_a_request h;
  h.m.spinning.set = true;
  EXPECT_EQ(h.looping.next(h.m).number, 7);
  EXPECT_EQ(h.parking.asked_to_spin, 1U);
}

TEST(machine_loop, a_machine_that_is_not_counted_leaves_a_fork_that_is_alone) {
  host_with_a_request h;
  h.all[2].queue_thief.answers = {};
  h.all[1].forks_thief.answers = {steal_status::taken};
  EXPECT_EQ(h.looping.next(h.m).number, 7);
  EXPECT_EQ(h.parking.asked_to_spin, 1U);
}

TEST(machine_loop, a_machine_that_is_not_counted_submits_the_tasks_that_it_has_moved) {
  for (const unsigned moved : {0U, 1U, 2U}) {
    host_with_a_request h;
    if (moved == 1) h.all[0].own_queue.size = 1;
    if (moved == 2) h.all[0].own_yielded.size = 1;
    EXPECT_EQ(h.looping.next(h.m).number, 7);
    EXPECT_EQ(h.parking.submissions, moved == 0 ? 0U : 1U) << moved;
  }
}

TEST(machine_loop, X15_a_steal_that_finds_somebody_faster_is_a_lost_race) {
  host h;
  h.all[1].queue_thief.answers = {steal_status::lost};
  h.all[2].queue_thief.answers = {};
  h.all[3].queue_thief.answers = {steal_status::taken};
  EXPECT_EQ(h.looping.next(h.m).number, 7);
  EXPECT_EQ(h.races_lost, 1);
  EXPECT_EQ(h.victims, (std::vector<unsigned>{3}));
}

TEST(machine_loop, X15_a_lost_race_for_a_fork_counts_too_and_one_for_both_once) {
  host h;
  h.all[1].forks_thief.answers = {steal_status::lost};
  h.all[2].queue_thief.answers = {steal_status::lost};
  h.all[2].forks_thief.answers = {steal_status::lost};
  EXPECT_FALSE(h.looping.next(h.m));
  EXPECT_EQ(h.races_lost, 2);
  EXPECT_TRUE(h.victims.empty());
}

TEST(machine_loop, X15_a_machine_that_is_slower_at_the_queue_and_finds_a_fork_has_lost_no_race) {
  host h;
  h.all[1].queue_thief.answers = {steal_status::lost};
  h.all[1].forks_thief.answers = {steal_status::taken};
  EXPECT_EQ(h.looping.next(h.m).number, 7);
  EXPECT_EQ(h.races_lost, 0);
  EXPECT_EQ(h.victims, (std::vector<unsigned>{1}));
}

TEST(machine_loop, X15_a_thief_takes_tasks_that_have_yielded_last) {
  host h;
  h.all[1].yielded_thief.answers = {steal_status::lost, steal_status::taken};
  h.all[2].forks_thief.answers = {steal_status::taken};
  EXPECT_EQ(h.looping.next(h.m).number, 7);
  EXPECT_EQ(h.looping.next(h.m).number, 7);
  EXPECT_EQ(h.races_lost, 1);
  EXPECT_EQ(h.victims, (std::vector<unsigned>{2, 1}));
}

TEST(machine_loop, a_thief_leaves_a_fork_that_is_alone_and_does_not_stay_if_taking_it_costs_much) {
  for (const bool heavy : {false, true}) {
    for (const bool moves : {false, true}) {
      for (const std::size_t forks : {1U, 2U}) {
        host h;
        h.fences_are_heavy = heavy;
        h.all[1].forks_thief.answers = {steal_status::taken};
        h.all[1].forks_thief.moves = moves;
        h.all[1].forks_thief.size = forks;
        EXPECT_EQ(h.looping.next(h.m).number, heavy && moves && forks == 1 ? 0 : 7);
      }
    }
  }
}

TEST(machine_loop, L18_a_machine_that_has_found_a_task_counts_those_of_some_processors_if_others_are_idle) {
  for (const bool idle : {false, true}) {
    host h;
    h.parking.processors_are_idle = idle;
    h.all[2].queue_thief.answers = {steal_status::taken};
    h.all[1].forks_thief.size = 3;
    h.all[2].queue_thief.size = 4;
    h.all[3].queue_thief.size = 100;  // it is the fourth; each other queue has one task
    EXPECT_EQ(h.looping.next(h.m).number, 7);
    EXPECT_EQ(h.parking.counted, idle ? std::vector<std::size_t>{11} : std::vector<std::size_t>{});
  }
}

// It runs in the next run, if it was started for that, before what waits already.
TEST(machine_loop, what_was_found_when_the_run_has_ended_goes_to_the_head_of_the_global_queue) {
  host h;
  int waits = 6;
  h.all[3].queue_thief.answers = {steal_status::taken};
  h.comes_and_ends_the_run = &waits;
  EXPECT_FALSE(h.looping.next(h.m));
  EXPECT_EQ(h.global.all, (std::deque<int*>{&h.some_task, &waits}));
}

TEST(machine_loop, a_processor_that_is_one_too_many_leaves_all_its_tasks_to_the_others_in_their_order) {
  for (const bool ended : {false, true}) {
    host h;
    std::array<int, 8> task{};
    h.m.held = &h.all[3];
    h.parking.processors_left = 2;
    if (ended) h.looping.end();
    h.global.all = {&task[6]};
    h.all[3].own_queue.waiting = {&task[0], &task[1]};
    h.all[3].own_forks.waiting = {&task[3], &task[2]};
    h.all[3].own_yielded.waiting = {&task[7]};
    EXPECT_FALSE(h.looping.next(h.m));
    if (ended) {
      EXPECT_EQ(h.global.all, (std::deque<int*>{&task[0], &task[1], &task[6], &task[7]}));
      EXPECT_EQ(h.all[3].own_forks.waiting.size(), 2U) << "they are for the thread that ends the run";
    } else {
      EXPECT_EQ(h.global.all, (std::deque<int*>{&task[0], &task[1], &task[2], &task[3], &task[6], &task[7]}));
    }
  }
}

TEST(machine_loop, a_timer_that_is_due_is_work_for_a_machine_that_finds_nothing_to_steal) {
  host h;
  int waits = 6;
  EXPECT_FALSE(h.looping.work_anywhere());
  h.wakes_when_due = &waits;
  EXPECT_TRUE(h.looping.work_anywhere());
  EXPECT_EQ(h.looping.next(h.m).number, 6);
  EXPECT_FALSE(h.looping.work_anywhere());
  EXPECT_FALSE(h.looping.next(h.m));
}

// Beside a chain of short tasks on processor 1.
TEST(machine_loop, a_machine_that_dozes_gets_up_for_a_timer_that_is_due) {
  for (const bool due : {false, true}) {
    host h;
    int waits = 6;
    for (processor& p : h.all) p.queue_thief.size = 0;
    h.tasks_of_a_chain = 1;
    if (due) h.due_next = &waits;
    EXPECT_FALSE(h.looping.next(h.m));
    EXPECT_EQ(h.parking.dozes_on, std::optional(!due));
  }
}

// It was slower than another thief, which has left one more.
TEST(machine_loop, a_machine_that_dozes_gets_up_for_a_fork_or_a_task_that_has_yielded) {
  for (const auto place : {&processor::forks_thief, &processor::yielded_thief}) {
    host h;
    for (processor& p : h.all) p.queue_thief.size = 0;
    h.tasks_of_a_chain = 1;
    (h.all[1].*place).answers = {steal_status::lost, steal_status::taken};
    EXPECT_FALSE(h.looping.next(h.m));
    EXPECT_EQ(h.parking.dozes_on, std::optional(false));
  }
}

// As long as its processor takes it back, and makes another one.
TEST(machine_loop, a_machine_dozes_beside_a_fork_that_is_alone_and_gets_up_when_it_stays) {
  for (const bool moves : {false, true}) {
    for (const std::size_t forks : {1U, 2U}) {
      host h;
      for (processor& p : h.all) p.queue_thief.size = 0;
      h.fences_are_heavy = true;
      victim_queue& victim = h.all[1].forks_thief;
      // What the thief finds when it comes too late for others; the last one is left when it dozes.
      victim.answers = {steal_status::lost, steal_status::taken};
      if (moves && forks == 1) victim.answers.pop_front();  // it does not even try
      victim.size = forks;
      victim.moves = moves;
      if (!moves) h.tasks_of_a_chain = 1;
      EXPECT_FALSE(h.looping.next(h.m));
      EXPECT_EQ(h.parking.dozes_on, std::optional(moves && forks == 1));
    }
  }
}

TEST(machine_loop, a_machine_does_not_doze_while_there_are_timers_and_no_machine_sleeps_in_the_poller) {
  for (const bool polls : {false, true}) {
    host h;
    for (processor& p : h.all) p.queue_thief.size = 0;
    h.tasks_of_a_chain = 1;
    h.timers_for_later = true;
    h.somebody_in_the_poller = polls;
    EXPECT_FALSE(h.looping.next(h.m));
    EXPECT_EQ(h.parking.dozes_on.has_value(), polls);
  }
}

// In the poller it would take the tasks away from those that poll for them.
TEST(machine_loop, a_machine_leaves_descriptors_but_no_timers_to_processors_that_get_their_tasks_by_polling) {
  for (const bool polls : {false, true}) {
    for (const bool timers : {false, true}) {
      host h;
      for (processor& p : h.all) p.queue_thief.size = 0;
      h.all[2].polls.n = 5;  // before the machine begins to look
      h.descriptors = true;
      h.timers_for_later = timers;
      h.tasks_of_a_chain = 1;
      h.polls_of_a_chain = polls ? 1 : 0;
      EXPECT_FALSE(h.looping.next(h.m));
      EXPECT_EQ(h.parking.dozes_on, polls && !timers ? std::optional(true) : std::nullopt);
    }
  }
}

TEST(machine_loop, a_poll_that_gives_the_processor_a_task_is_counted) {
  host h;
  for (processor& p : h.all) p.queue_thief.size = 0;
  int waits = 6;
  h.ready_when_polled = &waits;
  EXPECT_EQ(h.looping.next(h.m).number, 6);
  EXPECT_EQ(h.all[0].polls.n, 1U);
  EXPECT_FALSE(h.looping.next(h.m));
  EXPECT_EQ(h.all[0].polls.n, 1U);
}

// Runs `n` tasks, each of them stolen from victim 1, which always has one.
void run_many(host& h, int n) {
  for (int i = 0; i != n; ++i) {
    h.all[1].queue_thief.answers = {steal_status::taken};
    EXPECT_EQ(h.looping.next(h.m).number, 7);
  }
}

// The processor always has a task of its own, and the global queue is never empty: so the k-th task that has yielded
// begins at the 61 (2 k - 1)-th dispatch.
TEST(machine_loop, L22_every_122nd_dispatch_is_a_task_that_has_yielded_whatever_else_there_is_and_as_many_are_global) {
  host h;
  int own = 3;
  std::array<int, 4> yielded{11, 12, 13, 14};
  int global = 2;
  for (int& task : yielded) h.all[0].own_yielded.waiting.push_back(&task);
  h.global.all = {&global};
  std::vector<std::pair<int, int>> begun;  // at which dispatch, which task: those that are not the processor's own
  while (h.dispatches != 8 * 61) {
    h.all[0].own_queue.next = &own;
    const int number = h.looping.next(h.m).number;
    if (number != own) begun.emplace_back(h.dispatches, number);
    if (number == global) h.global.all = {&global};
  }
  EXPECT_EQ(begun, (std::vector<std::pair<int, int>>{
                       {61, 11}, {122, 2}, {183, 12}, {244, 2}, {305, 13}, {366, 2}, {427, 14}, {488, 2}}));
  EXPECT_EQ(h.global.asked, (std::vector<unsigned>{3, 4, 5, 6})) << "each turn asks another shard first";
}

// A machine that has looked around while they were on their way to the global queue must be told.
TEST(machine_loop, tasks_that_leave_a_full_ring_of_yielded_ones_for_the_global_queue_are_submitted_too) {
  host h;
  processor& p = h.all[0];
  std::array<int, 3> task{};
  for (unsigned i = 0; i != task.size(); ++i) {
    h.looping.yield(p, &task[i]);
    EXPECT_EQ(h.parking.submissions, i + 1);
  }
  EXPECT_EQ(h.global.all, (std::deque<int*>{&task[0], &task[1]}));
  EXPECT_EQ(p.own_yielded.waiting, (tasks{&task[2]}));
}

TEST(machine_loop, each_overflow_goes_to_the_next_shard_of_the_global_queue_and_what_does_not_overflow_moves_nothing) {
  host h;
  processor& p = h.all[0];
  for (const int overflowed : {0, 129, 0, 0, 2, 129}) {
    EXPECT_EQ(h.looping.make_next(p, &overflowed), static_cast<std::size_t>(overflowed));
  }
  EXPECT_EQ(p.own_queue.overflows_into, (std::vector<unsigned>{4, 5, 6})) << "its own shard, 3, had the first";
}

TEST(machine_loop, S15_every_61st_dispatch_polls_if_nobody_else_does) {
  host h;
  h.descriptors = true;
  run_many(h, 200);
  EXPECT_EQ(h.polled_at, (std::vector<int>{61, 122, 183}));
}

TEST(machine_loop, S15_no_dispatch_polls_while_a_machine_sleeps_in_the_poller_or_without_descriptors) {
  host h;
  run_many(h, 200);
  h.descriptors = true;
  h.somebody_in_the_poller = true;
  run_many(h, 200);
  EXPECT_TRUE(h.polled_at.empty());
}

}  // namespace
