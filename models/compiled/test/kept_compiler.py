# SPDX-License-Identifier: MIT
"""A compiler for tests that check the same few programs many times. Tests that run with the same RUNQ_KEPT_COMPILED, a folder, have
what it keeps together."""
import os
import tempfile

# It keeps what it has made, because compiling a program takes a second. Objects are
# known by their content, because each check has a folder of its own for them.
KEEPS = r"""#!/bin/bash
set -eu
kept=${RUNQ_KEPT_COMPILED:-$(dirname "$0")/kept} output='' what=() before=''
for word; do
  if [ "$before" = -o ]; then
    output=$word
  elif [[ $word = *.[os] ]]; then
    what+=("$(cksum <"$word")")
  else
    what+=("$word")
  fi
  before=$word
done
# A question, which makes nothing.
[ -n "$output" ] || exec g++ "$@"
file=$kept/$(printf '%s\n' "${what[@]}" | cksum | tr -d ' ')
[ -e "$file" ] || { g++ "$@" && cp "$output" "$file.$$" && mv "$file.$$" "$file"; }
cp "$file" "$output"
"""
folder = None


def set_up():
    global folder
    folder = tempfile.TemporaryDirectory()
    os.mkdir(os.path.join(folder.name, "kept"))
    with open(name(), "w", encoding="utf-8") as script:
        script.write(KEEPS)
    os.chmod(name(), 0o755)


def tear_down():
    folder.cleanup()


def name():
    return os.path.join(folder.name, "g++")
