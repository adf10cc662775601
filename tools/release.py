#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the files of a release of what is built: `./kit release`.

release.py --root ROOT --build DIR --out DIR
    OUT/runqkit-VERSION.tar.gz         the sources of the commit, where there is git
    OUT/runq_*.hpp                     the single headers, with version and what the models explored
    OUT/*.deb                          headers, scheduler and checker, by CPack, as far as BUILD has them
    OUT/NOTES.md                       what the changelog says of this version
    OUT/SHA256SUMS                     of all of these

release.py --root ROOT --build DIR --out DIR --try PART...
    Makes them, and unpacks the packages into a root of their own, which must be those of these parts. headers: compiles a program
    against them, and runs it; scheduler: likewise; check: runq-check says its version, and judges a program.
"""
import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

QUEUES = """#include <runq/chase_lev.hpp>
#include <runq/version.hpp>
int main() {
  int task = 1;
  runq::chase_lev<int*> deque;
  auto owner = deque.make_owner();
  if (!owner.push(&task)) return 1;
  const auto loot = deque.make_thief().steal();
  return loot && *loot.value == 1 && RUNQ_VERSION > 0 ? 0 : 1;
}
"""
SCHEDULER = """#include <runq/runq.hpp>
int main() {
  return runq::run([]() -> runq::task<int> {
    co_await runq::yield();
    co_return 0;
  });
}
"""
RACE = """#include <thread>
int data;
int main() {
  std::thread other([] { data = 1; });
  const int seen = data;
  other.join();
  return seen > 1;
}
"""


class Problem(Exception):
    pass


def run(*command, expected=0, **more):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if done.returncode != expected:
        raise Problem(f"exit status {done.returncode} of: {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def version_of(root):
    """The only source of the number is the header."""
    text = (root / "deque/include/runq/version.hpp").read_text()
    return ".".join(re.search(rf"^#define RUNQ_VERSION_{part} (\d+)$", text, re.M)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def notes(changelog, version):
    """The part of the changelog about `version`, with links that need no folder."""
    part = re.search(rf"^## {re.escape(version)}\b.*?$(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if not part:
        raise Problem(f"docs/CHANGELOG.md says nothing of {version}")
    text = re.sub(r"\[([^\]]*)\]\((?![a-z]+:)[^)]*\)", r"\1", part[1]).strip()
    return f"# runqkit {version}\n\n{text}\n"


def make(root, build, out):
    version = version_of(root)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    if (root / ".git").exists():
        if run("git", "-C", root, "status", "--porcelain", "--untracked-files=no").strip():
            print("release: the tree has changes that are not committed; the tarball is of the last commit", file=sys.stderr)
        run("git", "-C", root, "archive", f"--prefix=runqkit-{version}/", "-o", out / f"runqkit-{version}.tar.gz", "HEAD")
    singles = sorted((build / "deque/single").glob("runq_*.hpp"))
    if not singles:
        raise Problem(f"{build} has no single headers: build the target runq_single_headers")
    for header in singles:
        if f"runqkit {version}" not in "".join(header.open().readlines()[:12]):
            raise Problem(f"{header} is of another version")
        shutil.copyfile(header, out / header.name)
    if shutil.which("dpkg-deb"):
        run("cpack", "--config", build / "CPackConfig.cmake", "-G", "DEB", "-B", out, cwd=build)
        shutil.rmtree(out / "_CPack_Packages", ignore_errors=True)
    else:
        print("release: there is no dpkg-deb, so no packages are made", file=sys.stderr)
    (out / "NOTES.md").write_text(notes((root / "docs/CHANGELOG.md").read_text(), version))
    files = sorted(path for path in out.iterdir() if path.is_file())
    (out / "SHA256SUMS").write_text("".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files))
    for path in files:
        print(f"{path.stat().st_size:>9}  {path.name}")
    return version


def try_headers(prefix, work, _version):
    compile_and_run(prefix, work, "queues", QUEUES)


def try_scheduler(prefix, work, _version):
    library = next(prefix.rglob("librunqkit_scheduler.a"), None)
    if library is None:
        raise Problem("librunqkit-scheduler-dev has no library")
    compile_and_run(prefix, work, "scheduler", SCHEDULER, library)


def try_check(prefix, work, version):
    checker = prefix / "bin/runq-check"
    said = run(checker, "--version")
    if said != f"runq-check {version}\n":
        raise Problem(f"runq-check --version says {said!r}")
    (work / "race.cpp").write_text(RACE)
    if "data race" not in run(checker, work / "race.cpp", expected=1, env={**os.environ, "CXX": "g++"}):
        raise Problem("runq-check does not find the race")


PARTS = {"headers": ("librunqkit-dev", try_headers), "scheduler": ("librunqkit-scheduler-dev", try_scheduler),
         "check": ("runqkit-check", try_check)}


def compile_and_run(prefix, work, name, text, *libraries):
    (work / f"{name}.cpp").write_text(text)
    run("g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{prefix / 'include'}", "-pthread", work / f"{name}.cpp", *libraries,
        "-o", work / name)
    run(work / name)


def check(out, version, parts):
    """The packages, in a root of their own."""
    root, work = out / "a root", out / "programs"
    work.mkdir()
    names = set()
    for package in sorted(out.glob("*.deb")):
        names.add(run("dpkg-deb", "--field", package, "Package").strip())
        if run("dpkg-deb", "--field", package, "Version").strip() != version:
            raise Problem(f"{package.name} is not of version {version}")
        run("dpkg-deb", "--extract", package, root)
    wanted = {PARTS[part][0] for part in parts}
    if names != wanted:
        raise Problem(f"packages {', '.join(sorted(names))}; expected {', '.join(sorted(wanted))}")
    for part in parts:
        PARTS[part][1](root / "usr", work, version)
    print(f"release: {', '.join(sorted(names))} work in a root of their own")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--root", "--build", "--out"):
        parser.add_argument(name, type=lambda text: Path(text).resolve(), required=True)
    parser.add_argument("--try", dest="parts", nargs="+", choices=list(PARTS))
    options = parser.parse_args()
    try:
        version = make(options.root, options.build, options.out)
        if options.parts:
            check(options.out, version, options.parts)
    except Problem as problem:
        print(f"release: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
