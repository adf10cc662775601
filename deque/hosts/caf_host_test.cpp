// SPDX-License-Identifier: MIT
// CAF with our queues behind its scheduler: every message arrives once, in trees of actors, from inside and from
// outside; workers that sleep are woken; nobody starves; and a system that is destroyed under load destroys its actors.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <caf/all.hpp>
#include <caf/scheduler/coordinator.hpp>
#include <gtest/gtest.h>

#include "caf_work_stealing.hpp"

namespace {

using coordinator = caf::scheduler::coordinator<runq_hosts::caf_work_stealing>;

struct configuration : caf::actor_system_config {
  explicit configuration(std::size_t workers) {
    set("scheduler.max-threads", workers);
    load<coordinator>();
  }
};

/// Runs `body` in a system of its own, which ends when all actors have.
void in_system(std::size_t workers, const std::function<void(caf::actor_system&)>& body) {
  configuration config(workers);
  caf::actor_system system(config);
  body(system);
}

/// Sends one message, and waits until an actor has received it.
void send_and_wait(caf::scoped_actor& self, const caf::actor& to) {
  self->request(to, caf::infinite, 1).receive([](int) {}, [](caf::error&) { ADD_FAILURE(); });
}

class each_number_of_workers : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(, each_number_of_workers, testing::Values(1, 2, 4));

TEST_P(each_number_of_workers, deliver_each_message_of_several_threads_once) {
  constexpr int threads = 3;
  constexpr int each = 1000;
  std::vector<std::atomic<int>> arrived(threads * each);
  in_system(GetParam(), [&](caf::actor_system& system) {
    std::vector<caf::actor> actors;
    for (int i = 0; i != 16; ++i) {
      actors.push_back(system.spawn([&arrived](caf::event_based_actor*) {
        return caf::behavior{[&arrived](int id) { arrived[static_cast<std::size_t>(id)].fetch_add(1); }};
      }));
    }
    std::vector<std::jthread> outside;
    for (int t = 0; t != threads; ++t) {
      outside.emplace_back([&actors, t] {
        for (int i = 0; i != each; ++i) {
          const int id = t * each + i;
          caf::anon_send(actors[static_cast<std::size_t>(id) % actors.size()], id);
        }
      });
    }
  });  // waits for the actors, which end when nobody can send to them
  for (const std::atomic<int>& times : arrived) ASSERT_EQ(times.load(), 1);
}

// A tree of actors: each waits for its children's sums.
struct sum {
  long so_far = 0;
  int missing = 4;
};
caf::behavior summing(caf::stateful_actor<sum>* self, const caf::actor& parent, long first, long leaves) {
  if (leaves == 1) {
    self->send(parent, first);
    return {};
  }
  for (long i = 0; i != 4; ++i) {
    self->spawn(summing, caf::actor_cast<caf::actor>(self), first + i * (leaves / 4), leaves / 4);
  }
  return {[self, parent](long part) {
    self->state.so_far += part;
    if (--self->state.missing != 0) return;
    self->send(parent, self->state.so_far);
    self->quit();
  }};
}
TEST_P(each_number_of_workers, add_up_a_tree_of_actors) {
  static constexpr long leaves = 4096;
  in_system(GetParam(), [](caf::actor_system& system) {
    caf::scoped_actor self(system);
    self->spawn(summing, caf::actor_cast<caf::actor>(self), 0L, long{leaves});
    self->receive([](long all) { EXPECT_EQ(all, leaves * (leaves - 1) / 2); });
  });
}

caf::behavior echo() {
  return {[](int i) { return i; }};
}
// All workers may be asleep when one of these messages comes. A lost wake-up would hang the test until its time limit.
TEST_P(each_number_of_workers, wake_up_for_one_message_at_a_time) {
  in_system(GetParam(), [](caf::actor_system& system) {
    caf::scoped_actor self(system);
    const caf::actor other = self->spawn(echo);
    for (int i = 0; i != 2000; ++i) send_and_wait(self, other);
  });
}

// Each turn of an actor that has used up its share of messages makes it ready again.
TEST_P(each_number_of_workers, resume_an_actor_that_may_handle_one_message_at_a_time) {
  constexpr int many = 2000;
  int received = 0;
  configuration config(GetParam());
  config.set("scheduler.max-throughput", 1);
  {
    caf::actor_system system(config);
    const caf::actor one =
        system.spawn([&received](caf::event_based_actor*) { return caf::behavior{[&received](int) { ++received; }}; });
    for (int i = 0; i != many; ++i) caf::anon_send(one, i);
  }
  EXPECT_EQ(received, many);
}

// A pair of actors that send to each other is always ready. With one worker an actor that comes from outside would
// starve, if the worker always ran what it made ready last.
TEST_P(each_number_of_workers, run_what_comes_from_outside_beside_a_pair_that_never_rests) {
  std::atomic<bool> end{false};
  const auto bounce = [&end](caf::event_based_actor* self) {
    return caf::behavior{[self, &end](int i) {
      if (end.load()) {
        self->quit();
      } else {
        self->send(caf::actor_cast<caf::actor>(self->current_sender()), i);
      }
    }};
  };
  in_system(GetParam(), [&](caf::actor_system& system) {
    const caf::actor one = system.spawn(bounce);
    system.spawn([one](caf::event_based_actor* self) {
      self->send(one, 1);
      return caf::behavior{[self](int i) { self->send(caf::actor_cast<caf::actor>(self->current_sender()), i); }};
    });
    caf::scoped_actor self(system);
    send_and_wait(self, self->spawn(echo));
    end = true;
  });
}

// The parent keeps its worker until the child has run. The child is in this worker's deque, and the other worker
// sleeps: it must be woken, and steal.
TEST(caf_workers, wake_one_that_steals_what_its_own_worker_cannot_run) {
  for (int round = 0; round != 100; ++round) {
    std::atomic<bool> ran{false};
    in_system(2, [&ran](caf::actor_system& system) {
      auto& shared = dynamic_cast<coordinator&>(system.scheduler()).data();
      system.spawn([&shared, &ran](caf::event_based_actor* self) {
        while (shared.sleepers.load() == 0) std::this_thread::yield();
        self->spawn([&ran] {
          ran = true;
          ran.notify_one();
        });
        ran.wait(false);
      });
    });
  }
}

// Actors that are always ready: pairs that send to each other, in the workers' deques, and some that send to
// themselves, in the shared queue. The system does not wait for them, and destroys them with itself.
TEST(caf_workers, destroy_the_actors_that_are_left) {
  for (int round = 0; round != 20; ++round) {
    const auto alive = std::make_shared<int>(0);
    const auto answering = [alive] { return caf::behavior{[alive](int i) { return i; }}; };
    const auto sending = [alive](caf::event_based_actor* self, const caf::actor& to) {
      self->send(to, 1);
      return caf::behavior{[alive, self, to](int i) { self->send(to, i); }};
    };
    configuration config(3);
    config.set("scheduler.max-throughput", 1);
    {
      caf::actor_system system(config);
      system.await_actors_before_shutdown(false);
      for (int i = 0; i != 50; ++i) {
        system.spawn(sending, system.spawn(answering));
        system.spawn([alive](caf::event_based_actor* self) {
          self->send(self, 1);
          return caf::behavior{[alive, self](int) { self->send(self, 1); }};
        });
      }
    }
    ASSERT_EQ(alive.use_count(), 3) << "an actor was not destroyed";  // this one, and two lambdas
  }
}

}  // namespace
