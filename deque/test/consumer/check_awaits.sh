#!/bin/sh
# SPDX-License-Identifier: MIT
# A project that calls runq_check_awaits(): what is right is built, what is wrong fails with its line and what to write instead.
#
#     check_awaits.sh CMAKE PROJECT FOLDER GENERATOR COMPILER CLANG_QUERY OPTION…
set -eu
cmake=$1 project=$2 folder=$3 generator=$4 compiler=$5 clang_query=$6
shift 6
rm -rf "$folder"
mkdir -p "$folder"
cp -R "$project" "$folder/project"

fail() { printf '%s\n' "$1" && cat "$folder/output" && exit 1; }
configure() {
  build=$folder/$1
  shift
  "$cmake" -S "$folder/project" -B "$build" -G "$generator" "-DCMAKE_CXX_COMPILER=$compiler" "$@" >"$folder/output" 2>&1
}
build() { "$cmake" --build "$build" --target "$@" >"$folder/output" 2>&1; }
says() { grep -qF -- "$1" "$folder/output" || fail "It does not say: $1"; }

# Without clang-query.
configure without "$@" -DRUNQ_CLANG_QUERY=OFF || fail "It cannot be configured without clang-query."
says "Install clang-tools"
configure required "$@" -DRUNQ_CLANG_QUERY=OFF -DREQUIRED=REQUIRED && fail "REQUIRED is no error without clang-query."
says "Install clang-tools"

# This one counts how often it is called.
printf '#!/bin/sh\necho >>"%s"\nexec "%s" "$@"\n' "$folder/calls" "$clang_query" >"$folder/clang-query"
chmod +x "$folder/clang-query"
configure with "$@" "-DRUNQ_CLANG_QUERY=$folder/clang-query" -DREQUIRED=REQUIRED || fail "It cannot be configured."
calls() { wc -l <"$folder/calls" | tr -d ' '; }
: >"$folder/calls"

build right || fail "What is right is not built."
build right || fail "What is right is not built again."
[ "$(calls)" = 1 ] || fail "What has not changed was searched again: $(calls) times"
build left_out || fail "EXCEPT does not leave a source out."
[ "$(calls)" = 1 ] || fail "EXCEPT does not leave a source out."

for time in first second; do
  build wrong && fail "What is wrong was built, the $time time."
  sed -n 's/.*\/\/ wrong: //p' "$folder/project/wrong.cpp" >"$folder/texts"
  while read -r text; do
    says "$text"
    line=$(grep -nF "// wrong: $text" "$folder/project/wrong.cpp" | cut -d: -f1)
    grep -qE "wrong\.cpp:$line:[0-9]+: error: .*$text" "$folder/output" || fail "It does not name line $line."
  done <"$folder/texts"
done
cp "$folder/project/right.cpp" "$folder/project/wrong.cpp"
build wrong || fail "What was mended is not built."

# A mistake in a header.
sed 's/{ co_return TEXT.*/{ co_return (co_await runq::blocking([] { return 1; }), result{id, co_await text_of(id), true}).text; }/' \
  "$project/right.hpp" >"$folder/project/right.hpp"
build wrong && fail "What includes a header with a mistake was built."
says "right.hpp:12:"
