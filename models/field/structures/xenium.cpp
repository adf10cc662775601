// SPDX-License-Identifier: MIT
// Structures of xenium: one of them is compiled, which the macro FIELD_<name> chooses.

#ifdef FIELD_xenium_vyukov_bounded_queue
// xenium::vyukov_bounded_queue: Vyukov's ring for many producers and consumers.
#include <xenium/vyukov_bounded_queue.hpp>

#include "../field.hpp"

class queue : public runq::field::tried<xenium::vyukov_bounded_queue<int>, 4> {};

RUNQ_FIELD(runq::field::push_and_pop_to_the_end<queue>)
#endif

#ifdef FIELD_xenium_chase_lev
// xenium::chase_work_stealing_deque: an owner at the bottom, thieves at the top.
#include <optional>

#include <xenium/chase_work_stealing_deque.hpp>

#include "../field.hpp"

class deque {
 public:
  bool push(int value) {
    deque_.try_push(letters_.write(value));
    return true;
  }
  std::optional<int> pop() {
    int* letter = nullptr;
    return deque_.try_pop(letter) ? letters_.read(letter) : std::nullopt;
  }
  std::optional<int> steal() {
    int* letter = nullptr;
    return deque_.try_steal(letter) ? letters_.read(letter) : std::nullopt;
  }

 private:
  runq::field::letters letters_;
  xenium::chase_work_stealing_deque<int, xenium::policy::capacity<4>> deque_;
};
/// A pop or a steal may give up when another thread takes the element.
class specification {
 public:
  bool push(int value) { return inside_.push_back(value); }
  std::optional<int> pop() { return runq::any_of(2) == 1 ? std::nullopt : inside_.pop_back(); }
  std::optional<int> steal() { return runq::any_of(2) == 1 ? std::nullopt : inside_.pop_front(); }

 private:
  runq::spec::deque<int> inside_;
};

static auto make_test() {
  runq::linearizable<deque, specification> test;
  test.operation("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), runq::fresh).by("owner");
  test.operation("pop", RUNQ_CODE([](auto& q) { return q.pop(); })).by("owner");
  test.operation("steal", RUNQ_CODE([](auto& q) { return q.steal(); })).beside("owner");
  test.initially("push", RUNQ_CODE([](auto& q, int value) { return q.push(value); }), 7);
  test.options.calls = 3;
  return test;
}

RUNQ_FIELD(make_test)
#endif

#ifdef FIELD_xenium_ramalhete_queue
// xenium::ramalhete_queue: arrays of two elements in a list, reclaimed by hazard pointers.
#include <optional>

#include <xenium/ramalhete_queue.hpp>
#include <xenium/reclamation/hazard_pointer.hpp>

#include "../field.hpp"

class queue {
 public:
  bool push(int value) {
    queue_.push(letters_.write(value));
    return true;
  }
  std::optional<int> pop() {
    int* letter = nullptr;
    return queue_.try_pop(letter) ? letters_.read(letter) : std::nullopt;
  }

 private:
  using reclaimer = xenium::reclamation::hazard_pointer<>::with<
      xenium::policy::allocation_strategy<xenium::reclamation::hp_allocation::static_strategy<3, 0, 0>>>;
  runq::field::letters letters_;
  xenium::ramalhete_queue<int*, xenium::policy::reclaimer<reclaimer>, xenium::policy::entries_per_node<2>> queue_;
};

RUNQ_FIELD(runq::field::push_and_pop<queue>)
#endif

#ifdef FIELD_xenium_seqlock
// xenium::seqlock of two words, which a reader must not see torn.
#include <xenium/seqlock.hpp>

#include "../field.hpp"

class number {
 public:
  void write(int value) { both_.store({value, -value}); }
  /// Returns -1 if the value is torn.
  int read() {
    const pair seen = both_.load();
    return seen.first == -seen.second ? static_cast<int>(seen.first) : -1;
  }

 private:
  struct pair {
    long first;
    long second;
  };
  xenium::seqlock<pair> both_{pair{0, 0}};
};

RUNQ_FIELD(runq::field::write_and_read<number>)
#endif

#ifdef FIELD_xenium_left_right
// xenium::left_right: two copies, of which readers read one while a writer changes the other.
#include <xenium/left_right.hpp>

#include "../field.hpp"

class number {
 public:
  void write(int value) {
    both_.update([value](int& copy) { copy = value; });
  }
  int read() {
    return both_.read([](const int& copy) { return copy; });
  }

 private:
  xenium::left_right<int> both_{0};
};

RUNQ_FIELD(runq::field::write_and_read<number>)
#endif
