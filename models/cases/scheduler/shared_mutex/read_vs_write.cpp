// SPDX-License-Identifier: MIT
// Tasks read or write, and leave.
#include "runq/shared_mutex.hpp"
#include "scenario.hpp"
#include "task_on_thread.hpp"

namespace runq::model {
namespace {

using mutex_type = runq::detail::shared_mutex_core<thread_policy>;
using share = mutex_type::share;

void leave(mutex_type& m, share taken) {
  require(m.give_back(taken), "a task gives its share back, and the mutex says that no task has one");
}

void require_free(mutex_type& m) {
  require(m.try_take(mutex_type::to_write()), "a share is lost");
  require(!m.try_take(mutex_type::to_read()), "a task may read while another one writes");
  leave(m, mutex_type::to_write());
}

/// What the mutex protects.
struct place {
  mutex_type access;
  cell<int> written{0};
};

// A task that reads or writes, and leaves. It has a thread of its own.
class visitor {
 public:
  visitor(place& of, share wanted) : of_(of), wanted_(wanted) { wait_.node.wanted.set(wanted.units); }
  void visit() {
    // What the awaiter does.
    if (!of_.access.try_take(wanted_)) {
      if (!of_.access.acquire_or_wait(wait_.node)) wait_.until_woken();
      of_.access.arrived(wait_.node);
    }
    if (wanted_.units == mutex_type::to_write().units) {
      of_.written.set(of_.written.get() + 1);
    } else {
      require(of_.written.get() >= 0, "nothing was written");
    }
    leave(of_.access, wanted_);
  }

 private:
  place& of_;
  share wanted_;
  one_wait<runq::detail::units_waiter<thread_policy>> wait_;
};

// Writers ‖ readers.
template <unsigned Writers>
struct visitors final : scenario {
  void thread(unsigned index) override { tasks[index].visit(); }
  void finish() override {
    require(here.written.get() == Writers, "a writer waits for ever");
    require_free(here.access);
  }
  place here;
  visitor tasks[3]{visitor(here, mutex_type::to_write()),
                   visitor(here, Writers == 1 ? mutex_type::to_read() : mutex_type::to_write()),
                   visitor(here, mutex_type::to_read())};
};

// A task that keeps what it gets, and whose wait may be withdrawn. It goes on when it is asked whether it has its
// share.
class keeper {
 public:
  keeper(mutex_type& of, share wanted) : of_(of), wanted_(wanted) { wait_.node.wanted.set(wanted.units); }
  void comes() { at_once_ = of_.acquire_or_wait(wait_.node); }
  void call_back() {
    if (of_.withdraw(wait_.node)) thread_policy::wake(&wait_.task);
  }
  [[nodiscard]] bool has_gone_on() {
    if (!at_once_ && !wait_.task.has_token()) return false;
    if (wait_.node.ok.get() && !arrived_) {
      of_.arrived(wait_.node);
      arrived_ = true;
    }
    return true;
  }
  [[nodiscard]] bool has_it() { return has_gone_on() && wait_.node.ok.get(); }
  void leaves() { leave(of_, wanted_); }

 private:
  mutex_type& of_;
  share wanted_;
  bool at_once_ = false;
  bool arrived_ = false;
  one_wait<runq::detail::units_waiter<thread_policy>> wait_;
};

// Two tasks read. The first leaves ‖ the other leaves ‖ a writer comes.
struct last_reader_leaves_vs_writer final : scenario {
  last_reader_leaves_vs_writer() {
    require(access.try_take(mutex_type::to_read()) && access.try_take(mutex_type::to_read()),
            "two tasks cannot read at the same time");
  }
  void thread(unsigned index) override {
    if (index == 2) return writer.comes();
    read[index].set(1);
    leave(access, mutex_type::to_read());
  }
  void finish() override {
    require(writer.has_it(), "a writer waits although all readers have left");
    require(read[0].get() + read[1].get() == 2, "a reader did not read");
    require(!access.try_take(mutex_type::to_read()), "a task may read while another one writes");
    writer.leaves();
    require_free(access);
  }

  mutex_type access;
  keeper writer{access, mutex_type::to_write()};
  cell<int> read[2]{cell<int>(0), cell<int>(0)};
};

// A task reads, and a writer waits behind it. A second reader may come.
struct writer_behind_reader : scenario {
  writer_behind_reader() {
    require(access.try_take(mutex_type::to_read()), "a new mutex is not free");
    writer.comes();
  }
  mutex_type access;
  keeper writer{access, mutex_type::to_write()};
  keeper second{access, mutex_type::to_read()};
};

// A task reads, a writer waits. The reader leaves ‖ a second reader comes.
struct reader_behind_writer final : writer_behind_reader {
  void thread(unsigned index) override {
    if (index == 0) {
      leave(access, mutex_type::to_read());
    } else {
      require(!access.try_take(mutex_type::to_read()), "a reader overtakes a writer that waits");
      second.comes();
    }
  }
  void finish() override {
    require(writer.has_it() && !second.has_it(),
            "a reader overtakes a writer that waits, or the writer waits for ever");
    writer.leaves();
    require(second.has_it(), "a reader waits although no task writes");
    second.leaves();
    require_free(access);
  }
};

// A task writes, two readers and a second writer wait, in this order. The writer leaves ‖ a third reader comes.
struct readers_go_on_together final : scenario {
  readers_go_on_together() {
    require(access.try_take(mutex_type::to_write()), "a new mutex is not free");
    for (keeper& reader : readers) reader.comes();
    writer.comes();
  }
  void thread(unsigned index) override {
    if (index == 0) {
      leave(access, mutex_type::to_write());
    } else {
      late.comes();
    }
  }
  void finish() override {
    require(readers[0].has_it() && readers[1].has_it(), "a reader waits although no task writes");
    require(!writer.has_it() && !late.has_it(), "a task writes while others read, or a reader overtakes a writer");
    for (keeper& reader : readers) reader.leaves();
    require(writer.has_it() && !late.has_it(), "a writer waits although all readers have left");
    writer.leaves();
    require(late.has_it(), "a reader waits although no task writes");
    late.leaves();
    require_free(access);
  }

  mutex_type access;
  keeper readers[2]{keeper(access, mutex_type::to_read()), keeper(access, mutex_type::to_read())};
  keeper writer{access, mutex_type::to_write()};
  keeper late{access, mutex_type::to_read()};
};

// A task reads, a writer waits, and a second reader behind it. The writer's wait is withdrawn ‖ a third reader comes.
struct writer_withdrawn final : writer_behind_reader {
  writer_withdrawn() { second.comes(); }
  void thread(unsigned index) override {
    if (index == 0) {
      writer.call_back();
    } else {
      third.comes();
    }
  }
  void finish() override {
    require(writer.has_gone_on() && !writer.has_it(), "a writer whose wait was withdrawn waits for ever, or writes");
    require(second.has_it() && third.has_it(), "a reader waits although no task writes");
    leave(access, mutex_type::to_read());
    second.leaves();
    third.leaves();
    require_free(access);
  }

  keeper third{access, mutex_type::to_read()};
};

// A task reads, and a writer waits. The reader leaves ‖ the writer's wait is withdrawn ‖ a second reader comes.
struct writer_withdrawn_vs_leave final : writer_behind_reader {
  void thread(unsigned index) override {
    if (index == 0) {
      leave(access, mutex_type::to_read());
    } else if (index == 1) {
      writer.call_back();
    } else {
      second.comes();
    }
  }
  void finish() override {
    require(writer.has_gone_on(), "a writer waits for ever");
    require(second.has_it() != writer.has_it(), "a reader waits although no task writes, or reads while one writes");
    if (writer.has_it()) writer.leaves();
    require(second.has_it(), "a reader waits although no task writes");
    second.leaves();
    require_free(access);
  }
};

// A task reads or writes, and leaves ‖ a thread unlocks what the other kind of task would have.
template <bool Writes>
struct wrong_unlock final : scenario {
  wrong_unlock() { require(access.try_take(mine), "a new mutex is not free"); }
  void thread(unsigned index) override {
    if (index == 0) {
      leave(access, mine);
    } else {
      require(!access.give_back(other), "a share was given back that no task had");
    }
  }
  void finish() override { require_free(access); }

  mutex_type access;
  share mine = Writes ? mutex_type::to_write() : mutex_type::to_read();
  share other = Writes ? mutex_type::to_read() : mutex_type::to_write();
};

const bool added[] = {
    add_case<visitors<1>>({
        .name = "shared_mutex/writer_vs_readers",
        .property = "no task writes while others read, and none waits for ever: one writes, two read",
        .threads = 3,
        .kept_for = "none of the tasks has the mutex when the others come",
    }),
    add_case<visitors<2>>({
        .name = "shared_mutex/writers_vs_reader",
        .property = "one task writes at a time, no task reads meanwhile, and none waits for ever: two write, one reads",
        .threads = 3,
        .kept_for = "two tasks write",
    }),
    add_case<last_reader_leaves_vs_writer>({
        .name = "shared_mutex/last_reader_leaves_vs_writer",
        .property = "a writer that comes while the last readers leave goes on when they have: leave ‖ leave ‖ write",
        .threads = 3,
        .kept_for = "the readers read at the same time",
    }),
    add_case<reader_behind_writer>({
        .name = "shared_mutex/reader_behind_writer",
        .property = "a reader that comes after a waiting writer waits for it, and then goes on: leave ‖ read",
        .threads = 2,
        .kept_for = "a reader tries, and then waits",
    }),
    add_case<readers_go_on_together>({
        .name = "shared_mutex/readers_go_on_together",
        .property = "a writer that leaves lets all readers go on up to the next writer: leave ‖ read",
        .threads = 2,
        .kept_for = "readers wait before and behind a writer",
    }),
    add_case<writer_withdrawn>({
        .name = "shared_mutex/writer_withdrawn",
        .property = "readers behind a writer whose wait is withdrawn go on: withdraw ‖ read",
        .threads = 2,
        .kept_for = "a writer that waits is withdrawn",
    }),
    add_case<writer_withdrawn_vs_leave>({
        .name = "shared_mutex/writer_withdrawn_vs_leave",
        .property =
            "a writer whose wait is withdrawn while the last reader leaves writes, or lets readers go on: leave ‖ "
            "withdraw ‖ read",
        .threads = 3,
        .kept_for = "the writer may get the mutex meanwhile",
    }),
    add_case<wrong_unlock<true>>({
        .name = "shared_mutex/unlock_shared_of_a_writer",
        .property = "a reader's share is refused while a task writes, and when none has one: leave ‖ unlock_shared",
        .threads = 2,
    }),
    add_case<wrong_unlock<false>>({
        .name = "shared_mutex/unlock_of_a_reader",
        .property = "a writer's share is refused while tasks read, and when none has one: leave ‖ unlock",
        .threads = 2,
    }),
};

}  // namespace
}  // namespace runq::model
