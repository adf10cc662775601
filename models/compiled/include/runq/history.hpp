// SPDX-License-Identifier: MIT
// Histories: which calls a program makes of an object, what they answer, and whether that is linearizable.
//
//     using object = runq::recorded<my_queue, runq::spec::queue<int>>;
//     object queue;
//     std::thread t([&] { queue.call("push", [](auto& q, int value) { return q.push(value); }, 1); });
//     queue.call("pop", [](auto& q) { return q.pop(); });
//     t.join();
//     queue.require_linearizable();
//
// In a check, an execution fails as "not linearizable" if the calls could not have been made one after the other, in an
// order that agrees with what happened before what, with the same answers of the specification: an ordinary class with
// the same operations, as those of <runq/specifications.hpp>. The verdict shows the calls along time. Outside of a
// check nothing is recorded or judged. For `runq-check` and for tests that link `runq::check`.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

extern "C" {

// The runtime, librunq_check.so.
/// What a specification has done with a call.
struct runq_check_step {
  unsigned variants;  ///< ways in which the call may come about
  bool has_lost;      ///< it says that another call was faster
  bool has_changed;   ///< the object is another one than before
};
struct runq_check_specification {
  void* (*begin)();
  void* (*copy)(const void* state);
  void (*destroy)(void* state);
  /// Makes the call; false if its answer is another one, or it cannot be made now. `variant`: which of
  /// `step->variants` ways.
  bool (*step)(void* state, const void* call, unsigned thread, unsigned variant, runq_check_step* step);
};
void runq_check_history_begin(const void* history) noexcept;
std::uint64_t runq_check_call_begin(const void* history, bool is_lock_free) noexcept;
void runq_check_call_end(std::uint64_t number, const void* call, std::size_t size, const char* text,
                         std::size_t text_size) noexcept;
void runq_check_judge(const void* history, const runq_check_specification* by, bool quiescent) noexcept;
void runq_check_let_one_stop(unsigned threads) noexcept;
/// What runs until runq_check_resume() is no part of what is checked. Both in one function, with no return between.
bool runq_check_pause() noexcept;
void runq_check_resume(bool was_checked) noexcept;
}

namespace runq {

namespace detail {

/// Thrown by a specification: the call that is being played has no place here.
struct no_place {
  bool is_allowed;
};

/// The call that a specification is playing.
struct played_call {
  unsigned thread = 0;
  unsigned variant = 0;
  unsigned variants = 1;
  bool has_lost = false;
};
inline played_call playing;

/// A text of limited size, because histories are recorded in every execution.
class short_text {
 public:
  static constexpr std::size_t most = 160;

  void add(std::string_view more) noexcept {
    const std::size_t fits = more.size() < most - size_ ? more.size() : most - size_;
    std::memcpy(chars_.data() + size_, more.data(), fits);
    size_ += fits;
    cut_ = cut_ || fits != more.size();
  }
  [[nodiscard]] std::string_view view() const noexcept { return {chars_.data(), size_}; }
  [[nodiscard]] bool is_cut() const noexcept { return cut_; }

 private:
  std::array<char, most> chars_;
  std::size_t size_ = 0;
  bool cut_ = false;
};

template <class T>
concept optional_like = requires(const T& t) {
  t.has_value();
  *t;
};
template <class T>
concept tuple_like = requires {
  std::tuple_size<T>::value;
};
template <class T>
concept range_like = requires(const T& t) {
  t.begin() != t.end();
  *t.begin();
};
template <class T>
concept streamable = requires(std::ostream& out, const T& t) {
  out << t;
};

/// Answers are compared by what they are printed as.
template <class T>
void print(short_text& to, const T& value) {
  static_assert(!std::is_pointer_v<T>,
                "an answer or argument of a recorded call is a pointer, which is another one in each run: let the "
                "operation return what it points to");
  if constexpr (std::same_as<T, bool>) {
    to.add(value ? "true" : "false");
  } else if constexpr (std::same_as<T, char>) {
    to.add(std::string_view(&value, 1));
  } else if constexpr (std::is_enum_v<T>) {
    print(to, static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::integral<T>) {
    to.add(std::to_string(value));
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    to.add(value);
  } else if constexpr (optional_like<T>) {
    if (value.has_value()) {
      print(to, *value);
    } else {
      to.add("nothing");
    }
  } else if constexpr (range_like<T>) {
    to.add("[");
    bool first = true;
    for (const auto& element : value) {
      if (!std::exchange(first, false)) to.add(", ");
      print(to, element);
    }
    to.add("]");
  } else if constexpr (tuple_like<T>) {
    to.add("(");
    bool first = true;
    std::apply(
        [&](const auto&... elements) {
          ((std::exchange(first, false) ? void() : to.add(", "), print(to, elements)), ...);
        },
        value);
    to.add(")");
  } else {
    static_assert(
        streamable<T>,
        "an answer or argument of a recorded call cannot be printed: let the operation return something that can");
    std::ostringstream out;
    out << value;
    to.add(out.str());
  }
}

template <class... Args>
void print_call(short_text& to, const char* name, const Args&... args) {
  to.add(name);
  print(to, std::tuple<const Args&...>(args...));
}

/// A call, as it is made again of a specification.
struct call_record {
  static constexpr std::size_t most_argument_bytes = 48;

  void (*play)(void* object, const call_record& call, short_text& answer) = nullptr;
  alignas(8) std::array<std::byte, most_argument_bytes> arguments{};
  std::uint64_t answer_size = 0;
  std::array<char, short_text::most> answer;

  [[nodiscard]] std::size_t size() const noexcept { return sizeof *this - sizeof answer + answer_size; }
  [[nodiscard]] std::string_view answered() const noexcept { return {answer.data(), answer_size}; }
};

template <class Object, class Op, class... Args>
void play(void* object, const call_record& call, short_text& answer) {
  const auto& arguments = *reinterpret_cast<const std::tuple<Args...>*>(call.arguments.data());
  std::apply(
      [&](const Args&... args) {
        if constexpr (std::is_void_v<std::invoke_result_t<Op, Object&, Args...>>) {
          std::invoke(Op{}, *static_cast<Object*>(object), args...);
        } else {
          print(answer, std::invoke(Op{}, *static_cast<Object*>(object), args...));
        }
      },
      arguments);
}

/// Whether the object gives the call's answer; it has made the call then.
template <class Object>
[[nodiscard]] bool answers_so(Object& object, const call_record& call) {
  short_text answer;
  try {
    call.play(&object, call, answer);
  } catch (const no_place&) {
    return false;
  }
  return answer.view() == call.answered();
}

/// The state of a specification: the object itself; or, if it cannot be copied or must not, the calls that led to it.
/// `changed`: whether the call has made another object of it; true if that cannot be told.
template <class Make, bool Copied>
class specified {
  using object = std::invoke_result_t<Make>;

 public:
  [[nodiscard]] bool step(const call_record& call, bool& changed) {
    if constexpr (std::equality_comparable<object>) {
      const object before = object_;
      const bool same = answers_so(object_, call);
      changed = !(object_ == before);
      return same;
    }
    return answers_so(object_, call);
  }

 private:
  object object_ = Make{}();
};
template <class Make>
class specified<Make, false> {
 public:
  [[nodiscard]] bool step(const call_record& call, bool&) {
    auto object = Make{}();
    const played_call now = playing;
    for (const auto& [earlier, at] : calls_) {
      playing = at;
      if (!answers_so(object, earlier)) return false;
    }
    playing = now;
    calls_.emplace_back(call, now);
    return answers_so(object, call);
  }

 private:
  std::vector<std::pair<call_record, played_call>> calls_;
};

/// `State` for the runtime.
template <class State>
inline constexpr runq_check_specification specification_of{
    []() -> void* { return new State; },
    [](const void* state) -> void* { return new State(*static_cast<const State*>(state)); },
    [](void* state) { delete static_cast<State*>(state); },
    [](void* state, const void* call, unsigned thread, unsigned variant, runq_check_step* step) {
      playing = {thread, variant, 1, false};
      call_record made;
      std::memcpy(static_cast<void*>(&made), call, sizeof made - sizeof made.answer);
      std::memcpy(static_cast<void*>(&made), call, made.size());
      bool changed = true;
      const bool same = static_cast<State*>(state)->step(made, changed);
      *step = {playing.variants, playing.has_lost, changed && !playing.has_lost};
      return same;
    }};

[[noreturn]] inline void refuse_long_call() {
  std::fputs("runq: limit reached: the answer of a recorded call is longer than 160 characters\n", stderr);
  std::abort();
}

}  // namespace detail

/// For specifications: this call has to wait; here it cannot be made.
[[noreturn]] inline void wait_for_another_call() { throw detail::no_place{true}; }
/// For specifications: this call is not allowed here. Programs that make it are not generated
/// (<runq/linearizable.hpp>).
[[noreturn]] inline void not_allowed() { throw detail::no_place{false}; }
/// For specifications: any number below `alternatives`, at most once in a call. An answer is right if one of them leads
/// to it.
[[nodiscard]] inline unsigned any_of(unsigned alternatives) {
  detail::playing.variants = alternatives;
  return detail::playing.variant;
}
/// For specifications: true if the call gives up because a call of another thread was faster. That is an answer only
/// beside a call of another thread that changes the object: neither happened before the other. A specification that can
/// be compared (operator==) tells which calls change it; otherwise all calls do that have not given up themselves. Both
/// answers are tried, as with any_of(2); a call uses only one of these two functions.
///     std::optional<int> steal() { return runq::loses() ? std::nullopt : inside_.pop_front(); }
[[nodiscard]] inline bool loses() {
  detail::playing.has_lost = any_of(2) == 1;
  return detail::playing.has_lost;
}
/// For specifications: which thread makes the call.
[[nodiscard]] inline unsigned calling_thread() noexcept { return detail::playing.thread; }

/// For programs, before their threads start: one of the first `threads` threads, in the order in which they start, or
/// none, stops for ever at some point of a recorded call. Every such point is tried. The others must come to the end of
/// every call that is made by `lock_free_call`: an execution in which one of them waits for ever fails as "not
/// lock-free". What else waits then is no failure, and the history is not judged.
inline void let_one_stop(unsigned threads) { runq_check_let_one_stop(threads); }

/// Makes a T without arguments.
template <class T>
struct make {
  T operator()() const { return T(); }
};

/// An object whose calls are recorded, and judged by a specification: what `MakeSpecification` makes, an object of the
/// same kind by default. Both capture nothing. Any number of threads may make calls.
template <class Make, class MakeSpecification = Make>
class recorded_by {
  using object = std::invoke_result_t<Make>;
  using specification = std::invoke_result_t<MakeSpecification>;
  static_assert(std::is_empty_v<Make> && std::is_empty_v<MakeSpecification>,
                "what makes the object and its specification captures nothing: it is called often");

 public:
  recorded_by() { runq_check_history_begin(this); }
  recorded_by(const recorded_by&) = delete;
  recorded_by& operator=(const recorded_by&) = delete;

  /// Calls `op(object, arguments...)` and returns its answer. `op` captures nothing, because the specification gets the
  /// same call: `[](auto& queue, int value) { return queue.push(value); }`, or a pointer to a member as
  /// `runq::member<…>`. The arguments are trivially copyable, of 48 bytes at most; they and the answer can be printed.
  /// At most 64 calls.
  template <class Op, class... Args>
  auto call(const char* name, Op op, Args... arguments) {
    return make_call(name, false, op, arguments...);
  }
  /// Like call(), for a call that is claimed to be lock-free: see let_one_stop().
  template <class Op, class... Args>
  auto lock_free_call(const char* name, Op op, Args... arguments) {
    return make_call(name, true, op, arguments...);
  }

  /// The object itself: calls that are made in this way are not recorded.
  [[nodiscard]] object& operator*() noexcept { return object_; }
  [[nodiscard]] object* operator->() noexcept { return &object_; }

  /// Fails the running execution unless its calls have an order. To be called when all threads that make calls have
  /// ended.
  void require_linearizable() { runq_check_judge(this, &specification_, false); }
  /// Like linearizable, but calls keep their order only if at some moment between them no call is in progress.
  void require_quiescently_consistent() { runq_check_judge(this, &specification_, true); }

 private:
  static constexpr bool is_copied = std::copy_constructible<specification> && !std::same_as<specification, object>;
  static constexpr const runq_check_specification& specification_ =
      detail::specification_of<detail::specified<MakeSpecification, is_copied>>;

  template <class Op, class... Args>
  auto make_call(const char* name, bool is_lock_free, Op op, Args... arguments) {
    static_assert(std::is_empty_v<Op>, "an operation captures nothing: give it what it needs as arguments");
    static_assert((std::is_trivially_copyable_v<Args> && ...), "arguments of a recorded call are trivially copyable");
    static_assert(sizeof(std::tuple<Args...>) <= detail::call_record::most_argument_bytes,
                  "the arguments of a recorded call have 48 bytes at most");
    const std::uint64_t number = runq_check_call_begin(this, is_lock_free);
    if constexpr (std::is_void_v<std::invoke_result_t<Op, object&, Args...>>) {
      std::invoke(op, object_, arguments...);
      end<Op>(number, name, nullptr, arguments...);
    } else {
      auto answer = std::invoke(op, object_, arguments...);
      end<Op>(number, name, &answer, arguments...);
      return answer;
    }
  }

  template <class Op, class Answer, class... Args>
  static void end(std::uint64_t number, const char* name, const Answer* answer, const Args&... arguments) noexcept {
    const bool was_checked = runq_check_pause();
    if (was_checked) {
      detail::call_record call;
      call.play = &detail::play<specification, Op, Args...>;
      ::new (static_cast<void*>(call.arguments.data())) std::tuple<Args...>(arguments...);
      detail::short_text text;
      detail::print_call(text, name, arguments...);
      if constexpr (!std::is_null_pointer_v<Answer> && !std::is_void_v<Answer>) {
        detail::short_text answered;
        detail::print(answered, *answer);
        if (answered.is_cut()) detail::refuse_long_call();
        call.answer_size = answered.view().size();
        std::memcpy(call.answer.data(), answered.view().data(), call.answer_size);
        text.add(" → ");
        text.add(answered.view());
      }
      runq_check_call_end(number, &call, call.size(), text.view().data(), text.view().size());
    }
    runq_check_resume(was_checked);
  }
  template <class Op, class... Args>
  static void end(std::uint64_t number, const char* name, std::nullptr_t, const Args&... arguments) noexcept {
    end<Op, void>(number, name, static_cast<const void*>(nullptr), arguments...);
  }

  object object_ = Make{}();
};

/// An object of `Class`, whose calls are judged by an object of `Specification`; both have default constructors.
template <class Class, class Specification = Class>
using recorded = recorded_by<make<Class>, make<Specification>>;

/// A member function as an operation: `queue.call("pop", runq::member<&my_queue::pop>{})`. The specification has to be
/// of the same class.
template <auto Function>
struct member {
  template <class Object, class... Args>
  auto operator()(Object& of, Args... arguments) const -> std::invoke_result_t<decltype(Function), Object&, Args...> {
    return std::invoke(Function, of, arguments...);
  }
};

}  // namespace runq
