// SPDX-License-Identifier: MIT
#include "runq/detail/tracer.hpp"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <set>
#include <system_error>

namespace runq::detail {
namespace {

constexpr std::uint32_t first_machine_lane = 10'000;  // beyond any processor's number

struct closer {
  void operator()(std::FILE* f) const noexcept { std::fclose(f); }
};
using file_handle = std::unique_ptr<std::FILE, closer>;

file_handle open(const std::string& name) {
  file_handle f(std::fopen(name.c_str(), "w"));
  if (f == nullptr) throw std::system_error(errno, std::generic_category(), "runq: RUNQ_TRACE: " + name);
  return f;
}

// Names are literals of the program; all the same, a quote in one must not spoil the file.
std::string escaped(const char* text) {
  std::string out;
  for (; *text != '\0'; ++text) {
    if (*text == '"' || *text == '\\') out += '\\';
    if (static_cast<unsigned char>(*text) >= 0x20) out += *text;
  }
  return out;
}

std::string task_name(std::uint64_t id, const char* name) {
  return "task " + std::to_string(id) + (name == nullptr ? "" : " " + escaped(name));
}

// The format counts in µs.
class json {
 public:
  json(std::FILE* out, instant start) : out_(out), start_(start) { std::fputs("{\"traceEvents\":[\n", out_); }
  ~json() { std::fputs("\n],\"displayTimeUnit\":\"ns\"}\n", out_); }
  json(const json&) = delete;
  json& operator=(const json&) = delete;

  void lane_name(std::uint32_t lane, const std::string& name) {
    next();
    std::fprintf(out_, R"({"ph":"M","pid":1,"tid":%u,"name":"thread_name","args":{"name":"%s"}})", lane, name.c_str());
  }
  void slice(std::uint32_t lane, const std::string& name, instant begin, instant end) {
    next();
    std::fprintf(out_, R"({"ph":"X","pid":1,"tid":%u,"name":"%s","ts":%.3f,"dur":%.3f})", lane, name.c_str(), us(begin),
                 static_cast<double>(end - begin) / 1000);
  }
  // From the slice that runs on `from` at `begin` to the one that runs on `to` at `end`.
  void arrow(std::uint32_t from, std::uint32_t to, instant begin, instant end) {
    ++arrows_;
    next();
    std::fprintf(out_, R"({"ph":"s","pid":1,"tid":%u,"name":"steal","cat":"steal","id":%)" PRIu64 R"(,"ts":%.3f})",
                 from, arrows_, us(begin));
    next();
    std::fprintf(out_,
                 R"({"ph":"f","bp":"e","pid":1,"tid":%u,"name":"steal","cat":"steal","id":%)" PRIu64 R"(,"ts":%.3f})",
                 to, arrows_, us(end));
  }

 private:
  void next() {
    if (!first_) std::fputs(",\n", out_);
    first_ = false;
  }
  [[nodiscard]] double us(instant t) const { return static_cast<double>(t - start_) / 1000; }
  std::FILE* out_;
  instant start_;
  bool first_ = true;
  std::uint64_t arrows_ = 0;
};

}  // namespace

tracer::tracer(std::string file) : file_(std::move(file)), start_(now()) { (void)open(file_); }

void tracer::add(const event& e) {
  const std::lock_guard lock(mutex_);
  if (events_.size() < most_events) {
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
void tracer::called_without(std::uint32_t machine, who task, instant begin, instant end) {
  add({kind::call, first_machine_lane + machine, 0, 0, task, begin, end});
}
void tracer::stole(std::uint32_t victim, std::uint32_t thief, std::uint64_t count, instant begin, instant end) {
  add({kind::steal, thief, victim, count, {}, begin, end});
}

void tracer::write() {
  const std::lock_guard lock(mutex_);
  const file_handle f = open(file_);
  {
    json out(f.get(), start_);
    std::set<std::uint32_t> lanes;
    for (const event& e : events_) {
      lanes.insert(e.lane);
      switch (e.what) {
        case kind::run: out.slice(e.lane, task_name(e.task.id, e.task.name), e.begin, e.end); break;
        case kind::call:
          out.slice(e.lane, "blocking call of " + task_name(e.task.id, e.task.name), e.begin, e.end);
          break;
        case kind::steal:
          out.slice(e.lane, "steals " + std::to_string(e.stolen) + " from P" + std::to_string(e.victim), e.begin,
                    e.end);
          out.arrow(e.victim, e.lane, e.begin, e.end);
          break;
      }
    }
    for (const std::uint32_t lane : lanes) {
      out.lane_name(lane, lane < first_machine_lane
                              ? "P" + std::to_string(lane)
                              : "M" + std::to_string(lane - first_machine_lane) + " without a processor");
    }
  }
  if (dropped_ != 0) {
    std::fprintf(stderr, "runq: RUNQ_TRACE: %" PRIu64 " events beyond the limit of %zu were not kept\n", dropped_,
                 most_events);
  }
}

}  // namespace runq::detail
