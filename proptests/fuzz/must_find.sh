#!/bin/sh
# SPDX-License-Identifier: MIT
# must_find.sh PROGRAM FOLDER: this fuzz target has to find its seeded bug within a bounded number of scripts, print a
# unit test, and fail again on the script that it wrote down.
set -u
rm -f "$2"/crash-*
if "$1" -runs=200000 -max_total_time=120 -max_len=256 -artifact_prefix="$2/" >"$2/log" 2>&1; then
  tail -n 3 "$2/log"
  echo "the seeded bug survived"
  exit 1
fi
sed -n '/^FAIL/,$p' "$2/log"
if ! grep -q '^FAIL  ' "$2/log" || ! grep -q '^TEST(' "$2/log"; then
  tail -n 40 "$2/log"
  echo "it stopped, but not at a law"
  exit 1
fi
if "$1" "$2"/crash-* >"$2/again" 2>&1; then
  echo "the script that it wrote down passes"
  exit 1
fi
grep '^FAIL  ' "$2/again"
