// SPDX-License-Identifier: MIT
#include "parts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "options.hpp"

namespace runq::model::compiled {

using nlohmann::json;

namespace {

constexpr std::array<std::string_view, 4> names_of_reports{"busy", "idle", "stuck", "ended"};
constexpr std::array<std::string_view, 5> names_of_instructions{"go-on", "share", "take", "begin-again", "stop"};

template <class Kind, std::size_t Size>
[[nodiscard]] Kind kind_called(std::string_view name, const std::array<std::string_view, Size>& names) {
  const auto at = std::find(names.begin(), names.end(), name);
  return static_cast<Kind>(at == names.end() ? Size - 1 : static_cast<std::size_t>(at - names.begin()));
}

constexpr std::string_view no_word = "-";

[[noreturn]] void end_alone() {
  // The process that shares out the work has ended, so no process needs a result any more.
  _exit(2);
}

}  // namespace

std::string to_text(const report& r) {
  const std::string_view name = names_of_reports[static_cast<std::size_t>(r.what)];
  const tally& d = r.done;
  std::string line =
      fmt::format("{} {} {} {} {} {:a} {:a} {} {} {:d} {:d} {}", name, d.executions, d.blocked, d.spurious, d.cut_off,
                  d.arranged, d.weight, static_cast<unsigned>(r.misled), path_text(r.shown_at), r.rounds.left_out,
                  r.rounds.used_beside, r.waits.empty() ? no_word : r.waits);
  if (r.what == report::kind::ended) return line + " " + r.result;
  for (const exact::way& path : r.given) line += " " + path_text(path);
  return line;
}

report to_report(std::string_view line) {
  std::istringstream in{std::string(line)};
  report r;
  std::string name;
  std::string arranged;
  std::string weight;
  tally& d = r.done;
  unsigned misled = 0;
  std::string shown_at;
  in >> name >> d.executions >> d.blocked >> d.spurious >> d.cut_off >> arranged >> weight >> misled >> shown_at;
  in >> r.rounds.left_out >> r.rounds.used_beside >> r.waits;
  if (r.waits == no_word) r.waits.clear();
  r.misled = static_cast<exact::technique>(misled);
  r.shown_at = to_path(shown_at).value_or(exact::way{});
  d.arranged = std::strtod(arranged.c_str(), nullptr);
  d.weight = std::strtod(weight.c_str(), nullptr);
  r.what = kind_called<report::kind>(name, names_of_reports);
  if (r.what == report::kind::ended) {
    std::getline(in >> std::ws, r.result);
    return r;
  }
  for (std::string path; in >> path;) r.given.push_back(to_path(path).value_or(exact::way{}));
  return r;
}

/// With the address of something that every process has: whether they have the program at the same ones.
std::string to_text(const reads_in_waits& waits) {
  json said = {{"of", reinterpret_cast<std::uintptr_t>(&to_instruction)}, {"more", waits.has_more()}};
  said["rounds"] = said["late"] = json::array();
  const auto describe = [](const reads_in_waits::place& p) {
    return json::array({p.thread, p.begin, p.end, p.how.is_atomic, p.how.is_write});
  };
  for (const reads_in_waits::place& p : waits.in_rounds()) said["rounds"].push_back(describe(p));
  for (const auto& [p, line] : waits.late()) said["late"].push_back({describe(p), line});
  std::string text = said.dump(-1, ' ', true, json::error_handler_t::replace);
  for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at))
    text.replace(at, 1, "\\u0020");
  return text;
}

void join(reads_in_waits& all, const std::string& waits) {
  const json said = json::parse(waits);
  const auto place_of = [](const json& p) { return reads_in_waits::place{p[0], p[1], p[2], {p[3], p[4]}}; };
  reads_in_waits of_other;
  if (said["more"]) of_other.note_more();
  for (const json& p : said["rounds"]) of_other.note(place_of(p));
  for (const json& late : said["late"]) of_other.note_late(place_of(late[0]), [&] { return std::string(late[1]); });
  all.join(of_other, said["of"] == reinterpret_cast<std::uintptr_t>(&to_instruction));
}

std::string to_text(const instruction& o) {
  const std::string_view name = names_of_instructions[static_cast<std::size_t>(o.what)];
  return fmt::format("{} {} {} {}", name, o.parts, static_cast<unsigned>(o.without), path_text(o.path));
}

instruction to_instruction(std::string_view line) {
  std::istringstream in{std::string(line)};
  instruction o;
  std::string name;
  std::string path;
  unsigned without = 0;
  in >> name >> o.parts >> without >> path;
  o.without = static_cast<exact::technique>(without);
  o.what = kind_called<instruction::kind>(name, names_of_instructions);
  o.path = to_path(path).value_or(exact::way{});
  return o;
}

bool line_channel::read(std::string& line) {
  for (;;) {
    if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
      line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return true;
    }
    std::array<char, 4096> some;
    const ssize_t got = ::read(socket_, some.data(), some.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    pending_.append(some.data(), static_cast<std::size_t>(got));
  }
}

void line_channel::write(const std::string& line) const {
  const std::string all = line + "\n";
  for (std::size_t sent = 0; sent != all.size();) {
    const ssize_t more = send(socket_, all.data() + sent, all.size() - sent, MSG_NOSIGNAL);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return;  // the reader finds out that the other side has closed
    sent += static_cast<std::size_t>(more);
  }
}

/// Only when nothing else is left to do do the others have to know.
std::string part_source::new_waits() {
  reads_in_waits& all = session_.read_while_waiting();
  return all.take_news() ? to_text(all) : std::string();
}

instruction part_source::ask(report::kind what) {
  const exact::search& search = *session_.search();
  others_.write(to_text(report{what,
                               tally_of(search.so_far(), search.weight_done()),
                               std::move(given_),
                               {},
                               std::exchange(misled_, exact::technique::none),
                               shown_at_,
                               {search.has_left_out_round(), search.is_used_beside_rounds()},
                               what == report::kind::idle ? new_waits() : std::string()}));
  given_.clear();
  std::string line;
  if (!others_.read(line)) end_alone();
  asked_ = std::chrono::steady_clock::now();
  instruction o = to_instruction(line);
  stopped_ = stopped_ || o.what == instruction::kind::stop;
  without_ = o.without;
  if (without_ != exact::technique::none) shown_at_ = std::move(o.path);
  return o;
}

std::optional<exact::way> part_source::next() {
  if (stopped_) return {};
  instruction o = ask(misled_ == exact::technique::none ? report::kind::idle : report::kind::stuck);
  if (o.what != instruction::kind::take) return {};
  return std::move(o.path);
}

unsigned part_source::wanted() {
  constexpr std::chrono::milliseconds pause{10};
  if (given_.empty() && std::chrono::steady_clock::now() - asked_ < pause) return 0;
  return ask(report::kind::busy).parts;
}

}  // namespace runq::model::compiled
