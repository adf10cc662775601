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
    --param=ggc-* | -fno-gnu-unique) ;;
    -Og) set -- "$@" -O0 ;;
    *) set -- "$@" "$option" ;;
  esac
done
exec "$clang" -Wno-unknown-warning-option "$@"
