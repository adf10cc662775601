#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles one file by one call of the compiler, and runs it: plain.sh FOLDER FILE COMPILER FLAGS
# The shell reads FLAGS as part of a command line: it may have quotes and $(pkg-config …), whose output may have quotes.
set -eu
# shellcheck disable=SC2034 # the command line below uses it
file=$(cd "$(dirname "$0")" && pwd)/$2
mkdir -p "$1"
case $2 in
  *.c) standard=-std=c11 ;;
  *) standard=-std=c++20 ;;
esac
warnings='-Wall -Wextra -Wconversion -Wshadow -Werror'
# The libraries stand behind the file that needs them, because a linker searches them in the order of the command line.
eval "\"\$3\" $standard $warnings \"\$file\" $(eval "echo \"$4\"") -o \"\$1/consumer\""
exec "$1/consumer"
