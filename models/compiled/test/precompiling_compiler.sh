#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# precompiling_compiler.sh COMPILER FOLDER ARGUMENTS…: COMPILER, with the standard library's headers that most of the
# programs include precompiled in FOLDER, once for each set of flags. Two thirds of a program's check were these headers.
set -euo pipefail

compiler=$1 folder=$2
shift 2
flags=() compiles=no cxx=no skip=no
for word in "$@"; do
  if [ "$skip" = yes ]; then skip=no; continue; fi
  case $word in
    -c) compiles=yes ;;
    -o) skip=yes ;;
    c++) cxx=yes; flags+=(c++-header) ;;
    # What a program is told by macros is not for the standard library, nor are folders of headers.
    -D* | -I*) ;;
    *.cpp | *.c) ;;
    *) flags+=("$word") ;;
  esac
done
if [ "$compiles" = no ] || [ "$cxx" = no ]; then exec "$compiler" "$@"; fi

header=$folder/$(printf '%s\n' "$compiler" "${flags[@]}" | cksum | cut -d ' ' -f 1)/standard.hpp
mkdir -p "$(dirname "$header")"
exec 9>"$header.lock"
flock 9
if [ ! -e "$header.gch" ]; then
  printf '#include <%s>\n' atomic barrier chrono condition_variable latch memory mutex semaphore shared_mutex stdexcept \
    string thread >"$header"
  "$compiler" "${flags[@]}" "$header" -o "$header.new"
  mv "$header.new" "$header.gch"
fi
exec 9>&-
# Where a macro of the program hinders it, g++ reads the header itself.
exec "$compiler" -include "$header" "$@"
