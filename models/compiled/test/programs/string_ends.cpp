// SPDX-License-Identifier: MIT
// Where the accesses of the C library's functions for strings end: each of these is one byte too long, or just fits.
// check "-DCALL=used = strlen(three)": FAIL misuse: read of 4 bytes outside of what was allocated
// check "-DCALL=used = strlen(four)": exhaustive
// check "-DCALL=strcpy(room, \"abc\")": FAIL misuse: write of 4 bytes outside of what was allocated
// check "-DCALL=strcpy(room, \"ab\")": exhaustive
// check "-DCALL=strncpy(room, \"a\", 4)": FAIL misuse: write of 4 bytes outside of what was allocated
// check "-DCALL=strncpy(room, \"abc\", 3)": exhaustive
// check "-DCALL=strcat(four, \"d\")": FAIL misuse: write of 2 bytes outside of what was allocated
// check "-DCALL=strcat(four, \"\")": exhaustive
// check "-DCALL=used = strcmp(four, three)": FAIL misuse: read of 4 bytes outside of what was allocated
// check "-DCALL=used = strcmp(three, \"abd\")": exhaustive
// check "-DCALL=sscanf(four, \"%c%d\", room, &number)": exhaustive
// check "-DCALL=sscanf(\"1 2\", \"%*d %d\", &number)": FAIL data race
// check "-DCALL=sscanf(\"1 2\", \"%s %n\", room, &number)": FAIL data race
// check "-DCALL=sscanf(\"1 2\", \"%s x%n\", room, &number)": exhaustive
// check "-DCALL=sscanf(\"1\", \"%hd\", room)": exhaustive
// check "-DCALL=sscanf(\"1\", \"%hhd\", room + 2)": exhaustive
// check "-DCALL=sscanf(\"1\", \"%d\", room)": FAIL misuse: write of 4 bytes outside of what was allocated
// check "-DCALL=sscanf(\"1\", \"%ld\", four)": FAIL misuse: write of 8 bytes outside of what was allocated
// check "-DCALL=sscanf(\"1\", \"%lf\", four)": FAIL misuse: write of 8 bytes outside of what was allocated
// check "-DCALL=sscanf(\"1\", \"%f\", four)": exhaustive
// check "-DCALL=sscanf(\"abcd\", \"%4c\", room)": FAIL misuse: write of 4 bytes outside of what was allocated
// check "-DCALL=sscanf(\"a]\", \"%[]a]%n\", room, &number)": FAIL data race
// check "-DCALL=free(strdup(three))": FAIL misuse: read of 4 bytes outside of what was allocated
// check "-DCALL=free(strdup(four))": exhaustive
// check "-DCALL=free(strndup(three, 3))": exhaustive
// check "-DCALL=free(strndup(three, 4))": FAIL misuse: read of 4 bytes outside of what was allocated
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

volatile unsigned long used;
int number;

int main() {
  // The byte behind the shorter block happens to be zero.
  auto* const three = new char[3]{'a', 'b', 'c'};
  auto* const four = new char[4]{'a', 'b', 'c', '\0'};
  auto* const room = new char[3]{};
  std::thread other([] { number = 7; });
  CALL;
  other.join();
  delete[] three;
  delete[] four;
  delete[] room;
}
