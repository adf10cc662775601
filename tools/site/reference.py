#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The reference of all classes and functions for users, made by Doxygen of the comments in their headers.

reference.py --root ROOT --out DIR    writes DIR/annotated.html and what it leads to; exit status 1 and the lines, if a comment refers to
                                      what does not exist, or cannot be read
"""
import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDERS = ("deque/include", "scheduler/include", "models/compiled/include")
# Where Doxygen's reading of C++20 ends. All are in namespaces that are not for users.
NOT_UNDERSTOOD = re.compile(r"no (uniquely )?matching class member found|Internal inconsistency|was not declared or defined")


class Problem(Exception):
    pass


def is_possible():
    return shutil.which("doxygen") is not None


def settings(root, out):
    folders = [root / folder for folder in FOLDERS if (root / folder).is_dir()]
    quoted = " ".join(f'"{folder}"' for folder in folders)
    inputs = " ".join(f'"{path}"' for path in (*(folder / "runq" for folder in folders), root / "tools/site/namespaces.dox"))
    return "\n".join([(root / "tools/site/Doxyfile").read_text(), f"INPUT = {inputs}", f"STRIP_FROM_PATH = {quoted}",
                      f"STRIP_FROM_INC_PATH = {quoted}", f'OUTPUT_DIRECTORY = "{out}"',
                      f'HTML_FOOTER = "{root / "tools/site/reference_footer.html"}"',
                      f'HTML_EXTRA_STYLESHEET = "{root / "tools/site/reference.css"}"', ""])


def take_off_dead_links(out):
    """Doxygen lists some members without a comment that have no place: their names stay, without a link."""
    pages = {path.name: path.read_text(encoding="utf-8") for path in out.glob("*.html")}
    places = {name: set(re.findall(r'(?:id|name)="([^"]+)"', text)) for name, text in pages.items()}
    for name, text in pages.items():
        def kept(m, name=name):
            page, _, place = m[1].partition("#")
            page = page or name
            is_dead = page.endswith(".html") and ":" not in page and (page not in pages or (place and place not in places[page]))
            return m[2] if is_dead else m[0]
        (out / name).write_text(re.sub(r'<a [^>]*?href="([^"]*)"[^>]*>(.*?)</a>', kept, text, flags=re.S), encoding="utf-8")


def make(root, out):
    out.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["doxygen", "-"], input=settings(root, out), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    warnings = [line for line in done.stdout.splitlines() if re.search(r": (warning|error): ", line)]
    wrong = [line for line in warnings if not NOT_UNDERSTOOD.search(line)]
    if done.returncode != 0 or wrong:
        raise Problem("\n".join(wrong) or done.stdout)
    if not (out / "annotated.html").exists():
        raise Problem(f"doxygen has written no list of classes into {out}")
    for folder in out.glob("dir_*.html"):  # pages of folders, to which nothing leads
        folder.unlink()
    take_off_dead_links(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        out = (options.out or Path(scratch)).resolve()
        try:
            make(options.root.resolve(), out)
        except Problem as problem:
            print(f"reference: {problem}", file=sys.stderr)
            return 1
        print(f"{len(list(out.glob('*.html')))} pages of the reference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
