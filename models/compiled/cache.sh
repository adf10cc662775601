# SPDX-License-Identifier: MIT
# The cache of runq-check --cache DIR, which reads this file: verdicts of earlier checks. A check has a name, made from
# everything that decides its verdict: the linked program, the libraries that it loads, the checker, and the options.
# DIR/NAME has what the check has printed, its status, the files that it has written, and when that was. Without the
# option nothing is kept: who asks for a check gets a search, and what a job of CI keeps is for its owner to say.

cache_checks=1000 cache_bytes=1048576 # in all; of one check

# The checker knows these calls, so no verdict names them, but what they answer is no part of the name.
asks_machine='getenv|secure_getenv|environ|__environ|_environ|stdin|_ZSt3cin|_ZSt4wcin|read|eventfd_read|getrlimit'
asks_machine+='|sysconf|getpid|gettid|getpagesize|sched_getcpu|get_nprocs|_ZNSt6thread20hardware_concurrencyEv|clock'

# The verdict is what counts, not whether somebody reads to its end.
say() { (printf '%s\n' "$1") 2>/dev/null || true; }

# The shared libraries of a program, one a line.
libraries_of() {
  ldd "$1" | sed -nE 's/^(\t|.* => )(\/.*) \(0x[0-9a-f]+\)$/\2/p'
}

# Sets cached to the folder of this check, or leaves it empty if its verdict can depend on more than its name tells.
find_cached() {
  local libraries library read_files=() words=("$coverage" "${coverage_of[@]}") option before='' question
  cached='' not_kept=''
  [ -n "$cache" ] || return 0
  # One of several that mpirun has started cannot leave the search to the others.
  [ "${OMPI_COMM_WORLD_SIZE:-1}" -le 1 ] || return 0
  mapfile -t libraries < <(libraries_of "$program")
  for library in "$program" "${libraries[@]}"; do
    nm -D "$library" 2>/dev/null >"$scratch/asked" || true
    # What other libraries do is not seen, and the verdict says so.
    grep -q ' U __tsan_' "$scratch/asked" || continue
    question=$(grep -oE -m1 " ($asks_machine)(@|\$)" "$scratch/asked") || continue
    question=${question# }
    not_kept="the program calls or reads ${question%@}, whose answer may change"
    return 0
  done
  for option in "${options[@]}"; do
    [ "$before" != --accept-from ] || read_files+=("$option")
    case $before in --executed | --ways) ;; *) words+=("$option") ;; esac
    before=$option
  done
  # The program, and the list of what it executes, lie elsewhere in each check.
  cached=$cache/$({
    printf '%s\0' "${words[@]}"
    env | grep '^RUNQ_' | sort || true
    sha256sum <"$program"
    sha256sum "${libraries[@]}" "$(realpath "$0")" "$data_dir/coverage.py" "${files[@]}" "${read_files[@]}"
  } 2>/dev/null | sha256sum | cut -c-64)
}

# The value of each option that names what a check writes, with the name that it has in the cache.
each_result() {
  local option before=''
  for option in "${options[@]}"; do
    case $before in --json | --sarif | --junit | --html) "$1" "${before#--}" "$option" || return ;; esac
    before=$option
  done
}

give_result() {
  if [ -d "$scratch/cached/$1" ]; then
    mkdir -p "$2" && cp -r "$scratch/cached/$1/." "$2/"
  else
    cp "$scratch/cached/$1" "$2"
  fi
}

# Prints and writes what this check has printed and written before. Fails if there is no such check.
tell_cached() {
  [ -n "$cached" ] && [ -d "$cached" ] || return 1
  # A copy, because another check may remove the oldest ones meanwhile.
  cp -r "$cached" "$scratch/cached" 2>/dev/null && [ -e "$scratch/cached/status" ] || return 1
  each_result give_result || return 1
  touch "$cached" 2>/dev/null || true
  cat "$scratch/cached/printed" || true
  say "unchanged since $(<"$scratch/cached/since"): not searched again; --no-cache searches"
  status=$(<"$scratch/cached/status")
}

keep_result() { cp -r "$2" "$new/$1"; }

# Keeps what this check has printed and written. Says why if that is not possible.
keep() {
  local new
  [ -n "$cache" ] && [ "$1" -le 1 ] || return 0
  if [ -n "$cached" ] && grep -q '^not seen: ' "$scratch/printed"; then
    cached='' not_kept="code that is not seen may read files, or ask the system"
  fi
  if [ -z "$cached" ]; then
    [ -z "$not_kept" ] || say "not kept in the cache: $not_kept"
    return 0
  fi
  new=$(mktemp -d "$cache/new.XXXXXX") || return 0
  cp "$scratch/printed" "$new/printed" && printf '%s\n' "$1" >"$new/status" && date -u '+%Y-%m-%d %H:%M UTC' >"$new/since"
  each_result keep_result
  if [ "$(du -sb "$new" | cut -f1)" -gt "$cache_bytes" ]; then
    say "not kept in the cache: it would be more than $cache_bytes bytes"
  else
    # Another check with this name may have come first.
    rm -rf "$cached"
    mv -T "$new" "$cached" 2>/dev/null || true
  fi
  rm -rf "$new"
  remove_oldest
}

# Of the checks in the cache those stay that were needed last.
remove_oldest() {
  local old
  ls -1t "$cache" | grep -xE '[0-9a-f]{64}' | tail -n "+$((cache_checks + 1))" | while read -r old; do
    rm -rf "${cache:?}/$old"
  done || true
}
