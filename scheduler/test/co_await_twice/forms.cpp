// SPDX-License-Identifier: MIT
// What g++ 12 does to temporaries beside a co_await: one form a line. `// twice`: an object in it is destroyed twice.
// `// lost`: the coroutine runs on behind its end. check.py compares these marks with what runq_check_awaits() reports,
// and with what this program says when g++ 12 has compiled it: it runs each form in a process of its own, and counts.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <runq/runq.hpp>
#include <sys/wait.h>
#include <unistd.h>

// Memory is not given back, so what is destroyed twice is counted rather than crashes.
void operator delete(void*) noexcept {}
void operator delete(void*, std::size_t) noexcept {}

namespace {

using runq::task;

std::set<const void*> alive;
int mistakes = 0;

struct tracked {
  tracked(int n = 0) : value(n) { born(); }  // NOLINT(google-explicit-constructor): as std::string
  tracked(const tracked& other) : value(other.value) { born(); }
  tracked& operator=(const tracked&) = default;
  ~tracked() { mistakes += alive.erase(this) == 0 ? 1 : 0; }
  void born() { mistakes += alive.insert(this).second ? 0 : 1; }
  tracked operator+(const tracked& other) const { return value + other.value; }
  bool operator==(const tracked& other) const { return value == other.value; }
  int value;
};

struct form {
  int line;
  task<> (*start)(tracked, bool);
};
std::vector<form> forms;

#define JOINED(a, b) a##b
#define NAMED(name, line) JOINED(name, line)
#define START(name)                                     \
  task<> NAMED(name, __LINE__)(tracked, bool);          \
  const bool NAMED(added, __LINE__) = [] {              \
    forms.push_back({__LINE__, NAMED(name, __LINE__)}); \
    return true;                                        \
  }();
// A coroutine with a string-like s, and a condition c, which is true and then false.
#define FORM START(form) task<> NAMED(form, __LINE__)([[maybe_unused]] tracked s, [[maybe_unused]] bool c)
// The same, with a result.
#define FORM_OF(...)                                                                                      \
  task<__VA_ARGS__> NAMED(form, __LINE__)(tracked, bool);                                                 \
  START(start) task<> NAMED(start, __LINE__)(tracked s, bool c) { co_await NAMED(form, __LINE__)(s, c); } \
  task<__VA_ARGS__> NAMED(form, __LINE__)([[maybe_unused]] tracked s, [[maybe_unused]] bool c)

struct aggregate {
  tracked text;
  int number = 0;
};
struct nested {
  aggregate inner;
  int number = 0;
};
struct derived : aggregate {
  int more = 0;
};
struct initialised {
  tracked text = tracked(1);
  int number = 0;
};
struct array_in_it {
  tracked texts[2];
  int number;
};
struct refers_to {
  const tracked& text;
  int number;
};
struct plain {
  int number;
  std::array<int, 3> more;
};
struct result {
  int id;
  tracked text;
  bool ok;
};
struct deep {
  std::map<int, std::pair<int, std::shared_ptr<int>>> numbers;
  int number;
};
struct with_constructor {
  with_constructor(tracked a, int b) : text(std::move(a)), number(b) {}
  with_constructor(const aggregate& a) : text(a.text), number(a.number) {}  // NOLINT(google-explicit-constructor)
  tracked text;
  int number;
};
struct awaiter {
  [[nodiscard]] bool await_ready() const { return text.value == 0; }
  [[nodiscard]] bool await_suspend(std::coroutine_handle<>) const { return false; }
  [[nodiscard]] int await_resume() const { return text.value; }
  tracked text;
};
struct object {
  task<> method() { co_return; }
  task<> takes(aggregate) { co_return; }
  tracked text;
};
struct stream {
  stream& operator<<(const aggregate&) { return *this; }
  stream& operator<<(const tracked&) { return *this; }
  stream& operator<<(int) { return *this; }
};
struct error : std::exception {
  explicit error(tracked a) : text(std::move(a)) {}
  tracked text;
};
struct token {  // as std::stop_token: the destructor is that of a member
  tracked state;
  token() = default;
  explicit token(const tracked& a) : state(a) {}
};
struct generator {
  struct promise_type {
    generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_never yield_value(const aggregate&) { return {}; }
    std::suspend_never yield_value(const tracked&) { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> all;
};

task<> nothing() { co_return; }
task<bool> asks() { co_return true; }
task<int> counts() { co_return 1; }
task<tracked> gives() { co_return 1; }
task<aggregate> gives_aggregate() {
  aggregate a{tracked(1), 2};
  co_return a;
}
task<std::unique_ptr<tracked>> gives_pointer() { co_return std::make_unique<tracked>(); }
aggregate make() { return {tracked(2), 1}; }
aggregate pass(aggregate a) { return a; }
tracked make_tracked() { return 1; }
int number_of(const aggregate& a) { return a.number; }
bool yes(const tracked&) { return true; }

task<> takes(aggregate) { co_return; }
task<> refers(const aggregate&) { co_return; }
task<> moves(aggregate&&) { co_return; }
task<> takes_nested(nested) { co_return; }
task<> takes_initialised(initialised) { co_return; }
task<> takes_made(with_constructor) { co_return; }
task<> takes_tracked(tracked) { co_return; }
task<> refers_tracked(const tracked&) { co_return; }
task<> takes_int(int) { co_return; }
task<> takes_token(token) { co_return; }
task<> takes_function(std::function<void()>) { co_return; }
task<> takes_optional(std::optional<tracked>) { co_return; }
task<> takes_optional_aggregate(std::optional<aggregate>) { co_return; }
task<> takes_variant(std::variant<int, tracked>) { co_return; }
task<> takes_pair(std::pair<tracked, int>) { co_return; }
task<> takes_tuple(std::tuple<tracked, int>) { co_return; }
task<> takes_array(std::array<tracked, 2>) { co_return; }
template <class T>
task<> takes_any(T) {
  co_return;
}
template <class T>
task<> forwards(T&&) {
  co_return;
}
task<> default_aggregate(aggregate = {tracked(1), 2}) { co_return; }
task<> default_tracked(tracked = tracked(1)) { co_return; }
task<> default_function(std::function<void()> = {}) { co_return; }
template <class T>
task<> in_template(tracked s, T number);
template <class T>
task<> dependent(tracked s, T);
template <class T>
task<> asks_in_template(T c);

// clang-format off

// An aggregate in braces.
FORM { co_await takes({s, 1}); }  // twice
FORM { co_await takes(aggregate{s, 1}); }  // twice
FORM { co_await refers(aggregate{s, 1}); }  // twice
FORM { co_await refers({s, 1}); }  // twice
FORM { co_await moves(aggregate{s, 1}); }  // twice
FORM { co_await takes({.text = s, .number = 1}); }  // twice
FORM { co_await takes({}); }  // twice
FORM { co_await takes({s, co_await counts()}); }  // twice
FORM { co_await takes({co_await gives(), 1}); }  // twice
FORM { co_await takes(pass({s, 1})); }  // twice
FORM { co_await takes_int(number_of({s, 1})); }  // twice
FORM { co_await takes_int(aggregate{s, 1}.number); }  // twice
FORM { co_await takes_tracked(aggregate{s, 1}.text); }  // twice
FORM { co_await takes_nested({{s, 1}, 2}); }  // twice
FORM { co_await takes_nested({make(), 2}); }  // twice
FORM { co_await takes_initialised({}); }  // twice
FORM { co_await takes_made(aggregate{s, 1}); }  // twice
FORM { co_await takes_optional_aggregate(aggregate{s, 1}); }  // twice
FORM { co_await takes_array({s, s}); }  // twice
FORM { co_await takes_any(std::pair{aggregate{s, 1}, 2}); }  // twice
FORM { co_await takes(((void)(c), aggregate{s, 1})); }  // twice
FORM { co_await takes_any(refers_to{s, 1}); }
FORM { co_await takes_any(plain{1, {}}), (void)(tracked(s)); }
FORM { co_await takes(aggregate()); }
FORM { co_await takes(make()); }
FORM { aggregate named{s, 1}; co_await takes(named); }
FORM { aggregate named{s, 1}; co_await takes(std::move(named)); }
FORM { auto started = takes({s, 1}); co_await std::move(started); }
FORM { co_await awaiter{s}; }  // twice
FORM { co_await object{s}.method(); }  // twice
FORM { co_await object().method(); }
FORM { object o; co_await o.takes({s, 1}); }  // twice
FORM { co_await runq::fork(takes({s, 1})); co_await runq::join(); }  // twice
FORM { co_await default_aggregate(); }  // twice
FORM { co_await default_tracked(); }
FORM { co_await default_function(); }
FORM { stream x; x << aggregate{s, 1} << co_await counts(); }  // twice
FORM { stream x; x << co_await counts() << aggregate{s, 1}; }  // twice
FORM { stream x; x << tracked(1) << co_await counts(); }
FORM { const bool b = co_await asks() && number_of({s, 1}) == 1; (void)(b); }  // twice
FORM { const bool b = co_await asks() && yes(tracked(1)); (void)(b); }
FORM { for (int i = 0; i != number_of({s, co_await counts()}); ++i) {} }  // twice
FORM { for (int i = 0; i != number_of(make()) * co_await counts(); ++i) {} }
FORM { if (const aggregate a{s, 1}; a.number == 1) co_await nothing(); }
FORM { if (const aggregate a{s, co_await counts()}; a.number == 1) co_await nothing(); }  // twice

// Objects that are no aggregates.
FORM { co_await takes_tracked(s); }
FORM { co_await takes_tracked({5}); }
FORM { co_await takes_tracked(tracked{s}); }
FORM { co_await takes_tracked(tracked(tracked(1))); }
FORM { co_await takes_tracked(s + s); }
FORM { co_await takes_tracked(s + co_await gives()); }
FORM { co_await takes_tracked(co_await gives()); }
FORM { co_await takes_tracked(((void)(s), tracked(1))); }
FORM { co_await refers_tracked(tracked(1)); }
FORM { co_await takes_made({s, 1}); }
FORM { co_await takes_made(with_constructor(s, co_await counts())); }
FORM { co_await takes_optional(s); }
FORM { co_await takes_optional(tracked(1)); }
FORM { co_await takes_optional(std::nullopt); }
FORM { co_await takes_variant(s); }
FORM { co_await takes_pair({s, 1}); }
FORM { co_await takes_tuple({s, 1}); }

// A lambda.
FORM { co_await takes_function([s] { (void)(s.value); }); }  // twice
FORM { co_await takes_function(std::function<void()>([s] { (void)(s.value); })); }  // twice
FORM { co_await takes_function({[s] { (void)(s.value); }}); }  // twice
FORM { co_await takes_any([s] { (void)(s.value); }); }  // twice
FORM { co_await forwards([s] { (void)(s.value); }); }  // twice
FORM { co_await forwards([t = std::move(s)] { (void)(t.value); }); }  // twice
FORM { co_await [s]() -> task<> { (void)(s.value); co_return; }(); }  // twice
FORM { co_await takes_tracked([s] { return s; }()); }  // twice
FORM { co_await takes_function([&s] { (void)(s.value); }); }
FORM { co_await [&s]() -> task<> { (void)(s.value); co_return; }(); }
FORM { co_await [](tracked) -> task<> { co_return; }(s); }
FORM { co_await takes_any([n = 1] { (void)(n); }), (void)(tracked(s)); }
FORM { const auto named = [s]() -> task<> { (void)(s.value); co_return; }; co_await named(); }
FORM { co_await takes_function(std::bind_front([](const tracked&) {}, s)); }
FORM { co_await takes_tracked([&] { return c ? s : tracked(); }()); }
FORM { co_await takes([&] { return aggregate{s, 1}; }()); }
FORM { runq::go([s]() -> task<> { co_await takes_tracked(s); }); co_await runq::yield(); co_await runq::yield(); }
FORM { const auto f = [t = co_await gives()] {}; (void)(f); }  // twice
FORM { const auto f = [s, n = co_await counts()] { (void)(s.value + n); }; (void)(f); }  // twice
FORM { std::function<void()> f = [t = co_await gives()] { (void)(t.value); }; }  // twice
FORM { const auto f = [&s, n = co_await counts()] { (void)(s.value + n); }; (void)(f); }

// a ? b : c.
FORM { co_await takes_tracked(c ? tracked(1) : tracked()); }  // twice
FORM { co_await takes_tracked(c ? s : tracked()); }  // twice
FORM { co_await refers_tracked(c ? s : tracked()); }  // twice
FORM { co_await takes_tracked(c ? make_tracked() : make_tracked()); }  // twice
FORM { co_await takes_tracked((c ? s : tracked())); }  // twice
FORM { co_await takes_tracked(c ? std::move(s) : s); }  // twice
FORM { co_await takes_tracked(c ? s : c ? s : tracked()); }  // twice
FORM { co_await takes_token(c ? token(s) : token()); }  // twice
FORM { const token t(s); co_await takes_token(c ? t : token()); }  // twice
FORM { const token t(s); co_await runq::blocking([&] { (void)(s.value); return c; }), (void)(c ? t : token()); }  // twice
FORM { co_await takes_optional(c ? std::optional(s) : std::nullopt); }  // twice
FORM { co_await (c ? takes_tracked(1) : takes_tracked(2)); }  // twice
FORM { const tracked t = c ? co_await gives() : co_await gives(); }  // twice
FORM { const tracked t = c ? co_await gives() : s; }  // twice
FORM { const tracked& t = c ? co_await gives() : s; (void)(t.value); }  // twice
FORM { const tracked t = co_await asks() ? tracked(1) : s; }  // twice
FORM { tracked t; t = c ? co_await gives() : co_await gives(); }  // twice
FORM { (void)(c ? co_await gives() : co_await gives()); }  // twice
FORM { const int n = (co_await asks() ? make_tracked() : s).value; (void)(n); }  // twice
FORM { co_await takes_tracked(c ? s : s); }
FORM { const tracked t = co_await asks() ? s : s; }
FORM { const tracked& t = co_await asks() ? s : s; (void)(t.value); }
FORM { const int n = c ? co_await counts() : yes(tracked(1)); (void)(n); }
FORM { const int n = c ? (co_await gives()).value : tracked(2).value; (void)(n); }
FORM { const auto d = c ? std::chrono::seconds(1) : std::chrono::seconds(co_await counts()); (void)(d), (void)(tracked(s)); }
FORM { c ? co_await takes_tracked(1) : co_await takes_tracked(2); }
FORM { if (c) co_await takes_tracked(s); else co_await takes_tracked(tracked(2)); }
FORM { const tracked t = c ? s : tracked(); co_await takes_tracked(t); }

// Braces around a co_await.
FORM { const aggregate a{s, co_await counts()}; (void)(a); }  // twice
FORM { const aggregate a = {s, co_await counts()}; (void)(a); }  // twice
FORM { const aggregate a{co_await gives(), 1}; (void)(a); }  // twice
FORM { const aggregate a{.text = s, .number = co_await counts()}; (void)(a); }  // twice
FORM { const auto a = aggregate{s, co_await counts()}; (void)(a); }  // twice
FORM { const aggregate& a = aggregate{s, co_await counts()}; (void)(a); }  // twice
FORM { aggregate a; a = {s, co_await counts()}; }  // twice
FORM { std::vector<aggregate> v; v.push_back({s, co_await counts()}); }  // twice
FORM { std::map<int, aggregate> m; m[1] = {co_await gives(), 1}; }  // twice
FORM { const nested a{make(), co_await counts()}; (void)(a); }  // twice
FORM { const nested a{.inner = {s, co_await counts()}}; (void)(a); }  // twice
FORM { const derived a{{s, 1}, co_await counts()}; (void)(a); }  // twice
FORM { const derived a{co_await gives_aggregate(), 1}; (void)(a); }  // twice
FORM { const initialised a{.number = co_await counts()}; (void)(a); }  // twice
FORM { const array_in_it a{{s, s}, co_await counts()}; (void)(a); }  // twice
FORM { tracked a[] = {s, co_await counts()}; (void)(a); }  // twice
FORM { std::array<tracked, 2> a{co_await gives(), s}; (void)(a); }  // twice
FORM { const auto [a, b] = aggregate{s, co_await counts()}; (void)(b); }  // twice
FORM { const std::pair<std::unique_ptr<tracked>, int> p{co_await gives_pointer(), 1}; (void)(p); }
FORM { const refers_to a{s, co_await counts()}; (void)(a); }
FORM { const plain a{co_await counts(), {}}; (void)(a), (void)(tracked(s)); }
FORM { const aggregate a{co_await gives_aggregate()}; (void)(a); }
FORM { const auto [a, b] = co_await gives_aggregate(); (void)(b); }
FORM { const auto n = co_await counts(); const aggregate a{s, n}; (void)(a); }
FORM { const std::pair<tracked, int> p{co_await gives(), 1}; (void)(p); }
FORM { const with_constructor w{s, co_await counts()}; (void)(w); }
FORM { std::vector<tracked> v(static_cast<std::size_t>(co_await counts()), s); }
FORM { std::optional<tracked> o{co_await gives()}; (void)(o); }

// new, throw.
FORM { auto* p = new tracked(co_await gives()); delete p; }  // twice
FORM { auto* p = new tracked{s + co_await gives()}; delete p; }  // twice
FORM { auto* p = new aggregate{s, co_await counts()}; delete p; }  // twice
FORM { auto* p = new tracked(co_await counts()); delete p; }
FORM { auto* p = new with_constructor(s, co_await counts()); delete p; }
FORM { const auto p = std::make_unique<tracked>(co_await gives()); }
FORM { try { throw error(co_await gives()); } catch (const error&) { (void)(s.value); } }  // twice
FORM { try { throw tracked(co_await counts()); } catch (const tracked&) { (void)(s.value); } }  // twice
FORM { try { throw co_await gives(); } catch (const tracked&) { (void)(s.value); } }  // twice
FORM { auto t = co_await gives(); try { throw error(t); } catch (const error&) { (void)(s.value); } }

// co_return, co_yield.
FORM_OF(result) { co_return result{1, co_await gives(), true}; }  // twice
FORM_OF(result) { co_return result{1, s, co_await asks()}; }  // twice
FORM_OF(result) { co_return result{1, s, true}; }
FORM_OF(result) { auto text = co_await gives(); co_return result{1, std::move(text), true}; }
FORM_OF(std::optional<result>) { co_return result{1, co_await gives(), true}; }  // twice
FORM_OF(tracked) { co_return c ? co_await gives() : s; }  // twice
FORM_OF(tracked) { co_return c ? s : tracked(); }
FORM_OF(tracked) { co_return co_await gives(); }
FORM_OF(with_constructor) { co_return with_constructor(s, co_await counts()); }
FORM_OF(std::function<void()>) { co_return [s] { (void)(s.value); }; }
FORM_OF(bool) { co_return co_await asks() && s == tracked(1); }
FORM { const auto g = [](tracked t) -> generator { co_yield aggregate{t, 1}; }; g(s).all.destroy(); co_await nothing(); }  // twice
FORM { const auto g = [](tracked t, bool b) -> generator { co_yield b ? t : tracked(); }; g(s, c).all.destroy(); co_await nothing(); }  // twice
FORM { const auto g = [] -> generator { co_yield tracked(1); }; g().all.destroy(); co_await nothing(); }

// The library's own functions take aggregates in braces.
FORM { runq::channel<aggregate> values(1); co_await values.send({s, 1}); }
FORM { runq::channel<aggregate> values(1); co_await values.send({s, co_await counts()}); }
FORM { runq::channel<aggregate> values(1); (void)(co_await runq::select(runq::on_send(values, {s, 1}), runq::otherwise())); }
FORM { runq::channel<tracked> values(1); co_await values.send(co_await gives()); }
FORM { runq::channel<aggregate> values(1); co_await values.send({co_await gives_aggregate()}); }
FORM { runq::channel<aggregate> values(1); const auto a = co_await gives_aggregate(); co_await values.send(a); }
FORM { runq::channel<aggregate> values(1); (void)(co_await runq::select(runq::on_send(values, {co_await gives_aggregate()}))); }
FORM { runq::channel<tracked> values(1); co_await values.send(c ? s : tracked()); }  // twice
FORM { runq::channel<std::pair<aggregate, int>> pairs(1); co_await pairs.send({aggregate{s, 1}, 2}); }  // twice
FORM { const auto got = co_await runq::blocking([&] { return aggregate{s, 1}; }); (void)(got); }

// Templates.
FORM { const auto f = [](auto t) -> task<> { co_await takes({t, 1}); }; co_await f(s); }  // twice
FORM { co_await in_template(s, 1); }
template <class T> task<> in_template(tracked s, T number) { co_await takes({s, number}); }  // twice
FORM { co_await dependent(s, aggregate()); }
template <class T> task<> dependent(tracked s, T) { const T value{s, co_await counts()}; (void)(value); }  // twice

// A co_await in a condition, in a function that declares nothing.
FORM { if (co_await asks()) (void)(tracked(s)); }  // lost
FORM { if (c && co_await asks()) (void)(tracked(s)); else (void)(tracked(s)); }  // lost
FORM { if (c) (void)(tracked(s)); else if (!co_await asks()) co_await nothing(); }  // lost
FORM { while (!co_await asks()) (void)(tracked(s)); }  // lost
FORM { do (void)(tracked(s)); while (!co_await asks()); }  // lost
FORM { for (; !co_await asks();) (void)(tracked(s)); }  // lost
FORM { switch (co_await counts()) { default: (void)(tracked(s)); } }  // lost
FORM { for (;;) { if (co_await asks()) break; } }  // lost
FORM { try { if (co_await asks()) (void)(tracked(s)); } catch (...) {} }  // lost
FORM { co_await asks_in_template(c); }
template <class T> task<> asks_in_template(T c) { if (co_await asks()) (void)(tracked(c)); }  // lost
FORM { if (const bool b = co_await asks()) (void)(tracked(b)); }
FORM { const bool b = co_await asks(); if (b) (void)(tracked(s)); }
FORM { const int one = 1; if (co_await asks()) (void)(tracked(one)); }
FORM { if (co_await asks()) { const int one = 1; (void)(tracked(one)); } }
FORM { for (int i = 0; i != 1; ++i) { if (co_await asks()) (void)(tracked(i)); } }
FORM { if (co_await asks()) [] { (void)(tracked(1)); }(); }
FORM { const auto f = [](tracked t) -> task<> { if (co_await asks()) (void)(tracked(t)); }; co_await f(s); }
FORM { try { if (co_await asks()) (void)(tracked(s)); } catch (const std::exception&) {} }
FORM { c ? (void)(co_await gives()) : (void)(tracked(s)); }
FORM { if (c) co_await takes_tracked(s); }
FORM { while (s.value-- > 1) co_await takes_tracked(s); }

// clang-format on

/// Whether the form, with either condition, destroys each object once and comes to its end.
bool is_right(const form& one) {
  for (const bool c : {true, false}) {
    runq::run(
        [&]() -> task<> {
          auto started = one.start(tracked(7), c);
          co_await std::move(started);
        },
        {.procs = 1});
  }
  return mistakes == 0 && alive.empty();
}

bool is_right_in_a_process_of_its_own(const form& one) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    std::freopen("/dev/null", "w", stderr);
    _exit(is_right(one) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

int main() {
  for (const form& one : forms)
    std::printf("%d %s\n", one.line, is_right_in_a_process_of_its_own(one) ? "right" : "wrong");
}
