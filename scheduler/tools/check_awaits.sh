#!/bin/sh
# SPDX-License-Identifier: MIT
# A compiler launcher: compiles a source as it is told, then asks clang-query for the expressions in it that g++ up to 12
# gets wrong (co_await_twice.query). Prints each with its place and what to write instead, and fails. runq_check_awaits() of
# CMake sets it up.
#
#     check_awaits.sh CLANG_QUERY [--only] [--except SOURCE]… -- COMPILER ARGUMENTS…
#
# --only: does not compile. --except: the source is not looked at.
set -eu
query=$(dirname "$0")/co_await_twice.query
clang_query=$1
shift
only=
except=
while [ "$1" != -- ]; do
  case $1 in
    --only) only=yes ;;
    --except)
      except="$except
$2"
      shift
      ;;
    *) echo "check_awaits.sh: unknown option: $1" >&2 && exit 2 ;;
  esac
  shift
done
shift
[ -n "$only" ] || "$@" || exit

# Of the compiler's arguments, those that say what the source means, in the words of clang. Each is taken from the front,
# and put back behind the others or dropped.
source='' object='' depfile='' language='' included='' takes=''
left=$#
while [ "$left" -gt 0 ]; do
  argument=$1
  shift
  left=$((left - 1))
  case $takes in
    '') ;;
    -o) object=$argument takes='' && continue ;;
    -c) source=$argument takes='' && continue ;;
    -MF) depfile=$argument takes='' && continue ;;
    -x) language=$argument takes='' && continue ;;
    drop) takes='' && continue ;;
    # As an option of the driver it would take g++'s precompiled header, which lies beside the header.
    -include) set -- "$@" -Xclang -include -Xclang "$argument" && included=yes && takes='' && continue ;;
    *) set -- "$@" "$takes" "$argument" && takes='' && continue ;;
  esac
  case $argument in
    -o | -c | -MF | -x | -include | -I | -D | -U | -isystem | -iquote | -idirafter | -imacros | -isysroot | --sysroot)
      takes=$argument
      ;;
    -MT | -MQ | -Xlinker | -Xassembler | -Xpreprocessor | --param) takes=drop ;;
    -std=*++23 | -std=*++26) set -- "$@" "${argument%++*}++2b" ;; # as clang 14 calls it
    -I* | -D* | -U* | -std=* | -isystem* | -iquote* | -idirafter* | --sysroot=* | -nostdinc* | -pthread | -f*exceptions | \
      -f*rtti | -f*signed-char | -f*char8_t | -f*short-enums | -m32 | -m64 | -mx32 | -march=* | -mavx* | -msse* | -mbmi* | \
      -mfma | -mcx16)
      set -- "$@" "$argument"
      ;;
  esac
done

case $language in *-header) exit 0 ;; esac
[ -n "$source" ] || exit 0 # it links, or preprocesses
case "$except
" in *"
$source
"*) exit 0 ;; esac
# Without the header <coroutine> there is no coroutine. g++ does not say which headers are in a precompiled one.
if [ -f "$depfile" ] && [ -z "$included" ] && ! grep -q '/coroutine' "$depfile"; then exit 0; fi

wrong=$("$clang_query" -f "$query" "$source" -- "$@" -w -ferror-limit=3 -fno-caret-diagnostics 2>&1 | awk -v source="$source" '
  BEGIN {
    beside = ", because it is a temporary beside a co_await: "
    before = " in a statement before"
    says["braces"] = "destroys this aggregate twice" beside "give it a name" before
    says["lambda"] = "destroys what this lambda captures twice" beside "capture by reference, or give it a name" before
    says["choice"] = "destroys the object that this ?: makes twice" beside "write an if" before
    says["default"] = "destroys a default argument of this call twice" beside "give the argument a name" before ", and pass it"
    awaits = ", because a co_await is in it: give what that returns a name" before
    says["awaited"] = "destroys what is in these braces twice" awaits
    says["throw"] = "destroys this exception twice" awaits
    says["new"] = "destroys this object twice" awaits
    says["end"] = "loses the end of this coroutine, because this condition has a co_await and the coroutine has no variable: " \
                  "write `const bool yes = co_await ...;`" before
  }
  function print_once(place, text) {
    if (place in printed) return
    printed[place] = 1
    print place " error: " text
  }
  /^Match #[0-9]+:$/ { full = "" }
  / note: "[a-z]+" binds here$/ {
    place = $0
    sub(/ note: "[a-z]+" binds here$/, "", place)
    kind = $0
    sub(/" binds here$/, "", kind)
    sub(/.*"/, "", kind)
    if (kind == "full") full = place
    # Of a default argument, the call is what must change; its place may come behind it.
    else if (kind == "default") of_default = 1
    else print_once(place, "g++ up to 12 " says[kind] " [runq_check_awaits]")
    if (of_default && full != "") {
      print_once(full, "g++ up to 12 " says["default"] " [runq_check_awaits]")
      of_default = 0
    }
  }
  / (fatal )?error: / { unread = unread "\n" $0 }
  /^[0-9]+ match(es)?\.$/ { finished = 1 }
  END {
    if (unread != "") print source ": error: clang cannot read it, so it is not checked; runq_check_awaits(… EXCEPT) leaves it out" unread
    else if (!finished) print source ": error: clang-query did not run: " $0
  }')
[ -n "$wrong" ] || exit 0
printf '%s\n' "$wrong" >&2
[ -n "$only" ] || rm -f "$object" # so that the next build comes here again
exit 1
