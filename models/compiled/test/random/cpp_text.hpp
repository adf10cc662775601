// SPDX-License-Identifier: MIT
// The text of a program as C++, and of what is expected of it: for random.hpp and what is generated like it.
#pragma once

#include <string>

#include <fmt/format.h>

#include "oracle/enumerate.hpp"
#include "program.hpp"

namespace random_programs {

using namespace runq::model;
using namespace runq::model::selftest;
using runq::model::selftest::name_of;  // of a failure, beside that of an order

inline const char* name_of(std::memory_order order) {
  switch (order) {
    case std::memory_order::relaxed: return "std::memory_order::relaxed";
    case std::memory_order::acquire: return "std::memory_order::acquire";
    case std::memory_order::release: return "std::memory_order::release";
    case std::memory_order::acq_rel: return "std::memory_order::acq_rel";
    default: return "std::memory_order::seq_cst";
  }
}

inline std::string statement(const instruction& i) {
  const std::string v = fmt::format("s.v[{}]", i.variable);
  const std::string operand = fmt::format("{}U{}", i.operand, i.adds_last_read ? " + last" : "");
  const std::string order = name_of(i.order);
  // What is written depends on what was read before: the compare-exchange must not have changed it yet.
  const auto exchange = [&](const char* strength) {
    return fmt::format("v.compare_exchange_{}(last, operand, {}, {})", strength, order, name_of(i.failure_order));
  };
  const std::string begin =
      fmt::format("{{ auto& v = {}; const unsigned operand = {}; last = {}U; ", v, operand, i.expected);
  switch (i.what) {
    case action::load: return fmt::format("r.note(last = {}.load({}));", v, order);
    case action::store: return fmt::format("{}.store({}, {});", v, operand, order);
    case action::add: return fmt::format("r.note(last = {}.fetch_add({}, {}));", v, operand, order);
    case action::exchange: return fmt::format("r.note(last = {}.exchange({}, {}));", v, operand, order);
    case action::compare_exchange: return begin + exchange("strong") + "; r.note(last); }";
    case action::weak_exchange: return begin + exchange("weak") + "; r.note(last); }";
    case action::fence: return fmt::format("std::atomic_thread_fence({});", order);
    case action::lock: return "s.mutex.lock();";
    case action::unlock: return "s.mutex.unlock();";
    case action::plain_read: return fmt::format("r.note(*s.plain[{}]);", i.variable);
    case action::plain_write: return fmt::format("*s.plain[{}] = {};", i.variable, operand);
    case action::release: return fmt::format("free_plain(s, r, {});", i.variable);
    case action::wait_load:
      return fmt::format("while ((last = {}.load({})) != {}U) continue; r.note(last);", v, order, i.expected);
    case action::wait_exchange:
      return fmt::format("while ((last = {}.exchange({}, {})) == {}U) continue; r.note(last);", v, operand, order,
                         i.operand);
    case action::try_lock: return "r.note(last = s.mutex.try_lock() ? 1U : 0U);";
    case action::wait:
      return "std::unique_lock<std::mutex> held(s.mutex, std::adopt_lock); s.condition.wait(held); held.release();";
    case action::notify_one: return "s.condition.notify_one();";
    case action::notify_all: return "s.condition.notify_all();";
    case action::start: return fmt::format("start(s, {});", i.variable);
    case action::join: return fmt::format("s.threads[{}].join();", i.variable);
    case action::add_local: return fmt::format("local += {}U; r.note(last = local);", i.operand);
    case action::allocate: return fmt::format("allocate_plain(s, {});", i.variable);
    case action::wait_compare:
      return begin + fmt::format("while (!{}) last = {}U; r.note(last); }}", exchange("strong"), i.expected);
  }
  return {};
}

inline std::string lines_of(const std::set<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "\n    \"" + line + "\\n\"";
  return text.empty() ? "\"\"" : text;
}

inline std::string to_cpp(const enumeration& e) {
  std::set<std::string> outcomes, failures;
  for (std::string line : e.outcomes) {
    line.pop_back();  // behind the last variable
    outcomes.insert(line);
  }
  for (const failure f : e.failures) failures.insert(name_of(f));
  return fmt::format("{{{}, {}, {}}}", e.graphs, lines_of(outcomes), lines_of(failures));
}

}  // namespace random_programs
