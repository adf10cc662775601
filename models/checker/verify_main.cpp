// SPDX-License-Identifier: MIT
// The runner: decides which searches to make, starts a worker process for each, judges what they found, and prints. It
// alone owns verdict words, exit status, progress, replay lines and the pinned counts.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace {

using json = nlohmann::json;
using clock_type = std::chrono::steady_clock;

// ---------------------------------------------------------------------------------------------------------------------
// What the build tells: the manifest (models/CMakeLists.txt).

struct source_mutant {
  std::string id;      // "ring_late_slot_read"
  std::string worker;  // program
  std::string status;  // file: "applied", or why not
  std::string file;    // the .mutant file
};

struct manifest {
  std::string worker;
  std::string models_dir;
  std::vector<source_mutant> mutants;
};

[[noreturn]] void usage_error(const std::string& what) {
  fmt::print(stderr, "verify: {}\n", what);
  std::exit(2);
}

[[nodiscard]] std::string read_file(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

[[nodiscard]] manifest read_manifest(const std::string& path) {
  std::ifstream in(path);
  if (!in) usage_error("cannot read " + path + "; build the models first: ./kit verify does");
  manifest m;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> fields = CLI::detail::split(line, '\t');
    if (fields.size() == 2 && fields[0] == "worker") m.worker = fields[1];
    if (fields.size() == 2 && fields[0] == "models") m.models_dir = fields[1];
    if (fields.size() == 4) m.mutants.push_back({fields[0], fields[1], fields[2], fields[3]});
  }
  return m;
}

// ---------------------------------------------------------------------------------------------------------------------
// Jobs: one search each, in a process of its own.

struct job {
  enum class expectation : unsigned char { pass, fail, litmus };

  std::string case_name;
  std::string label;  // "bounded 3", "publish_relaxed", …
  expectation expect = expectation::pass;
  std::string worker;
  std::vector<std::string> arguments;
  std::string counts_key;  // empty: not pinned
  std::string replay;      // options that make the same search again
  std::string changed;     // a mutant's change, in a few words
  json litmus;
  std::string broken;  // why this job cannot even start

  // Filled by the run.
  json result;
  std::uint64_t executions_so_far = 0;
};

struct process {
  pid_t pid = -1;
  int out = -1;
  job* of = nullptr;
  std::string pending;
};

volatile std::sig_atomic_t interrupted = 0;
void on_interrupt(int) { interrupted = 1; }

[[nodiscard]] process start(job& j) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) usage_error("cannot make a pipe: " + std::string(std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<char*> argv{j.worker.data()};
  for (std::string& a : j.arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  process p;
  p.of = &j;
  if (const int error = posix_spawn(&p.pid, j.worker.c_str(), &actions, nullptr, argv.data(), environ); error != 0) {
    usage_error("cannot start " + j.worker + ": " + std::strerror(error));
  }
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  p.out = ends[0];
  return p;
}

// A line of a worker: progress, or the result.
void take_line(job& j, const std::string& line) {
  if (line.starts_with("P ")) j.executions_so_far = std::strtoull(line.c_str() + 2, nullptr, 10);
  if (line.starts_with("R ")) j.result = json::parse(line.substr(2), nullptr, false);
}

// Reads what a worker has written; false when it has closed its output.
[[nodiscard]] bool read_some(process& p) {
  char buffer[65536];
  const ssize_t n = read(p.out, buffer, sizeof buffer);
  if (n <= 0) return n < 0 && errno == EINTR;
  p.pending.append(buffer, static_cast<std::size_t>(n));
  for (std::size_t end = p.pending.find('\n'); end != std::string::npos; end = p.pending.find('\n')) {
    take_line(*p.of, p.pending.substr(0, end));
    p.pending.erase(0, end + 1);
  }
  return true;
}

void finish(process& p) {
  close(p.out);
  int status = 0;
  while (waitpid(p.pid, &status, 0) < 0 && errno == EINTR) continue;
  if (!p.of->result.is_object()) {
    p.of->result = {{"error", WIFSIGNALED(status)
                                  ? fmt::format("the worker died of signal {}", WTERMSIG(status))
                                  : fmt::format("the worker ended with status {} and no result", WEXITSTATUS(status))}};
  }
}

/// One line about what is going on: on a terminal overwritten in place, else now and then.
class progress_line {
 public:
  void show(std::size_t done, std::size_t total, const std::vector<process>& running) {
    const auto now = clock_type::now();
    if (now - last_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(20))) return;
    last_ = now;
    std::string text = fmt::format("{}/{} searches, {:.0f} s", done, total, seconds(now));
    for (const process& p : running) {
      text += fmt::format("  {} {} {}", p.of->case_name, p.of->label,
                          p.of->executions_so_far == 0 ? "" : fmt::format("({})", p.of->executions_so_far));
    }
    if (terminal_) {
      fmt::print(stderr, "\r\033[K{}", text.substr(0, 118));
    } else {
      fmt::print(stderr, "{}\n", text);
    }
    std::fflush(stderr);
  }
  void clear() const {
    if (terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  [[nodiscard]] double seconds(clock_type::time_point now) const {
    return std::chrono::duration<double>(now - started_).count();
  }
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
  const clock_type::time_point started_ = clock_type::now();
  clock_type::time_point last_ = started_;
};

/// Runs the jobs, `width` at a time, and hands each to `report` in order as soon as it and all before it are done.
/// Returns how many were reported: fewer than all after Ctrl-C.
std::size_t run_all(std::vector<job>& jobs, unsigned width, const std::function<void(job&)>& report) {
  std::vector<process> running;
  progress_line progress;
  std::size_t next = 0;
  std::size_t reported = 0;
  const auto report_ready = [&] {
    for (; reported != jobs.size() && jobs[reported].result.is_object(); ++reported) {
      progress.clear();
      report(jobs[reported]);
    }
  };
  while ((next != jobs.size() || !running.empty()) && interrupted == 0) {
    for (; next != jobs.size() && running.size() < width; ++next) {
      if (jobs[next].broken.empty()) {
        running.push_back(start(jobs[next]));
      } else {
        jobs[next].result = {{"error", jobs[next].broken}};
      }
    }
    std::vector<pollfd> watched;
    for (const process& p : running) watched.push_back({p.out, POLLIN, 0});
    if (poll(watched.data(), watched.size(), 200) > 0) {
      for (std::size_t i = watched.size(); i-- != 0;) {
        if (watched[i].revents == 0 || read_some(running[i])) continue;
        finish(running[i]);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    report_ready();
    progress.show(reported, jobs.size(), running);
  }
  progress.clear();
  for (process& p : running) {
    kill(p.pid, SIGKILL);
    finish(p);
  }
  return reported;
}

// ---------------------------------------------------------------------------------------------------------------------
// Pinned counts: models/<stem>/counts.txt, lines of "<case> <search> <executions>".

class pinned_counts {
 public:
  explicit pinned_counts(std::string models_dir) : dir_(std::move(models_dir)) {
    for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
      std::ifstream in(entry.path() / "counts.txt");
      for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') continue;
        const std::size_t last = line.rfind(' ');
        counts_[line.substr(0, last)] = std::strtoull(line.c_str() + last, nullptr, 10);
      }
    }
  }
  [[nodiscard]] std::optional<std::uint64_t> find(const std::string& key) const {
    const auto it = counts_.find(key);
    return it == counts_.end() ? std::nullopt : std::optional(it->second);
  }
  void set(const std::string& key, std::uint64_t count) { counts_[key] = count; }
  void write() const {
    std::map<std::string, std::string> files;
    for (const auto& [key, count] : counts_) files[key.substr(0, key.find('/'))] += fmt::format("{} {}\n", key, count);
    for (const auto& [stem, lines] : files) {
      std::ofstream(dir_ + "/" + stem + "/counts.txt") << "# Executions of each search that ran to completion. A "
                                                          "change is a failure until somebody has explained it;\n"
                                                          "# then: ./kit verify --update-counts\n"
                                                       << lines;
    }
  }

 private:
  std::string dir_;
  std::map<std::string, std::uint64_t> counts_;
};

// ---------------------------------------------------------------------------------------------------------------------
// Planning: which searches the options ask for.

struct options {
  std::string budget = "quick";
  std::string case_glob = "*";
  std::string mutant_glob;
  std::string search;
  unsigned bound = 2;
  std::uint64_t execution = 0;
  std::string json_file;
  unsigned jobs = std::max(1U, std::thread::hardware_concurrency());
  bool update_counts = false;
  bool list = false;

  [[nodiscard]] bool wants(const std::string& name) const { return fnmatch(case_glob.c_str(), name.c_str(), 0) == 0; }
  [[nodiscard]] bool wants_mutant(const std::string& name) const {
    return mutant_glob.empty() || fnmatch(mutant_glob.c_str(), name.c_str(), 0) == 0;
  }
};

[[nodiscard]] job search_job(const std::string& worker, const json& c, const std::string& label,
                             std::vector<std::string> arguments) {
  job j;
  j.case_name = c["name"];
  j.label = label;
  j.worker = worker;
  j.arguments = {"run", "--case", j.case_name};
  j.arguments.insert(j.arguments.end(), arguments.begin(), arguments.end());
  return j;
}

[[nodiscard]] std::vector<std::string> search_arguments(const std::string& search, std::uint64_t number) {
  if (search == "bounded") return {"--search", "bounded", "--bound", std::to_string(number)};
  if (search == "random") return {"--search", "random", "--executions", std::to_string(number)};
  return {"--search", search};
}

// The searches of one case over the shipped headers.
void plan_case(const options& o, const manifest& m, const json& c, std::vector<job>& jobs) {
  const json& budget = c[o.budget];
  const auto expect = c["seeded_bug"].get<bool>() ? job::expectation::fail : job::expectation::pass;
  if (expect == job::expectation::fail) {
    job j = search_job(m.worker, c, "seeded bug", {"--search", "kill"});
    j.expect = expect;
    jobs.push_back(std::move(j));
    return;
  }
  const auto add = [&](const std::string& search, std::uint64_t number, bool pinned) {
    job j = search_job(m.worker, c, search == "bounded" ? fmt::format("bounded {}", number) : search,
                       search_arguments(search, number));
    j.replay = search == "bounded" ? fmt::format("--search bounded --bound {}", number) : "--search " + search;
    if (pinned) j.counts_key = j.case_name + " " + j.label;
    jobs.push_back(std::move(j));
  };
  if (budget["full"].get<bool>()) add("full", 0, true);
  if (const auto bound = budget["bound"].get<std::uint64_t>(); bound != 0) add("bounded", bound, true);
  if (const auto random = budget["random"].get<std::uint64_t>(); random != 0) add("random", random, false);
}

void plan_litmus(const manifest& m, const json& c, std::vector<job>& jobs) {
  job j = search_job(m.worker, c, "litmus", {"--search", "random", "--executions", "50000"});
  j.expect = job::expectation::litmus;
  j.litmus = c["litmus"];
  j.litmus["property"] = c["property"];
  jobs.push_back(std::move(j));
}

void plan_order_mutants(const options& o, const manifest& m, const json& c, std::vector<job>& jobs) {
  for (const json& mutant : c["mutants"]) {
    if (!o.wants_mutant(mutant["name"])) continue;
    job j = search_job(m.worker, c, mutant["name"],
                       {"--search", "kill", "--site", mutant["site"], "--order", mutant["weaker"], "--arg",
                        std::to_string(mutant["arg"].get<int>())});
    j.expect = job::expectation::fail;
    j.changed = fmt::format("[{}] {}", mutant["site"].get<std::string>(), mutant["weaker"].get<std::string>());
    jobs.push_back(std::move(j));
  }
}

[[nodiscard]] json cases_of(const std::string& worker) {
  job j;
  j.worker = worker;
  const std::string command = "'" + worker + "' list";
  FILE* const out = popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  for (std::size_t n = 0; out != nullptr && (n = fread(buffer, 1, sizeof buffer, out)) != 0;) text.append(buffer, n);
  if (out == nullptr || pclose(out) != 0) usage_error("cannot list the cases of " + worker);
  return json::parse(text);
}

// One job per source mutant: the first of its cases that fails kills it, so its cases are tried one after the other.
void plan_source_mutants(const options& o, const manifest& m, std::vector<job>& jobs) {
  for (const source_mutant& mutant : m.mutants) {
    const std::string stem = std::filesystem::path(mutant.file).parent_path().parent_path().filename();
    const std::string name = std::filesystem::path(mutant.file).stem();
    if (!o.wants_mutant(name)) continue;
    const json cases = cases_of(mutant.worker);
    const bool wanted = o.wants(stem + "/" + name) ||
                        std::any_of(cases.begin(), cases.end(), [&](const json& c) { return o.wants(c["name"]); });
    if (!wanted) continue;
    job j;
    j.case_name = stem + "/" + name;
    j.label = "in the source";
    j.expect = job::expectation::fail;
    j.worker = mutant.worker;
    j.arguments = {"run", "--case", "*", "--search", "kill"};
    if (const std::string status = read_file(mutant.status); status != "applied") {
      j.broken = fmt::format("{} does not apply: {}", mutant.file, status);
    }
    jobs.push_back(std::move(j));
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Judging and printing.

class report {
 public:
  report(const options& o, pinned_counts& counts) : options_(o), counts_(counts) {}

  void operator()(job& j) {
    if (j.result.contains("error")) {
      failed(j, "ERROR  " + j.result["error"].get<std::string>());
    } else if (j.expect == job::expectation::litmus) {
      judge_litmus(j);
    } else if (j.expect == job::expectation::fail) {
      judge_mutant(j);
    } else {
      judge_search(j);
    }
    std::fflush(stdout);
  }

  [[nodiscard]] bool red() const { return failures_ != 0; }

  void summary(std::size_t done, std::size_t planned, double seconds) const {
    if (done != planned) fmt::print("interrupted: {} of {} searches done\n", done, planned);
    fmt::print("\nverify: {} searches passed, mutants killed {}/{}, litmus as expected {}/{}, {} failed, {:.1f} s\n",
               passed_, killed_, mutants_, calibrated_, litmus_, failures_, seconds);
  }

 private:
  // What a completed search may be called. "exhaustive" belongs to the exact engine alone.
  [[nodiscard]] static std::string coverage_words(const json& r, const job& j) {
    const std::string how = r["how"];
    if (how == "bounded") return "bounded " + j.label.substr(j.label.rfind(' ') + 1);
    if (how == "full") return "full search";
    return how;
  }

  void line(const std::string& name, const std::string& verdict, const std::string& rest) {
    fmt::print("{:<34} {} {}\n", name == last_name_ ? "" : name, verdict, rest);
    last_name_ = name;
  }

  void failed(const job& j, const std::string& what) {
    ++failures_;
    last_name_.clear();
    line(j.case_name, what, "");
  }

  void judge_search(job& j) {
    const json& r = j.result;
    const auto executions = r["executions"].get<std::uint64_t>();
    if (r["what"] != "none") {
      failed(j, fmt::format("FAIL {} at execution {}: {}  {}", r["what"].get<std::string>(), executions,
                            r["message"].get<std::string>(), r["where"].get<std::string>()));
      print_counterexample(r);
      fmt::print("  replay: ./kit verify --case {} {} --execution {}\n", j.case_name, j.replay, executions);
      return;
    }
    if (r["how"] == "cut_short") {
      failed(j, fmt::format("FAIL {} reached after {} executions, search {} not finished",
                            r["message"].get<std::string>(), executions, j.label));
      return;
    }
    if (!j.counts_key.empty() && !count_is_pinned(j, executions)) return;
    ++passed_;
    line(j.case_name, fmt::format("PASS {:<12}", coverage_words(r, j)),
         fmt::format("{:>10} executions  {:>6.2f} s  relacy", executions, r["seconds"].get<double>()));
  }

  [[nodiscard]] bool count_is_pinned(const job& j, std::uint64_t executions) {
    if (options_.update_counts) {
      counts_.set(j.counts_key, executions);
      return true;
    }
    const auto pinned = counts_.find(j.counts_key);
    if (pinned == executions) return true;
    failed(j, pinned
                  ? fmt::format("FAIL explored {} executions, pinned are {}: explain the change, then "
                                "./kit verify --update-counts",
                                executions, *pinned)
                  : fmt::format("FAIL explored {} executions, none pinned: ./kit verify --update-counts", executions));
    return false;
  }

  void judge_mutant(job& j) {
    ++mutants_;
    const json& r = j.result;
    if (r["what"] == "none") {
      failed(j, fmt::format("SURVIVED {}: no search noticed it in {} executions", j.label,
                            r["executions"].get<std::uint64_t>()));
      return;
    }
    ++killed_;
    line(j.case_name, fmt::format("KILLED {:<24}", j.label),
         fmt::format("{:<32} {} at execution {}, {}", j.changed, r["what"].get<std::string>(),
                     r["executions"].get<std::uint64_t>(), r["where"].get<std::string>()));
    if (!options_.mutant_glob.empty()) print_counterexample(r);
  }

  void judge_litmus(job& j) {
    if (litmus_++ == 0) {
      fmt::print("litmus calibration: what C++20 allows, and what the engine shows (docs/limits.md)\n");
      fmt::print("  {:<34} {:>7}  {:<10} {:<10} {}\n", "shape", "outcome", "C++20", "relacy", "");
    }
    const std::string outcome = j.litmus["outcome"];
    const auto& seen = j.result["outcomes"];
    const bool shown = outcome == "race" ? j.result["what"] == "data race"
                                         : std::find(seen.begin(), seen.end(), outcome) != seen.end();
    const bool allowed = j.litmus["cpp20"];
    const bool expected = j.litmus["relacy"];
    std::string note = allowed == shown ? "" : shown ? "false alarm, known" : "blind spot, known";
    if (shown != expected) {
      note = "NOT AS PINNED: docs/limits.md must be corrected";
      ++failures_;
    } else {
      ++calibrated_;
    }
    fmt::print("  {:<34} {:>7}  {:<10} {:<10} {}\n", j.case_name.substr(j.case_name.find('/') + 1), outcome,
               allowed ? "allowed" : "forbidden", shown ? "shown" : "not shown", note);
  }

  static void print_counterexample(const json& r) {
    if (!r.contains("counterexample")) return;
    for (const json& text : r["counterexample"]) fmt::print("  {}\n", text.get<std::string>());
  }

  const options& options_;
  pinned_counts& counts_;
  std::string last_name_;
  unsigned passed_ = 0;
  unsigned killed_ = 0;
  unsigned mutants_ = 0;
  unsigned calibrated_ = 0;
  unsigned litmus_ = 0;
  unsigned failures_ = 0;
};

[[nodiscard]] std::vector<job> plan(const options& o, const manifest& m, const json& cases) {
  std::vector<job> jobs;
  for (const json& c : cases) {
    if (c.contains("litmus") && o.wants(c["name"]) && o.mutant_glob.empty()) plan_litmus(m, c, jobs);
  }
  for (const json& c : cases) {
    if (!c.contains("litmus") && o.wants(c["name"]) && o.mutant_glob.empty()) plan_case(o, m, c, jobs);
  }
  for (const json& c : cases) {
    if (o.wants(c["name"])) plan_order_mutants(o, m, c, jobs);
  }
  plan_source_mutants(o, m, jobs);
  return jobs;
}

// --execution N: one case, one search, one execution, shown whether it passes or fails.
int show_execution(const options& o, const manifest& m, const json& cases) {
  for (const json& c : cases) {
    if (c["name"] != o.case_glob) continue;
    const std::string search = o.search.empty() ? "random" : o.search;
    std::vector<std::string> arguments = {"--search", search, "--show", std::to_string(o.execution)};
    if (search == "bounded") arguments.insert(arguments.end(), {"--bound", std::to_string(o.bound)});
    if (search == "random") {
      const std::string number = std::to_string(o.execution);
      arguments.insert(arguments.end(), {"--first", number, "--executions", "1"});
    }
    std::vector<job> jobs{search_job(m.worker, c, search, arguments)};
    run_all(jobs, 1, [](job&) {});
    const json& r = jobs[0].result;
    if (r.contains("error")) usage_error(r["error"]);
    if (!r.contains("counterexample")) usage_error(fmt::format("the search ended before execution {}", o.execution));
    fmt::print("{} execution {}: {}\n", o.case_glob, r["executions"].get<std::uint64_t>(),
               r["what"] == "none" ? "passes" : r["what"].get<std::string>() + ": " + r["message"].get<std::string>());
    for (const json& text : r["counterexample"]) fmt::print("{}\n", text.get<std::string>());
    return r["what"] == "none" ? 0 : 1;
  }
  usage_error("--execution needs --case with the full name of one case; ./kit verify --list names them");
}

void write_json(const options& o, const std::vector<job>& jobs) {
  if (o.json_file.empty()) return;
  json all = json::array();
  for (const job& j : jobs) {
    all.push_back({{"case", j.case_name},
                   {"search", j.label},
                   {"expect", j.expect == job::expectation::pass   ? "pass"
                              : j.expect == job::expectation::fail ? "fail"
                                                                   : "litmus"},
                   {"result", j.result}});
  }
  std::ofstream out(o.json_file);
  out << json{{"version", RUNQ_VERSION}, {"compiler", __VERSION__}, {"budget", o.budget}, {"searches", all}}.dump(1)
      << "\n";
  if (!out) usage_error("cannot write " + o.json_file);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Model-checks the queues: every case, every mutant, the litmus calibration"};
  options o;
  app.add_option("--budget", o.budget, "quick (minutes) or full (as long as it takes)")
      ->check(CLI::IsMember({"quick", "full"}));
  app.add_option("--case", o.case_glob, "only cases that match this pattern, as 'ring/*'");
  app.add_option("--mutant", o.mutant_glob, "only mutants that match this pattern, with their counterexamples");
  app.add_option("--search", o.search, "with --execution: random, bounded or full")
      ->check(CLI::IsMember({"random", "bounded", "full"}));
  app.add_option("--bound", o.bound, "with --search bounded: the context bound");
  app.add_option("--execution", o.execution, "show this execution of the one case that --case names");
  app.add_option("--json", o.json_file, "write all results to this file");
  app.add_option("--jobs", o.jobs, "searches at a time")->check(CLI::Range(1, 1024));
  app.add_flag("--update-counts", o.update_counts, "write the explored counts to models/<stem>/counts.txt");
  app.add_flag("--list", o.list, "name the cases and what each shows");
  CLI11_PARSE(app, argc, argv);

  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);

  const manifest m = read_manifest(RUNQ_MANIFEST);
  const json cases = cases_of(m.worker);
  if (o.list) {
    for (const json& c : cases)
      fmt::print("{:<40} {}\n", c["name"].get<std::string>(), c["property"].get<std::string>());
    return 0;
  }
  if (o.execution != 0) return show_execution(o, m, cases);

  const auto started = clock_type::now();
  pinned_counts counts(m.models_dir);
  report print(o, counts);
  std::vector<job> jobs = plan(o, m, cases);
  if (jobs.empty()) usage_error("no case matches '" + o.case_glob + "'; ./kit verify --list names them");
  const std::size_t done = run_all(jobs, o.jobs, [&](job& j) { print(j); });
  print.summary(done, jobs.size(), std::chrono::duration<double>(clock_type::now() - started).count());
  if (o.update_counts) counts.write();
  write_json(o, jobs);
  if (interrupted != 0) return 130;
  return print.red() ? 1 : 0;
}
