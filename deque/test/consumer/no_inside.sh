#!/bin/sh
# SPDX-License-Identifier: MIT
# Whether all headers of the scheduler for users are installed, and none of those inside: no_inside.sh INSTALLED SCHEDULER
set -eu
cd "$2/include"
missing=$(find . -name '*.hpp' | while read -r header; do [ -e "$1/$header" ] || echo "$header"; done)
[ -z "$missing" ] || { printf 'not installed:\n%s\n' "$missing"; exit 1; }
found=$(find "$2/src" "$2/queues" -name '*.hpp' -exec basename {} \; | sort | while read -r header; do
  find "$1" -name "$header"
done)
[ -z "$found" ] || { printf 'installed, but only for the library itself:\n%s\n' "$found"; exit 1; }
