#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A small run in three shares, made side by side by GNU parallel and merged: it must print what the whole run prints.
# Shares that are missing, there twice, or of different runs must be refused.
# Usage: shard_test.sh RUNQ_VERIFY. Exit status 77: skipped.
set -euo pipefail

verify=$1
glob='runnext/*'
if ! parallel --version 2>/dev/null | grep -q 'GNU parallel'; then
  echo "skipped: there is no GNU parallel; on Debian: apt-get install parallel"
  exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# All but the times.
lines() { sed -E 's/ +[0-9]+\.[0-9]+ s\b/ TIME/' "$1"; }

"$verify" --case "$glob" --json whole.json >whole.txt
parallel --will-cite -j2 "$verify" --case "'$glob'" --jobs 1 --shard {}/3 --json share{}.json ::: 1 2 3 >shares.txt
"$verify" --merge share1.json share2.json share3.json --json merged.json >merged.txt
diff <(lines whole.txt) <(lines merged.txt) || fail "merged, the shares print something else than the whole run"

# Every search is in exactly one share, and found the same there.
python3 - <<'PYTHON'
import json


def counts(file):
    return sorted((s["case"], s["engine"], s["label"], s["result"].get("executions", 0))
                  for s in json.load(open(file))["searches"])


shares = [counts(f"share{i}.json") for i in (1, 2, 3)]
assert all(shares), "a share is empty"
assert sorted(sum(shares, [])) == counts("whole.json") == counts("merged.json")
PYTHON

# refused SENTENCE FILES…
refused() {
  local sentence=$1 status=0
  shift
  "$verify" --merge "$@" >refused.txt 2>&1 || status=$?
  [ "$status" -eq 1 ] || fail "merging $* ended with status $status instead of 1"
  grep -qF "$sentence" refused.txt || fail "merging $* does not say '$sentence' but '$(cat refused.txt)'"
}
refused "missing: share 2/3" share1.json share3.json
refused "missing: share 2/3, 3/3" share1.json
refused "share 3/3 is there twice" share1.json share2.json share3.json share3.json

# edited FILE KEY=VALUE: a copy of share 2, changed.
edited() {
  python3 - "$@" <<'PYTHON'
import json
import sys

file, change = sys.argv[1:]
key, value = change.split("=")
share = json.load(open("share2.json"))
inside = share["shard"] if key in share["shard"] else share
inside[key] = type(inside[key])(value)
json.dump(share, open(file, "w"))
PYTHON
}
edited other.json of=4
refused "share1.json is share 1/3, but other.json is share 2/4" share1.json other.json share3.json
edited other.json budget=full
refused "different budgets (quick and full)" share1.json other.json share3.json
edited other.json version=0.0.9
refused "different versions" share1.json other.json share3.json
edited other.json sources=0
refused "different sources" share1.json other.json share3.json
edited other.json complete=
refused "share 2/3 in other.json was interrupted" share1.json other.json share3.json
refused "no result of ./kit verify --shard" share1.json whole.json
refused "cannot read nothing.json" nothing.json
echo "passed"
