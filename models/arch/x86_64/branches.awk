# SPDX-License-Identifier: MIT
# Reads what a compiler has written in assembly language, and notes which ways each conditional jump goes, in code of
# files that are not the system's. A jump sets one of two bytes, which costs no register and no flag. The bytes lie on
# pages of their own, which the checker does not put back between executions; code at the end announces them to it
# (branches.cpp). Writes to `list` where each jump stands: file, line and column. `id` tells objects of a program apart.

BEGIN {
  split("e ne z nz l ge g le b ae a be c nc s ns p np o no", pairs, " ")
  for (i = 1; i in pairs; i += 2) {
    opposite[pairs[i]] = pairs[i + 1]
    opposite[pairs[i + 1]] = pairs[i]
  }
  jumps = 0
}

# .file 1 "folder" "file" md5 0x…, or .file 1 "file"
/^[ \t]*\.file[ \t]+[0-9]+ / {
  count = split($0, words, "\"")
  files[$2] = count >= 5 && words[4] !~ /^\// ? words[2] "/" words[4] : count >= 5 ? words[4] : words[2]
}
/^[ \t]*\.loc[ \t]/ { place = files[$2] "\t" $3 "\t" $4; is_of_system = files[$2] ~ /^\/usr\// || $3 == 0 }
/^[ \t]*#APP/ { in_piece = 1 }
/^[ \t]*#NO_APP/ { in_piece = 0 }

/^[ \t]+j[a-z]+[ \t]+\.L[A-Za-z0-9_.]+[ \t]*$/ && !in_piece && !is_of_system && place != "" && substr($1, 2) in opposite {
  byte = ".Lrunq_ways+" 2 * jumps "(%rip)"
  print "\tj" opposite[substr($1, 2)] "\t.Lrunq_on_" jumps
  print "\tmovb\t$1, " byte "\n\tjmp\t" $2 "\n.Lrunq_on_" jumps ":"
  print "\tmovb\t$1, 1+" byte
  print place > list
  ++jumps
  next
}
{ print }

END {
  if (jumps == 0) exit
  print "\t.section .runq_ways, \"aw\", @nobits\n\t.balign 4096\n.Lrunq_ways:\n\t.zero " 2 * jumps "\n\t.balign 4096"
  print "\t.text\n.Lrunq_announce_ways:"
  print "\tleaq .Lrunq_ways(%rip), %rdi\n\tmovl $" 2 * jumps ", %esi\n\tmovl $" id ", %edx\n\tjmp runq_check_ways@PLT"
  print "\t.section .init_array,\"aw\",@init_array\n\t.align 8\n\t.quad .Lrunq_announce_ways"
}
