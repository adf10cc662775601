// SPDX-License-Identifier: MIT
#include "shares.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace runq::model {

namespace {

using json = nlohmann::json;
namespace fs = std::filesystem;

[[noreturn]] void cannot_merge(const std::string& why) {
  fmt::print(stderr, "verify: cannot merge: {}\n", why);
  std::exit(1);
}

[[nodiscard]] bool read_number(const std::string& text, unsigned& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

void mix(std::uint64_t& hash, const std::string& text) {
  constexpr std::uint64_t prime = 0x100000001b3;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
}

// A number that changes with the headers, the models and the checkers: shares of different sources do not belong
// together, although the version is the same. What is pinned is judged when merging and so does not matter.
[[nodiscard]] std::string source_mark(const manifest& m) {
  const std::set<std::string> kinds{".hpp", ".cpp", ".mutants"};
  std::uint64_t hash = 0xcbf29ce484222325;
  std::vector<std::string> dirs = m.headers_dirs;
  dirs.push_back(m.models_dir);
  for (const std::string& dir : dirs) {
    std::set<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(dir)) {
      if (kinds.contains(entry.path().extension())) files.insert(entry.path());
    }
    for (const fs::path& file : files) {
      std::ifstream in(file);
      mix(hash, fs::relative(file, dir).string());
      mix(hash, std::string(std::istreambuf_iterator<char>(in), {}));
    }
  }
  return fmt::format("{:016x}", hash);
}

[[nodiscard]] json asked_for(const options& o) {
  return {{"case", o.case_glob}, {"engine", o.engine}, {"mutant", o.mutant_glob}};
}

// One file of a merge.
struct file_of_share {
  std::string file;
  json content;
  [[nodiscard]] const json& about() const { return content["shard"]; }
  [[nodiscard]] unsigned index() const { return about()["index"]; }
  [[nodiscard]] unsigned of() const { return about()["of"]; }
};

[[nodiscard]] file_of_share read_part(const std::string& file) {
  std::ifstream in(file);
  if (!in) cannot_merge("cannot read " + file);
  file_of_share p{file, json::parse(in, nullptr, false)};
  if (!p.content.is_object() || !p.content.contains("shard")) {
    cannot_merge(file + " is no result of ./kit verify --shard I/N --json FILE");
  }
  return p;
}

void require_same(const file_of_share& a, const file_of_share& b, const char* what, const json& of_a,
                  const json& of_b) {
  if (of_a == of_b) return;
  const std::string values =
      of_a.is_string() ? fmt::format(" ({} and {})", of_a.get<std::string>(), of_b.get<std::string>()) : "";
  cannot_merge(fmt::format("{} and {} are not of the same run: different {}{}", a.file, b.file, what, values));
}

void require_same_run(const file_of_share& a, const file_of_share& b) {
  if (a.of() != b.of()) {
    cannot_merge(
        fmt::format("{} is share {}/{}, but {} is share {}/{}", a.file, a.index(), a.of(), b.file, b.index(), b.of()));
  }
  require_same(a, b, "versions", a.content["version"], b.content["version"]);
  require_same(a, b, "budgets", a.content["budget"], b.content["budget"]);
  require_same(a, b, "sources", a.about()["sources"], b.about()["sources"]);
  require_same(a, b, "--case, --engine or --mutant options", a.about()["asked"], b.about()["asked"]);
  require_same(a, b, "planned searches", a.about()["planned"], b.about()["planned"]);
}

// All shares of one run, or the process ends.
[[nodiscard]] std::vector<file_of_share> read_parts(const std::vector<std::string>& files) {
  std::vector<file_of_share> parts;
  std::map<unsigned, std::string> there;
  for (const std::string& file : files) {
    parts.push_back(read_part(file));
    const file_of_share& p = parts.back();
    require_same_run(parts.front(), p);
    if (const auto [first, is_new] = there.emplace(p.index(), file); !is_new) {
      cannot_merge(fmt::format("share {}/{} is there twice: {} and {}", p.index(), p.of(), first->second, file));
    }
    if (!p.about()["complete"].get<bool>()) {
      cannot_merge(fmt::format("share {}/{} in {} was interrupted: make it again", p.index(), p.of(), file));
    }
  }
  std::string missing;
  for (unsigned i = 1; i <= parts.front().of(); ++i) {
    if (!there.contains(i)) missing += fmt::format("{}{}/{}", missing.empty() ? "" : ", ", i, parts.front().of());
  }
  if (!missing.empty()) cannot_merge("missing: share " + missing);
  return parts;
}

[[nodiscard]] std::map<std::string, json> results_of(const std::vector<file_of_share>& parts) {
  std::map<std::string, json> results;
  for (const file_of_share& p : parts) {
    for (const json& search : p.content["searches"]) {
      job j;
      j.case_name = search["case"];
      j.engine = search["engine"].get<engine_name>();
      j.label = search["label"];
      results[name_of(j)] = search["result"];
    }
    for (const auto& [name, result] : p.about()["ledgers"].items()) results[name] = result;
  }
  return results;
}

}  // namespace

share parse_share(const std::string& text) {
  share s;
  const std::size_t slash = text.find('/');
  const bool numbers = slash != std::string::npos && read_number(text.substr(0, slash), s.index) &&
                       read_number(text.substr(slash + 1), s.of);
  if (!numbers || s.index < 1 || s.index > s.of) usage_error("--shard takes I/N with 1 <= I <= N, not " + text);
  return s;
}

std::string name_of(const job& j) { return fmt::format("{} {} {}", j.case_name, to_text(j.engine), j.label); }

std::vector<std::string> names_of(const std::vector<job>& jobs) {
  std::vector<std::string> names;
  for (const job& j : jobs) names.push_back(name_of(j));
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) usage_error("two searches have the name " + *twice);
  return names;
}

std::vector<job> jobs_of(const share& s, std::vector<job> jobs) {
  const std::vector<std::string> sorted = names_of(jobs);
  std::set<std::string> mine;
  for (std::size_t p = s.index - 1; p < sorted.size(); p += s.of) mine.insert(sorted[p]);
  std::erase_if(jobs, [&](const job& j) { return !mine.contains(name_of(j)); });
  return jobs;
}

json describe_share(const options& o, const manifest& m, const std::vector<std::string>& planned,
                    const std::vector<job>& jobs, std::size_t done, double seconds) {
  const share s = parse_share(o.shard);
  json ledgers = json::object();
  for (const job& j : jobs) {
    if (j.expect == job::expectation::ledger) ledgers[name_of(j)] = j.result;
  }
  return {{"index", s.index},   {"of", s.of},
          {"planned", planned}, {"asked", asked_for(o)},
          {"ledgers", ledgers}, {"complete", done == jobs.size()},
          {"seconds", seconds}, {"sources", source_mark(m)}};
}

merged_run merge_shares(options& o, const manifest& m, const json& cases) {
  const std::vector<file_of_share> parts = read_parts(o.merge);
  const json& asked = parts.front().about()["asked"];
  o.budget = parts.front().content["budget"];
  o.case_glob = asked["case"];
  o.engine = asked["engine"];
  o.mutant_glob = asked["mutant"];
  merged_run run;
  run.jobs = plan(o, m, cases);
  if (source_mark(m) != parts.front().about()["sources"]) {
    cannot_merge("the shares were made from other sources than these; merge them where the sources are the same");
  }
  if (json(names_of(run.jobs)) != parts.front().about()["planned"]) {
    cannot_merge("the shares have other searches than would be made here; is an engine absent, here or there?");
  }
  std::map<std::string, json> results = results_of(parts);
  for (job& j : run.jobs) {
    const auto it = results.find(name_of(j));
    if (it == results.end()) cannot_merge("no share has the result of " + name_of(j));
    j.result = std::move(it->second);
  }
  for (const file_of_share& p : parts) run.seconds += p.about()["seconds"].get<double>();
  return run;
}

}  // namespace runq::model
