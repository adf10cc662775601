#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The command line of ./kit verify: what it refuses, with status 2 and a sentence, and what --json and --html hold.
# Usage: verify_options_test.sh RUNQ_VERIFY
set -euo pipefail

verify=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# ends STATUS SENTENCE OPTIONS…
ends() {
  local wanted=$1 sentence=$2 status=0
  shift 2
  "$verify" "$@" >said.txt 2>&1 || status=$?
  [ "$status" -eq "$wanted" ] || fail "$* ended with status $status instead of $wanted: $(cat said.txt)"
  grep -qF -- "$sentence" said.txt || fail "$* does not say '$sentence' but '$(cat said.txt)'"
}

ends 0 "--weaken" --help
ends 2 "--nonsense" --nonsense
ends 2 "--budget" --list --budget large
ends 2 "--jobs" --jobs none
ends 2 "no case matches 'ring/nope'" --case ring/nope
ends 2 "no mutant matches 'nope'" --mutant nope
ends 2 "no mutant matches 'nope' in the cases that match 'ring/*'" --mutant nope --case 'ring/*'
ends 2 "mutants are searched for by the engine exact" --mutant '*' --engine relacy
for update in --pin --update-ledger; do
  ends 2 "with --merge, not with --shard" --list "$update" --shard 1/2
  ends 2 "without --waits-in-place off" --list "$update" --waits-in-place off
done
ends 2 "--shard excludes --merge" --merge whole.json --shard 1/2
ends 2 "full name of one case" --weaken ring.push.publish:relaxed
ends 2 "SITE:ORDER" --case ring/push_vs_steal --weaken ring.push.publish
ends 2 "'weak' is no memory order" --case ring/push_vs_steal --weaken ring.push.publish:weak
ends 2 "no operation is called [ring.nope]" --case ring/push_vs_steal --weaken ring.nope:relaxed
ends 2 "never executes [ring.drain.claim]" --case ring/push_vs_steal --weaken ring.drain.claim:relaxed
ends 2 "the search ended before execution 999999" --case ring/push_vs_steal --execution 999999
ends 2 "cannot write" --case ring/push_vs_steal --execution 1 --json nowhere/results.json
ends 2 "cannot make the folder" --case ring/push_vs_steal --execution 1 --html /dev/null/pages

# has FILE TEXT
has() { grep -qF -- "$2" "$1" || fail "$1 does not hold '$2'"; }

ends 1 "uninitialised read" --case ring/push_vs_steal --weaken ring.push.publish:relaxed --json weak.json --html weak
has weak.json '"outcome": "failed"'
has weak.json '"changed": "[ring.push.publish] relaxed"'
has weak/index.html '"failed":1,'
has weak/ring-push_vs_steal-exhaustive.html 'ring.push.publish'
# The page's replay line leads to the same execution.
replay='--case ring/push_vs_steal --weaken ring.push.publish:relaxed --execution 2'
has weak/ring-push_vs_steal-exhaustive.html "./kit verify $replay\""
ends 1 "graph 2: uninitialised read" $replay

ends 0 "graph 2: passes" --case ring/push_vs_steal --execution 2 --json shown.json --html shown
has shown.json '"outcome": "passed"'
has shown/index.html '"searches":[1,1]'
has shown/ring-push_vs_steal-exhaustive.html 'ring.push.publish'

# One litmus shape is printed and drawn with an execution that has the outcome; nothing is where no engine shows it.
ends 0 "STALE, newest is 1" --case litmus/stale_failed_cas --html litmus
has said.txt "execution 2 has this outcome"
has litmus/litmus-stale_failed_cas-litmus-exact.html '"shown":2,'
ends 0 "execution 2 has this outcome" --case litmus/load_buffering
ends 0 "litmus as expected 1/1" --case litmus/coherence
if grep -q "has this outcome" said.txt; then fail "litmus/coherence has no execution with the outcome"; fi

# Waits that block: the same, and more executions that block.
ends 0 "searches passed" --case 'mutex/*' --engine exact --shard 1/1 --json mutex.json
if grep -q "blocked" said.txt; then fail "no execution of the mutex blocks"; fi
ends 0 "searches passed" --case 'mutex/*' --engine exact --waits-in-place off
has said.txt "blocked"

# A run with failures ends with 1: here the counts are not those that are pinned.
sed -E 's/"executions": [0-9]+/"executions": 1000000/' mutex.json >failed.json
ends 1 "0 searches passed" --case 'mutex/*' --engine exact --merge failed.json

# A verdict names what it relies on besides C++.
ends 0 "PASS exhaustive, given membarrier(2)" --case split_ring/interrupt_run_seized --html given
has given/index.html 'given membarrier(2)'

# Relacy's search says how far it came; a failure is the last step of a search with so many pre-emptions.
ends 0 "PASS full search" --case ring/exact_half --engine relacy
ends 0 "PASS bounded" --case ring/push_vs_steal --engine relacy
build=$(dirname "$verify")
"$build/runq_worker" "{\"modules\": [\"$build/cases_ring.so\"], \"search\": {\"case_name\": \"ring/push_vs_steal\",
  \"kind\": \"widening\", \"executions\": 10000, \"weakened\": {\"site\": \"ring.push.publish\", \"to\": \"relaxed\"}}}" >weakened.txt
has weakened.txt '"bound":'
has weakened.txt '"what":"uninitialised read"'

# The page says of every search of a small run what the text says.
ends 0 "searches passed" --case 'runnext/*' --html pages
passed=$(sed -nE 's/^verify: ([0-9]+) searches passed.*/\1/p' said.txt)
killed=$(sed -nE 's/^verify: .* mutants killed ([0-9]+\/[0-9]+).*/\1/p' said.txt)
has pages/index.html "\"totals\":{\"bugs\":[0,0],\"corpus\":[0,0],\"failed\":0,\"litmus\":[0,0],\"mutants\":[${killed/\//,}],\"searches\":[$passed,$passed]}"
echo "passed"
