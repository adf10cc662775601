// SPDX-License-Identifier: MIT
#include "exact_team.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace runq::model::exact {

// --- what the members share ----------------------------------------------------------------------------------------

shared_set::answer shared_set::insert(std::uint64_t number) noexcept {
  if (number == 0) number = 1;
  for (std::size_t i = static_cast<std::size_t>(number);; ++i) {
    std::atomic<std::uint64_t>& slot = slots_[i % slots_.size()];
    // [team.set.look] relaxed, unmodelled: only the number itself matters, nothing is published with it.
    std::uint64_t there = slot.load(std::memory_order::relaxed);
    if (there == 0) {
      // [team.set.size] relaxed, unmodelled: only the count matters, and each member adds before it takes a slot.
      if (size_.fetch_add(1, std::memory_order::relaxed) >= capacity) return answer::full;
      // [team.set.take] relaxed, unmodelled: as [team.set.look]. On failure `there` is the number of another member.
      if (slot.compare_exchange_strong(there, number, std::memory_order::relaxed)) return answer::added;
    }
    if (there == number) return answer::was_there;
  }
}

team::team(unsigned jobs, bool sets) : jobs_(jobs) {
  const std::size_t begin_of_members = (sizeof(shared_state) + cache_line - 1) / cache_line * cache_line;
  const std::size_t begin_of_sets = begin_of_members + jobs * sizeof(member);
  bytes_ = begin_of_sets + (sets ? number_of_sets * sizeof(shared_set) : 0);
  // Pages come into being when they are written, so what is not used costs nothing.
  void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  memory_ = memory;
  auto* const bytes = static_cast<std::byte*>(memory);
  shared_ = ::new (bytes) shared_state;
  for (unsigned i = 0; i != jobs; ++i) {
    auto* const m = ::new (bytes + begin_of_members + i * sizeof(member)) member;
    if (i == 0) members_ = m;
  }
  // Fresh pages hold zeros, which is an empty set: to construct it would write all of them.
  if (sets) sets_ = reinterpret_cast<shared_set*>(bytes + begin_of_sets);
}

team::~team() {
  owner_.reset();
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

unsigned team::fork_members() {
  const pid_t parent = getpid();
  for (unsigned i = 1; i != jobs_; ++i) {
    const pid_t pid = fork();
    if (pid < 0) break;  // fewer will do
    if (pid == 0) {
#ifdef __linux__
      // If the first member is killed, the others are killed, too.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
      if (getppid() != parent) _exit(1);
      self_ = i;
      pids_.clear();
      break;
    }
    pids_.push_back(pid);
    others_.push_back(&members()[i].left);
  }
  owner_.emplace(members()[self_].offered.make_owner());
  return self_;
}

/// A member that died may have had work, and the others would wait for ever for its end: so this ends the search.
void team::look_after_members() noexcept {
  std::erase_if(pids_, [this](pid_t pid) {
    int status = 0;
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
    if (ended != pid || status != 0) lost_ = true;
    return true;
  });
  if (lost_) stop();
}

void team::wait_for_members() noexcept {
  for (const pid_t pid : pids_) {
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR) continue;
    if (ended != pid || status != 0) lost_ = true;
  }
  pids_.clear();
}

std::uint64_t team::executions() const noexcept {
  std::uint64_t sum = 0;
  // [team.executions.read] relaxed, unmodelled: see [team.executions]; the result has the summaries instead.
  for (unsigned i = 0; i != jobs_; ++i) sum += members()[i].executions.load(std::memory_order::relaxed);
  return sum;
}

double team::weight_done() const noexcept {
  double sum = 0;
  // [team.weight.read] relaxed, unmodelled: see [team.weight].
  for (unsigned i = 0; i != jobs_; ++i) sum += members()[i].weight_done.load(std::memory_order::relaxed);
  return sum;
}

// --- graphs that travel ----------------------------------------------------------------------------------------------

bool team::wants_graphs() const noexcept {
  // [team.idle.read] relaxed, unmodelled: a guess; a graph that no member waits for is taken back.
  return shared_->idle.load(std::memory_order::relaxed) > owner_->size_approx();
}

bool team::offer(const graph& g) noexcept {
  if (g.packed_bytes() > parcel_bytes) return false;
  for (parcel& p : members()[self_].outgoing) {
    // [team.parcel.free] acquire, unmodelled: pairs with [team.parcel.give_back]; weaker: this member writes a graph
    // over one that another still reads.
    if (p.used.load(std::memory_order::acquire)) continue;
    g.pack(p.packed.data());
    // [team.parcel.take] relaxed, unmodelled: only this member asks whether its parcel is free.
    p.used.store(true, std::memory_order::relaxed);
    // [team.work.offer] relaxed, unmodelled: the ring publishes it together with the graph.
    shared_->work.fetch_add(1, std::memory_order::relaxed);
    if (owner_->push(&p)) return true;
    // [team.work.keep] relaxed, unmodelled: this member is at work, so the count is not 0 after it.
    shared_->work.fetch_sub(1, std::memory_order::relaxed);
    // [team.parcel.keep] relaxed, unmodelled: as [team.parcel.take].
    p.used.store(false, std::memory_order::relaxed);
    return false;
  }
  return false;
}

team::parcel* team::find_work(unsigned& victim) noexcept {
  if (const std::optional<parcel*> mine = owner_->pop()) return *mine;
  for (unsigned i = 0; i != jobs_; ++i) {
    victim = (victim + 1) % jobs_;
    if (victim == self_) continue;
    const auto stolen = members()[victim].offered.make_thief().steal_half_into(*owner_);
    if (stolen) return stolen.value;
  }
  return nullptr;
}

bool team::take(graph& g, bool has_worked) {
  constexpr unsigned rounds_awake = 64;
  // [team.idle.add] relaxed, unmodelled: see [team.idle.read].
  shared_->idle.fetch_add(1, std::memory_order::relaxed);
  // [team.work.done] relaxed, unmodelled: this subtraction comes after the additions for the graphs on offer, to the
  // same variable. A graph that a member takes counts as work until that member has none left. So once the count is 0,
  // it stays 0.
  if (has_worked) shared_->work.fetch_sub(1, std::memory_order::relaxed);
  unsigned victim = self_;
  for (unsigned round = 0;; ++round) {
    // [team.work.read] relaxed, unmodelled: 0 is the end, as [team.work.done] says; what the members have found is read
    // when their processes have ended.
    if (stopped() || shared_->work.load(std::memory_order::relaxed) == 0) return false;
    if (parcel* const p = find_work(victim)) {
      // [team.idle.sub] relaxed, unmodelled: see [team.idle.read].
      shared_->idle.fetch_sub(1, std::memory_order::relaxed);
      g.unpack(p->packed.data());
      // [team.parcel.give_back] release, unmodelled: pairs with [team.parcel.free]; weaker: the graph is overwritten
      // while this member reads it.
      p->used.store(false, std::memory_order::release);
      return true;
    }
    if (round < rounds_awake) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    if (self_ == 0 && round % rounds_awake == 0) look_after_members();
  }
}

}  // namespace runq::model::exact
