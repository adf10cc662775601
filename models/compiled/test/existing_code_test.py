#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""runq-check on code that somebody else has written: failures one after the other, accepted races, builds, results for tools."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

import kept_compiler

TOOL = sys.argv.pop(1)
SPACED_TOOL = sys.argv.pop(1)
PROGRAMS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "existing")
ACCEPTED, SEVERAL, VOLATILE, HALVES = (os.path.join(PROGRAMS, name) for name in ("accepted.cpp", "several.cpp", "volatile.c", "halves.c"))
COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]


def setUpModule():
    kept_compiler.set_up()


def tearDownModule():
    kept_compiler.tear_down()


def line_of(program, text):
    with open(program, encoding="utf-8") as source:
        return next(number for number, line in enumerate(source, 1) if text in line)


def place(program, text):
    return f"{os.path.basename(program)}:{line_of(program, text)}"


class Checked(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, text=None):
        path = os.path.join(self.folder.name, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as to:
                to.write(text)
        return path

    def check(self, *arguments, status, tool=TOOL, **more):
        """By the compiler that keeps what it has made, unless the arguments name one."""
        ran = subprocess.run([tool, "--compiler", kept_compiler.name(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, **more)
        self.assertEqual(ran.returncode, status, ran.stdout)
        return ran.stdout


class AcceptedRaces(Checked):
    def test_a_race_is_a_failure_unless_it_is_accepted(self):
        self.assertIn("data race", self.check(ACCEPTED, status=1))
        for text in "// read", "// write":
            printed = self.check("--accept", "race:" + place(ACCEPTED, text), ACCEPTED, status=0)
            self.assertRegex(printed, r"^exhaustive: ")
            self.assertRegex(printed, r"(?m)^accepted: 1 race at .*accepted\.cpp:\d+")

    def test_a_race_of_another_file_is_a_failure(self):
        line = line_of(ACCEPTED, "// write")
        for other in f"other.cpp:{line}", f"ccepted.cpp:{line}":
            self.assertIn("data race", self.check("--accept", "race:" + other, ACCEPTED, status=1))

    def test_a_race_with_an_atomic_operation_asks_for_no_plain_access_there(self):
        program = self.file("beside.cpp", """#include <atomic>
#include <cassert>
#include <thread>
int word = 0;
int main() {
  std::thread other([] {
    int expected = 0;
    __atomic_compare_exchange_n(&word, &expected, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);  // atomic
  });
  const int seen = word;  // plain
  other.join();
  assert(seen == 0 || seen == EXPECTED);
}
""")
        printed = self.check("--ignore-races", program, "--", "-DEXPECTED=1", status=0)
        self.assertIn("accepted: 1 race at ", printed)
        self.assertNotIn("no plain access was executed", printed)
        self.check("--ignore-races", program, "--", "-DEXPECTED=2", status=1)

    def test_what_is_accepted_counts_as_relaxed(self):
        """As many executions as with the same variable as a relaxed atomic one."""
        executions = r"\((\d+ executions explored[^,]*),"
        for compiler in COMPILERS:
            atomic = re.search(executions, self.check("--compiler", compiler, ACCEPTED, "--", "-DATOMIC", status=0))
            accepted = re.search(executions, self.check("--compiler", compiler, "--ignore-races", ACCEPTED, status=0))
            self.assertEqual(atomic[1], accepted[1], compiler)

    def test_what_an_accepted_race_has_hidden_is_found(self):
        printed = self.check("--accept", "race:" + place(ACCEPTED, "// write"), ACCEPTED, "--", "-DWRONG", status=1)
        self.assertIn("data race", printed.splitlines()[0])
        self.assertIn(place(ACCEPTED, "// published"), printed.splitlines()[0])
        printed = self.check("--ignore-races", ACCEPTED, "--", "-DWRONG", status=1)
        self.assertIn("assertion fails: data == 1", printed.splitlines()[0])

    def test_a_file_has_reasons_which_the_verdict_tells(self):
        where = place(ACCEPTED, "// write")
        listed = self.file("races", f"# what we know of\n\nrace:{where} only a statistic\nrace:gone.cpp:7 was here once\n")
        result = self.file("result.json")
        printed = self.check("--accept-from", listed, "--json", result, ACCEPTED, status=0)
        self.assertIn(f"{where} (only a statistic)", printed)
        self.assertIn("accepted, but not met: race:gone.cpp:7", printed)
        with open(result, encoding="utf-8") as written:
            accepted = json.load(written)["searches"][0]["result"]["accepted"]
        self.assertEqual({race["reason"] for race in accepted}, {"only a statistic"})

    def test_a_list_that_cannot_be_read_says_where(self):
        for text, wrong in (("race:a.cpp:1\n", r"races:1: a reason is missing"), ("\nleak:a.cpp:1 small\n", r"races:2: only races"),
                            ("race:a.cpp x\n", r"races:1: only races")):
            self.assertRegex(self.check("--accept-from", self.file("races", text), ACCEPTED, status=2), wrong)
        self.assertIn("cannot read", self.check("--accept-from", self.file("none"), ACCEPTED, status=2))
        self.assertIn("only races are accepted", self.check("--accept", "accepted.cpp:3", ACCEPTED, status=2))


class PlainAsRelaxed(Checked):
    def test_a_plain_access_counts_as_relaxed_where_the_user_says_so(self):
        both = [word for text in ("// read", "// write") for word in ("--plain-as-relaxed", place(ACCEPTED, text))]
        for compiler in COMPILERS:
            self.check("--compiler", compiler, *both, ACCEPTED, status=0)
        self.assertIn("is not atomic, the access by", self.check(*both[2:], ACCEPTED, status=1))

    def test_a_program_that_was_not_compiled_for_the_option_says_so(self):
        program = self.file("noted")
        for option, at_run in ((["--ignore-races"], "--ignore-races"), (["--plain-as-relaxed", "a.cpp:1"], "--accept race:a.cpp:1"),
                               (["--volatile-as-relaxed"], "--volatile-as-relaxed")):
            for compiled_for, status in (([], 2), (option, None)):
                self.check("--compile-only", program, *compiled_for, ACCEPTED, status=0)
                ran = subprocess.run([program], env={**os.environ, "RUNQ_CHECK": at_run}, capture_output=True, text=True, check=False)
                said = f"runq-check: this program was compiled without {at_run.split()[0]}: "
                self.assertEqual(ran.stderr.startswith(said), status == 2, ran)
                self.assertEqual(ran.returncode == 2, status == 2, ran)

    def test_a_line_without_a_plain_access_is_named(self):
        both = [word for text in ("// read", "// write") for word in ("--plain-as-relaxed", place(ACCEPTED, text))]
        for jobs in "1", "2":
            for lines, status in ([], 1), (both, 0):
                printed = self.check("--jobs", jobs, "--plain-as-relaxed", "accepted.cpp:1", *lines, ACCEPTED, status=status)
                self.assertEqual(re.findall("note: no plain access was executed at (\\S+)", printed), ["accepted.cpp:1"])

    def test_what_a_failed_compare_exchange_has_seen_replaces_what_was_stored(self):
        halves = [word for half in ("// one half", "// the other half") for word in ("--plain-as-relaxed", place(HALVES, half))]
        for compiler in COMPILERS:
            printed = self.check("--compiler", compiler, *halves, HALVES, "--", "-mcx16", status=0)
            self.assertNotIn("not executed by this test", printed)
            printed = self.check("--compiler", compiler, *halves, HALVES, "--", "-mcx16", "-DBLIND", status=1)
            self.assertIn("assertion fails: last.object == 2 && last.counter == 2", printed)

    def test_a_plain_write_beside_atomic_parts_of_a_word_is_named_and_can_be_relaxed(self):
        sizes = os.path.join(os.path.dirname(PROGRAMS), "programs", "different_sizes.cpp")
        for flags in ["-DPLAIN_BESIDE"], ["-DPLAIN_BESIDE", "-DFIRST"]:
            printed = self.check(sizes, "--", *flags, status=2)
            where = re.search(r"\(--plain-as-relaxed makes it one of them\), at (\S+:\d+)", printed)[1]
            self.assertIn("bounded: ", self.check("--plain-as-relaxed", where, sizes, "--", *flags, status=0))
            self.assertIn("assertion fails", self.check("--plain-as-relaxed", where, sizes, "--", *flags, "-DWRONG", status=1))

    def test_volatile_variables_count_as_relaxed(self):
        for compiler in COMPILERS:
            printed = self.check("--compiler", compiler, "--volatile-as-relaxed", VOLATILE, status=1)
            self.assertIn("assertion fails: data == 1", printed)
            self.assertRegex(printed, r"load +data → 0 +relaxed +STALE")
            self.check("--compiler", compiler, "--volatile-as-relaxed", VOLATILE, "--", "-DFENCES", status=0)

    def test_plain_variables_beside_volatile_ones_stay_plain(self):
        for compiler in COMPILERS:
            printed = self.check("--compiler", compiler, "--volatile-as-relaxed", VOLATILE, "--", "-DPLAIN", status=1)
            self.assertIn("data race", printed.splitlines()[0])
            self.check("--compiler", compiler, "--volatile-as-relaxed", VOLATILE, "--", "-DPLAIN", "-DFENCES", status=0)


class Wrappers(Checked):
    HEADER = """#include <atomic>
template <class T> struct word {
  T load() const {
    return inside.load(std::memory_order_relaxed);
  }
  void operator=(T value) {
    inside.store(value, std::memory_order_relaxed);
  }
  std::atomic<T> inside{0};
};
"""
    PROGRAM = """#include <cassert>
#include <thread>
#include "word.hpp"
struct { word<int> head, tail; } queue;
int main() {
  std::thread t([] {
    queue.head = 1;
    queue.tail = 1;
  });
  const int tail = queue.tail.load();
  assert(queue.head.load() >= tail);
  t.join();
}
"""

    def test_steps_of_a_wrapper_are_shown_where_it_is_called(self):
        self.file("word.hpp", self.HEADER)
        program = self.file("queue.cpp", self.PROGRAM)
        for compiler in COMPILERS:
            plain = self.check("--compiler", compiler, program, status=1)
            self.assertRegex(plain, r"load +queue\S* → 1 .* word\.hpp:4\b")
            shown = self.check("--compiler", compiler, "--wrapper", "word.hpp", program, status=1)
            self.assertRegex(shown, r"store queue\S* ← 1 .* queue\.cpp:8\b")
            self.assertRegex(shown, r"load +queue\S* → 1 .* queue\.cpp:10\b")
            self.assertNotIn("word.hpp", shown)
            # Another header's name, and the end of a name, wrap nothing.
            for other in "inner_word.hpp", "ord.hpp":
                self.assertIn("word.hpp:4", self.check("--compiler", compiler, "--wrapper", other, program, status=1))
        self.assertIn("queue.tail.inside → 1", self.check("--wrapper", "word.hpp", program, status=1))
        self.assertIn("queue.tail.inside → 1", self.check(program, status=1))
        self.assertIn("queue.head.inside ← 1", self.check("--wrapper", "word.hpp", program, status=1))

    def test_a_program_that_is_all_wrapper_is_shown(self):
        self.file("word.hpp", self.HEADER)
        program = self.file("queue.cpp", self.PROGRAM)
        self.assertIn("word.hpp:4", self.check("--wrapper", "word.hpp", "--wrapper", "queue.cpp", program, status=1))


class LongNames(Checked):
    def test_outer_namespaces_are_left_out_of_a_long_name(self):
        program = self.file("long.cpp", """#include <atomic>
#include <cassert>
#include <thread>
namespace library::detail::implementation { std::atomic<int> table_of_waiters; }
namespace short_one { std::atomic<int> x; }
int main() {
  std::thread t([] { library::detail::implementation::table_of_waiters = 1; short_one::x = 1; });
  assert(short_one::x == 0 || library::detail::implementation::table_of_waiters == 0);
  t.join();
}
""")
        printed = self.check(program, status=1)
        self.assertRegex(printed, r"store implementation::table_of_waiters ← 1 ")
        self.assertRegex(printed, r"store short_one::x ← 1 ")


class Waits(Checked):
    PROGRAM = """#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>
std::mutex m;
std::condition_variable cv;
bool ready;
int main() {
  std::thread t([] {
    std::lock_guard<std::mutex> hold(m);
    ready = true;
    cv.notify_one();
  });
  {
    std::unique_lock<std::mutex> hold(m);
    if (!ready) cv.wait_for(hold, std::chrono::seconds(1));
    assert(ready);
  }
  t.join();
}
"""

    def test_what_ends_a_wait_is_said(self):
        program = self.file("wait.cpp", self.PROGRAM)
        for options, expected, other in ((("--spurious-wakeups", "0"), "its time is over", "for no reason"),
                                         (("--timeouts", "0"), "wakes up for no reason", "its time is over")):
            printed = self.check(*options, program, status=1)
            self.assertRegex(printed, rf"T0 +{expected} +wait\.cpp:16")
            self.assertNotIn(other, printed)
            self.assertNotIn("choose", printed)


class AllFailures(Checked):
    EXPECTED = ("assertion fails: y.load(std::memory_order::relaxed) == 0", "assertion fails: x.load(std::memory_order::relaxed) == 0", "data race: ", "deadlock: ", "leak: ")

    def test_every_failure_is_shown_once(self):
        result = self.file("result.json")
        printed = self.check("--all-failures", "20", "--json", result, SEVERAL, status=1)
        failures = re.findall(r"^FAIL: (.*)$", printed, re.MULTILINE)[1:]
        self.assertEqual(len(failures), len(set(failures)))
        for expected in self.EXPECTED:
            self.assertEqual(sum(expected in f for f in failures), 1, f"{expected}\n{printed}")
        self.assertRegex(printed, rf"^FAIL: {len(failures)} different failures in \d+ of \d+ executions")
        with open(result, encoding="utf-8") as written:
            self.assertEqual(len(json.load(written)["searches"]), len(failures))

    def test_a_deadlock_tells_who_has_ended_in_it(self):
        """And not in those on the way to it."""
        source = self.file("ends.cpp", """#include <atomic>
#include <thread>
std::atomic<int> x{0}, flag{0};
int main() {
  std::thread waits([] { if (x.load() == 0) while (!flag.load()) {} else while (!flag.load()) {} });
  std::thread ends([] { x.store(1); });
  waits.join();
  ends.join();
}
""")
        result = self.file("result.json")
        self.check("--all-failures", "1", "--path", "0", "--json", result, source, status=1)
        with open(result, encoding="utf-8") as written:
            said = json.load(written)["searches"][0]["result"]
        self.assertEqual((said["what"], said["ended"], [thread["thread"] for thread in said["stuck"]]), ("deadlock", [2], [0, 1]))

    def test_a_failure_can_be_shown_again(self):
        printed = self.check("--all-failures", "20", SEVERAL, status=1)
        shown = printed.split("this is the smallest:\n")[1:]
        self.assertEqual(len(shown), 5)
        for one in shown:
            again = re.search("To see this execution again: (.*)", one)[1]
            self.assertEqual(self.check(*again.split(), SEVERAL, status=1).splitlines()[0], one.splitlines()[0])

    def test_failures_of_a_search_that_began_again_are_shown(self):
        """A plain write, beside what a round that is left out reads, and a failure after a round that failed."""
        source = self.file("again.cpp", """#include <atomic>
#include <cassert>
#include <thread>
constexpr auto relaxed = std::memory_order::relaxed;
std::atomic<int> count{0};
int found[2];
void add(int who) {
  int expected = count.load(relaxed);
  while (!count.compare_exchange_strong(expected, expected + 1, relaxed, relaxed)) {}
  found[who] = expected;
}
int main() {
  std::thread one([] { add(0); }), two([] { add(1); });
  one.join(); two.join();
  std::thread three([] { *reinterpret_cast<int*>(&count) = 5; });
  three.join();
  assert(found[0] == 0);
}
""")
        for options, first in (["--all-failures", "3"], "FAIL: 1 different failure in 2 of 4 executions, "), (["--jobs", "2"], "FAIL: check failed: "):
            printed = self.check(*options, source, status=1)
            self.assertTrue(printed.startswith(first), printed)
            self.assertIn("note: a thread waits for a variable that is freed, or written otherwise than atomically", printed)
            again = re.search("To see this execution again: (.*)", printed)[1]
            self.assertIn("--waits-in-place off --skip-retries off --path ", again)
            self.assertIn("\n" + self.check(*again.split(), source, status=1).splitlines()[0] + "\n", "\n" + printed)

    def test_the_execution_that_is_shown_is_the_smallest(self):
        """A thread comes to the failing line by a way that is longer in some executions."""
        source = self.file("longer.cpp", """#include <atomic>
#include <cassert>
#include <thread>
std::atomic<int> x{0}, y{0};
int main() {
  std::thread other([] { x.store(1); });
  if (x.load() == LONGER) {
    for (int i = 0; i != 5; ++i) y.store(i);
  }
  assert(x.load() == 2);
  other.join();
}
""")
        for longer in 0, 1:
            printed = self.check("--all-failures", "9", source, "--", f"-DLONGER={longer}", status=1)
            self.assertIn("in 3 executions; this is the smallest", printed)
            self.assertNotIn("y.store", printed)

    def test_what_fails_beside_a_race_is_a_failure_of_its_own(self):
        source = self.file("beside.cpp", """#include <cassert>
#include <thread>
int plain = 0, one = 1, two = 2;
int main() {
  std::thread a([] { plain = 1; }), b([] { plain = 2; });
  std::thread c([] { assert(one == 2); });
  std::thread d([] { assert(two == 1); });
  a.join(); b.join(); c.join(); d.join();
}
""")
        printed = self.check("--all-failures", "9", source, status=1)
        self.assertIn("FAIL: 3 different failures in 1 of 1 executions", printed)

    def test_what_cannot_be_shown_again_is_no_verdict(self):
        """The searches are processes of their own, and this program is another one in each."""
        noted = self.file("pid", "")
        source = self.file("gone.cpp", """#include <atomic>
#include <cassert>
#include <fstream>
#include <thread>
#include <unistd.h>
int main() {
  std::atomic<int> x{0};
  int first = 0;
  { std::ifstream in(NOTED); in >> first; }
  if (first == 0) { first = getpid(); std::ofstream(NOTED) << first; }
  if (first != getpid()) return 0;
  std::thread other([&] { x.store(1); });
  assert(x.load() == 1);
  other.join();
}
""")
        for most, shown in ("9", "no verdict: there is no execution at the end of this way"), ("1", "which does not fail"):
            with open(noted, "w", encoding="utf-8"):
                pass
            self.assertIn(shown, self.check("--all-failures", most, source, "--", f'-DNOTED="{noted}"', status=2))

    def test_a_number_of_failures_is_enough(self):
        printed = self.check("--all-failures", "2", SEVERAL, status=1)
        self.assertIn("FAIL: 2 different failures", printed)
        self.assertIn("there may be more", printed.splitlines()[0])

    def test_without_a_failure_the_verdict_is_the_same(self):
        def verdict(*options):
            return re.sub(r", [\d.]+ s\)", "", self.check(*options, SEVERAL, "--", "-DRIGHT", status=0))
        self.assertEqual(verdict("--all-failures", "9"), verdict())

    def test_accepted_races_are_none_of_them(self):
        race = "race:" + place(SEVERAL, "// race")
        printed = self.check("--all-failures", "20", "--accept", race, SEVERAL, status=1)
        self.assertNotIn("data race", printed)
        self.assertIn("accepted: 1 race at", printed)
        self.assertIn("deadlock: ", printed)

    def test_what_it_does_not_go_with(self):
        for other in ("--sample", "3"), ("--execution", "1"), ("--ledger",):
            self.assertIn("--all-failures goes with none", self.check("--all-failures", "1", *other, SEVERAL, status=2))
        self.assertIn("at least 1", self.check("--all-failures", "0", SEVERAL, status=2))
        self.assertIn("--all-failures is for one process", self.check("--all-failures", "1", "--jobs", "2", SEVERAL, status=2))


class Builds(Checked):
    SHOWS = "#include <cassert>\n#include \"part.h\"\nint main() { assert(part() == EXPECTED); }\n"
    PART = '#include "part.h"\nint part() { return 3; }\n'

    def parts(self, *folder):
        """A program of two sources; `part` lies in a folder."""
        os.makedirs(self.file(os.path.join("src", *folder)))
        part = self.file(os.path.join("src", *folder, "part.cpp"), self.PART)
        self.file(os.path.join("src", *folder, "part.h"), "int part();\n")
        return self.file("main.cpp", self.SHOWS), part

    def compiled(self, part):
        made = part.replace(".cpp", ".o")
        subprocess.run(["g++", "-c", part, "-o", made], check=True)
        return made

    def test_objects_and_archives_are_linked(self):
        main, part = self.parts()
        flags = "--", "-I", os.path.dirname(part)
        archive = self.file("libpart.a")
        subprocess.run(["ar", "rc", archive, self.compiled(part)], check=True)
        for linked in self.compiled(part), archive:
            for expected, status in (3, 0), (4, 1):
                printed = self.check(main, linked, *flags, f"-DEXPECTED={expected}", status=status)
                self.assertIn("not seen: part(), in " if status == 0 else "assertion fails", printed)
        self.assertIn("there is no file", self.check(main, self.file("none.o"), *flags, status=2))

    def test_a_library_comes_behind_what_needs_it(self):
        main, part = self.parts()
        subprocess.run(["ar", "rc", self.file("libpart.a"), self.compiled(part)], check=True)
        flags = "-I", os.path.dirname(part), f"-L{self.folder.name}", "-DEXPECTED=3"
        for compiler in COMPILERS:
            for words in ["-lpart"], ["-l", "part"]:
                printed = self.check("--compiler", compiler, main, "--", *words, *flags, status=0)
                self.assertIn("not seen: part(), in ", printed)
        # The program has its own.
        self.assertNotIn("libpart.a", self.check(main, part, "--", "-lpart", *flags, status=0))

    def test_paths_may_have_spaces(self):
        main, part = self.parts("of somebody else")
        for expected, status in (3, 0), (4, 1):
            self.check("--coverage", main, part, "--", f"-I{os.path.dirname(part)}", f"-DEXPECTED={expected}", tool=SPACED_TOOL,
                       status=status)

    def test_a_program_may_be_only_compiled(self):
        main, part = self.parts()
        program = self.file("program")
        self.assertEqual(self.check("--compile-only", program, main, part, "--", f"-I{os.path.dirname(part)}", "-DEXPECTED=4",
                                    status=0), "")
        ran = subprocess.run([program], stdout=subprocess.PIPE, text=True, env={**os.environ, "RUNQ_CHECK": "--no-leaks"})
        self.assertEqual((ran.returncode, ran.stdout.split(":")[0]), (1, "FAIL in execution 1"))

    def test_a_compilation_database_has_flags_and_sources(self):
        main, part = self.parts("deep")
        build = self.file("build")
        os.mkdir(build)
        database = self.file("compile_commands.json", json.dumps([
            {"directory": build, "file": "../src/deep/part.cpp", "command": "c++ -O3 -Werror -c -I ../src/deep -DEXPECTED=3 -o part.o "
                                                                            "../src/deep/part.cpp"},
            {"directory": build, "file": "../src/other.cpp", "arguments": ["c++", "-c", "-DEXPECTED=4", "../src/other.cpp"]}]))
        # The source is found by the end of its path, and the test, which is in no database, gets its flags.
        self.check("--compile-commands", database, main, "deep/part.cpp", status=0)
        self.check("--compile-commands", database, main, part, status=0)
        self.assertIn("assertion fails", self.check("--compile-commands", database, main, "deep/part.cpp", "--", "-UEXPECTED",
                                                    "-DEXPECTED=5", status=1))
        self.assertIn("there is no file none.cpp, here or in", self.check("--compile-commands", database, main, "none.cpp", status=2))
        self.assertIn("is no compilation database", self.check("--compile-commands", main, part, status=2))

    def test_editors_find_the_line(self):
        printed = self.check("--editor", ACCEPTED, status=1)
        errors = re.findall(r"^(/\S*):(\d+):(\d+): (error|note): (.*)$", printed, re.MULTILINE)
        self.assertEqual([kind for _, _, _, kind, _ in errors], ["error", "note"])
        for file, line, column, kind, text in errors:
            with open(file, encoding="utf-8") as source:
                shown = source.readlines()[int(line) - 1]
            self.assertIn("hits", shown)
            self.assertEqual(int(column), 1)
        self.assertRegex(errors[0][4], "^data race: ")
        self.assertNotIn(": error: ", self.check(ACCEPTED, status=1))
        self.assertRegex(self.check("--editor", SEVERAL, status=1), r"several\.cpp:\d+:5: error: check failed: ")


class ResultsForTools(Checked):
    def sarif(self, *arguments, status):
        file = self.file("result.sarif")
        self.check("--sarif", file, *arguments, status=status, cwd=PROGRAMS)
        with open(file, encoding="utf-8") as written:
            result = json.load(written)
        self.assertEqual(result["version"], "2.1.0")
        (run,) = result["runs"]
        self.assertEqual(run["tool"]["driver"]["name"], "runq-check")
        self.assertEqual(run["invocations"][0]["executionSuccessful"], status != 2)
        return run["results"]

    def test_sarif_has_the_lines_of_a_failure(self):
        (found,) = self.sarif("accepted.cpp", status=1)
        self.assertEqual((found["ruleId"], found["level"]), ("data race", "error"))
        self.assertRegex(found["message"]["text"], r"^FAIL in execution \d+: data race: .*\nwhy: ")
        lines = {line_of(ACCEPTED, text) for text in ("// read", "// write")}
        for place in found["locations"] + found["relatedLocations"]:
            self.assertEqual(place["physicalLocation"]["artifactLocation"]["uri"], "accepted.cpp")
            self.assertIn(place["physicalLocation"]["region"]["startLine"], lines)
        (flow,) = found["codeFlows"]
        (steps,) = flow["threadFlows"]
        self.assertGreater(len(steps["locations"]), 3)

    def test_sarif_has_each_failure_and_none_where_none_is(self):
        found = self.sarif("--all-failures", "9", "several.cpp", status=1)
        self.assertEqual(len(found), 5)
        self.assertEqual(len({f["ruleId"] for f in found}), 4)
        self.assertEqual(self.sarif("several.cpp", "--", "-DRIGHT", status=0), [])
        self.assertEqual(self.sarif("--max-executions", "1", "accepted.cpp", "--", "-DATOMIC", status=2), [])

    def test_junit_says_what_failed(self):
        file = self.file("result.xml")
        for arguments, status, inner in ((("--ignore-races", ACCEPTED), 0, None), ((ACCEPTED,), 1, "failure"),
                                         (("--max-executions", "1", ACCEPTED, "--", "-DATOMIC"), 2, "error")):
            self.check("--junit", file, *arguments, status=status)
            suite = xml.etree.ElementTree.parse(file).getroot()
            self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors")),
                             ("1", str(int(status == 1)), str(int(status == 2))))
            (case,) = suite.findall("testcase")
            self.assertEqual(case.get("name"), "accepted.cpp")
            if inner is not None:
                self.assertRegex(case.find(inner).get("message"), "^(FAIL|no verdict)")
                self.assertRegex(case.find(inner).text, r"^(FAIL|no verdict).*\n")
        pages = self.file("pages")
        self.check("--junit", file, "--html", pages, "--json", self.file("all.json"), "--all-failures", "9", SEVERAL, status=1)
        suite = xml.etree.ElementTree.parse(file).getroot()
        self.assertEqual(suite.get("failures"), "5")
        self.assertRegex("".join(suite.itertext()), "store [xy] ← 1")
        self.assertEqual([case.get("name") for case in suite], [f"several.cpp, failure {number}" for number in range(1, 6)])
        with open(self.file("all.json"), encoding="utf-8") as written:
            self.assertEqual([search["case"] for search in json.load(written)["searches"]], ["several.cpp"] * 5)
        self.assertIn("several.cpp-main.html", os.listdir(pages))

    def test_what_xml_cannot_hold_is_written_otherwise(self):
        file = self.file("result.xml")
        program = self.file("marks.cpp", "#include <cassert>\nint main() { int a = 1, b = 2; assert(a > b && b < a); }\n")
        self.check("--junit", file, program, status=1)
        (failure,) = xml.etree.ElementTree.parse(file).getroot().iter("failure")
        self.assertIn("assertion fails: a > b && b < a", failure.get("message"))

    def test_a_place_elsewhere_is_named_from_the_root(self):
        file = self.file("result.sarif")
        self.check("--sarif", file, ACCEPTED, status=1, cwd=self.folder.name)
        with open(file, encoding="utf-8") as written:
            (found,) = json.load(written)["runs"][0]["results"]
        self.assertEqual(found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "file://" + ACCEPTED)

    def test_a_file_that_cannot_be_written_is_named(self):
        """Before the search, if that can be known then."""
        for option in "--json", "--sarif", "--junit":
            self.assertEqual("runq-check: cannot write /nowhere/x\n", self.check(option, "/nowhere/x", ACCEPTED, status=2))
            self.assertTrue(self.check(option, "/dev/full", ACCEPTED, status=2).endswith("runq-check: cannot write /dev/full\n"))
        self.assertRegex(self.check("--html", "/dev/null/x", ACCEPTED, status=2), r"^runq-check: cannot make the folder /dev/null/x: ")
        pages = self.file("pages")
        os.makedirs(os.path.join(pages, "index.html"))
        self.assertIn(f"runq-check: cannot write {pages}/index.html\n", self.check("--html", pages, ACCEPTED, status=2))

    def test_a_search_that_a_limit_ends_says_how_far_it_came(self):
        printed = self.check("--max-executions", "2", ACCEPTED, "--", "-DATOMIC", status=2)
        self.assertRegex(printed, r"(?m)^so far no execution fails: about [\d.]+ % of the search$")
        self.assertNotIn("so far", self.check(SEVERAL, "--", "-DRIGHT", status=0))


class Cache(Checked):
    PROGRAM = """#include <atomic>
#include <cassert>
#include <thread>
#include "order.hpp"
int data;
std::atomic<bool> ready{false};
int main() {
  std::thread writer([] {
    data = 42;
    ready.store(true, ORDER);
  });
  if (ready.load(std::memory_order::acquire)) assert(data == 42);
  writer.join();
}
"""
    AGAIN = r"(?m)^unchanged since \d{4}-\d\d-\d\d \d\d:\d\d UTC: not searched again; --no-cache searches$"

    def setUp(self):
        super().setUp()
        self.program = self.file("program.cpp", self.PROGRAM)
        self.order("release")
        self.cache = self.file("cache")

    def order(self, name):
        self.file("order.hpp", f"#define ORDER std::memory_order::{name}\n")

    def cached(self, *arguments, status=0):
        # The compiler of the other tests does not look at what is in a source.
        return self.check("--compiler", "g++", "--cache", self.cache, *arguments, status=status)

    def searched(self, *arguments, status=0):
        text = self.cached(*arguments, status=status)
        self.assertNotIn("not searched again", text)
        return text

    def told_again(self, *arguments, status=0):
        text = self.cached(*arguments, status=status)
        self.assertRegex(text, self.AGAIN)
        return re.sub(self.AGAIN + "\n", "", text)

    def test_an_unchanged_program_is_not_searched_again(self):
        first = self.searched(self.program)
        self.assertEqual(first, self.told_again(self.program))
        # It is the folder that tells it, unless that is switched off.
        (kept,) = os.listdir(self.cache)
        with open(os.path.join(self.cache, kept, "printed"), "w", encoding="utf-8") as printed:
            printed.write("of the cache\n")
        self.assertEqual("of the cache\n", self.told_again(self.program))
        self.assertRegex(self.searched("--no-cache", self.program), "^exhaustive: ")

    def test_a_changed_header_flag_option_or_list_is_searched(self):
        self.searched(self.program)
        self.order("relaxed")
        failed = self.searched(self.program, status=1)
        self.assertEqual(failed, self.told_again(self.program, status=1))
        self.order("release")
        self.told_again(self.program)
        self.searched("--bound", "1", self.program)
        self.searched(self.program, "--", "-DMORE")
        with unittest.mock.patch.dict(os.environ, RUNQ_OF_LATER_VERSIONS="1"):
            self.searched(self.program)
        listed = self.file("races", "race:a.cpp:1 one reason\n")
        self.assertIn("not met: race:a.cpp:1", self.searched("--accept-from", listed, self.program))
        self.file("races", "race:a.cpp:2 another\n")
        self.assertIn("not met: race:a.cpp:2", self.searched("--accept-from", listed, self.program))

    def library(self, folder, source):
        """An instrumented library, and what links it."""
        made = self.file("part.o")
        subprocess.run(["g++", "-O1", "-fPIC", "-fsanitize=thread", "-c", self.file("part.cpp", source), "-o", made], check=True)
        subprocess.run(["g++", "-shared", made, "-o", self.file("libpart.so")], check=True)
        return "--", f"-L{folder}", "-lpart", f"-Wl,-rpath,{folder}"

    def test_a_changed_library_is_searched(self):
        program = self.file("uses.cpp", "int part();\nint main() { return part(); }\n")
        linked = self.library(self.folder.name, "int part() { return 0; }\n")
        first = self.searched(program, *linked)
        self.assertEqual(first, self.told_again(program, *linked))
        self.library(self.folder.name, "int part() { return 1; }\n")
        self.searched(program, *linked, status=1)

    def test_a_library_that_asks_the_system_is_searched_each_time(self):
        program = self.file("uses.cpp", "int part();\nint main() { return part(); }\n")
        asks = "#include <cstdlib>\nint asked;\nint part() { asked += 1; return getenv(\"NONE\") != nullptr; }\n"
        linked = self.library(self.folder.name, asks)
        for _ in range(2):
            self.assertIn("not kept in the cache: the program calls or reads getenv", self.searched(program, *linked))

    def test_what_reports_and_coverage_say_comes_again(self):
        self.order("relaxed")
        self.assertEqual(self.searched("--coverage", self.program, status=1), self.told_again("--coverage", self.program, status=1))
        names = {"--json": "a.json", "--sarif": "a.sarif", "--junit": "a.xml", "--html": "pages"}
        options = [word for option, name in names.items() for word in (option, self.file(name))]
        self.searched(*options, self.program, status=1)
        written = {}
        for name in names.values():
            path = self.file(name)
            first = os.path.join(path, "index.html") if os.path.isdir(path) else path
            with open(first, encoding="utf-8") as text:
                written[first] = text.read()
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
        self.told_again(*options, self.program, status=1)
        for path, expected in written.items():
            with open(path, encoding="utf-8") as text:
                self.assertEqual(text.read(), expected)

    def test_what_may_depend_on_more_is_searched_each_time(self):
        asks = self.file("asks.cpp", "#include <cstdlib>\nint main() { return getenv(\"NONE\") != nullptr; }\n")
        reads = self.file("reads.cpp", "#include <fstream>\n" + 'int main() { std::ifstream in("' + self.file("input") + '"); '
                          "return in.get() == '1'; }\n")
        self.file("input", "0")
        for _ in range(2):
            self.assertIn("not kept in the cache: the program calls or reads getenv", self.searched(asks))
            self.assertIn("not kept in the cache: code that is not seen", self.searched(reads))
        self.file("input", "1")
        self.searched(reads, status=1)
        # Without a verdict there is nothing to keep.
        for _ in range(2):
            self.searched("--max-executions", "1", self.program, status=2)
        self.assertEqual(os.listdir(self.cache), [])

    def test_a_cache_has_a_limit_and_keeps_what_was_needed_last(self):
        self.searched(self.program)
        (first,) = os.listdir(self.cache)
        os.utime(self.file("cache/" + first), (1, 1))
        self.file("cache/of-somebody-else", "")
        names = [f"{number:064x}" for number in range(999)]
        for age, name in enumerate(names):
            path = self.file("cache/" + name)
            os.mkdir(path)
            os.utime(path, (1e9 - age, 1e9 - age))
        self.told_again(self.program)
        self.searched("--bound", "1", self.program)
        kept = set(os.listdir(self.cache))
        self.assertEqual(len(kept), 1001)
        self.assertLessEqual({first, "of-somebody-else"}, kept)
        self.assertEqual(set(names) - kept, {names[-1]})

    def test_a_cache_that_cannot_be_written_is_an_error(self):
        self.assertIn("--cache: there is no folder", self.check("--cache", os.path.join(self.program, "in"), self.program, status=2))


if __name__ == "__main__":
    unittest.main(verbosity=1)
