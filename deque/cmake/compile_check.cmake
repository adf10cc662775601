# SPDX-License-Identifier: MIT
# Compiles one file, for its syntax only. INCLUDE is one folder, or several; OPTIONS are further options, if any.
#   cmake -DCOMPILER=… -DINCLUDE=… -DSOURCE=… -P compile_check.cmake                   it must compile, and without exceptions, too
#   cmake -DCOMPILER=… -DINCLUDE=… -DSOURCE=… -DEXCEPTIONS=ON -P compile_check.cmake   it must compile, with exceptions
#   cmake -DCOMPILER=… -DINCLUDE=… -DSOURCE=… -DMUST_FAIL=ON -P compile_check.cmake    it must not
#   cmake -DCOMPILER=… -DINCLUDE=… -DSOURCE=… -DBEFORE_CXX20=ON -P compile_check.cmake older standards: refused in one error
# The first line of a file that must not compile gives the message that the compiler must print: `// expect: TEXT`. With
# RUNQ_CONTROL defined the same file must compile, which shows that the mistake under test is the only one in it.

set(options ${OPTIONS})
set(include_flags ${INCLUDE})
list(TRANSFORM include_flags PREPEND "-I")

function(compile extra_flags)
  execute_process(
    COMMAND "${COMPILER}" -std=c++20 -Wall -Wextra -Wconversion -Wshadow -Werror ${options} ${extra_flags}
            ${include_flags} -fsyntax-only "${SOURCE}"
    RESULT_VARIABLE result
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  set(result "${result}" PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

if(BEFORE_CXX20)
  foreach(standard IN ITEMS 14 17)
    compile("-std=c++${standard}")
    string(REGEX MATCHALL "error: " errors "${output}")
    list(LENGTH errors count)
    if(NOT count EQUAL 1 OR NOT output MATCHES "runqkit needs C\\+\\+20")
      message(FATAL_ERROR "${SOURCE}: ${count} errors as C++${standard}; expected the one that asks for C++20\n${output}")
    endif()
  endforeach()
  return()
endif()

if(NOT MUST_FAIL)
  foreach(mode IN ITEMS "" "-fno-exceptions;-fno-rtti")
    if(EXCEPTIONS AND mode)
      continue()
    endif()
    compile("${mode}")
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "${SOURCE} does not compile (${mode})\n${output}")
    endif()
  endforeach()
  return()
endif()

file(STRINGS "${SOURCE}" first LIMIT_COUNT 1)
if(NOT first MATCHES "^// expect: (.+)$")
  message(FATAL_ERROR "${SOURCE}: the first line must be `// expect: TEXT`")
endif()
set(expected "${CMAKE_MATCH_1}")

compile("-DRUNQ_CONTROL")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} does not compile even with RUNQ_CONTROL\n${output}")
endif()
compile("")
if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles, but must not")
endif()
string(FIND "${output}" "${expected}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${SOURCE} fails to compile, but the compiler does not say '${expected}'\n${output}")
endif()
