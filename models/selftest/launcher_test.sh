#!/bin/sh
# SPDX-License-Identifier: MIT
# compile_with_clang.sh precompiles a header that has changed again, as CMake asks for it.
#
#   launcher_test.sh LAUNCHER CLANG++ FOLDER
set -eu
launcher=$1 clang=$2 folder=$3
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
: >header.hpp.cxx
cat >user.cpp <<'END'
#ifndef CHANGED
#error "the header from before the change"
#endif
END
precompile() {
  "$launcher" "$clang" g++ -std=c++20 -Og -x c++-header -include "$folder/header.hpp" -o header.hpp.gch -c header.hpp.cxx
}
echo '#include <string>' >header.hpp
precompile
printf '#include <string>\n#define CHANGED\n' >header.hpp
precompile
"$launcher" "$clang" g++ -std=c++20 -Og -Winvalid-pch -include "$folder/header.hpp" -o user.o -c user.cpp
