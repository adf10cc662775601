// SPDX-License-Identifier: MIT
// What an example in a doc comment of the scheduler may use without declaring it.
#pragma once

#include <chrono>
#include <cstdio>
#include <optional>
#include <span>
#include <vector>

using namespace std::chrono_literals;

namespace {

[[maybe_unused]] runq::channel<int> numbers(3), out;
[[maybe_unused]] runq::channel<int> answers;
[[maybe_unused]] std::optional<int> first_answer;
[[maybe_unused]] int shared = 0;
[[maybe_unused]] std::vector<int> first_half, second_half;
template <class T>
[[maybe_unused]] void show(const T&) {}
[[maybe_unused]] runq::task<> work(int) { co_return; }
[[maybe_unused]] runq::task<int> sum(std::span<const int>) { co_return 0; }

}  // namespace
