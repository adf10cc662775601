#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks README.md, docs/, evidence/, bench/results/ and the pages in models/: links lead somewhere, examples compile and run, and commands exist.

check_docs.py links --root ROOT
    Every relative link leads to a file, and every #anchor to a heading.

check_docs.py comments --root ROOT --work DIR --compiler CXX [--option OPTION …] [--precompiled FILE] --header FILE.hpp …
    Every example in a doc comment (`///     code`) compiles: as declarations, or as statements of a coroutine that sees
    comment_prelude.hpp. All of them together if they can, which takes a second or two; otherwise each alone.

check_docs.py awaits --root ROOT --work DIR --compiler CXX --clang-query FILE --header FILE.hpp …
    No example of a page or a doc comment has a temporary that g++ up to 12 destroys twice (scheduler/tools/check_awaits.sh). Those
    of all pages are searched in one source, but those with Boost, and those of all doc comments in another: reading the headers
    takes most of the time.

check_docs.py code --root ROOT --work DIR --compiler CXX [--option OPTION …] [--precompiled FILE] --generator NAME
                   [--prefix DIR] [--library FILE] --page FILE.md
    Every fenced block, by its language:
      cpp               with main(): compiled with all warnings, linked and run, those of a page in one source if they can
                        be; otherwise compiled as it stands or, if it is made of statements, inside a function. A
                        fragment sees every public header and the declarations of prelude.hpp.
      cpp compile-only  compiled, not run: for programs that need more libraries than this one
      cpp excerpt, c excerpt, cmake excerpt
                        not compiled: some source file of the project must contain these lines
      cpp excerpt short the same, and no more than 10 lines
      c                 compiled as C11 with all warnings, linked with the installed C interface, and run
      cmake             configured and built in a project that has a target `my_app`, in C if it links runq::c; --prefix
                        is where the library is installed
      sh, console       lines that call ./kit use a command and options that `./kit help` lists; presets and labels exist
    Other languages are not checked.

--option is one more option of the compiler. --precompiled names a header that includes <runq/runq.hpp> and is precompiled for
-std=c++20 -pthread: what includes <runq/runq.hpp> anywhere gets this one first, so it sees the same headers in another order.
"""
import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE_FOLDERS = ("deque", "scheduler", "models", "proptests", "bench")
LABELS = {"unit", "stress", "style", "compile", "model", "mutant", "prop", "doc", "consumer", "bench-smoke", "shard", "selftest", "fuzz", "demo"}
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]


class Problem(Exception):
    pass


def pages(root):
    return [root / "README.md", *sorted((root / "docs").rglob("*.md")), *sorted((root / "evidence").glob("*.md")),
            *sorted((root / "bench/results").glob("*.md")), *sorted((root / "models").glob("*/README.md"))]


def blocks(text):
    """(line, language and options, body) of every fenced block."""
    for m in re.finditer(r"^( *)```([^\n]*)\n(.*?)^\1```", text, re.M | re.S):
        body = "".join(line[len(m[1]):] if line.startswith(m[1]) else line for line in m[3].splitlines(True))
        yield text.count("\n", 0, m.start()) + 1, m[2].split(), body


def comment_examples(text):
    """The bodies of the examples in doc comments: runs of lines that are indented by four more spaces than text is."""
    body = ""
    for line in [*text.splitlines(), ""]:
        m = re.match(r" *///     (.*)$", line)
        if m:
            body += m[1] + "\n"
        elif body:
            yield body
            body = ""


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise Problem(f"exit status {done.returncode} of: {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


class CodeCheck:
    def __init__(self, arguments):
        self.root, self.work, self.compiler = arguments.root, arguments.work, arguments.compiler
        self.options, self.precompiled = arguments.option, arguments.precompiled
        self.generator, self.prefix, self.library = arguments.generator, arguments.prefix, arguments.library
        self.work.mkdir(parents=True, exist_ok=True)
        self.together = {}  # how to call the programs that were compiled in one source

    def compile(self, name, text, *flags):
        source = self.work / f"{name}.cpp"
        source.write_text(text)
        folders = ("deque/include", "scheduler/include", "models/check", "models/compiled/include", "proptests")
        includes = [f"-I{self.root / folder}" for folder in folders]
        libraries = [self.library] if self.library and "-fsyntax-only" not in flags else []
        first = []
        if self.precompiled and re.search(r"^#include <runq/runq\.hpp>$", text, re.M):
            first = ["-include", self.precompiled]
        run([self.compiler, "-std=c++20", *self.options, *first, *includes, "-pthread", *flags, source, *libraries])

    def excerpt(self, body, pattern):
        wanted = [line.strip() for line in body.splitlines() if line.strip()]
        for folder in SOURCE_FOLDERS:
            for path in (self.root / folder).rglob(pattern):
                lines = [line.strip() for line in path.read_text().splitlines() if line.strip()]
                if any(lines[i:i + len(wanted)] == wanted for i in range(len(lines))):
                    return f"found in {path.relative_to(self.root)}"
        raise Problem("no source file contains these lines")

    def cpp(self, name, options, body):
        if "short" in options and body.count("\n") > 10:
            raise Problem(f"{body.count(chr(10))} lines, more than 10")
        if "excerpt" in options:
            return self.excerpt(body, "*.[ch]pp")
        if re.search(r"\bint main\(", body):
            if "compile-only" in options:
                self.compile(name, body, *WARNINGS, "-fsyntax-only")
                return "compiled"
            if name in self.together:
                run(self.together[name], timeout=60)
                return "compiled with the others of this page, and run"
            program = self.work / name
            self.compile(name, body, *WARNINGS, "-o", program)
            run([program], timeout=60)
            return "compiled and run"
        headers = sorted((self.root / "deque/include/runq").glob("*.hpp"))
        includes = "".join(f"#include <runq/{header.name}>\n" for header in headers)
        includes += f'#include "{self.root / "tools/docs/prelude.hpp"}"\n'
        flags = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-Wno-unused-but-set-variable",
                 "-Wno-unused-function", "-Wno-unused-parameter", "-fsyntax-only"]
        lines = body.splitlines(True)
        own_includes = "".join(line for line in lines if line.startswith("#include"))
        statements = "".join(line for line in lines if not line.startswith("#include"))
        ways = [("compiled", "as declarations", body),
                ("compiled inside a function", "as statements", f"{own_includes}void doc_fragment() {{\n{statements}}}\n")]
        # The way that a line which is not indented suggests comes first; the other is tried if that is wrong.
        if re.search(r"^(?!using|struct|class|template|namespace|constexpr|#|//)\w.*;$", body, re.M):
            ways.reverse()
        problems = []
        for done, way, text in ways:
            try:
                self.compile(name, includes + text, *flags)
                return done
            except Problem as problem:
                problems.append(f"{way}: {problem}")
        raise Problem("\n".join(problems))

    @staticmethod
    def as_function(name, body):
        """The includes of a program, and the rest in a namespace, where main() needs another name and returns 0 itself."""
        lines = body.splitlines(True)
        includes = [line for line in lines if line.startswith("#include")]
        rest = "".join(line for line in lines if not line.startswith("#include"))
        rest, found = re.subn(r"^int main\(\) \{(\n(?:.*\n)*?| .* )\}$", r"int program() {\1return 0; }", rest, flags=re.M)
        return None if found != 1 or "#" in re.sub(r'".*?"', "", rest) else (includes, f"namespace {name} {{\n{rest}}}\n")

    def compile_together(self, programs):
        """Compiles the programs of a page in one source, if they can be: reading the headers takes most of the time."""
        parts = {name: part for name, body in programs if (part := self.as_function(name, body))}
        if len(parts) < 2:
            return
        includes = dict.fromkeys(line for included, _ in parts.values() for line in included)
        choices = "".join(f'  if (which == "{name}") return {name}::program();\n' for name in parts)
        program = self.work / "together"
        try:
            self.compile("together", "".join(includes) + "#include <string_view>\n\n" + "".join(text for _, text in parts.values()) +
                         f"int main(int, char** arguments) {{\n  const std::string_view which = arguments[1];\n{choices}  return 2;\n}}\n",
                         *WARNINGS, "-o", program)
        except Problem:
            return  # each alone, which says what is wrong
        self.together = {name: [program, name] for name in parts}

    COMMENT_FLAGS = ["-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-Wno-unused-but-set-variable",
                     "-Wno-unused-function", "-fsyntax-only"]

    def compile_comment(self, name, text):
        prelude = self.root / "tools/docs/comment_prelude.hpp"
        self.compile(name, f'#include <runq/runq.hpp>\n#include "{prelude}"\n{text}', *self.COMMENT_FLAGS)

    @staticmethod
    def as_declarations(body):
        return f"namespace {{\n{body}}}\n" if "int main" not in body else body

    @staticmethod
    def as_coroutine(name, body):
        return f"runq::task<> {name}() {{\n{body}co_return;\n}}\n"

    def comments_as_one(self, examples):
        """The examples as one source: each as declarations or statements, as its first line suggests."""
        parts = []
        for number, (_, body) in enumerate(examples):
            if re.match(r"(runq::(stoppable_)?task<[^;]*|int main\(.*) \{", body):
                parts.append(f"namespace example_{number} {{\n{body}}}\n" if "int main" not in body else body)
            else:
                parts.append(self.as_coroutine(f"example_{number}", body))
        return "".join(parts)

    def comments_together(self, examples):
        """Whether all examples compile in one source."""
        try:
            self.compile_comment("together", self.comments_as_one(examples))
            return True
        except Problem:
            return False

    def comment_alone(self, name, body):
        try:
            self.compile_comment(name, self.as_declarations(body))
            return "compiled"
        except Problem as as_declarations:
            try:
                self.compile_comment(name, self.as_coroutine("comment", body))
                return "compiled inside a coroutine"
            except Problem as as_statements:
                raise Problem(f"as declarations: {as_declarations}\nas statements: {as_statements}") from None

    @staticmethod
    def examples_of(headers):
        return [(header, body) for header in headers for body in comment_examples(header.read_text())]

    def check_comments(self, headers):
        examples = self.examples_of(headers)
        if not examples:
            print("no example was found")
            return 1
        if self.comments_together(examples):
            print(f"{len(examples)} examples, compiled together")
            return 0
        failed = 0
        for number, (header, body) in enumerate(examples):
            where = f"{header.name}: {body.splitlines()[0]}:"
            try:
                print(where, self.comment_alone(f"alone_{number}", body))
            except Problem as problem:
                failed += 1
                print(where, "FAILED", problem)
        return failed

    def c(self, name, options, body):
        if "excerpt" in options:
            return self.excerpt(body, "*.c")
        source, program = self.work / f"{name}.c", self.work / name
        source.write_text(body)
        libraries = sorted(Path(self.prefix).glob("lib*/**/librunqkit_c.a"))
        if not libraries:
            raise Problem(f"{self.prefix} has no C interface")
        run(["cc", "-std=c11", *WARNINGS, f"-I{self.prefix}/include", source, libraries[0], "-pthread", "-o", program])
        run([program], timeout=60)
        return "compiled and run"

    def cmake(self, name, options, body):
        if "excerpt" in options:
            return self.excerpt(body, "CMakeLists.txt")
        folder = self.work / name
        folder.mkdir(exist_ok=True)
        (folder / "third_party").mkdir(exist_ok=True)
        link = folder / "third_party/runqkit"
        if not link.is_symlink():
            link.symlink_to(self.root)
        if "runq::c)" in body:
            main, text = "main.c", "#include <runq.h>\nint main(void) { return runq_status_text(RUNQ_OK) == NULL; }\n"
        else:
            main, text = "main.cpp", "#include <runq/ring.hpp>\nint main() { runq::ring<int> r; }\n"
        (folder / main).write_text(text)
        languages = "C CXX" if main == "main.c" else "CXX"
        head = f"cmake_minimum_required(VERSION 3.25)\nproject(doc LANGUAGES {languages})\nadd_executable(my_app {main})\n"
        (folder / "CMakeLists.txt").write_text(head + body)
        build = folder / "build"
        run(["cmake", "-G", self.generator, "-S", folder, "-B", build, f"-DCMAKE_CXX_COMPILER={self.compiler}",
             f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DFETCHCONTENT_SOURCE_DIR_RUNQKIT={self.root}"])
        run(["cmake", "--build", build])
        run([build / "my_app"])
        return "configured, built and run"

    def shell(self, name, options, body):
        commands = []
        for line in body.replace("\\\n", " ").splitlines():
            if options[0] == "console":
                if not line.startswith("$ "):
                    continue
                line = line[2:]
            commands += re.split(r"&&|\|\||;|\|", line.split(" # ")[0])
        checked = 0
        for words in (command.split() for command in commands):
            if not words:
                continue
            if words[0] == "./kit":
                self.kit_call(words[1:])
                checked += 1
            if words[0] in ("cmake", "ctest"):
                self.preset_call(words)
                checked += 1
        return f"{checked} of {len(commands)} commands checked against the help text and the presets"

    def kit_call(self, words):
        sections = re.split(r"^  \./kit ", run(["bash", self.root / "kit", "help"]), flags=re.M)[1:]
        known = {section.split()[0]: section for section in sections}
        if not words or words[0] not in known:
            raise Problem(f"`./kit {' '.join(words)}`: no such command")
        for word in words[1:]:
            if word == "--":
                break
            if word.startswith("--") and not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", known[words[0]]):
                raise Problem(f"`./kit {' '.join(words)}`: `./kit help` does not list {word}")

    def preset_call(self, words):
        presets = json.loads((self.root / "CMakePresets.json").read_text())
        kind = "testPresets" if words[0] == "ctest" else "configurePresets"
        if "--workflow" in words:
            kind = "workflowPresets"
        if "--build" in words:
            kind = "buildPresets"
        names = {preset["name"] for preset in presets[kind] if not preset.get("hidden")}
        for option, value in zip(words, words[1:]):
            if option == "--preset" and value not in names:
                raise Problem(f"`{' '.join(words)}`: {kind} has no {value}")
            if words[0] == "ctest" and option == "-L" and value not in LABELS:
                raise Problem(f"`{' '.join(words)}`: there is no label {value}")

    # Asio does not see that clang 14 has them.
    ASIO_HAS_COROUTINES = [f"-D{library}ASIO_HAS_{what}" for library in ("", "BOOST_") for what in ("CO_AWAIT", "STD_COROUTINE")]

    def search_awaits(self, name, text, clang_query):
        """Prints what check_awaits.sh reports of the text, which is saved as NAME.cpp."""
        source = self.work / f"{name}.cpp"
        source.write_text(text)
        includes = [f"-I{self.root / folder}" for folder in ("deque/include", "scheduler/include")]
        try:
            run(["sh", self.root / "scheduler/tools/check_awaits.sh", clang_query, "--only", "--", self.compiler, "-std=c++20",
                 *self.ASIO_HAS_COROUTINES, *includes, "-c", source])
            return 0
        except Problem as problem:
            print(problem)
            return 1

    def check_awaits(self, headers, clang_query):
        """A report names lines of the sources in --work, where each example of a page says where it comes from."""
        examples = []
        for page in pages(self.root):
            for line, options, body in blocks(page.read_text()):
                if options[:1] == ["cpp"] and "excerpt" not in options and re.search(r"\bco_(await|return|yield)\b", body):
                    examples.append((f"{page.relative_to(self.root)}:{line}", body))
        sources = {}  # name: the includes, in order, and the rest
        for number, (where, body) in enumerate(examples):
            # Asio and Boost.Asio have macros of the same names.
            includes, rest = sources.setdefault("boost" if "#include <boost/" in body else "pages", ({}, []))
            first = ("#include", "#define")
            lines = body.splitlines(True)
            includes.update(dict.fromkeys(line for line in lines if line.startswith(first)))
            body = "".join(line for line in lines if not line.startswith(first))
            rest.append(f"// {where}\nnamespace example_{number} {{\n{body}}}\n")
        texts = {name: "".join([*includes, *rest]) for name, (includes, rest) in sources.items()}
        of_comments = self.examples_of(headers)
        prelude = self.root / "tools/docs/comment_prelude.hpp"
        texts["comments"] = f'#include <runq/runq.hpp>\n#include "{prelude}"\n{self.comments_as_one(of_comments)}'
        failed = sum(self.search_awaits(name, text, clang_query) for name, text in texts.items())
        print(f"{len(examples)} examples of pages, {len(of_comments)} of doc comments")
        return failed + (not examples) + (not of_comments)

    def check(self, page):
        kinds = {"cpp": self.cpp, "c": self.c, "cmake": self.cmake, "sh": self.shell, "bash": self.shell, "console": self.shell}
        failed = 0
        found = list(blocks(page.read_text()))
        self.compile_together([(f"line_{line}", body) for line, options, body in found
                               if options == ["cpp"] and re.search(r"\bint main\(", body)])
        for line, options, body in found:
            if not options or options[0] not in kinds:
                continue
            where = f"{page.relative_to(self.root)}:{line}: {' '.join(options)}:"
            try:
                print(where, kinds[options[0]](f"line_{line}", options, body))
            except (Problem, subprocess.TimeoutExpired) as problem:
                failed += 1
                print(where, "FAILED", problem)
        return failed


def anchors(text):
    found = set()
    text = re.sub(r"^( *)```.*?^\1```", "", text, flags=re.M | re.S)
    for heading in re.findall(r"^#+ +(.*?) *#*$", text, re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        found.add(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-"))
    return found | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def check_links(root):
    failed = checked = 0
    for page in pages(root):
        text = re.sub(r"^( *)```.*?^\1```", "", page.read_text(), flags=re.M | re.S)
        text = re.sub(r"`[^`\n]*`", "``", text)
        for target in re.findall(r"\]\(<?([^)>\s]+)>?[^)]*\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            goal = page if not path else Path(os.path.normpath(page.parent / path))
            checked += 1
            if not goal.exists():
                problem = "leads nowhere"
            elif not goal.is_relative_to(root):
                problem = "leaves the project"
            elif anchor and goal.suffix == ".md" and anchor not in anchors(goal.read_text()):
                problem = "names no heading"
            else:
                continue
            failed += 1
            print(f"{page.relative_to(root)}: link {target} {problem}")
    print(f"{checked} relative links, {failed} broken")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["links", "code", "comments", "awaits"])
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--compiler")
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--precompiled", default="")
    parser.add_argument("--generator")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--library", default="")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--clang-query", default="")
    parser.add_argument("--header", type=Path, action="append", default=[])
    arguments = parser.parse_args()
    if arguments.what == "links":
        return check_links(arguments.root)
    if arguments.what == "awaits":
        return CodeCheck(arguments).check_awaits(arguments.header, arguments.clang_query)
    if arguments.what == "comments":
        return CodeCheck(arguments).check_comments(arguments.header)
    return CodeCheck(arguments).check(arguments.page)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
