# SPDX-License-Identifier: MIT
# Reads what a compiler has written in assembly language, and adds to each piece of inline assembly a count of how often
# it is executed: the checker sees nothing of what it does. Pieces without an instruction, and those that only pause or
# read a counter of the processor, are left as they are. At the end comes a table of the counts, and code that announces
# it to the checker (outside.cpp). The instructions are those of ../arch/<processor>/instructions.awk.

function is_harmless(text, parts, count, i, part) {
  gsub(/"[^"]*"/, "", text)
  count = split(text, parts, /[;\n]/)
  for (i = 1; i <= count; ++i) {
    part = parts[i]
    part = without_comment(part)
    gsub(/^[ \t]+|[ \t]+$/, "", part)
    sub(/^[A-Za-z_.0-9$]+:[ \t]*/, "", part)
    if (part == "" || part ~ /^\.(align|p2align|balign|loc|file|cfi_|globl|global|weak|hidden|local|type|size|symver|set|section|text|data|previous|pushsection|popsection)/) continue
    if (is_harmless_instruction(part)) continue
    return 0
  }
  return 1
}

function base_name(path) {
  sub(/.*\//, "", path)
  return path
}

function end_of_piece() {
  if (!is_harmless(piece)) {
    if (inside != "") print count_at(".Lrunq_unseen+" 40 * pieces) ".Lrunq_piece_" pieces ":"
    is_executed[pieces] = inside != ""
    places[pieces] = line == "" ? main_file : base_name(file) ":" line
    ++pieces
  }
  printf "%s", whole
  piece = whole = ""
}

BEGIN { pieces = 0; inside = "" }

/^[ \t]*\.file[ \t]+"/ {
  split($0, words, "\"")
  main_file = base_name(words[2])
}
# .file 1 "folder" "file" md5 0x…, or .file 1 "file"
/^[ \t]*\.file[ \t]+[0-9]+ / {
  count = split($0, words, "\"")
  files[$2] = count >= 5 ? words[4] : words[2]
}
/^[ \t]*\.loc[ \t]/ && !in_piece { file = files[$2]; line = $3 }
/^[ \t]*\.type[ \t].*[@%]function/ {
  name = $2
  sub(/,.*/, "", name)
  gsub(/"/, "", name)
  function_names[name] = 1
}
/^[^ \t#."][^ \t]*:/ {
  name = $1
  sub(/:.*/, "", name)
  if (name in function_names) inside = name
}
/^[ \t]*\.size[ \t]/ {
  name = $2
  sub(/,.*/, "", name)
  if (name == inside) inside = ""
}

/^[ \t]*(#|\/\/)APP/ { in_piece = 1; print; next }
/^[ \t]*(#|\/\/)NO_APP/ && in_piece { end_of_piece(); in_piece = 0; print; next }
# g++ writes where each piece begins and ends; several may follow one another.
/^(#|\/\/) [0-9]+ "[^"]+" 1/ && in_piece {
  end_of_piece()
  line = $2
  file = $3
  gsub(/"/, "", file)
  whole = $0 "\n"
  next
}
/^(#|\/\/) 0 "" 2/ && in_piece { whole = whole $0 "\n"; end_of_piece(); next }
in_piece { whole = whole $0 "\n"; piece = piece $0 "\n"; next }
{ print }

END {
  if (pieces == 0) exit
  # As outside.cpp reads it: how often, whether that is counted at all, where, the name of a function, and the rest.
  print "\t.data\n\t.balign 8\n.Lrunq_unseen:"
  for (i = 0; i < pieces; ++i) {
    print "\t.quad 0, " is_executed[i] ", " (is_executed[i] ? ".Lrunq_piece_" i : 0) ", 0, .Lrunq_place_" i
  }
  print ".Lrunq_unseen_end:\n\t.section .rodata"
  for (i = 0; i < pieces; ++i) print ".Lrunq_place_" i ":\n\t.string \"" places[i] "\""
  print "\t.text\n\t.balign 4\n.Lrunq_announce:"
  printf "%s", announce(".Lrunq_unseen", ".Lrunq_unseen_end")
  print "\t.section .init_array,\"aw\",%init_array\n\t.balign 8\n\t.quad .Lrunq_announce"
}
