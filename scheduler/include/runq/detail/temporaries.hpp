// SPDX-License-Identifier: MIT
// temporaries: objects that g++ destroys twice in a full expression with a co_await in it, and how functions that are
// called there reject them. docs/limits.md says which expressions these are, and how to find them in a program.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

// g++ up to 12 copies some temporaries into the coroutine's frame byte by byte and destroys the original and the copy.
// Of these an argument can be: that of a lambda expression, and an aggregate written as `T{…}` or as `{…}` for a
// parameter.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
#define RUNQ_DESTROYS_TEMPORARIES_TWICE 1
#else
#define RUNQ_DESTROYS_TEMPORARIES_TWICE 0
#endif

namespace runq::detail {

#if RUNQ_DESTROYS_TEMPORARIES_TWICE

/// Whether F is a lambda's type: whether its name, which ends before `]`, is `<lambda(PARAMETERS)>`.
template <class F>
[[nodiscard]] consteval bool is_lambda() noexcept {
  std::string_view name = __PRETTY_FUNCTION__;
  name.remove_suffix(1);
  if (!name.ends_with(")>")) return false;
  name.remove_suffix(1);
  // Back to the parenthesis that opens the parameters.
  int depth = 0;
  do {
    depth += name.back() == ')' ? 1 : name.back() == '(' ? -1 : 0;
    name.remove_suffix(1);
  } while (depth != 0);
  return name.ends_with("<lambda");
}

/// Whether an argument that is forwarded as `Argument&&` may be a temporary that is destroyed twice. It may also be the
/// result of std::move(), which looks the same.
template <class Argument>
concept destroyed_twice =
    !std::is_reference_v<Argument> && std::is_class_v<Argument> && !std::is_trivially_destructible_v<Argument> &&
    (std::is_aggregate_v<Argument> || is_lambda<std::remove_const_t<Argument>>());

/// An aggregate parameter. This type is no aggregate, so `{…}` constructs the T inside it and not at the call.
template <class T>
class in_braces {
 public:
  template <class... Members>
  requires std::constructible_from<T, Members...> in_braces(Members&&... members)  // NOLINT: it stands for a T
      : value_(std::forward<Members>(members)...) {}
  in_braces(const in_braces&) = delete;
  in_braces& operator=(const in_braces&) = delete;
  [[nodiscard]] operator T&&() && noexcept { return std::move(value_); }  // NOLINT: likewise

 private:
  T value_;
};

template <class T>
using by_value = std::conditional_t<destroyed_twice<T>, in_braces<T>, T>;

#else

template <class Argument>
concept destroyed_twice = false;

template <class T>
using by_value = T;

#endif

/// For a static_assert: refuses function objects that would be destroyed twice, and says what to do.
template <class... Functions>
[[nodiscard]] consteval bool no_function_destroyed_twice() noexcept {
  static_assert(!(destroyed_twice<Functions> || ...),
                "g++ up to 12 would destroy this function object twice: capture by reference, or give it a name first");
  return true;
}

}  // namespace runq::detail
