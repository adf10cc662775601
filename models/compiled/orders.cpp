// SPDX-License-Identifier: MIT
#include "orders.hpp"

#include <charconv>

#include <fmt/format.h>

#include "runtime.hpp"
#include "weaker.hpp"

namespace runq::model::compiled {

namespace {

constexpr std::array<order_of, order_kinds> kinds{order_of::load, order_of::store, order_of::rmw, order_of::cas_failure,
                                                  order_of::fence};

[[nodiscard]] std::memory_order stronger_of(order_of kind, std::memory_order a, std::memory_order b) {
  if (a == b || is_weaker(kind, a, b)) return b;
  return is_weaker(kind, b, a) ? a : std::memory_order::acq_rel;
}

[[nodiscard]] bool read_order(std::string_view name, std::memory_order& to) {
  for (const auto order : {std::memory_order::relaxed, std::memory_order::acquire, std::memory_order::release,
                           std::memory_order::acq_rel, std::memory_order::seq_cst}) {
    if (name != to_string(order)) continue;
    to = order;
    return true;
  }
  return false;
}

[[nodiscard]] bool read_kind(std::string_view name, order_of& to) {
  for (const order_of kind : kinds) {
    if (name != name_of(kind)) continue;
    to = kind;
    return true;
  }
  return false;
}

}  // namespace

const char* name_of(order_of kind) {
  switch (kind) {
    case order_of::load: return "load";
    case order_of::store: return "store";
    case order_of::rmw: return "rmw";
    case order_of::cas_failure: return "failure";
    case order_of::fence: return "fence";
  }
  return "";
}

std::string place_of(const order_change& change) {
  return fmt::format("{}:{}{}{}", change.file, change.line, change.any_kind ? "" : "/",
                     change.any_kind ? "" : name_of(change.kind));
}

std::string to_text(const order_change& change) { return place_of(change) + ":" + to_string(change.to); }

std::string read_order_change(std::string_view text, order_change& to) {
  const std::string usage = fmt::format("--weaken takes FILE:LINE:ORDER, as queue.cpp:42:relaxed, not '{}'", text);
  const std::size_t before_order = text.rfind(':');
  const std::size_t before_line = before_order == 0 ? std::string_view::npos : text.rfind(':', before_order - 1);
  if (before_order == std::string_view::npos || before_line == std::string_view::npos || before_line == 0) return usage;
  const std::string_view order = text.substr(before_order + 1);
  if (!read_order(order, to.to)) {
    return fmt::format("'{}' is no memory order; they are relaxed, acquire, release, acq_rel and seq_cst", order);
  }
  std::string_view line = text.substr(before_line + 1, before_order - before_line - 1);
  if (const std::size_t slash = line.find('/'); slash != std::string_view::npos) {
    const std::string_view kind = line.substr(slash + 1);
    if (!read_kind(kind, to.kind)) {
      return fmt::format(
          "'{}' is no kind of operation; they are load, store, rmw, failure (of a compare-exchange) and "
          "fence",
          kind);
    }
    to.any_kind = false;
    line = line.substr(0, slash);
  }
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), to.line);
  if (error != std::errc{} || end != line.data() + line.size() || to.line < 1) return usage;
  to.file = text.substr(0, before_line);
  return {};
}

program_orders::place& program_orders::place_at(const frame* at, symbols& lines) {
  const auto [known, added] = known_.try_emplace(at);
  if (added) known->second.line = lines.line_of_atomic(at, named_);
  return known->second;
}

bool program_orders::changes(const source_line& at, order_of kind) const {
  if (at.line != change_.line || at.line == 0 || !path_ends_with(at.file, change_.file)) return false;
  return change_.any_kind ? kind != order_of::cas_failure : kind == change_.kind;
}

void program_orders::note(place& at, std::memory_order written, order_of kind) {
  std::memory_order*& noted = at.noted[static_cast<std::size_t>(kind)];
  if (noted == nullptr) noted = &noted_.try_emplace({at.line.file, at.line.line, kind}, written).first->second;
  *noted = stronger_of(kind, *noted, written);
}

std::memory_order program_orders::effective(const frame* at, std::memory_order written, order_of kind, symbols& lines) {
  place& here = place_at(at, lines);
  if (here.line.line == 0) return written;
  if (is_noting_ && written != std::memory_order::relaxed) note(here, written, kind);
  if (!changes(here.line, kind) || !is_weaker(kind, change_.to, written)) return written;
  weakened_in_.insert(here.line.file);
  return change_.to;
}

bool program_orders::is_weakened(const frame* at, std::memory_order applied, order_of kind, symbols& lines) {
  return change_.line != 0 && applied == change_.to && changes(place_at(at, lines).line, kind);
}

}  // namespace runq::model::compiled
