// SPDX-License-Identifier: MIT
// The code of a compiled program: where in it the running thread is, and what people read of such a place.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "executed.hpp"
#include "execution.hpp"
#include "frames.hpp"
#include "memory.hpp"
#include "orders.hpp"
#include "symbols.hpp"

namespace runq::model::compiled {

/// Where the running thread is in the program's code.
class program_code {
 public:
  explicit program_code(execution& now) : now_(now) {}

  /// When a check begins.
  void find() { own_code_.add_module(""); }

  // --- calls --------------------------------------------------------------------------------------------------------
  /// Where each thread begins.
  [[nodiscard]] frame* root() noexcept { return frames_.root(); }
  void enter_function(const void* code);
  /// The same without allocating memory, for most calls. False: it has done nothing.
  [[nodiscard, gnu::always_inline]] bool enter_function_quickly(const void* code) noexcept {
    thread_state& t = now_.running();
    const frame::call& known = t.at->recent_calls(code)[0];
    if (known.code != code || known.callee == nullptr || has_used_up_stack()) return false;
    t.at = known.callee;
    return true;
  }
  void leave_function() noexcept {
    thread_state& t = now_.running();
    if (t.at->caller != nullptr) t.at = t.at->caller;
  }

  // --- places -------------------------------------------------------------------------------------------------------
  /// Where the running thread is. A library that is not instrumented may have called on the program's behalf: then its
  /// caller counts.
  [[nodiscard]] code_place place(const void* code) noexcept {
    return {now_.running().at, own_code_.contains(code) ? code : code_of_caller(code)};
  }
  [[nodiscard]] frame* frame_of(const void* code) noexcept { return frames_.at(place(code)); }
  [[nodiscard]] frame* frame_at(const code_place& at) { return frames_.at(at); }
  [[nodiscard]] site here(const void* code) noexcept { return {"", 0, frame_of(code)}; }
  [[nodiscard]] step step_here(const void* code) noexcept {
    return {place(code), *now_.self.position, static_cast<std::uint8_t>(now_.self.number)};
  }

  // --- what lies there ----------------------------------------------------------------------------------------------
  /// Whether it lies in the program itself, rather than in a library.
  [[nodiscard]] bool is_own(const void* code) const noexcept { return own_code_.contains(code); }
  /// The same where most of the program's code lies.
  [[nodiscard]] bool is_surely_own(const void* code) const noexcept { return own_code_.first_contains(code); }
  /// Whether the code is compiled from that header.
  [[nodiscard]] bool is_from(const void* code, std::string_view header);
  [[nodiscard]] bool is_in_std_lock(const void* code);
  [[nodiscard]] bool is_in_try_lock(const void* code);
  /// The name of the function that the code belongs to, which may be one that the compiler has inlined.
  [[nodiscard]] std::string function_at(const void* code) { return symbols_.function_at(code); }
  /// What debug information and symbols know of names.
  [[nodiscard]] symbols& names() noexcept { return symbols_; }
  /// Lines in files whose paths end so are shown as those of their callers.
  void show_callers_of(const std::string& file) { symbols_.show_callers_of(file); }
  /// The innermost line of the program's own.
  [[nodiscard]] site own_line(const frame* at) { return symbols_.own_line(at); }
  /// That line, in words.
  [[nodiscard]] std::string to_text(const frame* at);
  [[nodiscard]] std::string to_text(const code_place& at) { return to_text(frames_.at(at)); }
  [[nodiscard]] std::string to_text(exact::event_id e);

  // --- orders -------------------------------------------------------------------------------------------------------
  [[nodiscard]] program_orders& orders() noexcept { return orders_; }
  [[nodiscard]] executed_code& executed() noexcept { return executed_; }
  /// The order that applies where the program has written that one.
  [[nodiscard]] std::memory_order effective(std::memory_order written, order_of kind, const void* code) {
    if (executed_.is_recording()) executed_.note(code, written);
    return orders_.is_active() ? orders_.effective(frame_of(code), written, kind, symbols_) : written;
  }
  /// Whether the operation of that kind was given the weaker order `applied`.
  [[nodiscard]] bool is_weakened(const frame* at, std::memory_order applied, order_of kind) {
    return orders_.is_weakened(at, applied, kind, symbols_);
  }

  // --- what the search is told of this place ------------------------------------------------------------------------
  /// One of so many alternatives, each of which is explored.
  [[nodiscard]] unsigned choose(unsigned alternatives, const void* code, event_kind shown = event_kind::choice);
  [[noreturn]] void fail(failure what, const std::string& message, const void* code);
  /// Something that the checker does not model, which `what` names.
  [[noreturn]] void refuse(const std::string& what, const void* code);
  /// Ends the check without a verdict.
  [[noreturn]] void give_up(const std::string& message, const void* code);

 private:
  /// The checker needs some of it, too, and must not be stopped just anywhere.
  [[nodiscard, gnu::always_inline]] bool has_used_up_stack() const noexcept {
    constexpr std::size_t left_to_checker = std::size_t{32} * 1024;
    return static_cast<const std::byte*>(__builtin_frame_address(0)) < now_.self.stack + guard_bytes + left_to_checker;
  }
  /// A call of a library's, and the program's call that led to it.
  struct library_call {
    const std::byte* stack = nullptr;  ///< where it was looked for
    const void* code_of_library = nullptr;
    const std::byte* from = nullptr;  ///< where on the stack `code_of_library` is
    const std::byte* at = nullptr;    ///< where on the stack `code` is
    const void* code = nullptr;
  };

  [[nodiscard]] const void* code_of_caller(const void* code_of_library) noexcept;

  execution& now_;
  frame_tree frames_;
  symbols symbols_;
  program_orders orders_;
  executed_code executed_;
  code_ranges own_code_;
  std::array<library_call, 64> library_calls_;  ///< the last one of each kind
  std::map<std::pair<const void*, std::string_view>, bool> known_headers_;
  std::map<const frame*, bool> known_in_std_lock_;
  std::map<const frame*, bool> known_in_try_lock_;
};

}  // namespace runq::model::compiled
