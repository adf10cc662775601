// SPDX-License-Identifier: MIT
// Functions of the C library read and write memory as the program itself does, although they are not instrumented.
// Each program has a macro, which stands first in its lines `// check`. The last program has none.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <thread>

#if defined(END)

// Where the accesses of the C library's functions for strings end: each of these is one byte too long, or just fits.
// check -DEND "-DCALL=used = strlen(three)": FAIL misuse: read of 4 bytes outside of what was allocated
// check -DEND "-DCALL=used = strlen(four)": exhaustive
// check -DEND "-DCALL=strcpy(room, \"abc\")": FAIL misuse: write of 4 bytes outside of what was allocated
// check -DEND "-DCALL=strcpy(room, \"ab\")": exhaustive
// check -DEND "-DCALL=strncpy(room, \"a\", 4)": FAIL misuse: write of 4 bytes outside of what was allocated
// check -DEND "-DCALL=strncpy(room, \"abc\", 3)": exhaustive
// check -DEND "-DCALL=strcat(four, \"d\")": FAIL misuse: write of 2 bytes outside of what was allocated
// check -DEND "-DCALL=strcat(four, \"\")": exhaustive
// check -DEND "-DCALL=used = strcmp(four, three)": FAIL misuse: read of 4 bytes outside of what was allocated
// check -DEND "-DCALL=used = strcmp(three, \"abd\")": exhaustive
// check -DEND "-DCALL=sscanf(four, \"%c%d\", room, &number)": exhaustive
// check -DEND "-DCALL=sscanf(\"1 2\", \"%*d %d\", &number)": FAIL data race
// check -DEND "-DCALL=sscanf(\"1 2\", \"%s %n\", room, &number)": FAIL data race
// check -DEND "-DCALL=sscanf(\"1 2\", \"%s x%n\", room, &number)": exhaustive
// check -DEND "-DCALL=sscanf(\"1\", \"%hd\", room)": exhaustive
// check -DEND "-DCALL=sscanf(\"1\", \"%hhd\", room + 2)": exhaustive
// check -DEND "-DCALL=sscanf(\"1\", \"%d\", room)": FAIL misuse: write of 4 bytes outside of what was allocated
// check -DEND "-DCALL=sscanf(\"1\", \"%ld\", four)": FAIL misuse: write of 8 bytes outside of what was allocated
// check -DEND "-DCALL=sscanf(\"1\", \"%lf\", four)": FAIL misuse: write of 8 bytes outside of what was allocated
// check -DEND "-DCALL=sscanf(\"1\", \"%f\", four)": exhaustive
// check -DEND "-DCALL=sscanf(\"abcd\", \"%4c\", room)": FAIL misuse: write of 4 bytes outside of what was allocated
// check -DEND "-DCALL=sscanf(\"a]\", \"%[]a]%n\", room, &number)": FAIL data race
// check -DEND "-DCALL=free(strdup(three))": FAIL misuse: read of 4 bytes outside of what was allocated
// check -DEND "-DCALL=free(strdup(four))": exhaustive
// check -DEND "-DCALL=free(strndup(three, 3))": exhaustive
// check -DEND "-DCALL=free(strndup(three, 4))": FAIL misuse: read of 4 bytes outside of what was allocated

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

#else

// Functions of the C library read and write memory as the program itself does, although they are not instrumented: one
// thread writes a byte of a string while another one calls a function. The same byte behind the end of the string is no
// part of what the function accesses.
// check: exhaustive, 1 execution
// check "-DCALL=used = strlen(text)": FAIL data race
// check "-DCALL=used = strnlen(text, 20)": FAIL data race
// check "-DCALL=used = strnlen(text, 2)": exhaustive, 1 execution
// check "-DCALL=used = strcmp(text, same)": FAIL data race
// check "-DCALL=used = strcmp(text, other)": exhaustive, 1 execution
// check "-DCALL=used = strcasecmp(text, same)": FAIL data race
// check "-DCALL=used = strncmp(text, same, 9)": FAIL data race
// check "-DCALL=used = strncmp(text, same, 3)": exhaustive, 1 execution
// check "-DCALL=used = strncmp(text, other, 9)": exhaustive, 1 execution
// check "-DCALL=found = strchr(text, 'q')": FAIL data race
// check "-DCALL=found = strchr(text, 'b')": exhaustive, 1 execution
// check "-DCALL=found = strrchr(text, 'q')": FAIL data race
// check "-DCALL=found = strstr(same, text)": FAIL data race
// check "-DCALL=found = memchr(text, 'q', 8)": FAIL data race
// check "-DCALL=found = memchr(text, 'a', 8)": exhaustive, 1 execution
// check "-DCALL=used = memcmp(text, same, 8)": FAIL data race
// check "-DCALL=strcpy(room, text)": FAIL data race
// check "-DCALL=strcpy(text, same)": FAIL data race
// check "-DCALL=strncpy(text, same, 4)": FAIL data race
// check "-DCALL=strncpy(room, text, 3)": exhaustive, 1 execution
// check "-DCALL=strcat(room, text)": FAIL data race
// check "-DCALL=strcat(text, same)": FAIL data race
// check "-DCALL=strncat(room, text, 8)": FAIL data race
// check "-DCALL=free(strdup(text))": FAIL data race
// check "-DCALL=free(strndup(text, 4))": FAIL data race
// check "-DCALL=free(strndup(text, 3))": exhaustive, 1 execution
// check "-DCALL=strdup(same)": FAIL leak
// check "-DCALL=used = atoi(text)": FAIL data race
// check "-DCALL=used = strtol(text, &end, 10)": FAIL data race
// check "-DCALL=printf(text)": FAIL data race
// check "-DCALL=printf(\"%d %s\", 1, text)": FAIL data race
// check "-DCALL=printf(\"%.3f %.*s\", 1.5, 3, text)": exhaustive, 1 execution
// check "-DCALL=printf(\"%d %d %d %d %d %d %d %s\", 1, 2, 3, 4, 5, 6, 7, text)": FAIL data race
// check "-DCALL=fprintf(stderr, \"%s\", text)": FAIL data race
// check "-DCALL=sprintf(room, \"%s\", text)": FAIL data race
// check "-DCALL=sprintf(text, \"%d\", 12345)": FAIL data race
// check "-DCALL=snprintf(text, 3, \"%d\", 12345)": exhaustive, 1 execution
// check "-DCALL=snprintf(text, 9, \"%d\", 12345)": FAIL data race
// check "-DCALL=by_list(text, \"%s %d\", same, 1)": FAIL data race
// check "-DCALL=puts(text)": FAIL data race
// check "-DCALL=fputs(text, stdout)": FAIL data race
// check "-DCALL=fwrite(text, 1, 4, stdout)": FAIL data race
// check "-DCALL=fwrite(text, 1, 3, stdout)": exhaustive, 1 execution
// check "-DCALL=sscanf(text, \"%d\", &used)": FAIL data race
// check "-DCALL=sscanf(same, \"%*c%3s\", text)": FAIL data race
// check "-DCALL=sscanf(same, \"%2s\", text)": exhaustive, 1 execution
// check "-DCALL=qsort(text, 8, 1, compare)": FAIL data race
// check "-DCALL=qsort(text + 4, 4, 1, compare)": exhaustive, 1 execution
// check "-DCALL=qsort(read_by_another, 2, 1, compare)": FAIL data race
// check "-DCALL=bzero(read_by_another, 1)": FAIL data race
// check "-DCALL=used = strcasecmp(text, \"ABCDe\")": FAIL data race
// check "-DCALL=found = memrchr(text, 'h', 8)": FAIL data race
// check "-DCALL=used = static_cast<long>(wcslen(wide))": FAIL data race
// check "-DCALL=printf(\"%ls\", wide)": FAIL data race
// check "-DCALL=printf(\"%.0ls\", wide)": exhaustive, 1 execution
// check "-DCALL=fwrite(text, 2, 2, stdout)": FAIL data race
// check "-DCALL=used = strtol(\"1\", &end, 10)": FAIL data race
// check "-DCALL=used = strtol(\"1\", nullptr, 10)": exhaustive, 1 execution
// check "-DCALL=printf(\"%-9s\", text)": FAIL data race
// check "-DCALL=printf(\"%*d%s\", 5, 1, text)": FAIL data race
// check "-DCALL=printf(\"%.*s\", -1, text)": FAIL data race
// check "-DCALL=printf(\"%Lf%d%d%d%d%d%s\", 1.5L, 1, 2, 3, 4, 5, text)": FAIL data race
// check "-DCALL=printf(\"%n\", &counted)": FAIL data race

#ifndef CALL
#define CALL used = strlen(text) + strcmp(text, same)
#define WRITTEN 12
#else
#define WRITTEN 3
#endif

char text[40] = "abcdefgh";
char same[40] = "abcdefgh";
char other[40] = "ax";
char room[80] = "";
long used = 0;
const void* found = nullptr;
char read_by_another[2] = "";
wchar_t wide[4] = L"abc";
int counted = 0;
char* end = nullptr;

[[maybe_unused]] int compare(const void* a, const void* b) {
  return *static_cast<const char*>(a) - *static_cast<const char*>(b);
}

[[maybe_unused]] void by_list(char* to, const char* format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(to, 30, format, list);
  va_end(list);
}

int main() {
  std::thread writer([] {
    text[WRITTEN] = static_cast<char>('x' + read_by_another[0]);
    wide[3] = L'\0';
    counted = 7;
    end = nullptr;
  });
  CALL;
  writer.join();
}

#endif
