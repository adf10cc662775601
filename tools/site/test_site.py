#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens the site of `./kit docs` in a browser.

test_site.py --root ROOT --work DIR --browser CHROMIUM [--site DIR]
    Builds the site in DIR (or takes the one in --site), and fails unless:
      - every link leads to a page of the site and, with an #anchor, to that place in it; every picture loads; no page
        loads anything from another server or has an error in a script
      - no page of text is wider than a wide window and a telephone
      - the search finds a page, also when the site is opened from the disk, without a server
      - on a picture of the first page, in a wide and in a narrow window, no half is blank
    The pictures are DIR/wide.png and DIR/narrow.png.
"""
import argparse
import functools
import http.server
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

TIME_LIMIT = 600  # seconds, for everything that the browser does at once; only a browser that hangs needs them
WINDOWS = {"wide": 1280, "narrow": 500}  # Chromium makes no window that is narrower than 500
FRAMES = [1280, 390]  # but a frame can be as narrow as a telephone
LEAST_INK = 0.005  # of the pixels of half a window, what is not background in a page that can be read

# Visits every page of text in a frame, and reports what is wrong with it. Sources, which have no links, are only fetched.
# Of the pictures it says how much of their halves is not background.
CRAWLER = """<!DOCTYPE html><meta charset="utf-8"><body><script>
const widths = %(frames)s, windows = %(windows)s, problems = [], seen = new Map();
let links = 0;
function problem(text) { problems.push(text); }
function open_page(path, width) {
  return new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.style.cssText = `width:${width}px;height:800px;border:0`;
    frame.onload = () => done(frame);
    frame.src = path;
    document.body.append(frame);
  });
}
function ids_of(page) {
  return new Set([...page.querySelectorAll("[id], a[name]")].map((one) => one.id || one.name));
}
function fetch_ids(path) {
  if (!seen.has(path)) {
    seen.set(path, fetch(path).then(async (answer) => {
      if (!answer.ok) return null;
      return ids_of(new DOMParser().parseFromString(await answer.text(), "text/html"));
    }));
  }
  return seen.get(path);
}
// What reaches beyond the window and cannot be scrolled into it. (The theme's body does not scroll to the side.)
function cut_off(page, width) {
  const scrolls = (one) => one !== page.body && one !== page.documentElement &&
    (/auto|scroll/.test(getComputedStyle(one).overflowX) || (one.parentElement && scrolls(one.parentElement)));
  return [...page.body.querySelectorAll("*")].find((one) => {
    const box = one.getBoundingClientRect();
    return box.width && box.height && box.left < width && box.right > width + 1 && !scrolls(one);
  });
}
async function visit(path, todo) {
  for (const width of widths) {
    const frame = await open_page(path, width), inside = frame.contentWindow, page = frame.contentDocument;
    const root = page.documentElement;
    if (!page.body || page.body.innerText.trim().length < 20) problem(`${path}: has no text`);
    // Drawings scroll to the side.
    const cut = path.startsWith("/gallery/pictures/") ? null : cut_off(page, root.clientWidth);
    if (cut) problem(`${path}: in a window of ${root.clientWidth} this is cut off: ${cut.outerHTML.slice(0, 80)}`);
    for (const entry of inside.performance.getEntriesByType("resource")) {
      if (!entry.name.startsWith(location.origin)) problem(`${path}: loads ${entry.name}`);
    }
    for (const picture of page.images) {
      if (picture.complete && !picture.naturalWidth) problem(`${path}: ${picture.src} does not load`);
    }
    if (width === widths[0]) {
      for (const link of page.querySelectorAll("a[href], iframe[src]")) {
        const url = new URL(link.href || link.src, page.baseURI);
        if (url.origin !== location.origin) {
          if (link.src || !/^(https?|mailto):$/.test(url.protocol)) problem(`${path}: ${url}`);
          continue;
        }
        ++links;
        // A drawing makes its own ids.
        const ids = url.pathname === path ? ids_of(page) : await fetch_ids(url.pathname);
        const anchor = decodeURIComponent(url.hash.slice(1));
        if (!ids) problem(`${path}: the link ${url.pathname} leads nowhere`);
        else if (anchor && !ids.has(anchor)) problem(`${path}: ${url.pathname} has no #${anchor}`);
        if (ids && url.pathname.endsWith(".html") && !url.pathname.startsWith("/source/")) todo.add(url.pathname);
      }
    }
    frame.remove();
  }
}
async function ink(name) {
  const picture = new Image();
  picture.src = `/--picture/${name}.png`;
  await picture.decode();
  const canvas = new OffscreenCanvas(picture.width, picture.height), context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  const middle = picture.width >> 1;
  return { width: picture.width, halves: [[0, middle], [middle, picture.width - middle]].map(([left, width]) => {
    const pixels = new Uint32Array(context.getImageData(left, 0, width, picture.height).data.buffer), found = new Map();
    for (const pixel of pixels) found.set(pixel, (found.get(pixel) || 0) + 1);
    return 1 - Math.max(...found.values()) / pixels.length;
  })};
}
async function crawl() {
  const pictures = {};
  for (const name of windows) pictures[name] = await ink(name);
  const todo = new Set(["/index.html"]);
  let visited = 0;
  for (const path of todo) {
    ++visited;
    await visit(path, todo);
  }
  return { visited, links, problems, pictures };
}
crawl().catch((error) => ({ visited: 0, links, problems: [...problems, String(error)], pictures: {} }))
  .then((report) => fetch("/--report", { method: "POST", body: JSON.stringify(report) }));
</script></body>"""


class Problem(Exception):
    pass


class Handler(http.server.SimpleHTTPRequestHandler):
    """The site, the pictures of it, the crawler, and where that reports to."""

    def do_GET(self):
        if self.path.startswith("/--picture/"):
            self.answer("image/png", (self.server.pictures / self.path.rpartition("/")[2]).read_bytes())
        elif self.path == "/--crawl":
            self.answer("text/html", (CRAWLER % {"frames": FRAMES, "windows": list(WINDOWS)}).encode())
        else:
            super().do_GET()

    def answer(self, kind, text):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_POST(self):
        self.server.report = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.server.reported.set()

    def log_message(self, *arguments):
        pass


class Browser:
    def __init__(self, program, work):
        self.program, self.work = program, work

    def command(self, profile, *arguments):
        # --no-sandbox: the pages are the project's own, and root in a container cannot have a sandbox.
        return [self.program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                "--disable-background-networking", "--disable-dev-shm-usage", f"--user-data-dir={profile}", *arguments]

    def run(self, *arguments):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            done = subprocess.run(self.command(profile, *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, timeout=TIME_LIMIT)
        if done.returncode != 0:
            raise Problem(f"the browser failed:\n{done.stderr}")
        return done.stdout

    def crawl(self, site):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))
        server.reported, server.pictures = threading.Event(), self.work
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/--crawl"
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            # With a debugging port it stays until it is told to end.
            process = subprocess.Popen(self.command(profile, "--remote-debugging-port=0", address),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                if not server.reported.wait(TIME_LIMIT):
                    raise Problem(f"the browser has not visited all pages within {TIME_LIMIT} s")
            finally:
                process.terminate()
                process.wait()
                server.shutdown()
        return server.report

    def picture(self, page, name):
        file = self.work / f"{name}.png"
        file.unlink(missing_ok=True)
        self.run(f"--screenshot={file}", f"--window-size={WINDOWS[name]},1000", "--virtual-time-budget=5000", page.as_uri())
        return file


def check(browser, site):
    for name in WINDOWS:
        browser.picture(site / "index.html", name)
    began = time.monotonic()
    report = browser.crawl(site)
    print(f"{report['visited']} pages visited, {report['links']} links followed, in {time.monotonic() - began:.1f} s")
    for problem in report["problems"]:
        print(problem)
    if report["problems"]:
        raise Problem(f"{len(report['problems'])} problems")
    # A crawl that sees nothing finds nothing wrong.
    pages = {page.relative_to(site).as_posix() for page in site.rglob("*.html")}
    pages = {page for page in pages if not page.startswith("source/") and page not in ("404.html", "search.html")}
    if report["visited"] < len(pages):
        raise Problem(f"only {report['visited']} of {len(pages)} pages can be reached from the first one")
    for name, seen in report["pictures"].items():
        left, right = seen["halves"]
        print(f"{name}.png: {seen['width']} wide; {left:.1%} and {right:.1%} of its halves are not background")
        if seen["width"] != WINDOWS[name] or min(left, right) < LEAST_INK:
            raise Problem(f"{name}.png: not as wide as the window, or blank")
    found = browser.run("--dump-dom", "--virtual-time-budget=5000", (site / "search.html").as_uri() + "?q=steal+half")
    if 'href="queues/ring.html' not in found:
        raise Problem("the search for `steal half` does not find the page of the ring")
    print("the search finds the page of the ring, without a server")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--browser", required=True)
    parser.add_argument("--site", type=Path)
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    try:
        if not arguments.site:
            build = [sys.executable, "-B", arguments.root / "tools/site/build.py", "--root", arguments.root, "--work", work]
            if subprocess.run(build).returncode != 0:
                raise Problem("the site was not built")
        check(Browser(shutil.which(arguments.browser) or arguments.browser, work), (arguments.site or work / "site").resolve())
    except (Problem, subprocess.TimeoutExpired) as problem:
        print(f"FAILED: {problem}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
