#!/bin/sh
# SPDX-License-Identifier: MIT
# Whether a project that has runqkit as a part installs nothing of it: installs_nothing.sh CMAKE BUILD
set -eu
mkdir -p "$2/prefix"
"$1" --install "$2" --prefix "$2/prefix" >/dev/null
found=$(find "$2/prefix" -type f)
[ -z "$found" ] || { printf 'installed by the parent project:\n%s\n' "$found"; exit 1; }
