#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles one file by one call of the compiler, and runs it: plain.sh FOLDER FILE COMPILER FLAGS
# FLAGS is read as a command line would be, so it may hold quotes and $(pkg-config …), whose output is quoted likewise.
set -eu
# shellcheck disable=SC2034 # the command line below uses it
file=$(cd "$(dirname "$0")" && pwd)/$2
mkdir -p "$1"
case $2 in
  *.c) standard=-std=c11 ;;
  *) standard=-std=c++20 ;;
esac
warnings='-Wall -Wextra -Wconversion -Wshadow -Werror'
# The libraries stand behind the file that needs them, as on everybody's command line.
eval "\"\$3\" $standard $warnings \"\$file\" $(eval "echo \"$4\"") -o \"\$1/consumer\""
exec "$1/consumer"
