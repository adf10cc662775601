// SPDX-License-Identifier: MIT
// The processes of a check that is shared out: on this machine over sockets, and on several over MPI. Nothing here is
// linked to MPI, which comes as a module where it is installed.
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi_module.hpp"
#include "progress.hpp"
#include "share_out.hpp"

namespace runq::model::compiled {

namespace {

using clock_type = std::chrono::steady_clock;

/// Measures how long a shared search has taken. Prints once a second how far it is.
class stopwatch {
 public:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(clock_type::now() - started_).count(); }
  void tell(const share_out& work) {
    const double now = seconds();
    if (now < next_) return;
    print_progress(work.progress(now));
    next_ = now + 1;
  }

 private:
  const clock_type::time_point started_ = clock_type::now();
  double next_ = 1;
};

/// A searcher and the socket to it.
struct process {
  pid_t pid = -1;
  line_channel channel{-1};
};

[[noreturn]] void search(int socket, const run_options& options, const check_function& check) {
  line_channel others(socket);
  session& s = current_session();
  part_source source(others, s);
  s.options().source = &source;
  run_options own = options;
  own.search.progress = nullptr;
  own.search.max_executions = ~std::uint64_t{0};  // a limit of all together
  const search_result r = check(s, own);
  report last{
      report::kind::ended, part_source::tally_of(r, 0), {}, describe_part(r, s, judge(r, s, own)), {}, {}, {}, {}};
  others.write(to_text(last));
  _exit(0);
}

[[nodiscard]] std::optional<process> start(const run_options& options, const check_function& check) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    close(ends[0]);
    search(ends[1], options, check);
  }
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return {};
  }
  return process{pid, line_channel(ends[0])};
}

/// Says how the process of a searcher has ended that sent no last report.
[[nodiscard]] std::string end_of(const process& p) {
  int status = 0;
  while (waitpid(p.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

[[nodiscard]] answer without_verdict(const std::string& why) {
  const std::string headline = "no verdict: " + why;
  return {2, headline, headline + "\n", {}, {}};
}

}  // namespace

// --- on this machine -------------------------------------------------------------------------------------------------

answer check_by_processes(unsigned processes, const run_options& options, const check_function& check) {
  stopwatch watch;
  std::vector<process> all;
  for (unsigned i = 0; i != processes; ++i) {
    const std::optional<process> p = start(options, check);
    if (!p) return without_verdict(fmt::format("the system gives no {} processes", processes));
    all.push_back(*p);
  }
  share_out work(
      processes, options, [&all](unsigned i, const instruction& o) { all[i].channel.write(to_text(o)); },
      [processes](unsigned i) { return fmt::format("process {} of {}", i + 1, processes); });
  std::vector<pollfd> sockets;
  for (const process& p : all) sockets.push_back({p.channel.socket(), POLLIN, 0});
  constexpr int look_at_clock_ms = 200;
  while (!work.is_over()) {
    if (poll(sockets.data(), sockets.size(), look_at_clock_ms) < 0) continue;
    for (unsigned i = 0; i != all.size(); ++i) {
      if (sockets[i].revents == 0) continue;
      std::string line;
      if (!all[i].channel.read(line)) {
        sockets[i].fd = -1;
        work.lose(i, end_of(all[i]));
        continue;
      }
      report said = to_report(line);
      if (said.what == report::kind::ended) sockets[i].fd = -1;
      work.take(i, std::move(said));
    }
    watch.tell(work);
  }
  return work.result(current_session(), watch.seconds());
}

// --- on many machines ------------------------------------------------------------------------------------------------

namespace {

/// Messages to and from the ranks, as text.
class ranks {
 public:
  ranks() {
    Dl_info here{};
    if (dladdr(reinterpret_cast<const void*>(&started_by_mpi), &here) == 0) return;
    std::string file = here.dli_fname;
    file.resize(file.rfind('/') + 1);
    file += "librunq_check_mpi.so";
    void* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (module != nullptr) mpi_ = static_cast<const mpi_module*>(dlsym(module, "runq_mpi"));
    if (mpi_ != nullptr) is_there_ = mpi_->start(&own_, &count_) == 0;
  }
  [[nodiscard]] bool is_there() const noexcept { return is_there_; }
  [[nodiscard]] unsigned own() const noexcept { return static_cast<unsigned>(own_); }
  [[nodiscard]] unsigned count() const noexcept { return static_cast<unsigned>(count_); }
  void send(unsigned to, const std::string& text) const { mpi_->send(static_cast<int>(to), text.data(), text.size()); }
  [[nodiscard]] std::optional<std::string> receive(unsigned& from) const {
    int sender = 0;
    std::string text;
    const long size = mpi_->arrived(&sender);
    if (size < 0) return {};
    text.resize(static_cast<std::size_t>(size));
    mpi_->receive(sender, text.data(), text.size());
    from = static_cast<unsigned>(sender);
    return text;
  }
  void finish() const { mpi_->finish(); }

 private:
  const mpi_module* mpi_ = nullptr;
  bool is_there_ = false;
  int own_ = 0;
  int count_ = 1;
};

/// Sleeps for a moment. A loop that waits for messages without it would keep a processor busy that the searchers need.
void doze() {
  constexpr timespec a_moment{0, 200'000};
  nanosleep(&a_moment, nullptr);
}

constexpr std::string_view lost_mark = "lost ";

/// Carries what this rank's searcher says to the first rank, and the answers back.
[[noreturn]] void carry(const ranks& all, process& own) {
  for (std::string line;;) {
    if (!own.channel.read(line)) {
      all.send(0, std::string(lost_mark) + end_of(own));
      break;
    }
    all.send(0, line);
    if (to_report(line).what == report::kind::ended) break;
    std::optional<std::string> answered;
    for (unsigned from = 0; !(answered = all.receive(from));) doze();
    own.channel.write(*answered);
  }
  all.finish();
  _exit(0);
}

void take_message(share_out& work, unsigned from, const std::string& text) {
  if (text.starts_with(lost_mark)) {
    work.lose(from, text.substr(lost_mark.size()));
  } else {
    work.take(from, to_report(text));
  }
}

}  // namespace

bool started_by_mpi() {
  const char* const size = std::getenv("OMPI_COMM_WORLD_SIZE");
  return size != nullptr && std::atoi(size) > 1;
}

answer check_by_ranks(const run_options& options, const check_function& check) {
  stopwatch watch;
  // The searcher starts before MPI does, because MPI does not work in a forked process.
  std::optional<process> own = start(options, check);
  if (!own) return without_verdict("the system gives no process");
  const ranks all;
  if (!all.is_there()) {
    return without_verdict(
        "mpirun has started this, but the checker was built without MPI: install Open MPI (Debian: libopenmpi-dev and "
        "openmpi-bin), and build it again");
  }
  if (all.own() != 0) carry(all, *own);
  share_out work(
      all.count(), options,
      [&all, &own](unsigned to, const instruction& o) {
        if (to == 0) {
          own->channel.write(to_text(o));
        } else {
          all.send(to, to_text(o));
        }
      },
      [](unsigned rank) { return fmt::format("the searcher of rank {}", rank); });
  pollfd socket{own->channel.socket(), POLLIN, 0};
  while (!work.is_over()) {
    bool heard = poll(&socket, 1, 0) > 0;
    if (heard) {
      std::string line;
      const bool is_there = own->channel.read(line);
      if (!is_there || to_report(line).what == report::kind::ended) socket.fd = -1;
      take_message(work, 0, is_there ? line : std::string(lost_mark) + end_of(*own));
    }
    unsigned from = 0;
    if (const std::optional<std::string> text = all.receive(from)) {
      heard = true;
      take_message(work, from, *text);
    }
    if (!heard) doze();
    watch.tell(work);
  }
  all.finish();
  return work.result(current_session(), watch.seconds());
}

}  // namespace runq::model::compiled
