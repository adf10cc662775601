# SPDX-License-Identifier: MIT
# The instructions of x86-64 that runq-check reads, and adds to programs.

function without_comment(text) {
  sub(/#.*/, "", text)
  return text
}

# Whether the text is an instruction that only pauses or reads a counter of the processor.
function is_harmless_instruction(text) {
  return text ~ /^(pause|rep|rep nop|rep[ \t]+nop|nop|nop[lw] .*|rdtsc|rdtscp|cpuid|endbr64)$/
}

# An instruction that adds 1 to the number at that place. Inline assembly may change flags.
function count_at(place) {
  return "\tincq\t" place "(%rip)\n"
}

# A function that counts its calls at `place`, and goes on as another one.
function count_and_go_on_as(name, place) {
  return count_at(place) "\tjmp\t" name "\n"
}

# The code of a function that announces the table between two labels.
function announce(begin, end) {
  return "\tleaq\t" begin "(%rip), %rdi\n\tleaq\t" end "(%rip), %rsi\n\tjmp\trunq_check_unseen@PLT\n"
}
