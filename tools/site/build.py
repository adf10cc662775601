#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the site of `./kit docs`: the pages under docs/, README.md, the tables of the benchmarks, the
sources that they link, and a gallery with one page per bug of models/cases/corpus.

build.py --root ROOT --work DIR [--counterexamples DIR]
    DIR/site/index.html is the first page. --counterexamples: what `./kit verify --case 'corpus/*' --html` wrote; without
    it the pages of the gallery have no pictures.
"""
import argparse
import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import reference

CORPUS = "models/cases/corpus"
PAGE = """<!DOCTYPE html>
<!-- SPDX-License-Identifier: MIT -->
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 sans-serif; margin: 16px; overflow-wrap: anywhere; }}
pre {{ font: 13px/1.4 monospace; overflow-x: auto; }}
pre span {{ color: #777; user-select: none; }}
</style></head><body><p><a href="{home}">runqkit</a> / <code>{title}</code></p>
{body}
</body></html>
"""


class Problem(Exception):
    pass


def place_of(path):
    """Where the page of the project's file `path` is in the site, as a Markdown file or as HTML."""
    if path == "README.md":
        return "readme.md"
    if path.startswith("docs/"):
        return path[len("docs/"):]
    if path.startswith("evidence/"):
        return path
    if path.startswith("bench/results/"):
        return path[len("bench/"):]
    return None


class Site:
    def __init__(self, root, work):
        self.root, self.pages = root, work / "pages"
        self.sources = set()  # files and folders of the project that a page links

    def source_page(self, path):
        return f"source/{path}/index.html" if (self.root / path).is_dir() else f"source/{path}.html"

    def target(self, page, link):
        """A link in the project's file `page`, rewritten for the site."""
        if re.match(r"[a-z]+:", link) or link.startswith("#"):
            return link
        path, hash_sign, anchor = link.partition("#")
        goal = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if not (self.root / goal).exists():
            raise Problem(f"{page}: the link {link} leads nowhere")
        place = place_of(goal) if (self.root / goal).is_file() else None
        if place is None:
            self.sources.add(goal)
            place, hash_sign, anchor = self.source_page(goal), "", ""
        return os.path.relpath(place, os.path.dirname(place_of(page)) or ".") + hash_sign + anchor

    def convert(self, page, text):
        """GitHub's Markdown as mkdocs wants it: with links that lead into the site."""
        def links(part):
            part = re.sub(r"(\]\(<?)([^)>\s]+)", lambda m: m[1] + self.target(page, m[2]), part)
            return re.sub(r'(<img [^>]*src=")([^"]+)', lambda m: m[1] + self.target(page, m[2]), part)

        out = []
        for part in re.split(r"(^```.*?^```$)", text, flags=re.M | re.S):
            if part.startswith("```"):
                out.append(re.sub(r"^```(\S*)[^\n]*", r"```\1", part))  # `cpp excerpt` is `cpp`
                continue
            # Code in a line is no link, but a link's text may be code.
            spans = re.split(r"(`[^`\n]*`)", part)
            kept = [f"\x00{i}\x00" if i % 2 else span for i, span in enumerate(spans)]
            converted = links("".join(kept))
            out.append(re.sub(r"\x00(\d+)\x00", lambda m: spans[int(m[1])], converted))
        return "".join(out)

    def write(self, place, text):
        path = self.pages / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def add_docs(self):
        for path in [self.root / "README.md", *sorted((self.root / "docs").rglob("*")), *sorted((self.root / "evidence").rglob("*")),
                     *sorted((self.root / "bench/results").rglob("*"))]:
            name = path.relative_to(self.root).as_posix()
            place = place_of(name)
            if place is None or not path.is_file():
                continue
            if path.suffix == ".md":
                self.write(place, self.convert(name, path.read_text()))
            else:
                (self.pages / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, self.pages / place)

    def add_sources(self):
        """A page for every linked file, and for every linked folder with the files in it."""
        for path in sorted(self.sources):
            if (self.root / path).is_dir():
                self.sources.update(f"{path}/{entry.name}" for entry in (self.root / path).iterdir() if entry.is_file())
        for path in sorted(self.sources):
            place = self.source_page(path)
            if (self.root / path).is_dir():
                entries = sorted(entry.name for entry in (self.root / path).iterdir() if entry.is_file())
                body = "<ul>" + "".join(f'<li><a href="{name}.html">{name}</a></li>' for name in entries) + "</ul>"
            else:
                text = (self.root / path).read_text(errors="replace")
                lines = text.splitlines()
                body = "<pre>" + "\n".join(f"<span>{i:5} </span>{html.escape(line)}" for i, line in enumerate(lines, 1))
                body += "</pre>"
            home = os.path.relpath("index.html", os.path.dirname(place))
            self.write(place, PAGE.format(title=html.escape(path), home=home, body=body))


def comment_at_head(text):
    """The lines of the comment that a text begins with."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[3:])
    return lines


def as_markdown(lines):
    """A comment of the corpus: paragraphs, `corpus/NAME…` that heads a run, numbered steps, and `Word:` paragraphs."""
    out = []
    for line in lines:
        if re.match(r" +\d+\. ", line):
            if out and not re.match(r"\d+\. |   ", out[-1]):
                out.append("")
            out.append(line.strip())
        elif line.startswith("     "):
            out.append("    " + line.strip())
        else:
            labelled = re.match(r"(Source|Fix|Caught by|No bug, an equivalence): ?", line)
            if labelled:
                line = f"**{labelled[1]}.** " + line[labelled.end():]
            case = re.match(r"(corpus/\w+)([:, ].*)", line)
            if labelled or case or (out and re.match(r"\d+\. |    ", out[-1])):
                out.append("")
            out.append(f"**`{case[1]}`**{case[2]}" if case else line)
    return "\n".join(out) + "\n"


def corpus(root):
    """(file, title, lines, names of the cases with the bug) of every bug: its part of the file begins with `// S1: …`."""
    found = []
    for path in (root / CORPUS).glob("*.cpp"):
        text = path.read_text()
        for part in re.split(r"^(?=// S\d+: )", text, flags=re.M)[1:]:
            lines = comment_at_head(part)
            end = lines.index("")
            number = int(re.match(r"S(\d+)", lines[0])[1])
            cases = re.findall(rf'\.name = "corpus/(S{number:02}_\w+)",(?:(?!\.name).)*?\.seeded_bug = true', text, re.S)
            found.append((number, path, " ".join(lines[:end]), lines[end + 1:], cases))
    return [bug[1:] for bug in sorted(found)]


def add_gallery(site, counterexamples):
    """A page per bug, its picture first. The pictures are pages of their own, which `./kit verify --html` wrote."""
    index = ["# Counterexamples of bugs of the past", "",
             "Each of these bugs was in a published or a released queue or scheduler. The checker finds the execution "
             "that goes wrong, and draws it: a column per thread, time downwards, an arrow from each write to the reads "
             "that saw it. [Bugs of the past](../history.md) tells their story in a few lines each.", ""]
    history = (site.root / "docs/history.md").read_text()
    for path, title, lines, cases in corpus(site.root):
        name = cases[0]
        for case in cases:
            if f"corpus/{case}`" not in history:
                raise Problem(f"docs/history.md does not tell of corpus/{case}")
        page = [f"# {title}", ""]
        for case in cases:
            drawn = sorted(counterexamples.glob(f"*{case}-*.html")) if counterexamples else []
            drawn = [one for one in drawn if "exhaustive" in one.name] or drawn
            if counterexamples and not drawn:
                raise Problem(f"{counterexamples} has no counterexample of corpus/{case}")
            for one in drawn[:1]:
                place = f"pictures/{case}.html"
                # Without the link to all results; smaller where the page shows it in a frame.
                text = re.sub(r'<a href="index.html"[^>]*>[^<]*</a>', "", one.read_text())
                text = text.replace("</head>", "<style>@media (max-width: 1000px) { body { zoom: 0.65; } }</style></head>")
                site.write(f"gallery/{place}", text)
                page += [f'<iframe class="counterexample" src="{place}" title="corpus/{case}"></iframe>', "",
                         f"[`corpus/{case}` in a window of its own]({place})", ""]
        site.sources.add(f"{CORPUS}/{path.name}")
        page += [as_markdown(lines), "", "Check it yourself:", "", "```sh"]
        page += [f"./kit verify --case corpus/{case} --html build/report" for case in cases]
        page += ["```", "", f"The program: [`{path.name}`](../source/{CORPUS}/{path.name}.html)", ""]
        site.write(f"gallery/{name}.md", "\n".join(page))
        index.append(f"- [{title}]({name}.md)")
    site.write("gallery/index.md", "\n".join(index) + "\n")


def add_reference(site):
    """The page that leads to the reference, which is made where there is Doxygen."""
    lines = ["# Reference", ""]
    if reference.is_possible():
        reference.make(site.root, site.pages / "reference")
        lines += ["What the comments in the headers say of each class and function: [classes](reference/annotated.html) and",
                  "[functions](reference/namespacerunq.html)."]
    else:
        lines += ["It is made of the comments in the headers by Doxygen, which was not installed where this site was made."]
    site.write("reference.md", "\n".join(lines) + "\n")


def run_mkdocs(work):
    done = subprocess.run(["mkdocs", "build", "--quiet", "--config-file", work / "mkdocs.yml"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Problem(f"mkdocs failed:\n{done.stdout}")


def replace_search(work, root):
    """Replaces mkdocs' search by one that also works without a server."""
    site = work / "site"
    index = json.loads((site / "search/search_index.json").read_text())
    if not index["docs"]:
        raise Problem("the index of the search is empty")
    (site / "search/search_index.js").write_text(f"const search_index = {json.dumps(index)};\n")
    shutil.copyfile(root / "tools/site/search.js", site / "search/main.js")
    for page in site.rglob("*.html"):
        text = page.read_text()
        scripts = re.search(r'<script src="([^"]*)search/main.js" defer></script>', text)
        if not scripts:
            continue
        # Only the page of results loads the index.
        wanted = ("lunr.js", "search_index.js", "main.js") if page.name == "search.html" else ()
        tags = "".join(f'<script src="{scripts[1]}search/{name}" defer></script>' for name in wanted)
        page.write_text(text.replace(scripts[0], tags))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--counterexamples", type=Path)
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    for folder in ("pages", "site"):
        shutil.rmtree(work / folder, ignore_errors=True)
    work.mkdir(parents=True, exist_ok=True)
    site = Site(arguments.root.resolve(), work)
    try:
        site.add_docs()
        add_gallery(site, arguments.counterexamples)
        add_reference(site)
        site.add_sources()
        for name, folder in {"mkdocs.yml": work, "hooks.py": work, "site.css": site.pages}.items():
            shutil.copyfile(site.root / "tools/site" / name, folder / name)
        run_mkdocs(work)
        replace_search(work, site.root)
    except (Problem, reference.Problem) as problem:
        print(f"docs: {problem}", file=sys.stderr)
        return 1
    count = sum(1 for _ in (work / "site").rglob("*.html"))
    print(f"{count} pages; the first: {work / 'site/index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
