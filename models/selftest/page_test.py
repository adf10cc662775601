#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the script of models/explain/html/page.html draws, in a browser. Usage: page_test.py RUNQ_VERIFY CHROMIUM"""
import json
import re
import subprocess
import sys
import tempfile
import unittest
from html import unescape
from pathlib import Path

VERIFY, BROWSER = sys.argv[1:3]
HOSTILE = "</script><img src=x onerror=\"document.title='broken'\"><!-- & ' \\u003c"
# Works on an index as a person would: filters its tables, and sorts one.
WORK = """<script>
  const input = document.querySelector(".filter input");
  input.value = "redundant";
  input.dispatchEvent(new Event("input"));
  document.querySelector("#cases th").click();
</script>"""


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)


def without_markup(html):
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.dir = Path(cls.folder.name)
        made = run(VERIFY, "--case", "ring/push_vs_steal", "--weaken", "ring.push.publish:relaxed", "--html", cls.dir)
        assert made.returncode == 1, made.stdout + made.stderr
        cls.index = (cls.dir / "index.html").read_text(encoding="utf-8")
        cls.timeline = (cls.dir / "ring-push_vs_steal-exhaustive.html").read_text(encoding="utf-8")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def drawn(self, text, place=""):
        """What the browser makes of this page, without script and data. `place`: "#e3", the step that it opens."""
        self.assertNotRegex(text, r"https?://", "a page loads nothing, and leads nowhere")
        page = self.dir / "drawn.html"
        page.write_text(text, encoding="utf-8")
        done = run(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
                   f"--user-data-dir={self.dir / 'profile'}", "--dump-dom", page.as_uri() + place)
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.sub(r"<(script|style|template|noscript)\b.*?</\1>", "", done.stdout, flags=re.S)

    def changed(self, text, change):
        """The page with other data."""
        before, begin, rest = text.partition('id="data">')
        data, end, after = rest.partition("</script>")
        data = json.loads(data)
        change(data)
        return before + begin + json.dumps(data).replace("<", "\\u003c") + end + after

    def test_the_index_of_a_users_program_speaks_of_that_program_only(self):
        def of_check(data):
            data.update({"of": "runq-check", "verdict": "bounded: no execution that C++20 allows fails"})
            data["searches"] = [{"kind": "search", "case": "queue_test.cpp", "label": "main()", "engine": "exact",
                                 "outcome": "passed", "verdict": data["verdict"], "result": {"executions": 7}}]
            data["totals"].update({"searches": [1, 1], "failed": 0})
        text = without_markup(self.drawn(self.changed(self.index, of_check)))
        for words in ("bounded: no execution that C++20 allows fails", "1/1 searches passed", "queue_test.cpp",
                      "the verdict names what was not explored"):
            self.assertIn(words, text)
        for word in ("mutant", "Mutant", "seeded", "Relacy", "litmus", "queues", "property"):
            self.assertNotIn(word, text)

    def test_the_index_shows_every_part_and_is_filtered_and_sorted(self):
        def add(data):
            question = {"outcome": "0 0", "cpp20": True, "shown": False, "as_pinned": False, "property": HOSTILE}
            litmus = {"kind": "litmus", "case": "litmus/x", "label": "litmus", "engine": "exact", "outcome": "failed",
                      "verdict": "of the test", "result": {}, "property": HOSTILE, "litmus": question}
            result = {"what": "data race", "executions": 1234567, "relacy": {"what": "none"}, "where": HOSTILE}
            mutant = {"kind": "mutant", "case": "ring/x", "label": "order_relaxed", "engine": "exact", "result": result,
                      "outcome": "killed", "verdict": "killed", "changed": "[x] relaxed", "page": "a b.html",
                      "property": HOSTILE}
            data["searches"] += [litmus, mutant, {**mutant, "kind": "corpus", "case": "corpus/S"}]
            data["problems"].append({"about": "a hole", "what": HOSTILE})
            data["totals"].update({"litmus": [0, 1], "mutants": [1, 1]})
            data["undecided"] = 3
        html = self.drawn(self.changed(self.index, add).replace("</body>", WORK + "</body>"))
        text = without_markup(html)
        for words in ("0/1 searches passed", "0/1 litmus tests as expected", "1/1 mutants killed", "1 failed",
                      "Failed 0 of 3", "ring/push_vs_steal", "a hole", "Seeded bugs 0 of 1", "corpus/S",
                      "Mutants 0 of 1", "3 searches of cases that a mutant does not name", "graph 1 234 567",
                      "not noticed", "not shown blind spot not as pinned", "Order ledger", "on failure", "redundant",
                      "What the words mean", HOSTILE):
            self.assertIn(words, text)
        self.assertIn('href="a b.html"', html)
        self.assertIn('href="ring-push_vs_steal-exhaustive.html"', html)
        self.assertNotIn("<img", html)
        self.assertIn("<title>runqkit verify</title>", html)
        self.assertNotIn("all results", html)
        self.assertRegex(html, r'<section class="empty"><h2>Cases <small class="shown">0 of 1<')
        self.assertIn('aria-sort="ascending"', html)

    def test_the_timeline_shows_the_execution(self):
        data = json.loads(self.timeline.partition('id="data">')[2].partition("</script>")[0])
        last = len(data["steps"]) - 1
        html = self.drawn(self.timeline, f"#e{last}")
        text = without_markup(html)
        for words in ("all results", "ring/push_vs_steal · exhaustive", "why " + data["search"]["result"]["why"],
                      "replay " + data["replay"], "construction, before the threads start:", "T0 T1", "failure",
                      "weakened", "initial", "[ring.push.publish]", "How to read this", "as text"):
            self.assertIn(words, text)
        boxes = re.findall(r'<div class="ev[^"]*" id="e(\d+)"', html)
        self.assertEqual(sorted(map(int, boxes)), list(range(last + 1)), "a box for each step")
        read = [s for s in data["steps"] if "reads_from" in s and not data["steps"][s["reads_from"]]["construction"]]
        self.assertEqual(len(re.findall(r'<g class="rf ', html)), len([s for s in read if not s["construction"]]))
        self.assertRegex(html, rf'class="ev[^"]*\bpinned\b[^"]*" id="e{last}"')
        self.assertIn('<body class="looking">', html)
        self.assertNotRegex(html, "undefined|NaN|\\[object")

    def test_calls_are_drawn_and_text_stays_text(self):
        def add(data):
            result = data["search"]["result"]
            result["message"] = data["steps"][0]["source"] = data["steps"][-1]["source"] = HOSTILE
            result["calls"] = [
                {"thread": -1, "text": "append 1", "after": [], "begin": 0, "end": 1},
                {"thread": 0, "text": "take", "after": [0], "begin": 2, "end": 3, "first": 0, "last": 0},
                {"thread": 1, "text": HOSTILE, "after": [0], "begin": 2, "end": 3, "first": 0, "last": 1}]
            result["explained_calls"], result["wrong_calls"] = [0, 1], [2]
        html = self.drawn(self.changed(self.timeline, add))
        text = without_markup(html)
        for words in ("main 1 append 1", "T0 2 take step 1", f"T1 3 {HOSTILE} steps 1–2",
                      "explains all answers: 1, 2."):
            self.assertIn(words, text)
        self.assertRegex(html, r'class="call wrong"[^>]*title="after 1"')
        self.assertIn('<a href="#e0">step 1</a>', html)
        self.assertNotIn("<img", html)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
