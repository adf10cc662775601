# SPDX-License-Identifier: MIT
# The instructions of AArch64 that runq-check reads, and adds to programs.

function without_comment(text) {
  sub(/\/\/.*/, "", text)
  return text
}

# Whether the text is an instruction that only pauses or reads a counter of the processor.
function is_harmless_instruction(text) {
  return text ~ /^(yield|nop|isb([ \t]+sy)?|wfe|sevl?|hint[ \t]+.*|bti([ \t]+.*)?)$/ ||
         text ~ /^mrs[ \t]+x[0-9]+,[ \t]*cnt(vct|frq)_el0$/
}

# Instructions that add 1 to the number at that place, and change no register.
function count_at(place) {
  return "\tstp\tx16, x17, [sp, -16]!\n" add_one(place) "\tldp\tx16, x17, [sp], 16\n"
}
function add_one(place) {
  return load_address("x16", place) "\tldr\tx17, [x16]\n\tadd\tx17, x17, 1\n\tstr\tx17, [x16]\n"
}
function load_address(register, place) {
  return "\tadrp\t" register ", " place "\n\tadd\t" register ", " register ", :lo12:" place "\n"
}

# A function that counts its calls at `place`, and goes on as another one.
function count_and_go_on_as(name, place) {
  return add_one(place) "\tb\t" name "\n"
}

# The code of a function that announces the table between two labels.
function announce(begin, end) {
  return load_address("x0", begin) load_address("x1", end) "\tb\trunq_check_unseen\n"
}
