#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the headers without building anything, as docs/integrate.md says, and builds a program with them:
# headers_only.sh CMAKE SOURCES FOLDER COMPILER
set -eu
rm -rf "$3"
mkdir -p "$3"
# cd -P resolves the links in the path: the build folder is below the sources, and CMake would look for it behind the
# link again.
(cd -P "$2" && "$1" --preset package -B "$3/build" "-DCMAKE_CXX_COMPILER=$4" -DRUNQ_BUILD_C=OFF -DRUNQ_BUILD_SCHEDULER=OFF)
"$1" --install "$3/build" --prefix "$3/prefix"
exec sh "$(dirname "$0")/plain.sh" "$3" main.cpp "$4" "'-I$3/prefix/include' -pthread"
