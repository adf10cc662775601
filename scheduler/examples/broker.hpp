// SPDX-License-Identifier: MIT
// A broker hands each message to all subscribers. A subscription ends in its destructor, which cannot wait.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <runq/runq.hpp>

/// A handle: copies are the same broker, so each task that publishes has one of its own. Any number of tasks may use
/// it.
class broker {
  struct subscriber {
    runq::send_end<std::string> to;
    std::stop_token gone;
  };
  // Destructors lock it, so it is a std::mutex: held for a moment, and never across a co_await.
  struct subscribers {
    std::mutex lock;
    std::map<const void*, subscriber> all;
  };

 public:
  /// Receives until it is destroyed, by any thread, before the broker or after it.
  class [[nodiscard]] subscription {
   public:
    subscription(subscription&&) noexcept = default;
    subscription& operator=(subscription&&) = delete;
    ~subscription() {
      if (const auto they = of_.lock()) {
        const std::lock_guard guard(they->lock);
        they->all.erase(messages.get());
      }
      gone_.request_stop();  // with nothing locked: it wakes tasks that wait to send
    }
    runq::receive_end<std::string> messages;

   private:
    friend broker;
    subscription(const std::shared_ptr<subscribers>& of, const runq::shared_channel<std::string>& channel)
        : messages(channel), of_(of) {
      const std::lock_guard guard(of->lock);
      of->all.emplace(channel.get(), subscriber{channel, gone_.get_token()});
    }
    std::weak_ptr<subscribers> of_;
    std::stop_source gone_;
  };

  /// With room for so many messages that were not received yet.
  subscription subscribe(std::size_t room) { return {they_, runq::make_channel<std::string>(room)}; }

  /// Waits for each subscriber that has no room, until it has or is gone.
  runq::task<> publish(std::string text) {
    for (const subscriber& s : those_now()) {
      try {
        co_await s.to.send(text, s.gone);
      } catch (const runq::cancelled&) {
        continue;  // it is gone
      }
    }
  }
  std::size_t size() const {
    const std::lock_guard guard(they_->lock);
    return they_->all.size();
  }

 private:
  // A copy, so that nothing is locked while a task waits.
  std::vector<subscriber> those_now() const {
    const std::lock_guard guard(they_->lock);
    std::vector<subscriber> now;
    for (const auto& [channel, one] : they_->all) now.push_back(one);
    return now;
  }
  std::shared_ptr<subscribers> they_ = std::make_shared<subscribers>();
};
