// SPDX-License-Identifier: MIT
// Where the frames of coroutines could come from: two calls of a coroutine, as the row floor/two_coroutine_calls has
// them with a stack that nothing guards, with frames
//
//   _of_strands  from a stack per strand: each thread has a pointer to the segment of its strand's stack, and a strand
//                may go on in another thread, so a frame is freed by the segment that it lies in, and a segment ends
//   _of_caches   from the caches that the scheduler's processors have (runq/detail/frames.hpp)
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>

#include <benchmark/benchmark.h>
#include <runq/detail/frames.hpp>
#include <runq/detail/processor.hpp>

#include "coroutine_call.hpp"
#include "support.hpp"

namespace {

/// A segment of a strand's stack. Its address is a multiple of its size, so that a frame's address says in which
/// segment it lies.
struct alignas(1 << 14) segment {
  static constexpr std::size_t bytes = std::size_t{1} << 14;
  std::array<std::byte, bytes - 64> memory;
  std::byte* top = memory.data();
  segment* below = nullptr;
};
static_assert(sizeof(segment) == segment::bytes);

/// Stacks of frames, of which each strand has one. A frame that is freed while others stand above it, because another
/// thread runs the strand that they belong to, would have to be marked; no frame of this benchmark is, but each call
/// asks.
class strand_stacks {
 public:
  static void* take(std::size_t bytes) {
    const std::size_t whole = (bytes + 15) / 16 * 16;
    segment* s = current;
    if (s == nullptr || whole > room(*s)) s = grow();
    void* const frame = s->top;
    s->top += whole;
    return frame;
  }
  static void give_back(void* frame, std::size_t bytes) noexcept {
    auto& s = *reinterpret_cast<segment*>(reinterpret_cast<std::uintptr_t>(frame) & ~(segment::bytes - 1));
    auto* const at = static_cast<std::byte*>(frame);
    if (at + (bytes + 15) / 16 * 16 != s.top) std::terminate();  // see above
    s.top = at;
    if (at == s.memory.data() && s.below != nullptr) shrink(s);
  }

 private:
  [[nodiscard]] static std::size_t room(const segment& s) noexcept {
    return static_cast<std::size_t>(s.memory.data() + s.memory.size() - s.top);
  }
  [[gnu::noinline]] static segment* grow() {
    auto* const s = new segment;
    s->below = current;
    return current = s;
  }
  [[gnu::noinline]] static void shrink(segment& s) noexcept {
    current = s.below;
    delete &s;
  }
  static inline thread_local segment* current = nullptr;
};

/// As deallocate_frame() and allocate_frame(), but with a cache of this thread's in the place of its processor's.
class processor_caches {
 public:
  static void* take(std::size_t bytes) { return held->allocate(bytes); }
  static void give_back(void* frame, std::size_t bytes) noexcept { held->deallocate(frame, bytes); }
  static inline constinit thread_local runq::detail::frame_cache* held = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  runq::detail::frame_cache cache;
  processor_caches::held = &cache;
  runq_bench::add_row("floor/two_coroutine_calls_of_strands", runq_bench::coroutine_calls<strand_stacks>);
  runq_bench::add_row("floor/two_coroutine_calls_of_caches", runq_bench::coroutine_calls<processor_caches>);
  return runq_bench::run(argc, argv);
}
