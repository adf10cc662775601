// SPDX-License-Identifier: MIT
// any_spec: a specification of any type. The laws use it so that what RapidCheck makes of them is compiled once, and
// not for each specification: that took more than a quarter of the time of compiling the laws.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "operations.hpp"

namespace runq::props::detail {

/// What depends on the type of a specification, and not on its state. fifo_spec says what each means.
struct spec_traits {
  std::size_t how_many;  ///< queues in a law about one thread
  const char* type_name;
  std::size_t (*fresh_values)(const operation&);
  operation (*tidy)(operation, const candidate&, std::size_t queues);
  std::vector<operation> (*emptying)(std::size_t queues);
  std::vector<verb> (*concurrent_mix)(std::size_t actor);
  std::string (*code)(const operation&, const outcome& want, const paste&);
  values (*entered)(const operation&, const outcome& seen);
};

template <class Spec>
inline constexpr spec_traits traits_of = {
    .how_many = Spec::how_many,
    .type_name = Spec::type_name,
    .fresh_values = Spec::fresh_values,
    .tidy = Spec::tidy,
    .emptying = Spec::emptying,
    .concurrent_mix = Spec::concurrent_mix,
    .code = Spec::code,
    .entered = Spec::entered,
};

/// A state of a specification, which is copied with it.
class any_spec {
 public:
  template <class Spec>
  [[nodiscard]] static any_spec of(const candidate& c, std::size_t queues) {
    return any_spec(traits_of<Spec>, std::make_unique<state_of<Spec>>(Spec(c, queues)));
  }
  any_spec(const any_spec& other) : traits_(other.traits_), state_(other.state_->copy()) {}
  any_spec(any_spec&&) noexcept = default;
  any_spec& operator=(any_spec other) noexcept {
    traits_ = other.traits_;
    state_ = std::move(other.state_);
    return *this;
  }
  ~any_spec() = default;

  [[nodiscard]] const spec_traits& traits() const noexcept { return *traits_; }
  /// What the call returns if no other thread calls anything.
  outcome apply(const operation& o) { return state_->apply(o); }

 private:
  struct state {
    state() = default;
    state(const state&) = default;
    state& operator=(const state&) = delete;
    virtual ~state() = default;
    [[nodiscard]] virtual std::unique_ptr<state> copy() const = 0;
    virtual outcome apply(const operation& o) = 0;
  };
  template <class Spec>
  struct state_of final : state {
    explicit state_of(Spec s) : spec(std::move(s)) {}
    [[nodiscard]] std::unique_ptr<state> copy() const override { return std::make_unique<state_of>(*this); }
    outcome apply(const operation& o) override { return spec.apply(o); }
    Spec spec;
  };

  any_spec(const spec_traits& traits, std::unique_ptr<state> first) noexcept
      : traits_(&traits), state_(std::move(first)) {}

  const spec_traits* traits_;
  std::unique_ptr<state> state_;
};

}  // namespace runq::props::detail
