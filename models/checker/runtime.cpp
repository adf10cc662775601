// SPDX-License-Identifier: MIT
#include "runtime.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "scenario.hpp"

namespace runq::model {

namespace {

engine* current = nullptr;

weakening active;
bool active_used = false;

// Fixed arrays: record_outcome() runs inside an execution, where an engine may have taken over operator new.
constexpr std::size_t max_outcomes = 256;
constexpr std::size_t outcome_size = 32;
std::array<std::array<char, outcome_size>, max_outcomes> seen_outcomes;
std::size_t outcome_count = 0;

struct named_value {
  std::uintptr_t bits;
  const char* kind;
  int number;
};
constexpr std::size_t max_named_values = 64;
std::array<named_value, max_named_values> named_values;
std::size_t named_value_count = 0;

// Fixed for the same reason.
struct noted_order {
  site where;
  int arg;
  order_of kind;
  std::memory_order written;
};
constexpr std::size_t max_noted_orders = 1024;
std::array<noted_order, max_noted_orders> noted;
std::size_t noted_count = 0;
bool noting = false;

void note_order(std::memory_order written, order_of kind, site where, int arg) noexcept {
  for (std::size_t i = 0; i != noted_count; ++i) {
    const noted_order& n = noted[i];
    if (n.where.line == where.line && n.arg == arg && n.where.file == where.file) return;
  }
  if (noted_count == max_noted_orders) current->fail("limit reached: 1024 orders noted (max_noted_orders)", where);
  noted[noted_count++] = {where, arg, kind, written};
}

[[nodiscard]] bool weakens(site where, int arg) noexcept {
  return arg == active.arg && where.line >= active.line && where.line <= active.last_line &&
         std::string_view(where.file).ends_with(active.file);
}

}  // namespace

engine& current_engine() noexcept { return *current; }

engine* set_current_engine(engine* e) noexcept { return std::exchange(current, e); }

std::memory_order effective_order(std::memory_order written, order_of kind, site where, int arg) noexcept {
  if (noting) note_order(written, kind, where, arg);
  if (active.line == 0 || !weakens(where, arg)) return written;
  active_used = true;
  return active.to;
}

void set_weakening(const weakening& w) {
  active = w;
  active_used = false;
}

void start_noting_orders() noexcept {
  noted_count = 0;
  noting = true;
}

std::vector<used_order> noted_orders() {
  noting = false;
  std::vector<used_order> all;
  for (std::size_t i = 0; i != noted_count; ++i) {
    all.push_back({noted[i].where.file, noted[i].where.line, noted[i].arg, noted[i].kind, noted[i].written});
  }
  return all;
}

bool weakening_was_used() noexcept { return active_used; }

std::vector<case_spec>& cases() {
  static std::vector<case_spec> all;
  return all;
}

void record_outcome(const char* text) noexcept {
  for (std::size_t i = 0; i != outcome_count; ++i) {
    if (std::strncmp(seen_outcomes[i].data(), text, outcome_size - 1) == 0) return;
  }
  if (outcome_count == max_outcomes) current->fail("record_outcome: more than 256 distinct outcomes", {});
  std::array<char, outcome_size>& entry = seen_outcomes[outcome_count++];
  std::strncpy(entry.data(), text, outcome_size - 1);
  entry.back() = '\0';
}

void clear_outcomes() noexcept { outcome_count = 0; }

std::vector<std::string> outcomes() {
  std::vector<std::string> all;
  for (std::size_t i = 0; i != outcome_count; ++i) all.emplace_back(seen_outcomes[i].data());
  std::sort(all.begin(), all.end());
  return all;
}

void name_value(const void* value, const char* kind, int number) noexcept {
  const auto bits = reinterpret_cast<std::uintptr_t>(value);
  for (std::size_t i = 0; i != named_value_count; ++i) {
    if (named_values[i].bits == bits) {
      named_values[i] = {bits, kind, number};
      return;
    }
  }
  if (named_value_count != max_named_values) named_values[named_value_count++] = {bits, kind, number};
}

std::string value_name(std::uint64_t bits) {
  for (std::size_t i = 0; i != named_value_count; ++i) {
    if (named_values[i].bits == bits)
      return std::string(named_values[i].kind) + " " + std::to_string(named_values[i].number);
  }
  return {};
}

const char* to_string(std::memory_order order) noexcept {
  switch (order) {
    case std::memory_order::relaxed: return "relaxed";
    case std::memory_order::consume: return "consume";
    case std::memory_order::acquire: return "acquire";
    case std::memory_order::release: return "release";
    case std::memory_order::acq_rel: return "acq_rel";
    case std::memory_order::seq_cst: return "seq_cst";
  }
  return "?";
}

}  // namespace runq::model
