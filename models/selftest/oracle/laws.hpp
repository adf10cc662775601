// SPDX-License-Identifier: MIT
// What must hold between a program and a changed one, whoever judges the two.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../program.hpp"
#include "enumerate.hpp"

namespace runq::model::selftest {

/// Nothing, if it cannot judge the program.
using program_judge = std::function<std::optional<enumeration>(const program&)>;

/// How often a law was asked, and what broke it first.
struct law_result {
  unsigned asked = 0;
  unsigned broken = 0;
  std::string first;  ///< the program and the changed one
};

using law = void (*)(const program& p, const program_judge& judge, law_result& to);

/// The threads in the reverse order: the same executions, with the threads' names changed.
void threads_may_be_permuted(const program& p, const program_judge& judge, law_result& to);
/// A thread that does nothing changes nothing.
void an_empty_thread_changes_nothing(const program& p, const program_judge& judge, law_result& to);
/// Two equal stores in the place of one: nothing is lost; and nothing is new if no other thread writes there.
void a_store_may_be_repeated(const program& p, const program_judge& judge, law_result& to);
/// A stronger order: nothing is new.
void a_stronger_order_adds_nothing(const program& p, const program_judge& judge, law_result& to);
/// A weaker order: nothing is lost.
void a_weaker_order_loses_nothing(const program& p, const program_judge& judge, law_result& to);
/// An operation of main() done by a thread that main() starts, and whose end it awaits there: the same values.
void main_may_let_a_thread_do_it(const program& p, const program_judge& judge, law_result& to);

}  // namespace runq::model::selftest
