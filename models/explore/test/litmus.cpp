// SPDX-License-Identifier: MIT
// Litmus shapes: the first argument is the shape, the exit status what the reads saw, as digits of base 2 after a
// leading 1 (2+2W: of base 3). litmus_test.py says which may come; power_test.py asks how often the last two do.
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

namespace {

using std::memory_order;
constexpr auto relaxed = memory_order::relaxed;
constexpr auto acquire = memory_order::acquire;
constexpr auto release = memory_order::release;
constexpr auto seq_cst = memory_order::seq_cst;

std::atomic<int> x, y;
int r[4];

template <class... Function>
void run(Function... functions) {
  std::thread threads[] = {std::thread(functions)...};
  for (std::thread& t : threads) t.join();
}
int outcome(int n, int base = 2) {
  int code = 1;
  for (int i = 0; i != n; ++i) code = code * base + r[i];
  return code;
}
void fence(bool wanted) {
  if (wanted) std::atomic_thread_fence(seq_cst);
}

int store_buffering(memory_order w, memory_order l, bool first_fence, bool second_fence) {
  run([=] { x.store(1, w), fence(first_fence), r[0] = y.load(l); },
      [=] { y.store(1, w), fence(second_fence), r[1] = x.load(l); });
  return outcome(2);
}
int message_passing(memory_order w, memory_order l, bool writer_fence, bool reader_fence) {
  run(
      [=] {
        x.store(1, relaxed);
        if (writer_fence) std::atomic_thread_fence(release);
        y.store(1, w);
      },
      [=] {
        r[0] = y.load(l);
        if (reader_fence) std::atomic_thread_fence(acquire);
        r[1] = x.load(relaxed);
      });
  return outcome(2);
}
int load_buffering() {
  run([] { r[0] = x.load(relaxed), y.store(1, relaxed); }, [] { r[1] = y.load(relaxed), x.store(1, relaxed); });
  return outcome(2);
}
int independent_reads(memory_order w, memory_order l, bool fences) {
  run([=] { x.store(1, w); }, [=] { y.store(1, w); }, [=] { r[0] = x.load(l), fence(fences), r[1] = y.load(l); },
      [=] { r[2] = y.load(l), fence(fences), r[3] = x.load(l); });
  return outcome(4);
}
/// The last values are read after both threads: 1 and 1 need both second stores before both first ones.
int two_plus_two_writes(memory_order w, bool fences) {
  run([=] { x.store(1, w), fence(fences), y.store(2, w); }, [=] { y.store(1, w), fence(fences), x.store(2, w); });
  r[0] = x.load(relaxed), r[1] = y.load(relaxed);
  return outcome(2, 3);
}
int read_to_write(memory_order w, memory_order l, bool fences) {
  run([=] { x.store(1, w); }, [=] { r[0] = x.load(l), fence(fences), r[1] = y.load(l); },
      [=] { y.store(1, w), fence(fences), r[2] = x.load(l); });
  return outcome(3);
}
int coherence_of_reads() {
  run([] { x.store(1, relaxed); }, [] { r[0] = x.load(relaxed), r[1] = x.load(relaxed); });
  return outcome(2);
}
int coherence_by_others() {
  run([] { x.store(1, relaxed); }, [] { r[0] = x.load(relaxed), y.store(1, release); },
      [] { r[1] = y.load(acquire), r[2] = x.load(relaxed); });
  return outcome(3);
}
int atomic_increments() {
  run([] { r[0] = x.fetch_add(1, relaxed); }, [] { r[1] = x.fetch_add(1, relaxed); });
  return outcome(2);
}
int release_sequence(bool broken) {
  run([] { x.store(1, relaxed), y.store(1, release); },
      [=] {
        if (broken) {
          if (y.load(relaxed) == 1) y.store(2, relaxed);
        } else {
          int one = 1;
          y.compare_exchange_strong(one, 2, relaxed);
        }
      },
      [] { r[0] = y.load(acquire) == 2, r[1] = x.load(relaxed); });
  return outcome(2);
}

/// Whether a store comes before a read of the same variable, behind eight operations that race with nothing.
int store_behind_others() {
  static std::atomic<int> own[4];
  std::thread other([] {
    for (std::atomic<int>& a : own) a.store(x.load(relaxed), relaxed);
    x.store(1, relaxed);
  });
  r[0] = x.load(relaxed);
  other.join();
  return outcome(1);
}
/// How many of three increments come before another thread's one.
int racing_increments() {
  std::thread other([] {
    for (int i = 0; i != 3; ++i) x.fetch_add(1, relaxed);
  });
  r[0] = x.fetch_add(1, relaxed);
  other.join();
  return outcome(1, 4);
}

}  // namespace

int main(int, char** arguments) {
  const auto is = [&](const char* shape) { return std::strcmp(arguments[1], shape) == 0; };
  if (is("SB")) return store_buffering(relaxed, relaxed, false, false);
  if (is("SB+ra")) return store_buffering(release, acquire, false, false);
  if (is("SB+sc")) return store_buffering(seq_cst, seq_cst, false, false);
  if (is("SB+fences")) return store_buffering(relaxed, relaxed, true, true);
  if (is("SB+fence")) return store_buffering(relaxed, relaxed, true, false);
  if (is("MP")) return message_passing(relaxed, relaxed, false, false);
  if (is("MP+ra")) return message_passing(release, acquire, false, false);
  if (is("MP+release")) return message_passing(release, relaxed, false, false);
  if (is("MP+acquire")) return message_passing(relaxed, acquire, false, false);
  if (is("MP+fences")) return message_passing(relaxed, relaxed, true, true);
  if (is("MP+sc")) return message_passing(seq_cst, seq_cst, false, false);
  if (is("LB")) return load_buffering();
  if (is("IRIW")) return independent_reads(relaxed, relaxed, false);
  if (is("IRIW+ra")) return independent_reads(release, acquire, false);
  if (is("IRIW+sc")) return independent_reads(seq_cst, seq_cst, false);
  if (is("IRIW+fences")) return independent_reads(relaxed, relaxed, true);
  if (is("2+2W")) return two_plus_two_writes(relaxed, false);
  if (is("2+2W+sc")) return two_plus_two_writes(seq_cst, false);
  if (is("2+2W+fences")) return two_plus_two_writes(relaxed, true);
  if (is("RWC")) return read_to_write(release, acquire, false);
  if (is("RWC+sc")) return read_to_write(seq_cst, seq_cst, false);
  if (is("RWC+fences")) return read_to_write(relaxed, relaxed, true);
  if (is("CoRR")) return coherence_of_reads();
  if (is("CoRR+others")) return coherence_by_others();
  if (is("RMW")) return atomic_increments();
  if (is("RS")) return release_sequence(false);
  if (is("RS+broken")) return release_sequence(true);
  if (is("store behind others")) return store_behind_others();
  if (is("racing increments")) return racing_increments();
  return 0;
}
