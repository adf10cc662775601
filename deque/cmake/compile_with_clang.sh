#!/bin/sh
# SPDX-License-Identifier: MIT
# A compiler launcher of CMake: compiles with clang++ what CMake would compile with g++. It leaves out the options that only g++
# knows, and takes -O0 for -Og, which clang++ has for -O1.
#
#   compile_with_clang.sh CLANG++ G++ OPTIONS…
clang=$1
shift 2
for option; do
  shift
  case $option in
    # Precompiling a header again: clang++ would build on the old file, which lies beside the header that -include names.
    *.gch) rm -f "$option"; set -- "$@" "$option" ;;
    --param=ggc-* | -fno-gnu-unique) ;;
    -Og) set -- "$@" -O0 ;;
    *) set -- "$@" "$option" ;;
  esac
done
exec "$clang" -Wno-unknown-warning-option "$@"
