#!/bin/sh
# SPDX-License-Identifier: MIT
# compile_with_clang.sh precompiles a header that has changed again, as CMake asks for it; and own_compiler_reads.py refuses what
# g++ does not accept of the sources that the launcher has compiled.
#
#   launcher_test.sh LAUNCHER CLANG++ FOLDER READER NINJA
set -eu
launcher=$1 clang=$2 folder=$3 reader=$4 ninja=$5
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

# Two sources, of which g++ refuses the second: its header alone is precompiled, by the same options as the sources.
cat >template.hpp <<'END'
template <class T> int twice(T value) { int kept = value; { int kept = value; return 2 * kept; } }
END
echo 'int main() { return twice(0); }' >shadows.cpp
echo 'int main() { return 0; }' >accepted.cpp
compiles() { echo "build $1.o: launched $1.cpp"; }
cat >build.ninja <<END
rule launched
  command = $launcher $clang g++ -std=c++20 -Wshadow -Werror -Winvalid-pch -include $folder/template.hpp -MD -MF \$out.d -o \$out -c \$in
END
compiles accepted >>build.ninja
python3 -B "$reader" "$folder" "$ninja"
compiles shadows >>build.ninja
if python3 -B "$reader" "$folder" "$ninja" >refused; then
  echo "own_compiler_reads.py accepts a local variable that hides another"
  exit 1
fi
grep -q "shadows a previous local" refused
grep -q "^2 sources read, 1 refused" refused
