// SPDX-License-Identifier: MIT
#include "runtime.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "scenario.hpp"
#include "variant.hpp"

namespace runq::model {

namespace {

engine* current = nullptr;

weakening active;
runtime_notes seen;

struct named_value {
  std::uintptr_t bits;
  const char* kind;
  int number;
};
// A fixed array, because constructors of scenarios, which run inside an execution, call name_value().
constexpr std::size_t max_named_values = 64;
std::array<named_value, max_named_values> named_values;
std::size_t named_value_count = 0;

bool noting = false;

// Orders that were noted, by a part of their place: most operations were noted before, in an earlier execution.
struct noted_place {
  const char* file = nullptr;
  int line = 0;
  int arg = 0;
  friend bool operator==(const noted_place&, const noted_place&) noexcept = default;
};
std::array<noted_place, 256> recently_noted;

void note_order(std::memory_order written, order_of kind, site where, int arg) noexcept {
  const noted_place place{where.file, where.line, arg};
  noted_place& recent = recently_noted[static_cast<unsigned>(2 * where.line + arg) % recently_noted.size()];
  if (recent == place) return;
  recent = place;
  for (std::size_t i = 0; i != seen.order_count; ++i) {
    const runtime_notes::order& n = seen.orders[i];
    if (n.where.line == where.line && n.arg == arg && n.where.file == where.file) return;
  }
  if (seen.order_count == runtime_notes::max_orders)
    current->fail(failure::check_failed, "limit reached: 1024 orders noted", where);
  seen.orders[seen.order_count++] = {where, arg, kind, written};
}

[[nodiscard]] bool weakens(site where, int arg) noexcept {
  return active.line != 0 && arg == active.arg && where.line >= active.line && where.line <= active.last_line &&
         std::string_view(where.file).ends_with(active.file);
}

}  // namespace

std::uint64_t chosen_mutant = 0;

engine& current_engine() noexcept { return *current; }

engine* set_current_engine(engine* e) noexcept { return std::exchange(current, e); }

std::memory_order effective_order(std::memory_order written, order_of kind, site where, int arg) noexcept {
  if (noting) note_order(written, kind, where, arg);
  if (!weakens(where, arg)) return written;
  seen.weakening_used = true;
  return active.to;
}

void set_weakening(const weakening& w) {
  active = w;
  seen.weakening_used = false;
}

bool is_weakened(site where, int arg) noexcept { return weakens(where, arg); }

void start_noting_orders() noexcept {
  seen.order_count = 0;
  recently_noted = {};
  noting = true;
}

std::vector<used_order> noted_orders() {
  noting = false;
  std::vector<used_order> all;
  for (std::size_t i = 0; i != seen.order_count; ++i) {
    const runtime_notes::order& n = seen.orders[i];
    all.push_back({n.where.file, n.where.line, n.arg, n.kind, n.written});
  }
  return all;
}

bool weakening_was_used() noexcept { return seen.weakening_used; }

std::vector<case_spec>& cases() {
  static std::vector<case_spec> all;
  return all;
}

void record_outcome(const char* text) noexcept {
  for (std::size_t i = 0; i != seen.outcome_count; ++i) {
    if (std::strncmp(seen.outcomes[i].data(), text, runtime_notes::outcome_size - 1) == 0) return;
  }
  if (seen.outcome_count == runtime_notes::max_outcomes) {
    current->fail(failure::check_failed, "record_outcome: more than 256 distinct outcomes", {});
  }
  auto& entry = seen.outcomes[seen.outcome_count++];
  std::strncpy(entry.data(), text, runtime_notes::outcome_size - 1);
  entry.back() = '\0';
}

void clear_outcomes() noexcept { seen.outcome_count = 0; }

std::vector<std::string> outcomes() {
  std::vector<std::string> all;
  for (std::size_t i = 0; i != seen.outcome_count; ++i) all.emplace_back(seen.outcomes[i].data());
  std::sort(all.begin(), all.end());
  return all;
}

const runtime_notes& notes() noexcept { return seen; }

void set_notes(const runtime_notes& to) noexcept {
  seen = to;
  recently_noted = {};
}

bool add_notes(const runtime_notes& more) noexcept {
  if (seen.outcome_count + more.outcome_count > runtime_notes::max_outcomes ||
      seen.order_count + more.order_count > runtime_notes::max_orders) {
    return false;  // an upper bound: most of them are the same
  }
  for (std::size_t i = 0; i != more.outcome_count; ++i) record_outcome(more.outcomes[i].data());
  for (std::size_t i = 0; i != more.order_count; ++i) {
    const runtime_notes::order& n = more.orders[i];
    note_order(n.written, n.kind, n.where, n.arg);
  }
  seen.weakening_used = seen.weakening_used || more.weakening_used;
  return true;
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
