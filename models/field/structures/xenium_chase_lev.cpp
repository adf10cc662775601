// SPDX-License-Identifier: MIT
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
