#!/bin/sh
# SPDX-License-Identifier: MIT
# module.sh CLANG++ DEQUE EXAMPLE... : compiles the module runqkit, and each example with `import runqkit;` in place of the queues'
# headers, and runs it. An example is a program of DEQUE/examples.
set -eu
clang=$1 deque=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
options="-std=c++20 -O1 -Wall -Wextra -Wconversion -Wshadow -Werror -pthread"
# The options are several words.
# shellcheck disable=SC2086
"$clang" $options -I "$deque/include" --precompile "$deque/include/runq/runqkit.cppm" -o "$work/runqkit.pcm"
for example; do
  # The import comes after the last include: clang++ 19 cannot read the standard library's headers after the module that has them, too.
  awk '/^#include ["<]runq\// { next } { line[++n] = $0 } /^#include/ { last = n } END {
         for (i = 1; i <= n; i++) { print line[i]; if (i == last) print "import runqkit;" } }' \
    "$deque/examples/$example.cpp" > "$work/$example.cpp"
  grep -q '^import runqkit;$' "$work/$example.cpp" || { echo "$example has no include of the standard library"; exit 1; }
  # shellcheck disable=SC2086
  "$clang" $options -fmodule-file=runqkit="$work/runqkit.pcm" "$work/$example.cpp" "$work/runqkit.pcm" -o "$work/$example"
  "$work/$example" > "$work/output" || { cat "$work/output"; echo "$example failed"; exit 1; }
  echo "$example: $(wc -l < "$work/output") lines of output"
done
