// SPDX-License-Identifier: MIT
// What a scheduler knows of descriptors, step by step beside a kernel of the test's own: records that are used again,
// late events, rings.
#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <runq/protocol/descriptors.hpp>
#include <runq/protocol/fd_uses.hpp>

namespace {

struct waiter {
  int woken = 0;
};

struct kernel {
  using descriptors = runq::descriptors<kernel, waiter>;
  using descriptor = descriptors::descriptor;
  struct events {
    [[nodiscard]] std::size_t size() const { return all.size(); }
    [[nodiscard]] runq::polled_event event(std::size_t i) const { return all[i]; }
    std::vector<runq::polled_event> all;
  };
  descriptor& new_record() { return *records.emplace_back(std::make_unique<descriptor>()); }
  int watch(int fd, std::uint64_t tag) {
    if (refuses != 0) return refuses;
    tags.push_back(tag);
    watched.push_back(fd);
    return 0;
  }
  void wait(events& into, std::int64_t timeout) {
    timeouts.push_back(timeout);
    into.all = std::exchange(next, {});
  }
  void hear_ring() { ++rings_heard; }
  static void wake(waiter& w) { ++w.woken; }
  [[nodiscard]] std::int64_t clock() const { return time; }

  /// Opens a descriptor, which must work.
  descriptor& opened(int fd) {
    int error = 0;
    descriptor* const d = known.open(fd, error);
    EXPECT_EQ(error, 0);
    return *d;
  }
  descriptors::polled poll(std::vector<runq::polled_event> happened, std::int64_t timeout = 0) {
    next = std::move(happened);
    return known.poll(timeout);
  }

  std::vector<std::unique_ptr<descriptor>> records;
  std::vector<std::uint64_t> tags;
  std::vector<int> watched;
  std::vector<std::int64_t> timeouts;
  std::vector<runq::polled_event> next;
  int refuses = 0;
  int rings_heard = 0;
  std::int64_t time = 1;
  descriptors known{*this};
};

constexpr std::uint64_t ring = 0;

TEST(descriptors, an_event_wakes_the_task_that_waits_for_its_direction) {
  kernel k;
  auto& d = k.opened(5);
  EXPECT_EQ(d.fd.get(), 5);
  EXPECT_EQ(k.watched, std::vector{5});
  waiter reads;
  waiter writes;
  ASSERT_TRUE(d.readable.wait(reads));
  ASSERT_TRUE(d.writable.wait(writes));
  EXPECT_EQ(k.poll({{.tag = k.tags[0], .readable = true, .writable = false, .unusual = false}}).woken, 1U);
  EXPECT_EQ(reads.woken, 1);
  EXPECT_EQ(writes.woken, 0);
  EXPECT_EQ(k.poll({{.tag = k.tags[0], .readable = false, .writable = true, .unusual = false}}).woken, 1U);
  EXPECT_EQ(writes.woken, 1);
  EXPECT_FALSE(d.unusual.known());
  EXPECT_EQ(k.poll({{.tag = k.tags[0], .readable = true, .writable = true, .unusual = true}}).woken, 0U);
  EXPECT_TRUE(d.unusual.known());
  EXPECT_FALSE(d.readable.wait(reads)) << "a notice came before";
  EXPECT_FALSE(d.writable.wait(writes)) << "a notice came before";
}

TEST(descriptors, a_record_that_is_used_again_knows_nothing_of_its_last_use) {
  kernel k;
  auto& first = k.opened(5);
  (void)k.poll({{.tag = k.tags[0], .readable = true, .writable = true, .unusual = true}});
  k.known.close(first);
  auto& again = k.opened(6);
  ASSERT_EQ(&again, &first) << "closed records are used first";
  EXPECT_EQ(again.fd.get(), 6);
  EXPECT_FALSE(again.unusual.known());
  waiter reads;
  waiter writes;
  EXPECT_TRUE(again.readable.wait(reads));
  EXPECT_TRUE(again.writable.wait(writes));
}

TEST(descriptors, a_late_event_of_an_earlier_use_reaches_nobody) {
  kernel k;
  k.known.close(k.opened(5));
  auto& d = k.opened(5);
  ASSERT_NE(k.tags[0], k.tags[1]);
  waiter reads;
  waiter writes;
  ASSERT_TRUE(d.readable.wait(reads));
  ASSERT_TRUE(d.writable.wait(writes));
  EXPECT_EQ(k.poll({{.tag = k.tags[0], .readable = true, .writable = true, .unusual = true}}).woken, 0U);
  EXPECT_EQ(reads.woken + writes.woken, 0);
  EXPECT_FALSE(d.unusual.known());
  EXPECT_EQ(k.poll({{.tag = k.tags[1], .readable = true, .writable = true, .unusual = true}}).woken, 2U);
}

TEST(descriptors, records_are_used_again_in_any_number_and_made_when_there_is_none) {
  kernel k;
  auto& a = k.opened(5);
  auto& b = k.opened(6);
  EXPECT_NE(&a, &b);
  EXPECT_EQ(k.known.count(), 2U);
  k.known.close(a);
  k.known.close(b);
  EXPECT_FALSE(k.known.in_use());
  EXPECT_EQ(&k.opened(7), &b) << "the one that was closed last";
  EXPECT_EQ(&k.opened(8), &a);
  EXPECT_EQ(k.records.size(), 2U);
  (void)k.opened(9);
  EXPECT_EQ(k.records.size(), 3U);
  EXPECT_EQ(k.known.count(), 3U);
}

TEST(descriptors, one_that_the_kernel_refuses_is_none) {
  kernel k;
  k.refuses = EPERM;
  int error = 0;
  EXPECT_EQ(k.known.open(5, error), nullptr);
  EXPECT_EQ(error, EPERM);
  EXPECT_FALSE(k.known.in_use());
  k.refuses = 0;
  (void)k.opened(5);
  EXPECT_EQ(k.records.size(), 1U) << "the record of the refused one is used";
}

TEST(descriptors, a_wake_is_for_both_directions) {
  kernel k;
  auto& d = k.opened(5);
  waiter reads;
  waiter writes;
  ASSERT_TRUE(d.readable.wait(reads));
  ASSERT_TRUE(d.writable.wait(writes));
  k.known.wake(d);
  EXPECT_EQ(reads.woken, 1);
  EXPECT_EQ(writes.woken, 1);
}

TEST(descriptors, only_a_poll_that_waits_uses_up_a_ring) {
  kernel k;
  auto& d = k.opened(5);
  waiter reads;
  ASSERT_TRUE(d.readable.wait(reads));
  const runq::polled_event rung{.tag = ring, .readable = true, .writable = false, .unusual = false};
  EXPECT_FALSE(k.poll({rung, {.tag = k.tags[0], .readable = true, .writable = false, .unusual = false}}).rung);
  EXPECT_EQ(k.rings_heard, 0);
  EXPECT_EQ(reads.woken, 1) << "an event behind the ring";
  EXPECT_TRUE(k.poll({rung}, 7).rung);
  EXPECT_EQ(k.rings_heard, 1);
  EXPECT_FALSE(k.poll({}, 7).rung);
  EXPECT_EQ(k.timeouts, (std::vector<std::int64_t>{0, 7, 7}));
}

TEST(descriptors, each_poll_says_when_it_was) {
  kernel k;
  EXPECT_EQ(k.known.last_poll(), 0);
  k.time = 17;
  (void)k.poll({});
  EXPECT_EQ(k.known.last_poll(), 17);
}

TEST(descriptors, a_read_that_stops_short_has_drained_the_stream_unless_its_end_is_near) {
  runq::noticed_fact<> unusual;
  runq::drained_mark<> mark;
  EXPECT_FALSE(mark.drained());
  mark.stopped_short(unusual);
  EXPECT_TRUE(mark.drained());
  mark.attempts();
  EXPECT_FALSE(mark.drained());
  mark.stopped_short(unusual);
  mark.waits();
  EXPECT_FALSE(mark.drained());
  unusual.happens();
  mark.stopped_short(unusual);
  EXPECT_FALSE(mark.drained()) << "no edge will tell of what comes";
}

TEST(fd_uses, a_close_in_one_step_lets_nobody_begin_and_the_last_use_frees_the_number) {
  runq::fd_uses<> uses;
  ASSERT_TRUE(uses.begin());
  EXPECT_FALSE(uses.closed() || uses.canceled());
  ASSERT_TRUE(uses.close());
  EXPECT_TRUE(uses.closed() && uses.canceled());
  EXPECT_TRUE(uses.used_by_others());
  EXPECT_FALSE(uses.begin());
  EXPECT_FALSE(uses.close());
  EXPECT_FALSE(uses.begin_close());
  EXPECT_FALSE(uses.end()) << "the operation goes on";
  EXPECT_TRUE(uses.end());
}

TEST(fd_uses, a_close_that_nobody_else_has_to_learn_of_has_the_number_for_itself) {
  runq::fd_uses<> uses;
  ASSERT_TRUE(uses.begin());
  EXPECT_FALSE(uses.end()) << "it is open";
  ASSERT_TRUE(uses.close());
  EXPECT_FALSE(uses.used_by_others());
  EXPECT_TRUE(uses.end());
}

TEST(fd_uses, between_the_two_steps_of_a_close_operations_begin) {
  runq::fd_uses<> uses;
  ASSERT_TRUE(uses.begin_close());
  EXPECT_TRUE(uses.closed());
  EXPECT_FALSE(uses.canceled());
  EXPECT_TRUE(uses.begin());
  EXPECT_FALSE(uses.begin_close());
  EXPECT_FALSE(uses.close()) << "another has closed";
  uses.cancel();
  EXPECT_TRUE(uses.canceled());
  EXPECT_FALSE(uses.begin());
  EXPECT_FALSE(uses.end());
  EXPECT_TRUE(uses.end());
}

}  // namespace
