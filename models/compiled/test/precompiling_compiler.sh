#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# precompiling_compiler.sh COMPILER FOLDER ARGUMENTS…: runs COMPILER with a precompiled header in FOLDER, one per set of
# flags. It has the standard headers that most test programs include: reading them took two thirds of a check's time.
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
    # The macros and include folders of a program do not concern the standard library.
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
# If a macro of the program makes the precompiled header unusable, g++ reads the header's source instead.
exec "$compiler" -include "$header" "$@"
