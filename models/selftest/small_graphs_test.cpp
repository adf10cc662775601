// SPDX-License-Identifier: MIT
// What the exact engine asks of graphs, of graphs that are made here event by event: which threads begin alike, which
// rounds of a loop are undone, which shortcuts are the same, who departs late from a barrier.
#include <atomic>
#include <cstdint>

#include <gtest/gtest.h>

#include "exact_barrier.hpp"
#include "exact_graph.hpp"
#include "exact_shortcut.hpp"
#include "exact_symmetry.hpp"
#include "exact_undone.hpp"

namespace runq::model::exact {
namespace {

constexpr auto rlx = std::memory_order::relaxed;
constexpr auto acq = std::memory_order::acquire;
constexpr auto rel = std::memory_order::release;
constexpr auto acq_rel = std::memory_order::acq_rel;
constexpr auto sc = std::memory_order::seq_cst;
constexpr std::uint64_t word = 0xffffffff;  // the mask of a variable of 32 bits

/// The graph of a program, whose variables are found.
class program_graph : public graph {
 public:
  program_graph() { finds_variables = true; }

  [[nodiscard]] event_id variable(std::uint16_t index) {
    EXPECT_TRUE(find_variable(index, word, 0));
    return {static_cast<std::uint16_t>(constructing), index};
  }
  event_id read(unsigned thread, const operation& o, event_id source) {
    const event_id e = append(thread, o);
    set_source(e, source);
    return e;
  }
  event_id store(unsigned thread, event_id of, std::uint64_t value = 1) {
    return placed(append(thread, step::store{of, value, rlx}));
  }
  /// Adds to the newest value.
  event_id change(unsigned thread, event_id of, rmw_op op, std::uint64_t operand) {
    const event_id e = read(thread, step::modify{of, op, operand, rlx}, at(of).newest);
    const event_id write = append(thread, at(e).write_part(word));
    at(write).exclusive = true;
    return placed(write);
  }

 private:
  event_id placed(event_id write) {
    set_released(write);
    place_after(write, at(at(write).variable).newest);
    return write;
  }
};

[[nodiscard]] node node_of(const operation& o) { return node{o}; }

TEST(small_graphs, stand_for_each_other_only_with_orders_that_order_no_more) {
  program_graph g;
  const event_id v = g.variable(0);
  EXPECT_TRUE(may_stand_for(step::fence{acq}, node_of(step::fence{acq})));
  EXPECT_FALSE(may_stand_for(step::fence{acq}, node_of(step::fence{acq_rel})));
  EXPECT_TRUE(may_stand_for(step::load{v, acq}, node_of(step::load{v, sc})));
  EXPECT_TRUE(may_stand_for(step::load{v, rlx}, node_of(step::load{v, acq})));
  EXPECT_FALSE(may_stand_for(step::load{v, acq}, node_of(step::load{v, rlx})));
  EXPECT_FALSE(may_stand_for(step::load{v, sc}, node_of(step::load{v, acq})));
  EXPECT_TRUE(may_stand_for(step::lock{v, 1, false}, node_of(step::lock{v, 1, false})));
  EXPECT_FALSE(may_stand_for(step::lock{v, 1, true}, node_of(step::lock{v, 1, false})));
}

TEST(small_graphs, with_other_choices_or_failures_lead_elsewhere) {
  program_graph g;
  const event_id v = g.variable(0);
  const event_id choice = g.append(1, step::choose{2, event_kind::choice});
  const event_id read = g.read(1, step::exchange{v, 0, 1, rlx, rlx, true}, v);
  const std::uint64_t first = shortcuts::past_of(g, read);
  g.at(choice).value = 1;
  EXPECT_NE(shortcuts::past_of(g, read), first);
  g.at(choice).value = 0;
  g.at(read).spurious = true;
  EXPECT_NE(shortcuts::past_of(g, read), first);
  g.at(read).spurious = false;
  EXPECT_EQ(shortcuts::past_of(g, read), first);
}

TEST(small_graphs, have_rounds_that_undo_what_they_do) {
  const auto is_undone = [](auto&& before, auto&& between) {
    program_graph g;
    const event_id v = g.variable(0);
    before(g, v);
    const unsigned begin = g.size(1);
    g.change(1, v, rmw_op::add, 1);
    between(g, v);
    g.change(1, v, rmw_op::sub, 1);
    return look_at_round(g, 1, begin, g.size(1)).is_undone;
  };
  const auto nothing = [](program_graph&, event_id) {};
  EXPECT_TRUE(is_undone(nothing, nothing));
  // All else that the thread does there would be left out, too.
  EXPECT_FALSE(is_undone(nothing, [](program_graph& g, event_id) {
    g.append(1, step::choose{2, event_kind::choice});
  }));
  EXPECT_FALSE(is_undone(nothing, [](program_graph& g, event_id) { g.append(1, step::spawn{2}); }));
  EXPECT_TRUE(is_undone(nothing, [](program_graph& g, event_id v) { g.read(1, step::load{v, rlx}, g.at(v).newest); }));
  // What the thread had added before, or has stored.
  const auto added = [](std::uint64_t operand) {
    return [operand](program_graph& g, event_id v) {
      g.change(1, v, rmw_op::add, 1);
      g.change(1, v, rmw_op::add, operand);
    };
  };
  EXPECT_FALSE(is_undone(added(1), nothing));
  EXPECT_TRUE(is_undone(added(word), nothing));  // which wraps around
  EXPECT_FALSE(is_undone(
      [](program_graph& g, event_id v) {
        g.read(1, step::load{v, rlx}, v);
        g.store(1, v, 5);
      },
      nothing));
}

TEST(small_graphs, stand_for_as_many_as_threads_can_change_places) {
  program_graph g;
  const event_id v = g.variable(0);
  for (const unsigned t : {2U, 3U, 4U}) g.append(1, step::spawn{t, t == 2 ? 0U : 2U});
  g.append(1, step::spawn{5});
  EXPECT_TRUE(has_others_like(g, 2));
  EXPECT_TRUE(has_others_like(g, 4));
  EXPECT_FALSE(has_others_like(g, 5));
  g.read(2, step::load{v, rlx}, v);
  g.read(3, step::load{v, rlx}, v);
  g.store(4, v);
  EXPECT_EQ(arrangements(g), 3);  // the two that read the same are explored in each order
}

TEST(small_graphs, have_threads_whose_first_steps_are_compared) {
  program_graph g;
  const event_id v = g.variable(0);
  g.append(2, step::fence{sc});
  g.append(2, step::allocate{8});
  g.store(2, v);
  EXPECT_EQ(first_step(g, 2), (event_id{2, 1}));
  EXPECT_TRUE(are_alike(node_of(step::store{v, 1, rel}), node_of(step::store{v, 1, rel})));
  EXPECT_FALSE(are_alike(node_of(step::store{v, 1, rel}), node_of(step::store{v, 1, rlx})));
  EXPECT_FALSE(are_alike(node_of(step::store{v, 1, rel}), node_of(step::store{v, 2, rel})));
}

TEST(small_graphs, know_which_arrivals_are_a_round) {
  program_graph g;
  const event_id barrier = g.variable(0);
  EXPECT_TRUE(join_round(g, g.append(1, step::arrive{barrier, 2, false})));
  EXPECT_TRUE(join_round(g, g.append(2, step::arrive{barrier, 2, false})));
  program_graph other;
  EXPECT_EQ(other.variable(0), barrier);
  EXPECT_TRUE(join_round(other, other.append(1, step::arrive{barrier, 2, false})));
  EXPECT_FALSE(join_round(other, other.append(2, step::arrive{barrier, 3, false})));  // it began for others since
}

TEST(small_graphs, tell_who_departs_late) {
  program_graph g;
  const event_id barrier = g.variable(0);
  const auto arrive = [&](unsigned thread) {
    static_cast<void>(join_round(g, g.append(thread, step::arrive{barrier, 1, false})));
  };
  arrive(1);
  leave_round(g, g.append(2, step::depart{barrier, 0, nobody, true}));
  EXPECT_FALSE(has_late_departure(g, barrier));
  arrive(1);  // the next round, and nobody has waited for the departure
  EXPECT_TRUE(has_late_departure(g, barrier));
  arrive(2);  // the one after that
  EXPECT_TRUE(has_late_departure(g, barrier));
}

TEST(small_graphs, have_seq_cst_events_where_other_threads_may_run) {
  program_graph g;
  const event_id v = g.variable(0);
  g.append(1, step::store{v, 1, sc});
  EXPECT_TRUE(g.sequential().empty());
  g.append(1, step::spawn{2});
  g.append(2, step::end{});
  g.append(1, step::store{v, 2, sc});  // beside the other one, which has ended
  EXPECT_EQ(g.sequential().size(), 1U);
  g.join(g.append(1, step::join{2}), g.last_of(2));
  g.append(1, step::store{v, 3, sc});
  EXPECT_EQ(g.sequential().size(), 1U);
}

TEST(small_graphs, know_with_which_value_a_variable_begins) {
  program_graph g;
  const event_id v = g.variable(0);
  EXPECT_TRUE(g.find_variable(0, word, 5));
  g.read(1, step::load{v, rlx}, v);
  EXPECT_TRUE(g.find_variable(0, word, 5));
  EXPECT_FALSE(g.find_variable(0, word, 6));
}

}  // namespace
}  // namespace runq::model::exact
