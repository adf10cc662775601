# SPDX-License-Identifier: MIT
# The options of a table (options_table.hpp) as help: names from column `indent`, texts from column `column` to column `width`.
BEGIN { FS = "\"" }
function spaces(n,   text) {
  while (n-- > 0) text = text " "
  return text
}
/^[A-Z_]*OPTION\(/ && !/^INTERNAL/ {
  line = spaces(indent) $2 ($4 == "" ? "" : " " $4)
  line = line (length(line) + 2 > column ? "  " : spaces(column - length(line)))
  count = split($8, words, " ")
  separator = ""
  for (i = 1; i <= count; ++i) {
    if (separator != "" && length(line separator words[i]) > width) {
      print line
      line = spaces(column)
      separator = ""
    }
    line = line separator words[i]
    separator = " "
  }
  print line
}
