// SPDX-License-Identifier: MIT
#include "share_out.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "outside.hpp"

namespace runq::model::compiled {

namespace {

using nlohmann::json;

using flags = std::array<unsigned char, sizeof(left_out)>;

}  // namespace

share_out::share_out(unsigned searchers, const run_options& options,
                     std::function<void(unsigned, const instruction&)> send, std::function<std::string(unsigned)> name)
    : options_(options), send_(std::move(send)), name_(std::move(name)), searchers_(searchers), waiting_(1) {}

unsigned share_out::count(state s) const noexcept {
  return static_cast<unsigned>(
      std::count_if(searchers_.begin(), searchers_.end(), [s](const searcher& of) { return of.now == s; }));
}

tally share_out::sum() const noexcept {
  tally all;
  for (const searcher& s : searchers_) {
    all.executions += s.done.executions;
    all.blocked += s.done.blocked;
    all.spurious += s.done.spurious;
    all.cut_off += s.done.cut_off;
    all.arranged += s.done.arranged;
    all.weight += s.done.weight;
  }
  return all;
}

/// Whether there is more than may be explored. A searcher that has explored just as many may have nothing left: it goes
/// on.
bool share_out::is_over_limit() const noexcept {
  const std::uint64_t executions = sum().executions;
  const std::uint64_t most = options_.search.max_executions;
  return executions > most || (executions == most && !waiting_.empty());
}

bool share_out::is_over() const noexcept { return count(state::ended) == searchers_.size(); }

void share_out::take(unsigned who, report said) {
  auto& from = searchers_[who];
  if (begins_again(who, said)) return;
  from.done = said.done;
  for (exact::way& path : said.given) waiting_.push_back(std::move(path));
  if (said.what == report::kind::ended) {
    from.now = state::ended;
    from.result = std::move(said.result);
    if (!stopping_) stop();  // by itself: a failure, or a limit
    return;
  }
  if (!stopping_ && is_over_limit()) {
    limit_ = fmt::format("limit reached: max_executions = {}; raise it, or make the program smaller",
                         options_.search.max_executions);
    stopping_ = true;
  }
  if (said.what == report::kind::idle || said.what == report::kind::stuck) {
    from.now = state::idle;
    return hand_out();
  }
  if (stopping_) return send_(who, {instruction::kind::stop, 0, {}, {}});
  hand_out();
  const unsigned idle = count(state::idle);
  send_(who, idle == 0 ? instruction{} : instruction{instruction::kind::share, idle, {}, {}});
}

/// Whether what the searcher says belongs to a search that is given up, because a technique has misled somebody.
bool share_out::begins_again(unsigned who, const report& said) {
  if (stopping_ || said.what == report::kind::ended) return false;
  if (said.what == report::kind::stuck && is_news(who, said)) begin_again_without(said.misled, said.shown_at);
  if (searchers_[who].told == given_up_.size()) {
    rounds_.add(said.rounds);
    if (!said.waits.empty()) join(waits_, said.waits);
  }
  if (is_unclear()) begin_again_without(exact::technique::waits_in_place, {});
  if (searchers_[who].told == given_up_.size()) return false;
  tell_to_begin_again(who);
  return true;
}

/// Whether one searcher has left out a round, and perhaps another one has met what may have to do with it.
bool share_out::is_unclear() const noexcept {
  return rounds_.left_out && rounds_.used_beside && !is_given_up(exact::technique::waits_in_place);
}

/// See exact_options::keeps_rounds: all was explored, without a failure.
bool share_out::may_miss_race() const {
  const exact_options& search = options_.search;
  return search.keeps_rounds_if_late && search.bound == exact_options::no_bound && !waits_.lines().empty();
}

/// A way that shows a larger variable is one through the search that the others make only if its searcher knows of all
/// that was given up.
bool share_out::is_news(unsigned who, const report& said) const noexcept {
  return said.misled == exact::technique::small_variables ? searchers_[who].told == given_up_.size()
                                                          : !is_given_up(said.misled);
}

bool share_out::is_given_up(exact::technique s) const noexcept {
  return std::any_of(given_up_.begin(), given_up_.end(), [s](const given_up& g) { return g.what == s; });
}

/// Who waits for an answer gets it now. The others are told when they ask.
void share_out::begin_again_without(exact::technique s, const exact::way& shown_at) {
  given_up_.push_back({s, shown_at});
  rounds_ = {};
  waits_ = {};
  waiting_.assign(1, {});
  for (unsigned i = 0; i != searchers_.size(); ++i) {
    searchers_[i].done = {};
    if (searchers_[i].now == state::idle) tell_to_begin_again(i);
  }
}

void share_out::tell_to_begin_again(unsigned who) {
  searchers_[who].now = state::busy;
  const given_up& next = given_up_[searchers_[who].told++];
  send_(who, {instruction::kind::begin_again, 0, next.shown_at, next.what});
}

void share_out::lose(unsigned who, const std::string& why) {
  if (lost_.empty()) {
    lost_ = fmt::format("{} {}; what it has explored is not known", name_(who), why);
  }
  searchers_[who].now = state::ended;
  stop();
}

/// From now on every searcher ends as soon as it asks.
void share_out::stop() {
  stopping_ = true;
  hand_out();
}

void share_out::hand_out() {
  if (waiting_.empty() && count(state::busy) == 0) {  // all has been explored
    if (!stopping_ && may_miss_race()) return begin_again_without(exact::technique::waiting_rounds, {});
    stopping_ = true;
  }
  for (unsigned i = 0; i != searchers_.size(); ++i) {
    if (searchers_[i].now != state::idle || (!stopping_ && waiting_.empty())) continue;
    searchers_[i].now = state::busy;
    if (stopping_) {
      send_(i, {instruction::kind::stop, 0, {}, {}});
    } else {
      send_(i, {instruction::kind::take, 0, std::move(waiting_.front()), {}});
      waiting_.pop_front();
    }
  }
}

search_progress share_out::progress(double seconds) const {
  const tally all = sum();
  return {all.executions, all.weight > 0 ? static_cast<double>(all.executions) / all.weight : 0, seconds};
}

std::string describe_part(const search_result& r, session& s, const answer& a) {
  json said = {{"status", a.status},
               {"headline", a.headline},
               {"text", a.text},
               {"how", static_cast<int>(r.how)},
               {"message", r.message},
               {"left_out", std::bit_cast<flags>(s.omitted())},
               {"weakened", s.code().orders().weakened_in()},
               {"different_sizes", s.atomics().words().places()},
               {"locks", s.atomics().words().lock_places()},
               {"waits", to_text(s.read_while_waiting())},
               {"sizes", asked_sizes()}};
  for (const code_line& l : s.relaxed().not_met()) said["not_met"].push_back(to_text(l));
  for (const unseen_code& u : all_unseen_code(s)) said["not_seen"].push_back({u.what, u.times});
  if (a.result != nullptr) said["result"] = *a.result;
  return said.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Whether no searcher has executed a plain access there. All of them have ended.
bool share_out::is_not_met(const code_line& l) const {
  return std::all_of(searchers_.begin(), searchers_.end(), [where = to_text(l)](const searcher& of) {
    if (of.result.empty()) return true;
    const json list = json::parse(of.result).value("not_met", json::array());
    return std::find(list.begin(), list.end(), json(where)) != list.end();
  });
}

answer share_out::result(session& s, double seconds) const {
  search_result all;
  const tally done = sum();
  all.executions = done.executions;
  all.blocked = done.blocked;
  all.spurious = done.spurious;
  all.cut_off = done.cut_off;
  all.seconds = seconds;
  all.arranged = done.arranged;
  all.told_apart = is_given_up(exact::technique::symmetry);
  all.up_to_symmetry = options_.search.up_to_symmetry && !all.told_apart;
  all.keeps_rounds = options_.search.keeps_rounds || is_given_up(exact::technique::waiting_rounds);
  all.began_again = is_given_up(exact::technique::waits_in_place);
  all.how = options_.search.bound == exact_options::no_bound ? coverage::exhaustive : coverage::bounded;
  s.limits() = limits_of(options_);  // which the verdict tells
  choose_sizes(options_.sizes);
  for (const code_line& l : options_.relaxed) {
    if (is_not_met(l)) s.relaxed().add(l);
  }
  flags omitted = std::bit_cast<flags>(s.omitted());
  for (const searcher& of : searchers_) {
    if (of.result.empty()) continue;
    const json said = json::parse(of.result);
    if (said["status"] == 1) {
      answer a{1, said["headline"], std::string(said["text"]) + not_met(s), {}, {}};
      if (said.contains("result")) a.result = std::make_shared<json>(said["result"]);
      return a;
    }
    if (said["how"] == static_cast<int>(coverage::cut_short)) {
      all.how = coverage::cut_short;
      all.message = said["message"];
    }
    const flags more = said["left_out"];
    for (std::size_t i = 0; i != more.size(); ++i) omitted[i] |= more[i];
    for (const json& where : said["different_sizes"]) s.atomics().words().note_place(where);
    for (const json& where : said["locks"]) s.atomics().words().note_lock_place(where);
    join(s.read_while_waiting(), std::string(said["waits"]));
    add_asked_sizes(said["sizes"]);
    for (const json& u : said.value("not_seen", json::array())) add_unseen_code({{u[0], u[1]}});
    for (const std::string& file : said["weakened"].get<std::vector<std::string>>())
      s.code().orders().note_weakened_in(file);
  }
  s.omitted() = std::bit_cast<left_out>(omitted);
  if (!limit_.empty()) all.message = limit_;
  if (!lost_.empty()) all.message = lost_;
  if (!all.message.empty()) all.how = coverage::cut_short;
  return judge(all, s, options_);
}

}  // namespace runq::model::compiled
