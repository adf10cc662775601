// SPDX-License-Identifier: MIT
// The file is in the Trace Event Format of Chrome, which Perfetto reads too.
#include "runq/detail/tracer.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "runq/detail/process_locks.hpp"

namespace runq::detail {
namespace {

constexpr std::uint32_t first_machine_lane = 10'000;  // beyond any processor's number

struct closer {
  void operator()(std::FILE* f) const noexcept { std::fclose(f); }
};
using file_handle = std::unique_ptr<std::FILE, closer>;

file_handle open(const std::string& name) { return file_handle(std::fopen(name.c_str(), "w")); }

/// The tracers that exist, so that each has a file of its own and a process that dies can write them all. Under the
/// lock `traces`.
std::vector<tracer*>& living_tracers() {
  static std::vector<tracer*> living;
  return living;
}

std::string numbered(const std::filesystem::path& file, unsigned n) {
  std::filesystem::path other = file;
  other.replace_extension("." + std::to_string(n));
  return other += file.extension();
}

// Names are literals of the program, but a quote in one must not spoil the file.
std::string escaped(const char* text) {
  std::string out;
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\') out += '\\';
    if (static_cast<unsigned char>(*text) >= 0x20) out += *text;
  }
  return out;
}

std::string task_name(const tracer::who& task) {
  return "task " + std::to_string(task.id) + (task.name == nullptr ? "" : " " + escaped(task.name));
}

std::string lane_name(std::uint32_t lane) {
  if (lane < first_machine_lane) return "P" + std::to_string(lane);
  return "M" + std::to_string(lane - first_machine_lane) + " without a processor";
}

}  // namespace

// One event per line. The format counts in µs.
class tracer::json {
 public:
  json(std::FILE* out, instant start) : out_(out), start_(start) { std::fputs("{\"traceEvents\":[\n", out_); }
  json(const json&) = delete;
  json& operator=(const json&) = delete;

  void lane(std::uint32_t number) {
    begin_event("M", number);
    std::fprintf(out_, R"(,"name":"thread_name","args":{"name":"%s"}})", lane_name(number).c_str());
    begin_event("M", number);
    std::fprintf(out_, R"(,"name":"thread_sort_index","args":{"sort_index":%u}})", number);
  }
  void slice(std::uint32_t number, const char* category, const std::string& name, instant begin, instant end) {
    begin_event("X", number);
    std::fprintf(out_, R"(,"cat":"%s","name":"%s","ts":%.3f,"dur":%.3f})", category, name.c_str(), us(begin),
                 static_cast<double>(end - begin) / 1000);
  }
  // From the slice on lane `from` at `begin` to the one on `to` at `end`.
  void arrow(std::uint32_t from, std::uint32_t to, instant begin, instant end) {
    ++arrows_;
    arrow_end("s", from, begin);
    arrow_end("f", to, end);
  }
  void end(std::uint64_t dropped) {
    std::fprintf(out_, "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"dropped_events\":%" PRIu64 "}}\n", dropped);
  }

 private:
  void begin_event(const char* phase, std::uint32_t number) {
    if (!first_) std::fputs(",\n", out_);
    first_ = false;
    std::fprintf(out_, R"({"ph":"%s","pid":1,"tid":%u)", phase, number);
  }
  void arrow_end(const char* phase, std::uint32_t number, instant at) {
    begin_event(phase, number);
    std::fprintf(out_, R"(,"bp":"e","cat":"steal","name":"steal","id":%)" PRIu64 R"(,"ts":%.3f})", arrows_, us(at));
  }
  [[nodiscard]] double us(instant t) const { return static_cast<double>(t - start_) / 1000; }
  std::FILE* out_;
  instant start_;
  bool first_ = true;
  std::uint64_t arrows_ = 0;
};

tracer::tracer(const std::string& file, std::size_t limit)
    : file_(file), limit_(limit), start_(now()), process_(getpid()) {
  const std::lock_guard lock(locks_of_process.traces);
  std::vector<tracer*>& living = living_tracers();
  const auto taken = [&living](const std::string& name) {
    return std::any_of(living.begin(), living.end(), [&](const tracer* t) { return t->file_ == name; });
  };
  for (unsigned n = 2; taken(file_); ++n) file_ = numbered(file, n);
  if (open(file_) == nullptr) throw std::system_error(errno, std::generic_category(), "runq: RUNQ_TRACE: " + file_);
  living.push_back(this);
}

tracer::~tracer() {
  const std::lock_guard lock(locks_of_process.traces);
  std::vector<tracer*>& living = living_tracers();
  living.erase(std::find(living.begin(), living.end(), this));
}

void tracer::write_all() noexcept {
  const std::lock_guard lock(locks_of_process.traces);
  for (tracer* const t : living_tracers()) {
    // A child of fork() leaves those of its parent alone: the parent writes them.
    if (t->process_ == getpid()) t->write();
  }
}

void tracer::add(const event& e) {
  const std::lock_guard lock(mutex_);
  if (events_.size() < limit_) {
    events_.push_back(e);
  } else {
    ++dropped_;
  }
}

void tracer::ran(std::uint32_t processor, who task, instant begin, instant end) {
  add({kind::run, processor, 0, 0, task, begin, end});
}
void tracer::called(std::uint32_t processor, who task, instant begin, instant end) {
  add({kind::call, processor, 0, 0, task, begin, end});
}
void tracer::called_without(std::uint32_t machine, std::uint32_t lost, who task, instant begin, instant end) {
  add({kind::call_without, first_machine_lane + machine, lost, 0, task, begin, end});
}
void tracer::taken_from_call(std::uint32_t processor, instant at) {
  add({kind::taken_from_call, processor, 0, 0, {}, at, at});
}
void tracer::looked(std::uint32_t processor, instant begin, instant end) {
  add({kind::look, processor, 0, 0, {}, begin, end});
}
void tracer::stole(std::uint32_t victim, std::uint32_t thief, std::uint64_t count, instant begin, instant end) {
  add({kind::steal, thief, victim, count, {}, begin, end});
}

void tracer::put(json& out, const event& e, const times_of_lanes& taken) {
  // unreached: the switch has all kinds.
  switch (e.what) {
    case kind::run: out.slice(e.lane, "run", task_name(e.task), e.begin, e.end); break;
    case kind::call: out.slice(e.lane, "call", "blocking call of " + task_name(e.task), e.begin, e.end); break;
    case kind::call_without:
      out.slice(e.lane, "call", "blocking call of " + task_name(e.task), e.begin, e.end);
      if (const auto times = taken.find(e.other); times != taken.end()) {
        const auto end = std::upper_bound(times->second.begin(), times->second.end(), e.begin);
        if (end == times->second.end()) break;
        out.slice(e.other, "held", "held by the blocking call of " + task_name(e.task), e.begin, *end);
      }
      break;
    case kind::taken_from_call: break;  // the end of a slice `held`
    case kind::look: out.slice(e.lane, "look", "looks for work", e.begin, e.end); break;
    case kind::steal:
      out.slice(e.lane, "steal", "steals " + std::to_string(e.stolen) + " from P" + std::to_string(e.other), e.begin,
                e.end);
      // The arrow begins at this mark, whatever the victim does. The mark has no length, so it overlaps nothing.
      out.slice(e.other, "robbed", "P" + std::to_string(e.lane) + " takes " + std::to_string(e.stolen), e.begin,
                e.begin);
      out.arrow(e.other, e.lane, e.begin, e.begin + (e.end - e.begin) / 2);
      break;
  }
}

void tracer::write() noexcept {
  const std::lock_guard lock(mutex_);
  const file_handle f = open(file_);
  if (f == nullptr) {
    std::fprintf(stderr, "runq: RUNQ_TRACE: %s: %s\n", file_.c_str(), std::strerror(errno));
    return;
  }
  // A slice that contains others comes before them.
  std::sort(events_.begin(), events_.end(),
            [](const event& a, const event& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  json out(f.get(), start_);
  std::set<std::uint32_t> lanes;
  times_of_lanes taken;
  for (const event& e : events_) {
    lanes.insert(e.lane);
    if (e.what == kind::steal || e.what == kind::call_without) lanes.insert(e.other);
    if (e.what == kind::taken_from_call) taken[e.lane].push_back(e.begin);
  }
  for (const std::uint32_t lane : lanes) out.lane(lane);
  for (const event& e : events_) put(out, e, taken);
  out.end(dropped_);
  // unreached: no test fills a disk.
  if (std::fflush(f.get()) != 0 || std::ferror(f.get()) != 0) {
    std::fprintf(stderr, "runq: RUNQ_TRACE: %s was not written completely\n", file_.c_str());
  }
  if (dropped_ != 0) {
    std::fprintf(stderr, "runq: RUNQ_TRACE: %" PRIu64 " events beyond the limit of %zu were not kept\n", dropped_,
                 limit_);
  }
}

}  // namespace runq::detail
