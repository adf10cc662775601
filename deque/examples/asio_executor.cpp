// SPDX-License-Identifier: MIT
// Asio's handlers on workers that steal: an execution context whose executor puts every handler into a local_queue.
// Timers, sockets and strands are Asio's own and know nothing of it: they get the context where they would get an
// io_context. Asio watches the descriptors and the clock on a thread of its own and hands the handlers over.
//
// Asio submits a handler in one of three ways. The executor does this:
//   asio::post      behind everything this worker has             (local_queue::push)
//   asio::defer     to run next: it continues what runs now       (local_queue::push_next, the runnext slot)
//   asio::dispatch  on a worker: at once, without any queue
// Threads that are no workers, Asio's among them, submit to the global queue.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <asio.hpp>
#include <runq/local_queue.hpp>

/// Runs handlers on threads of its own. Each thread has a queue, from which the others steal. An exception that leaves
/// a handler ends the process.
class stealing_pool : public asio::execution_context {
  struct handler {
    virtual ~handler() = default;
    virtual void run() = 0;
    runq::inject_link<handler> link{};
  };
  template <class F>
  struct handler_of final : handler {
    explicit handler_of(F f) : function(std::move(f)) {}
    // Asio asks that a handler's memory be free when the handler runs: it may start the next operation with it.
    void run() override {
      F f(std::move(function));
      delete this;
      f();
    }
    F function;
  };
  using local_queue = runq::local_queue<&handler::link>;

 public:
  class executor_type;

  explicit stealing_pool(unsigned threads) {
    for (unsigned i = 0; i != threads; ++i) workers_.push_back(std::make_unique<worker>(*this, i + 1));
    for (const auto& w : workers_) w->thread = std::thread([&w = *w] { w.work(); });
  }
  /// Waits as wait() does. After that Asio submits no more handlers.
  ~stealing_pool() {
    wait();
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (const auto& w : workers_) w->thread.join();
    shutdown();
    destroy();
  }

  executor_type get_executor() noexcept;

  /// Waits until no handler is queued or runs, and no executor says that more work will come. Every asynchronous
  /// operation of Asio holds such an executor while it is in progress.
  void wait() {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return outstanding_.load() == 0; });
  }

  /// Whether the calling thread is one of the workers.
  [[nodiscard]] bool running_in_this_thread() const noexcept { return self_ != nullptr && &self_->pool == this; }

  struct counters {
    std::size_t run = 0;     // handlers that came through a queue
    std::size_t stolen = 0;  // how often a handler was taken out of another worker's queue
  };
  /// Exact once wait() has returned.
  [[nodiscard]] counters count() const {
    counters all;
    for (const auto& w : workers_) {
      all.run += w->run.load(std::memory_order::relaxed);
      all.stolen += w->stolen.load(std::memory_order::relaxed);
    }
    return all;
  }

 private:
  struct worker {
    worker(stealing_pool& p, unsigned seed) : pool(p), queue(p.global_), random(seed) {}

    void work() {
      self_ = this;
      do {
        while (handler* const h = find()) {
          h->run();
          run.fetch_add(1, std::memory_order::relaxed);
          pool.work_finished();
        }
      } while (pool.sleep());
    }

    handler* find() {
      // Now and then the oldest go first, or two handlers that keep deferring to each other would starve all others.
      if (++ticks % 61 == 0) {
        if (handler* const oldest = pool.global_.has_work() ? pool.global_.take() : nullptr) return oldest;
        if (handler* const oldest = owner.pop_oldest()) return oldest;
      }
      if (const auto own = owner.pop()) return own.task;
      if (pool.global_.has_work_approx()) {
        if (handler* const shared = owner.take_from(pool.global_, pool.workers_.size())) return shared;
      }
      return steal_from_another();
    }

    handler* steal_from_another() {
      for (const auto next_too : {runq::steal_runnext::no, runq::steal_runnext::yes}) {
        const std::size_t start = random();
        for (std::size_t i = 0; i != pool.workers_.size(); ++i) {
          const worker& victim = *pool.workers_[(start + i) % pool.workers_.size()];
          if (&victim == this) continue;
          if (const auto loot = owner.steal_from(victim.queue.make_thief(), next_too)) {
            stolen.fetch_add(loot.count, std::memory_order::relaxed);
            return loot.value;
          }
        }
      }
      return nullptr;
    }

    stealing_pool& pool;
    local_queue queue;
    local_queue::owner owner = queue.make_owner();  // binds to the worker's thread by its first use
    std::minstd_rand random;
    unsigned ticks = 0;
    std::atomic<std::size_t> run{0}, stolen{0};  // written by this worker only
    std::thread thread{};
  };

  template <class F>
  void submit(F&& f, bool next) {
    handler* const h = std::make_unique<handler_of<std::decay_t<F>>>(std::forward<F>(f)).release();
    work_started();
    if (!running_in_this_thread()) {
      global_.put(h);
    } else if (next) {
      self_->owner.push_next(h);
    } else {
      self_->owner.push(h);
    }
    // This thread has published the handler; after a fence it looks for sleepers. A worker in sleep() first counts
    // itself as a sleeper; after a fence it looks for handlers. So this thread sees the sleeper, or the worker sees the
    // handler; examples/thread_pool.cpp says why.
    runq::std_atomics::fence(std::memory_order::seq_cst);
    if (sleepers_.load(std::memory_order::relaxed) == 0) return;
    const std::lock_guard lock(mutex_);
    wake_.notify_one();
  }

  // False when the pool is being destroyed.
  bool sleep() {
    const auto has_work = [](const auto& w) { return w->queue.make_thief().has_work(); };
    std::unique_lock lock(mutex_);
    sleepers_.fetch_add(1, std::memory_order::relaxed);
    runq::std_atomics::fence(std::memory_order::seq_cst);
    const bool idle = !global_.has_work() && std::none_of(workers_.begin(), workers_.end(), has_work);
    const bool stop = idle && stopping_;
    if (idle && !stop) wake_.wait(lock);
    sleepers_.fetch_sub(1, std::memory_order::relaxed);
    return !stop;
  }

  void work_started() noexcept { outstanding_.fetch_add(1); }
  void work_finished() noexcept {
    if (outstanding_.fetch_sub(1) != 1) return;
    const std::lock_guard lock(mutex_);
    idle_.notify_all();
  }

  static inline thread_local worker* self_ = nullptr;  // the worker that this thread is, of whichever pool
  local_queue::global_queue global_{};
  std::vector<std::unique_ptr<worker>> workers_{};
  std::atomic<std::size_t> sleepers_{0}, outstanding_{0};
  std::mutex mutex_{};
  std::condition_variable wake_{}, idle_{};
  bool stopping_ = false;  // under mutex_
};

/// What Asio asks of an executor: execute() and ==, and the properties with which it says how it wants a handler to be
/// run. They are values, not types, so that there is one type.
class stealing_pool::executor_type {
 public:
  executor_type(const executor_type& other) noexcept : executor_type(other.properties_) {}
  executor_type& operator=(const executor_type& other) noexcept {
    executor_type copy(other);
    std::swap(properties_, copy.properties_);
    return *this;
  }
  ~executor_type() {
    if (properties_.tracked) properties_.pool->work_finished();
  }

  template <class F>
  void execute(F&& f) const {
    if (!properties_.never_blocking && properties_.pool->running_in_this_thread()) {
      std::decay_t<F> function(std::forward<F>(f));
      function();
    } else {
      properties_.pool->submit(std::forward<F>(f), properties_.continuation);
    }
  }
  friend bool operator==(const executor_type& a, const executor_type& b) noexcept {
    return a.properties_.pool == b.properties_.pool;
  }
  friend bool operator!=(const executor_type& a, const executor_type& b) noexcept { return !(a == b); }

  // query() returns a property. require() returns the same executor with one property changed; Asio makes prefer() of
  // it.
  stealing_pool& query(asio::execution::context_t) const noexcept { return *properties_.pool; }
  asio::execution::blocking_t query(asio::execution::blocking_t) const noexcept {
    if (properties_.never_blocking) return asio::execution::blocking.never;
    return asio::execution::blocking.possibly;
  }
  asio::execution::relationship_t query(asio::execution::relationship_t) const noexcept {
    if (properties_.continuation) return asio::execution::relationship.continuation;
    return asio::execution::relationship.fork;
  }
  asio::execution::outstanding_work_t query(asio::execution::outstanding_work_t) const noexcept {
    if (properties_.tracked) return asio::execution::outstanding_work.tracked;
    return asio::execution::outstanding_work.untracked;
  }
  executor_type require(asio::execution::blocking_t::never_t) const { return with(&properties::never_blocking, true); }
  executor_type require(asio::execution::blocking_t::possibly_t) const {
    return with(&properties::never_blocking, false);
  }
  executor_type require(asio::execution::relationship_t::continuation_t) const {
    return with(&properties::continuation, true);
  }
  executor_type require(asio::execution::relationship_t::fork_t) const {
    return with(&properties::continuation, false);
  }
  executor_type require(asio::execution::outstanding_work_t::tracked_t) const {
    return with(&properties::tracked, true);
  }
  executor_type require(asio::execution::outstanding_work_t::untracked_t) const {
    return with(&properties::tracked, false);
  }

 private:
  friend class stealing_pool;

  struct properties {
    stealing_pool* pool;
    bool never_blocking = false;  // never run a handler inside execute()
    bool continuation = false;    // the handler continues what runs now
    bool tracked = false;         // while this executor exists, the pool has something to wait for
  };
  explicit executor_type(const properties& p) noexcept : properties_(p) {
    if (p.tracked) p.pool->work_started();
  }
  [[nodiscard]] executor_type with(bool properties::*property, bool value) const noexcept {
    properties changed = properties_;
    changed.*property = value;
    return executor_type(changed);
  }

  properties properties_;
};

inline stealing_pool::executor_type stealing_pool::get_executor() noexcept {
  return executor_type(executor_type::properties{this});
}

static_assert(asio::execution::is_executor<stealing_pool::executor_type>::value);
// By default sockets and timers keep an any_io_executor, so this executor must convert to it.
static_assert(std::is_convertible_v<stealing_pool::executor_type, asio::any_io_executor>);

// ---- four programs that use Asio, and the results that they must have

namespace {

using asio::ip::tcp;

int failures = 0;
void expect(bool so, const char* what) {
  std::printf("%s: %s\n", so ? "right" : "WRONG", what);
  failures += so ? 0 : 1;
}

/// Counts calls, and those that came on a thread that is no worker.
struct tally {
  const stealing_pool& pool;
  std::atomic<int> calls{0}, elsewhere{0};

  void operator()() {
    ++calls;
    elsewhere += pool.running_in_this_thread() ? 0 : 1;
  }
  [[nodiscard]] bool is(int n) const { return calls == n && elsewhere == 0; }
};

// A tree of handlers: each submits two more, one by post and one by defer, and runs a third by dispatch.
void grow(stealing_pool& pool, tally& seen, int depth) {
  seen();
  if (depth == 0) return;
  asio::post(pool, [&pool, &seen, depth] { grow(pool, seen, depth - 1); });
  asio::defer(pool, [&pool, &seen, depth] { grow(pool, seen, depth - 1); });
  bool at_once = false;
  asio::dispatch(pool, [&seen, &at_once] {
    seen();
    at_once = true;
  });
  if (!at_once) ++seen.elsewhere;
}

// A handler that occupies its worker until another one has run, which is in that worker's queue: another worker must
// steal it.
void only_a_thief_can(stealing_pool& pool, tally& seen) {
  asio::post(pool, [&pool, &seen] {
    std::atomic<bool> done{false};
    asio::post(pool, [&seen, &done] {
      seen();
      done = true;
    });
    while (!done) std::this_thread::yield();
    seen();
  });
}

/// A timer that fires `rounds` times, a millisecond apart.
class ticker : public std::enable_shared_from_this<ticker> {
 public:
  ticker(stealing_pool& pool, tally& seen, int rounds) : timer_(pool), seen_(seen), left_(rounds) {}
  void start() {
    timer_.expires_after(std::chrono::milliseconds(1));
    timer_.async_wait([self = shared_from_this()](const asio::error_code& error) {
      const bool too_early = std::chrono::steady_clock::now() < self->timer_.expiry();
      if (error || too_early) return;  // then the check of the number of calls fails
      self->seen_();
      if (--self->left_ != 0) self->start();
    });
  }

 private:
  asio::steady_timer timer_;
  tally& seen_;
  int left_;
};

/// The server's side of a connection: sends back what comes, until the other side closes.
class echo : public std::enable_shared_from_this<echo> {
 public:
  echo(tcp::socket socket, tally& seen) : socket_(std::move(socket)), seen_(seen) {
    socket_.set_option(tcp::no_delay(true));  // or every answer waits for the other side's delayed acknowledgement
  }
  void start() {
    socket_.async_read_some(asio::buffer(data_),
                            [self = shared_from_this()](const asio::error_code& error, std::size_t n) {
                              self->seen_();
                              if (!error) self->answer(n);
                            });
  }

 private:
  void answer(std::size_t n) {
    asio::async_write(socket_, asio::buffer(data_, n),
                      [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                        self->seen_();
                        if (!error) self->start();
                      });
  }

  tcp::socket socket_;
  tally& seen_;
  std::array<char, 512> data_{};
};

void accept(tcp::acceptor& acceptor, tally& seen, int connections) {
  if (connections == 0) return;
  acceptor.async_accept([&acceptor, &seen, connections](const asio::error_code& error, tcp::socket socket) {
    seen();
    if (!error) std::make_shared<echo>(std::move(socket), seen)->start();
    accept(acceptor, seen, connections - 1);
  });
}

/// The client's side: sends `messages` messages of its own, waits for each to come back, and compares.
class client : public std::enable_shared_from_this<client> {
 public:
  client(stealing_pool& pool, tally& seen, std::atomic<int>& right, int number, int messages)
      : socket_(pool), seen_(seen), right_(right), number_(number), left_(messages) {}
  void start(const tcp::endpoint& server) {
    socket_.async_connect(server, [self = shared_from_this()](const asio::error_code& error) {
      self->seen_();
      if (error) return;
      self->socket_.set_option(tcp::no_delay(true));
      self->send();
    });
  }

 private:
  void send() {
    if (left_-- == 0) return;  // the last handler that knows this client closes its socket
    sent_.assign(static_cast<std::size_t>(1 + (number_ * 97 + left_ * 31) % 2000), static_cast<char>('a' + left_ % 26));
    sent_.front() = static_cast<char>('A' + number_ % 26);
    received_.assign(sent_.size(), '\0');
    asio::async_write(socket_, asio::buffer(sent_),
                      [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                        self->seen_();
                        if (!error) self->receive();
                      });
  }
  void receive() {
    asio::async_read(socket_, asio::buffer(received_),
                     [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                       self->seen_();
                       if (error || self->received_ != self->sent_) return;
                       ++self->right_;
                       self->send();
                     });
  }

  tcp::socket socket_;
  tally& seen_;
  std::atomic<int>& right_;
  const int number_;
  int left_;
  std::string sent_{}, received_{};
};

}  // namespace

int main() {
  stealing_pool pool(4);

  tally tree{pool};
  asio::post(pool, [&pool, &tree] { grow(pool, tree, 12); });
  pool.wait();
  // 2^13 - 1 handlers, and 2^12 - 1 that were dispatched by those that are no leaves.
  expect(tree.is(8191 + 4095), "12286 handlers by post, defer and dispatch, all on workers");

  tally theft{pool};
  const std::size_t before = pool.count().stolen;
  only_a_thief_can(pool, theft);
  pool.wait();
  expect(theft.is(2) && pool.count().stolen > before, "a handler that its own worker cannot run is stolen");

  // A strand over this executor: its handlers never overlap, so a plain int counts them.
  const auto strand = asio::make_strand(pool);
  int plain = 0;
  for (int i = 0; i != 1000; ++i) asio::post(strand, [&plain] { ++plain; });
  pool.wait();
  expect(plain == 1000, "1000 handlers on a strand, one at a time");

  tally ticks{pool};
  for (int i = 0; i != 20; ++i) std::make_shared<ticker>(pool, ticks, 10)->start();
  // The executor may also come with the handler instead of the timer.
  asio::io_context elsewhere;
  asio::steady_timer foreign(elsewhere, std::chrono::milliseconds(5));
  foreign.async_wait(asio::bind_executor(pool.get_executor(), [&ticks](const asio::error_code&) { ticks(); }));
  elsewhere.run();
  pool.wait();
  expect(ticks.is(20 * 10 + 1), "201 timers fire, none too early, all on workers");

  constexpr int connections = 8;
  constexpr int messages = 100;
  tally served{pool};
  tally used{pool};
  std::atomic<int> right{0};
  {
    tcp::acceptor acceptor(pool, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    accept(acceptor, served, connections);
    for (int i = 0; i != connections; ++i) {
      std::make_shared<client>(pool, used, right, i, messages)->start(acceptor.local_endpoint());
    }
    pool.wait();
  }
  expect(right == connections * messages && served.elsewhere == 0 && used.is(connections * (1 + 2 * messages)),
         "8 connections, 100 messages each, come back as they were sent; all handlers on workers");

  const auto total = pool.count();
  std::printf("%zu handlers came through the queues; %zu times one of them was stolen\n", total.run, total.stolen);
  return failures;
}
