# SPDX-License-Identifier: MIT
# Reads the names of functions that are not instrumented, and of the objects that they are in, a function a line, and
# writes in assembly language, for each of them, what the program calls in its place: it counts the call. At the end comes
# a table of the counts, and code that announces it to the checker (outside.cpp).

{
  ++functions
  object = $0
  sub(/^[^ ]+ /, "", object)
  sub(/.*\//, "", object)
  print "\t.text\n\t.globl __wrap_" $1 "\n\t.type __wrap_" $1 ", %function\n__wrap_" $1 ":"
  printf "%s", count_and_go_on_as("__real_" $1, ".Lrunq_count_" functions)
  print "\t.size __wrap_" $1 ", . - __wrap_" $1
  print "\t.section .runq_table, \"aw\"\n\t.balign 8\n.Lrunq_count_" functions ":"
  print "\t.quad 0, 1, 0, .Lrunq_name_" functions ", .Lrunq_object_" functions
  print "\t.section .rodata\n.Lrunq_name_" functions ":\n\t.string \"" $1 "\"\n.Lrunq_object_" functions ":\n\t.string \"" object "\""
}

END {
  print "\t.section .runq_table, \"aw\"\n.Lrunq_end:\n\t.text\n\t.balign 4\n.Lrunq_announce:"
  printf "%s", announce(".Lrunq_count_1", ".Lrunq_end")
  print "\t.section .init_array, \"aw\", %init_array\n\t.balign 8\n\t.quad .Lrunq_announce\n\t.section .note.GNU-stack, \"\", %progbits"
}
