#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles main.cpp by one call of the compiler, and runs it: plain.sh FOLDER COMPILER FLAGS
# FLAGS is read as a command line would be, so it may hold quotes and $(pkg-config …), whose output is quoted likewise.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
eval "\"\$2\" -std=c++20 -Wall -Wextra -Wconversion -Wshadow -Werror \"\$here/main.cpp\" $(eval "echo \"$3\"") -o \"\$1/consumer\""
exec "$1/consumer"
