/* SPDX-License-Identifier: MIT */
/* Included before everything else. */
#if !defined(RUNQ_CHECK_INSTRUMENT_H) && !defined(__ASSEMBLER__)
#define RUNQ_CHECK_INSTRUMENT_H

/* The C++ library has compiled its strings and streams for char itself, not instrumented: the program compiles its own.
 */
#if defined(__cplusplus) && __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
#endif

/* g++ does not instrument what it makes of its built-in functions: a copy of a few hundred bytes becomes moves that
   nobody sees. Calls are seen, so there are only calls. */
#ifndef __clang__
#ifdef __cplusplus
#define RUNQ_NO_EXCEPTION noexcept
extern "C" {
#else
#define RUNQ_NO_EXCEPTION
#endif
void* memcpy(void* to, const void* from, __SIZE_TYPE__ size) RUNQ_NO_EXCEPTION;
void* memmove(void* to, const void* from, __SIZE_TYPE__ size) RUNQ_NO_EXCEPTION;
void* memset(void* to, int value, __SIZE_TYPE__ size) RUNQ_NO_EXCEPTION;
int memcmp(const void* a, const void* b, __SIZE_TYPE__ size) RUNQ_NO_EXCEPTION;
#ifdef __cplusplus
}
#endif
#undef RUNQ_NO_EXCEPTION

#define __builtin_memcpy memcpy
#define __builtin_memmove memmove
#define __builtin_memset memset
#define __builtin_memcmp memcmp
#endif

/* Some systems define it by default; its functions are built in, too. */
#undef _FORTIFY_SOURCE

#endif
