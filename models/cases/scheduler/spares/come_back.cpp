// SPDX-License-Identifier: MIT
// Machines come back from blocking sections when their run has ended, and get spare processors, while a thread counts
// what all processors have done. What a spare processor did is counted, and the next end of a run uses it again.
#include <array>

#include "runq/protocol/spares.hpp"
#include "scenario.hpp"

namespace runq::model {
namespace {

struct processor {
  cell<processor*> next_spare{nullptr};
  cell<bool> constructed{false};
  cell<unsigned> user{0};     // the machine that has it; 0: none
  atomic<unsigned> tasks{0};  // started on it; its user writes, any thread may count
};

class scheduler : public scenario {
 protected:
  scheduler() {
    // Makes one spare processor at once, as the scheduler does, so that the end of a run needs no new memory.
    (void)take();
    spares.reuse();
  }
  processor& take() {
    return spares.take([this] {
      require(made != room.size(), "more processors are made than machines come back");
      processor& p = room[made++];
      p.constructed.set(true);
      return &p;
    });
  }
  /// Machine `who` comes back, and its task starts another one before its next co_await, and is then destroyed.
  void comes_back(unsigned who) {
    processor& p = take();
    require(p.user.get() == 0, "two machines have the same processor");
    p.user.set(who);
    p.tasks.store(p.tasks.load(std::memory_order::relaxed) + 1, std::memory_order::relaxed);
  }
  /// As live_tasks() and the statistics do.
  [[nodiscard]] unsigned count() const {
    unsigned sum = 0;
    spares.for_each([&](const processor& p) {
      require(p.constructed.get(), "a processor that is not constructed is counted");
      sum += p.tasks.load(std::memory_order::relaxed);
    });
    return sum;
  }
  /// All machines have left: what they did is seen, and the next end of a run makes no processor.
  void next_end(unsigned tasks) {
    require(count() == tasks, "what was done on a spare processor is lost");
    spares.for_each([](processor& p) { p.user.set(0); });
    spares.reuse();
    const unsigned before = made;
    for (unsigned i = 0; i != before; ++i) comes_back(7);
    require(made == before, "a spare processor was forgotten");
    require(count() == tasks + before, "what was done on a spare processor is lost");
    unsigned destroyed = 0;
    spares.clear([&](processor&) { ++destroyed; });
    require(destroyed == made && count() == 0, "not every spare processor is destroyed");
  }

  spare_processors<processor, atomics> spares;
  std::array<processor, 3> room;
  unsigned made = 0;  // under the lock of `spares`
};

// Two machines come back.
struct two_come_back final : scheduler {
  void thread(unsigned index) override { comes_back(index + 1); }
  void finish() override {
    require(made == 2, "not as many processors were made as machines came back");
    next_end(2);
  }
};

// A machine comes back, and needs one more processor than there is ‖ a thread counts.
struct come_back_vs_count final : scheduler {
  come_back_vs_count() { comes_back(9); }
  void thread(unsigned index) override {
    if (index == 0) {
      comes_back(1);
    } else {
      const unsigned sum = count();
      require(sum == 1 || sum == 2, "what was done on a spare processor is not counted");
    }
  }
  void finish() override { next_end(2); }
};

// Three machines come back.
struct three_come_back final : scheduler {
  void thread(unsigned index) override { comes_back(index + 1); }
  void finish() override {
    require(made == 3, "not as many processors were made as machines came back");
    next_end(3);
  }
};

const bool added[] = {
    add_case<two_come_back>({
        .name = "spares/two_come_back",
        .property = "every machine that comes back at the end of a run gets its own processor, and none is forgotten",
        .threads = 2,
        .kept_for = "the smaller program",
    }),
    add_case<come_back_vs_count>({
        .name = "spares/come_back_vs_count",
        .property =
            "a thread that counts sees every earlier processor, and a new one as it was constructed or not at all",
        .threads = 2,
        .mutants = {{"publish_relaxed", "spares.publish", std::memory_order::relaxed},
                    {"all_relaxed", "spares.all", std::memory_order::relaxed}},
    }),
    add_case<three_come_back>({
        .name = "spares/three_come_back",
        .property = "each of three machines that come back at the end of a run gets its own processor",
        .threads = 3,
        .kept_for = "three machines meet",
    }),
};

}  // namespace
}  // namespace runq::model
