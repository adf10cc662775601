# SPDX-License-Identifier: MIT
# A test that grows, for runq-check --grow SECONDS, which reads this file: the program is checked with its smallest sizes,
# and then with larger ones. The smallest come first: those with the smallest sum of what is added to all sizes.

refuse_beside_grow() {
  local option
  [ -z "$cache" ] && [ "$coverage" = no ] || fail "--grow makes several searches: it goes with neither --cache nor --coverage"
  for option in "${options[@]}"; do
    case $option in
      --ledger | --ledger-of | --execution | --path | --jobs | --size | --time-limit | --json | --html | --sarif | --junit)
        fail "--grow makes several searches: it does not go with $option"
        ;;
    esac
  done
}

# Sets size_names and smallest: the sizes that the program asks for.
read_sizes() {
  local name value
  size_names=() smallest=()
  while read -r name value; do size_names+=("$name") smallest+=("$value"); done <"$scratch/sizes"
}

# All ways to add $1 in all to the sizes from number $2 on, each a line behind what was added to those before: $3.
additions() {
  local more
  if [ $(($2 + 1)) -ge ${#size_names[@]} ]; then
    printf '%s %s\n' "$3" "$1"
    return
  fi
  for ((more = $1; more >= 0; --more)); do additions $(($1 - more)) $(($2 + 1)) "$3 $more"; done
}

# Whether what is added now is at least, in all sizes, what made a test too large.
is_too_large() {
  local limit limits i here
  for limit in "${too_large[@]}"; do
    read -ra limits <<<"$limit"
    here=yes
    for i in "${!limits[@]}"; do [ "${added[i]}" -ge "${limits[i]}" ] || here=no; done
    [ $here = no ] || return 0
  done
  return 1
}

# Checks the program with these sizes, or its smallest, in the time that is left. Sets status and verdict.
check_size() {
  local left=$((end - EPOCHSECONDS)) words=()
  [ -z "$1" ] || words=(--size "$1")
  [ "$left" -ge 1 ] || left=1
  status=0
  LD_BIND_NOW=1 RUNQ_CHECK=$(printf '%s\n' "${options[@]}" "${words[@]}" --sizes "$scratch/sizes" --time-limit "$left") \
    "${emulator[@]}" "$program" >"$scratch/grown" 2>"$scratch/grown_messages" || status=$?
  verdict=$(cat "$scratch/grown" "$scratch/grown_messages" | grep -v '^[0-9]* s: ' | head -1)
}

grow_test() {
  local status=0 verdict='' end=$((EPOCHSECONDS + grow)) total i sizes completed='' grew added too_large=()
  check_size ''
  if [ -s "$scratch/sizes" ]; then read_sizes; else size_names=(); fi
  if [ "$status" -gt 1 ]; then
    cat "$scratch/grown" "$scratch/grown_messages"
    return 2
  fi
  [ ${#size_names[@]} -gt 0 ] || fail "--grow: the program asks for no size that can grow; <runq/grow.hpp> has them"
  for ((total = 0; ; ++total)); do
    grew=no
    while read -ra added; do
      sizes=''
      for i in "${!size_names[@]}"; do sizes+=${sizes:+,}${size_names[i]}=$((smallest[i] + added[i])); done
      if is_too_large; then continue; fi
      if [ "$EPOCHSECONDS" -ge "$end" ]; then
        printf 'grown up to %s; there was no time for %s\n' "$completed" "$sizes"
        return 0
      fi
      [ "$total" = 0 ] || check_size "$sizes"
      printf '%s: %s\n' "$sizes" "$verdict"
      case $status in
        0) completed=$sizes grew=yes ;;
        1)
          tail -n +2 "$scratch/grown"
          printf 'the same again: --size %s\n' "$sizes"
          return 1
          ;;
        2) too_large+=("${added[*]}") ;;
        *) fail "--grow: with $sizes the program ended with status $status before there was a verdict" ;;
      esac
    done < <(additions "$total" 0 '')
    if [ $grew = no ]; then
      printf 'grown up to %s; no larger size can be checked\n' "$completed"
      return 0
    fi
  done
}
