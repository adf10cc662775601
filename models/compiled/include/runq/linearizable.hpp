// SPDX-License-Identifier: MIT
// Is a class linearizable? Name its operations: the programs are generated, and each is checked.
//
//     runq::linearizable<my_stack, runq::spec::stack<int>> test;
//     test.operation("push", RUNQ_CODE([](auto& s, int value) { return s.push(value); }), runq::fresh);
//     test.operation("pop", RUNQ_CODE([](auto& s) { return s.pop(); }));
//     EXPECT_TRUE(test.check());
//
// Every program of some threads that make some calls each, without those that differ in the order of the threads only,
// the smallest first; of each program every execution that the memory model allows. An execution fails if it is not
// linearizable, judged by the specification or, without one, by the same class, one call after the other; or by a data
// race, a crash, a deadlock, a leak. The first program that fails is shown as code that compiles. For tests that link
// `runq::check`.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "check.hpp"
#include "history.hpp"

extern "C" {

// The runtime: runs checks in separate processes, up to `jobs` at the same time. Hands over the answers in the order of
// their numbers; starts no more checks once take() is false.
struct runq_check_series {
  void (*body)(void* context, std::size_t number);
  void* context;
  const char* options;
  std::size_t count;
  unsigned jobs;
};
void runq_check_run_series(const runq_check_series* series,
                           bool (*take)(void* to, std::size_t number, const runq_check_answer* answer, const char* text,
                                        std::size_t size),
                           void* to) noexcept;
}

/// Code, and its text, which a program that fails is printed with.
#define RUNQ_CODE(...) #__VA_ARGS__, __VA_ARGS__

namespace runq {

/// For an argument: 1, 2, 3 …, another number in each call of a program.
struct fresh_values {};
inline constexpr fresh_values fresh;

/// For an argument: each of these numbers.
template <class T, std::size_t Count>
struct values_of {
  std::array<T, Count> values;
};
template <class... Ts>
[[nodiscard]] constexpr auto one_of(Ts... values) {
  return values_of<std::common_type_t<Ts...>, sizeof...(Ts)>{{values...}};
}

/// How large programs become, and how each is checked.
struct linearizable_options {
  unsigned threads = 2;
  unsigned calls = 2;      ///< of a thread, at most
  unsigned jobs = 1;       ///< programs that are checked at the same time, each in its own process
  bool quiescent = false;  ///< quiescent consistency is enough
  bool drain = true;       ///< after the threads, an operation without arguments takes until it answers nothing
  bool progress = false;   ///< prints once a second on stderr how far it is
  check_options each;      ///< of one program
};

namespace detail {
class generated_check;
}

/// What came out of all programs. False in a condition unless all pass.
class linearizable_verdict {
 public:
  [[nodiscard]] bool passed() const noexcept { return status_ == 0; }
  [[nodiscard]] bool failed() const noexcept { return status_ == 1; }
  [[nodiscard]] bool undecided() const noexcept { return status_ == 2; }
  explicit operator bool() const noexcept { return passed(); }

  /// What verdict::failure() says of the program that fails.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  /// How many programs have passed, and how many there are.
  [[nodiscard]] std::size_t programs_passed() const noexcept { return passed_; }
  [[nodiscard]] std::size_t programs() const noexcept { return programs_; }
  /// How many programs were left out, because by the specification a call would wait for ever, or is not allowed.
  [[nodiscard]] std::size_t programs_left_out() const noexcept { return left_out_; }
  [[nodiscard]] std::uint64_t executions() const noexcept { return executions_; }
  /// Seconds of processor time, in all processes: for the list of programs, and for their searches.
  [[nodiscard]] double generation_seconds() const noexcept { return generation_seconds_; }
  [[nodiscard]] double search_seconds() const noexcept { return search_seconds_; }
  /// How many calls the program has that fails, or has no verdict; 0: all pass.
  [[nodiscard]] std::size_t calls() const noexcept { return calls_; }
  /// That program, for runq-check: include before it what declares the class.
  [[nodiscard]] const std::string& program() const noexcept { return program_; }
  /// The verdict as a person reads it.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  friend std::ostream& operator<<(std::ostream& out, const linearizable_verdict& v) { return out << v.text_; }

 private:
  friend class detail::generated_check;

  int status_ = 2;
  std::string failure_;
  std::size_t passed_ = 0;
  std::size_t programs_ = 0;
  std::size_t left_out_ = 0;
  std::uint64_t executions_ = 0;
  double generation_seconds_ = 0;
  double search_seconds_ = 0;
  std::size_t calls_ = 0;
  std::string program_;
  std::string text_;
};

namespace detail {

/// One call of a generated program: which operation, and which of the choices of its arguments.
struct generated_call {
  unsigned operation;
  unsigned choice;
  friend auto operator<=>(const generated_call&, const generated_call&) = default;
};
using generated_thread = std::vector<generated_call>;
using generated_program = std::vector<generated_thread>;

/// How an argument is made of a choice and of the number of the call.
template <class T, std::size_t Count>
[[nodiscard]] std::size_t choices_of(const values_of<T, Count>&) {
  return Count;
}
[[nodiscard]] inline std::size_t choices_of(const fresh_values&) { return 1; }
template <class T, std::size_t Count>
[[nodiscard]] T value_of(const values_of<T, Count>& from, std::size_t choice, int) {
  return from.values[choice];
}
[[nodiscard]] inline int value_of(const fresh_values&, std::size_t, int number) { return number; }
/// An argument that is always the same.
template <class T>
requires std::integral<T> || std::is_enum_v<T>
[[nodiscard]] std::size_t choices_of(const T&) { return 1; }
template <class T>
requires std::integral<T> || std::is_enum_v<T>
[[nodiscard]] T value_of(const T& value, std::size_t, int) { return value; }

/// All programs, the smallest first. Threads are interchangeable: a program has them in descending order of length, and
/// those of one length in ascending order of what they do.
class program_list {
 public:
  program_list(std::vector<generated_call> letters, unsigned threads, unsigned calls)
      : letters_(std::move(letters)), threads_(threads), calls_(calls) {
    for (unsigned size = 1; size <= threads * calls; ++size) add_threads(size, {});
  }
  [[nodiscard]] std::vector<generated_program> take() { return std::move(programs_); }

 private:
  void add_threads(unsigned left, const generated_program& so_far) {
    if (left == 0) {
      programs_.push_back(so_far);
      return;
    }
    if (so_far.size() == threads_) return;
    const unsigned longest = so_far.empty() ? calls_ : static_cast<unsigned>(so_far.back().size());
    for (unsigned length = std::min(left, longest); length != 0; --length) add_calls(length, left, so_far, {});
  }
  void add_calls(unsigned length, unsigned left, const generated_program& so_far, const generated_thread& thread) {
    if (thread.size() == length) {
      const bool in_order = so_far.empty() || so_far.back().size() > length || !(thread < so_far.back());
      if (!in_order) return;
      generated_program more = so_far;
      more.push_back(thread);
      add_threads(left - length, more);
      return;
    }
    for (const generated_call& letter : letters_) {
      generated_thread more = thread;
      more.push_back(letter);
      add_calls(length, left, so_far, more);
    }
  }

  std::vector<generated_call> letters_;
  unsigned threads_;
  unsigned calls_;
  std::vector<generated_program> programs_;
};

/// "my_stack": from what the compiler calls this function.
template <class T>
[[nodiscard]] std::string type_name() {
  std::string_view name = __PRETTY_FUNCTION__;
  name.remove_prefix(name.find("T = ") + 4);
  std::string text(name.substr(0, std::min(name.find(';'), name.rfind(']'))));
  for (const std::string_view unnamed : {"(anonymous namespace)::", "{anonymous}::", "<unnamed>::"}) {
    for (std::size_t at = text.find(unnamed); at != std::string::npos; at = text.find(unnamed)) {
      text.erase(at, unnamed.size());
    }
  }
  return text;
}

/// Prints how far a series of checks is.
class series_progress {
 public:
  explicit series_progress(bool on) : on_(on) {}
  void tell(std::size_t done, std::size_t count, std::uint64_t executions) {
    const auto now = std::chrono::steady_clock::now();
    if (!on_ || (now < next_ && done != count)) return;
    next_ = now + std::chrono::seconds(1);
    std::fprintf(stderr, "programs: %zu done, %zu to do; %llu executions\n", done, count - done,
                 static_cast<unsigned long long>(executions));
  }

 private:
  bool on_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

}  // namespace detail

/// Returned by operation(): says which threads may make the call.
class operation_roles {
 public:
  /// In each program one thread at most makes calls with this role: "owner", "producer".
  operation_roles& by(std::string role) {
    role_ = std::move(role);
    return *this;
  }
  /// The thread that makes calls with that role does not make this call.
  operation_roles& beside(std::string role) {
    beside_ = std::move(role);
    return *this;
  }
  /// Its calls come to their ends although another thread stops for ever, at any point of a call of its own.
  operation_roles& lock_free() {
    is_lock_free_ = true;
    return *this;
  }

 protected:
  std::string role_;
  std::string beside_;
  bool is_lock_free_ = false;
};

namespace detail {

enum class outcome : std::uint8_t { done, answers_nothing, waits, not_allowed };

/// The arguments of an operation: a choice among all their combinations, and the number of the call, say which.
template <class... Generators>
struct generated_arguments {
  std::tuple<Generators...> generators;

  [[nodiscard]] std::size_t choices() const {
    return std::apply([](const auto&... each) { return (std::size_t{1} * ... * choices_of(each)); }, generators);
  }
  [[nodiscard]] auto operator()(unsigned choice, int number) const {
    [[maybe_unused]] std::size_t left = choice;
    [[maybe_unused]] const auto next = [&](const auto& generator) {
      const std::size_t count = choices_of(generator);
      const std::size_t chosen = left % count;
      left /= count;
      return value_of(generator, chosen, number);
    };
    // In braces: from left to right.
    return std::apply([&](const auto&... each) { return std::tuple{next(each)...}; }, generators);
  }
  /// ", 1, true"
  [[nodiscard]] std::string text(unsigned choice, int number) const {
    std::string text;
    [[maybe_unused]] const auto add = [&text](const auto& argument) {
      short_text printed;
      print(printed, argument);
      text += ", ";
      text += printed.view();
    };
    std::apply([&](const auto&... arguments) { (add(arguments), ...); }, (*this)(choice, number));
    return text;
  }
};

/// Makes the call. False if its answer is nothing, as that of a pop that finds no element.
template <class Call>
bool is_something(Call&& call) {
  if constexpr (optional_like<std::invoke_result_t<Call>>) {
    return call().has_value();
  } else {
    static_cast<void>(call());
    return true;
  }
}

/// An operation of any class: what it takes is an object of that class, or a state of its specification.
class any_operation : public operation_roles {
 public:
  any_operation(const char* its_name, const char* its_code, std::size_t its_choices,
                std::function<std::string(unsigned choice, int number)> its_arguments)
      : name(its_name), code(its_code), choices(its_choices), arguments(std::move(its_arguments)) {}

  std::string name;
  std::string code;
  std::size_t choices;
  std::function<std::string(unsigned choice, int number)> arguments;
  std::function<bool(void* object, bool is_lock_free, unsigned choice, int number)> make_call;
  std::function<outcome(void* state, unsigned choice, int number)> play;  ///< if the specification has states
  bool may_take = false;  ///< without arguments, it answers something or nothing

  [[nodiscard]] const std::string& role() const { return role_; }
  [[nodiscard]] const std::string& not_by() const { return beside_; }
  [[nodiscard]] bool is_lock_free() const { return is_lock_free_; }
  /// Whether the answer is something, and not nothing.
  bool call(void* object, unsigned choice, int number) const {
    return make_call(object, is_lock_free(), choice, number);
  }
  bool take(void* object) const { return make_call(object, false, 0, 0); }
};

/// All of linearizable_by that does not depend on the class, so that a source compiles it once.
class generated_check {
 public:
  linearizable_options options;

  /// The programs, the smallest first.
  [[nodiscard]] std::vector<generated_program> programs() { return find_programs().take(); }

  /// Checks one program after the other, up to the first that does not pass. The same from run to run.
  [[nodiscard]] linearizable_verdict check() {
    linearizable_verdict found;
    const auto started = std::chrono::steady_clock::now();
    const std::clock_t generating = std::clock();
    std::vector<generated_program> all = programs_that_may_run(found.left_out_);
    found.generation_seconds_ = static_cast<double>(std::clock() - generating) / CLOCKS_PER_SEC;
    found.programs_ = all.size();
    if (all.empty()) {
      found.text_ = "no verdict: there is no program: no operation, no thread, or all are left out\n";
      return found;
    }
    drain_ = find_drain();
    const std::string words = words_of(options.each);
    series run{*this, all, found, series_progress(options.progress), {}, true};
    const runq_check_series asked{[](void* context, std::size_t number) {
                                    const auto* const r = static_cast<const series*>(context);
                                    r->self.run(r->all[number]);
                                  },
                                  &run, words.c_str(), all.size(), options.jobs};
    runq_check_run_series(
        &asked,
        [](void* to, std::size_t number, const runq_check_answer* answer, const char* text, std::size_t size) {
          return static_cast<series*>(to)->take(number, *answer, std::string_view(text, size));
        },
        &run);
    run.end(std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
    return found;
  }

 protected:
  generated_check(std::string made_by, std::string specified_by)
      : made_by_(std::move(made_by)), specified_by_(std::move(specified_by)) {}
  generated_check(const generated_check&) = default;
  generated_check& operator=(const generated_check&) = default;
  virtual ~generated_check() = default;

  /// What is checked: makes an object, make_calls(), and judges them.
  virtual void run(const generated_program& p) const = 0;
  /// A state of the specification; null if there is no specification, or none whose states can be copied.
  [[nodiscard]] virtual std::shared_ptr<void> new_state() const = 0;
  [[nodiscard]] virtual std::shared_ptr<void> copy_of(const void* state) const = 0;

  /// The first thread is the one that calls this; threads with a role come first.
  void make_calls(const generated_program& p, void* object) const {
    for (const any_operation& o : before_) o.call(object, 0, 0);
    if (lets_one_stop(p)) let_one_stop(static_cast<unsigned>(p.size()));
    std::array<std::thread, 16> others;
    for (std::size_t t = 1; t < p.size(); ++t) {
      others[t] = std::thread([this, &p, object, t] { run_thread(p, t, object); });
    }
    run_thread(p, 0, object);
    for (std::size_t t = 1; t < p.size(); ++t) others[t].join();
    for (const any_operation& o : after_) o.call(object, 0, 0);
    for (unsigned left = most_taken(p); left != 0 && drain_->take(object); --left) {
    }
  }

  std::vector<any_operation> operations_;
  std::vector<any_operation> before_;
  std::vector<any_operation> after_;

 private:
  /// Collects the results of the checks, in the order of the programs.
  struct series {
    generated_check& self;
    const std::vector<generated_program>& all;
    linearizable_verdict& found;
    series_progress progress;
    std::vector<std::string> left_out;
    bool exhaustive;
    std::map<std::string, unsigned long long> not_seen{};  ///< by the line that names it: how often it was called

    bool take(std::size_t number, const runq_check_answer& answer, std::string_view text) {
      found.executions_ += answer.executions;
      found.search_seconds_ += answer.seconds;
      if (answer.status == 0) {
        note_left_out(text.substr(0, text.find('\n')));
        // Of programs that are searched as one, the first has the executions, and all have the text.
        if (answer.executions != 0) note_not_seen(text);
        progress.tell(++found.passed_, all.size(), found.executions_);
        return true;
      }
      found.status_ = answer.status;
      found.failure_ = answer.failure;
      found.program_ = self.print(all[number]);
      for (const generated_thread& t : all[number]) found.calls_ += t.size();
      found.text_ = text;
      return false;
    }
    /// "bounded: …; left out: A, B (N executions explored, …)"
    void note_left_out(std::string_view line) {
      constexpr std::string_view mark = "left out: ";
      exhaustive = exhaustive && line.starts_with("exhaustive");
      if (line.find(mark) == std::string_view::npos) return;
      line.remove_prefix(line.find(mark) + mark.size());
      line = line.substr(0, line.rfind(" ("));
      while (!line.empty()) {
        const std::string one(line.substr(0, line.find(", ")));
        if (std::find(left_out.begin(), left_out.end(), one) == left_out.end()) left_out.push_back(one);
        line.remove_prefix(std::min(line.size(), one.size() + 2));
      }
    }
    /// "not seen: access(), in libc.so.6: called 4 times"
    void note_not_seen(std::string_view text) {
      while (!text.empty()) {
        const std::string line(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.rfind("not seen: ", 0) != 0) continue;
        const std::size_t count = std::min(line.find_last_of(':') + 1, line.size());
        const std::size_t number = line.find_first_of("0123456789", count);
        const bool is_counted = number != std::string::npos && line.find(" time", number) != std::string::npos;
        not_seen[line.substr(0, is_counted ? number : line.size())] +=
            is_counted ? std::strtoull(line.c_str() + number, nullptr, 10) : 0;
      }
    }
    [[nodiscard]] std::string not_seen_text() const {
      std::string text;
      for (const auto& [what, times] : not_seen) {
        text += what;
        if (times != 0) text += std::to_string(times) + (times == 1 ? " time" : " times");
        text += "\n";
      }
      return text;
    }
    void end(double seconds) {
      const double share = found.search_seconds_ > 0 ? 100 * found.generation_seconds_ / found.search_seconds_ : 0;
      std::array<char, 240> size{};
      std::snprintf(
          size.data(), size.size(),
          "%zu of %zu programs of up to %u threads with %u calls, %llu executions, %.1f s (generation %.4f s, "
          "%.1f %% of %.2f s in searches)",
          found.passed_, all.size(), self.options.threads, self.options.calls,
          static_cast<unsigned long long>(found.executions_), seconds, found.generation_seconds_, share,
          found.search_seconds_);
      std::string also = found.left_out_ == 0
                             ? ""
                             : "; " + std::to_string(found.left_out_) +
                                   " programs left out, which by the specification wait for ever or are not allowed";
      if (self.drain_ != nullptr) also += "; in the end " + self.drain_->name + "() empties the object";
      if (found.status_ == 1) {
        found.text_ = "FAIL: " + found.failure_ + ": the smallest program that fails, after " + size.data() + also +
                      ":\n\n" + found.program_ + "\n" + found.text_;
        return;
      }
      if (found.passed_ != all.size()) {
        found.text_ = "no verdict after " + std::string(size.data()) + also + "; for this program:\n\n" +
                      found.program_ + "\n" + found.text_;
        return;
      }
      found.status_ = 0;
      found.text_ = std::string(exhaustive ? "exhaustive" : "bounded") + ": " +
                    (self.options.quiescent ? "quiescently consistent" : "linearizable") +
                    (self.claims_lock_free() ? ", lock-free where claimed" : "") + ": " + size.data() + also +
                    "; left out:";
      for (const std::string& one : left_out) found.text_ += (&one == &left_out.front() ? " " : ", ") + one;
      found.text_ += "\n" + not_seen_text();
    }
  };

  [[nodiscard]] program_list find_programs() {
    std::vector<generated_call> letters;
    for (unsigned i = 0; i != operations_.size(); ++i) {
      for (unsigned c = 0; c != operations_[i].choices; ++c) letters.push_back({i, c});
    }
    return program_list(letters, options.threads, options.calls);
  }

  [[nodiscard]] std::vector<generated_program> programs_that_may_run(std::size_t& left_out) {
    std::vector<generated_program> all = programs();
    std::erase_if(all, [this](const generated_program& p) { return !has_roles(p); });
    for (generated_program& p : all) let_role_begin(p);
    if (new_state() == nullptr) return all;
    left_out = std::erase_if(all, [this](const generated_program& p) {
      const std::shared_ptr<void> initial = new_state();
      return !play_around(before_, initial.get(), 0) ||
             !comes_to_end(p, initial.get(), std::vector<std::size_t>(p.size()));
    });
    return all;
  }

  /// What takes the elements that are left: an operation that answers nothing in the end, and, by the specification,
  /// never waits. Null if there is none, or if options.drain is off.
  [[nodiscard]] const any_operation* find_drain() const {
    const auto found = std::find_if(operations_.begin(), operations_.end(),
                                    [this](const any_operation& o) { return o.may_take && empties(o); });
    return options.drain && found != operations_.end() ? &*found : nullptr;
  }
  /// By the specification, after one call of each operation that may put something in.
  [[nodiscard]] bool empties(const any_operation& taking) const {
    const std::shared_ptr<void> state = new_state();
    if (state == nullptr) return true;
    const auto play = [&](const any_operation& o, int number) {
      playing = {1, 0, 1};
      return o.play(state.get(), 0, number);
    };
    int number = 0;
    for (const auto* calls : {&before_, &operations_}) {
      for (const any_operation& o : *calls) {
        ++number;
        if (!o.may_take) static_cast<void>(play(o, number));
      }
    }
    outcome last = outcome::done;
    for (unsigned left = most_drained; left != 0 && last == outcome::done; --left) last = play(taking, 0);
    return last == outcome::answers_nothing;
  }
  /// So that all calls fit into a history.
  [[nodiscard]] unsigned most_taken(const generated_program& p) const {
    constexpr std::size_t most_calls = 64;
    std::size_t calls = before_.size() + after_.size();
    for (const generated_thread& t : p) calls += t.size();
    if (drain_ == nullptr || calls >= most_calls) return 0;
    return static_cast<unsigned>(std::min<std::size_t>(most_drained, most_calls - calls));
  }

  [[nodiscard]] static bool makes(const std::vector<any_operation>& operations, const generated_thread& t,
                                  const std::string& role) {
    return std::any_of(t.begin(), t.end(),
                       [&](const generated_call& c) { return operations[c.operation].role() == role; });
  }
  [[nodiscard]] bool has_roles(const generated_program& p) const {
    for (const any_operation& o : operations_) {
      if (o.role().empty()) continue;
      if (std::count_if(p.begin(), p.end(),
                        [&](const generated_thread& t) { return makes(operations_, t, o.role()); }) > 1) {
        return false;
      }
    }
    return std::all_of(p.begin(), p.end(), [this](const generated_thread& t) {
      return std::none_of(t.begin(), t.end(), [&](const generated_call& c) {
        const std::string& role = operations_[c.operation].not_by();
        return !role.empty() && makes(operations_, t, role);
      });
    });
  }

  [[nodiscard]] bool claims_lock_free() const {
    return std::any_of(operations_.begin(), operations_.end(), [](const any_operation& o) { return o.is_lock_free(); });
  }

  /// The thread that has the first role is the one that makes the object.
  void let_role_begin(generated_program& p) const {
    const auto first =
        std::find_if(operations_.begin(), operations_.end(), [](const any_operation& o) { return !o.role().empty(); });
    if (first == operations_.end()) return;
    std::stable_partition(p.begin(), p.end(),
                          [&](const generated_thread& t) { return makes(operations_, t, first->role()); });
  }

  /// Whether every sequential order of the calls comes to its end, by the specification.
  [[nodiscard]] bool comes_to_end(const generated_program& p, const void* state, std::vector<std::size_t> done) const {
    bool all_done = true;
    bool any_went_on = false;
    for (unsigned t = 0; t != p.size(); ++t) {
      if (done[t] == p[t].size()) continue;
      all_done = false;
      const generated_call& c = p[t][done[t]];
      for (unsigned variant = 0, variants = 1; variant != variants; ++variant) {
        const std::shared_ptr<void> next = copy_of(state);
        playing = {t + 1, variant, 1};
        const outcome o = operations_[c.operation].play(next.get(), c.choice, number_of(p, t, done[t]));
        variants = playing.variants;
        if (o == outcome::not_allowed) return false;
        if (o == outcome::waits) continue;
        any_went_on = true;
        ++done[t];
        const bool ends = comes_to_end(p, next.get(), done);
        --done[t];
        if (!ends) return false;
      }
    }
    if (!all_done) return any_went_on;
    const std::shared_ptr<void> last = copy_of(state);
    return play_around(after_, last.get(), static_cast<int>(before_.size()) + number_of(p, p.size(), 0));
  }
  [[nodiscard]] bool play_around(const std::vector<any_operation>& calls, void* state, int number) const {
    for (const any_operation& o : calls) {
      playing = {1, 0, 1};
      const outcome ends = o.play(state, 0, ++number);
      if (ends != outcome::done && ends != outcome::answers_nothing) return false;
    }
    return true;
  }

  /// Calls have numbers in the order of the program's text, from 1.
  [[nodiscard]] static int number_of(const generated_program& p, std::size_t thread, std::size_t call) {
    std::size_t before = call + 1;
    for (std::size_t t = 0; t != thread; ++t) before += p[t].size();
    return static_cast<int>(before);
  }

  void run_thread(const generated_program& p, std::size_t t, void* object) const {
    int number = number_of(p, t, 0);
    for (const generated_call& c : p[t]) operations_[c.operation].call(object, c.choice, number++);
  }
  /// Whether a thread may stop: there is another one, and a claim that it does not hold up.
  [[nodiscard]] bool lets_one_stop(const generated_program& p) const {
    return p.size() > 1 && std::any_of(p.begin(), p.end(), [this](const generated_thread& t) {
             return std::any_of(t.begin(), t.end(),
                                [this](const generated_call& c) { return operations_[c.operation].is_lock_free(); });
           });
  }

  // --- a program as code --------------------------------------------------------------------------------------------
  [[nodiscard]] std::string print(const generated_program& p) const {
    std::string text = "#include <thread>\n\n#include <runq/specifications.hpp>\n\n";
    const auto define = [&text](const std::string& name, const std::string& code) {
      text += "constexpr auto " + name + " = " + code + ";\n";
    };
    define("make", made_by_);
    define("make_specification", specified_by_);
    std::vector<std::string> defined;
    for (const auto* operations : {&before_, &operations_, &after_}) {
      for (const any_operation& o : *operations) {
        if (std::find(defined.begin(), defined.end(), o.name) != defined.end()) continue;
        defined.push_back(o.name);
        define("call_" + o.name, o.code);
      }
    }
    text += "\nint main() {\n  runq::recorded_by<decltype(make), decltype(make_specification)> object;\n";
    for (const any_operation& o : before_) text += "  " + print_call(o, 0, 0) + "\n";
    if (lets_one_stop(p)) text += "  runq::let_one_stop(" + std::to_string(p.size()) + ");\n";
    for (std::size_t t = 1; t < p.size(); ++t) {
      text += "  std::thread t" + std::to_string(t) + "([&] {\n" + print_calls(p, t, "    ") + "  });\n";
    }
    text += print_calls(p, 0, "  ");
    for (std::size_t t = 1; t < p.size(); ++t) text += "  t" + std::to_string(t) + ".join();\n";
    for (const any_operation& o : after_) text += "  " + print_call(o, 0, 0) + "\n";
    if (const unsigned most = most_taken(p); most != 0) {
      text += "  for (int left = " + std::to_string(most) + "; left != 0 && object.call(\"" + drain_->name +
              "\", call_" + drain_->name + ").has_value(); --left) {\n  }\n";
    }
    text +=
        options.quiescent ? "  object.require_quiescently_consistent();\n}\n" : "  object.require_linearizable();\n}\n";
    return text;
  }
  [[nodiscard]] std::string print_calls(const generated_program& p, std::size_t t, const std::string& indent) const {
    std::string text;
    for (std::size_t i = 0; i != p[t].size(); ++i) {
      const generated_call& c = p[t][i];
      text += indent + print_call(operations_[c.operation], c.choice, number_of(p, t, i)) + "\n";
    }
    return text;
  }
  [[nodiscard]] static std::string print_call(const any_operation& o, unsigned choice, int number) {
    return std::string(o.is_lock_free() ? "object.lock_free_call(\"" : "object.call(\"") + o.name + "\", call_" +
           o.name + o.arguments(choice, number) + ");";
  }

  static constexpr unsigned most_drained = 32;

  std::string made_by_;
  std::string specified_by_;
  const any_operation* drain_ = nullptr;  ///< of operations_
};

}  // namespace detail

/// The programs of one class. `Make` makes the object, `MakeSpecification` what judges it; neither captures anything.
template <class Make, class MakeSpecification = Make>
class linearizable_by : public detail::generated_check {
  using object = recorded_by<Make, MakeSpecification>;
  using specification = std::invoke_result_t<MakeSpecification>;
  static constexpr bool has_specification = !std::same_as<specification, std::invoke_result_t<Make>>;
  static constexpr bool plays = has_specification && std::copy_constructible<specification>;

 public:
  linearizable_by()
      : generated_check(made_by(),
                        has_specification ? "runq::make<" + detail::type_name<specification>() + ">{}" : made_by()) {}
  /// `linearizable_by test(RUNQ_CODE([] { return ring(2); }), RUNQ_CODE([] { return runq::spec::queue<int>(2); }));`
  linearizable_by(const char* made_by, Make, const char* specified_by, MakeSpecification)
      : generated_check(made_by, specified_by) {}
  linearizable_by(const char* made_by, Make) : generated_check(made_by, made_by) {}

  /// An operation that threads make calls of: a lambda without captures, which takes the object, and the arguments:
  /// `fresh`, `one_of(…)`, or a number that is always the same.
  template <class Op, class... Generators>
  operation_roles& operation(const char* name, const char* code, Op, Generators... generators) {
    operations_.push_back(make_operation<Op>(name, code, generators...));
    return operations_.back();
  }
  /// A call that is made before the threads start.
  template <class Op, class... Values>
  void initially(const char* name, const char* code, Op, Values... values) {
    before_.push_back(make_operation<Op>(name, code, values...));
  }
  /// A call that is made after the threads have ended: what they have left.
  template <class Op, class... Values>
  void finally(const char* name, const char* code, Op, Values... values) {
    after_.push_back(make_operation<Op>(name, code, values...));
  }

 private:
  [[nodiscard]] static std::string made_by() {
    return "runq::make<" + detail::type_name<std::invoke_result_t<Make>>() + ">{}";
  }

  void run(const detail::generated_program& p) const override {
    object made;
    make_calls(p, &made);
    if (options.quiescent) {
      made.require_quiescently_consistent();
    } else {
      made.require_linearizable();
    }
  }

  [[nodiscard]] std::shared_ptr<void> new_state() const override {
    if constexpr (plays) return std::make_shared<specification>(MakeSpecification{}());
    return nullptr;
  }
  [[nodiscard]] std::shared_ptr<void> copy_of(const void* state) const override {
    if constexpr (plays) return std::make_shared<specification>(*static_cast<const specification*>(state));
    return nullptr;
  }

  template <class Op, class... Generators>
  [[nodiscard]] static detail::any_operation make_operation(const char* name, const char* code,
                                                            Generators... generators) {
    static_assert(std::is_empty_v<Op>, "an operation captures nothing: give it what it needs as arguments");
    const detail::generated_arguments<Generators...> values{{generators...}};
    detail::any_operation o(name, code, values.choices(),
                            [values](unsigned choice, int number) { return values.text(choice, number); });
    o.make_call = [values, called = o.name](void* to, bool is_lock_free, unsigned choice, int number) {
      object& made = *static_cast<object*>(to);
      return std::apply(
          [&](auto... arguments) {
            return detail::is_something([&] {
              return is_lock_free ? made.lock_free_call(called.c_str(), Op{}, arguments...)
                                  : made.call(called.c_str(), Op{}, arguments...);
            });
          },
          values(choice, number));
    };
    // Of a specification whose states are not known, any call may wait; without one, none does.
    if constexpr (sizeof...(Generators) == 0 && (plays || !has_specification)) {
      o.may_take = detail::optional_like<std::invoke_result_t<Op, std::invoke_result_t<Make>&>>;
    }
    if constexpr (plays) {
      o.play = [values](void* to, unsigned choice, int number) {
        specification& state = *static_cast<specification*>(to);
        try {
          const bool answers = std::apply(
              [&](auto... arguments) {
                return detail::is_something([&] { return std::invoke(Op{}, state, arguments...); });
              },
              values(choice, number));
          return answers ? detail::outcome::done : detail::outcome::answers_nothing;
        } catch (const detail::no_place& why) {
          return why.is_allowed ? detail::outcome::waits : detail::outcome::not_allowed;
        }
      };
    }
    return o;
  }
};

/// The programs of `Class`; it and the specification have default constructors. Without a specification: judged by the
/// same class, one call after the other.
template <class Class, class Specification = Class>
using linearizable = linearizable_by<make<Class>, make<Specification>>;

}  // namespace runq
