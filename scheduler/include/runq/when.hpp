// SPDX-License-Identifier: MIT
// when_all, when_any: several pieces of work at the same time, and the results of all, or of the first.
//
// Both are a scope with a task for each piece: when they return, or throw, all of these tasks have ended.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "runq/detail/temporaries.hpp"
#include "runq/scope.hpp"
#include "runq/source_place.hpp"
#include "runq/task.hpp"

namespace runq {

namespace detail {

template <class W>
struct result_of_piece {};
template <class W>
requires is_task<W>::value struct result_of_piece<W> {
  using type = typename W::value_type;
};
template <class W>
requires is_task<std::invoke_result_t<W&, const std::stop_token&>>::value struct result_of_piece<W>
    : result_of_piece<std::invoke_result_t<W&, const std::stop_token&>> {
};

/// A task that has not begun, or a function that makes one when it is given a token.
template <class W>
concept piece_of_work = requires {
  typename result_of_piece<std::decay_t<W>>::type;
};

/// What a piece of work returns, in a place that can hold it.
template <class W>
using value_of = std::conditional_t<std::is_void_v<typename result_of_piece<std::decay_t<W>>::type>, std::monostate,
                                    typename result_of_piece<std::decay_t<W>>::type>;

template <class T>
task<std::conditional_t<std::is_void_v<T>, std::monostate, T>> value_by(task<T>& work) {
  if constexpr (std::is_void_v<T>) {
    co_await work;
    co_return std::monostate();
  } else {
    co_return co_await work;
  }
}
template <class W>
task<value_of<W>> value_by(W& work, scope& s) {
  if constexpr (is_task<W>::value) {
    co_return co_await value_by(work);
  } else {
    const std::stop_token token = s.stop_token();  // for a coroutine with a reference to it
    auto made = std::invoke(work, token);
    co_return co_await value_by(made);
  }
}

template <class W>
task<void> one_of_all(W& work, scope& s, std::optional<value_of<W>>& result) {
  result.emplace(co_await value_by(work, s));
}

/// Which piece is the first to end. A stop source because just one of its requests is the first.
using first_end = std::stop_source;

/// `keep` takes the result if this is the first piece to end. What later ones return or throw is dropped.
template <class W, class Keep>
task<void> one_of_any(W& work, scope& s, first_end& first, Keep keep) {
  bool is_first = false;
  try {
    auto result = co_await value_by(work, s);
    is_first = first.request_stop();
    if (!is_first) co_return;
    keep(std::move(result));
    s.request_stop();
  } catch (const cancelled&) {
    if (!s.stop_token().stop_requested()) throw;  // else it has no result, which is no failure: another one may have
  } catch (...) {
    if (is_first || first.request_stop()) throw;
  }
}

template <class... W>
stoppable_task<std::tuple<value_of<W>...>> all_of(std::stop_token outer, std::tuple<W...> work, source_place at) {
  std::tuple<std::optional<value_of<W>>...> results;
  const auto body = [&](scope& s) -> task<void> {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (s.go(one_of_all(std::get<I>(work), s, std::get<I>(results))), ...);
    }
    (std::index_sequence_for<W...>());
    co_return;
  };
  co_await placed(with_scope(body, std::move(outer)), at);
  // with_scope() has thrown unless every piece has its result.
  co_return std::apply([](auto&... result) { return std::tuple<value_of<W>...>{std::move(*result)...}; }, results);
}

template <class W>
stoppable_task<std::vector<value_of<W>>> all_of(std::stop_token outer, std::vector<W> work, source_place at) {
  std::vector<std::optional<value_of<W>>> results(work.size());
  const auto body = [&](scope& s) -> task<void> {
    for (std::size_t i = 0; i != work.size(); ++i) s.go(one_of_all(work[i], s, results[i]));
    co_return;
  };
  co_await placed(with_scope(body, std::move(outer)), at);
  std::vector<value_of<W>> values;
  values.reserve(results.size());
  for (auto& result : results) values.push_back(std::move(*result));  // as above
  co_return values;
}

template <class... W>
stoppable_task<std::variant<value_of<W>...>> any_of(std::stop_token outer, std::tuple<W...> work, source_place at) {
  std::optional<std::variant<value_of<W>...>> result;
  first_end first;
  const auto body = [&](scope& s) -> task<void> {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (s.go(one_of_any(std::get<I>(work), s, first,
                       [&result](auto value) { result.emplace(std::in_place_index<I>, std::move(value)); })),
       ...);
    }
    (std::index_sequence_for<W...>());
    co_return;
  };
  co_await placed(with_scope(body, std::move(outer)), at);
  if (!result) throw cancelled();
  co_return std::move(*result);
}

template <class W>
stoppable_task<std::pair<std::size_t, value_of<W>>> any_of(std::stop_token outer, std::vector<W> work,
                                                           source_place at) {
  if (work.empty()) throw_misuse("runq: when_any() was given nothing to wait for");
  std::optional<std::pair<std::size_t, value_of<W>>> result;
  first_end first;
  const auto body = [&](scope& s) -> task<void> {
    for (std::size_t i = 0; i != work.size(); ++i) {
      s.go(one_of_any(work[i], s, first, [&result, i](auto value) { result.emplace(i, std::move(value)); }));
    }
    co_return;
  };
  co_await placed(with_scope(body, std::move(outer)), at);
  if (!result) throw cancelled();
  co_return std::move(*result);
}

}  // namespace detail

/// `co_await when_all(work...)` does all pieces of work at the same time, and returns a tuple of the results when all
/// have ended; a task<void> counts as a std::monostate. Each piece of work is a task<T>, or a function that makes one
/// when it is given a std::stop_token; it is moved, or copied, and lives until the end. The first exception asks the
/// others to stop and is thrown when all have ended. When `outer` stops, all are asked to stop, and runq::cancelled is
/// thrown if one of them heeds that. Costs a scope and two frames for each. Tasks only.
///
/// It is a task<std::tuple<...>>, and a class only because a function cannot have `at`, the place of the call, behind
/// any number of pieces.
///
///     const auto fetch = [](int page) -> runq::task<int> { co_return page; };
///     auto [a, b] = co_await runq::when_all(fetch(1), fetch(2));
template <class... W>
class [[nodiscard]] when_all : public stoppable_task<std::tuple<detail::value_of<W>...>> {
  static_assert(detail::no_function_destroyed_twice<W...>());

 public:
  explicit when_all(W&&... work, source_place at = source_place::here())
      : when_all(std::stop_token(), std::forward<W>(work)..., at) {}
  explicit when_all(std::stop_token outer, W&&... work, source_place at = source_place::here())
      : stoppable_task<std::tuple<detail::value_of<W>...>>(
            detail::all_of(std::move(outer), std::tuple<std::decay_t<W>...>(std::forward<W>(work)...), at)) {}
};
/// Like when_all(work...), for a number of pieces that is known at run time; it is a task<std::vector<...>>.
template <class W>
class [[nodiscard]] when_all<std::vector<W>> : public stoppable_task<std::vector<detail::value_of<W>>> {
 public:
  explicit when_all(std::vector<W> work, std::stop_token outer = {}, source_place at = source_place::here())
      : stoppable_task<std::vector<detail::value_of<W>>>(detail::all_of(std::move(outer), std::move(work), at)) {}
};
template <detail::piece_of_work... W>
when_all(W&&...) -> when_all<W...>;
template <detail::piece_of_work... W>
when_all(std::stop_token, W&&...) -> when_all<W...>;
template <detail::piece_of_work W>
when_all(std::vector<W>, std::stop_token = {}) -> when_all<std::vector<W>>;
template <class... W>  // one piece, which is a when_all itself: not moved from, as an object of a class would be
when_all(when_all<W...>&&)->when_all<when_all<W...>>;

/// `co_await when_any(work...)` does all pieces of work at the same time until the first piece ends, asks the others to
/// stop, and waits for them: so work that is a function should heed its token, and a task<T> is waited for to its end.
/// Returns the result of the first, in a std::variant whose index() says which it was, or throws its exception; what
/// comes of the others is dropped. Otherwise as when_all().
///
///     const auto ask = [](std::stop_token stop) -> runq::task<int> {
///       co_await runq::sleep_for(1s, stop);
///       co_return 42;
///     };
///     const auto answer = co_await runq::when_any(ask, ask);
template <class... W>
class [[nodiscard]] when_any : public stoppable_task<std::variant<detail::value_of<W>...>> {
  static_assert(sizeof...(W) != 0, "runq::when_any: there is nothing to wait for");
  static_assert(detail::no_function_destroyed_twice<W...>());

 public:
  explicit when_any(W&&... work, source_place at = source_place::here())
      : when_any(std::stop_token(), std::forward<W>(work)..., at) {}
  explicit when_any(std::stop_token outer, W&&... work, source_place at = source_place::here())
      : stoppable_task<std::variant<detail::value_of<W>...>>(
            detail::any_of(std::move(outer), std::tuple<std::decay_t<W>...>(std::forward<W>(work)...), at)) {}
};
/// Like when_any(work...), for a number of pieces that is known at run time. It is a task of a pair: the number of the
/// first piece to end, from 0, and its result. Throws runq::misuse when there is none.
template <class W>
class [[nodiscard]] when_any<std::vector<W>> : public stoppable_task<std::pair<std::size_t, detail::value_of<W>>> {
 public:
  explicit when_any(std::vector<W> work, std::stop_token outer = {}, source_place at = source_place::here())
      : stoppable_task<std::pair<std::size_t, detail::value_of<W>>>(
            detail::any_of(std::move(outer), std::move(work), at)) {}
};
template <detail::piece_of_work... W>
when_any(W&&...) -> when_any<W...>;
template <detail::piece_of_work... W>
when_any(std::stop_token, W&&...) -> when_any<W...>;
template <detail::piece_of_work W>
when_any(std::vector<W>, std::stop_token = {}) -> when_any<std::vector<W>>;
template <class... W>  // as for when_all
when_any(when_any<W...>&&)->when_any<when_any<W...>>;

}  // namespace runq
