#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the banner of a single header: the version, the licence, and for every queue in it the number of
# cases that pinned.txt has of it: banner.sh HEADER VERSION CASES
set -eu

must_say() { grep -q -e "$1" "$header" || { echo "$header does not say: $1"; exit 1; }; }

header=$1
must_say "^// runqkit $2: "
must_say '^// Permission is hereby granted'
queues=$(sed -n 's,^// ---- runq/\(.*\)\.hpp$,\1,p' "$header")
checked=0
for queue in $queues; do
  if [ ! -e "$3/queues/$queue" ]; then continue; fi
  must_say "^//   $queue: $(grep -c "^$queue/" "$3/pinned.txt") cases, each searched to its end"
  checked=$((checked + 1))
done
[ "$checked" -gt 0 ] || { echo "$header names no queue"; exit 1; }
