# SPDX-License-Identifier: MIT
# Compiles one file, for its syntax only. INCLUDE is one folder, or several; OPTIONS are further options, if any.
#   cmake -DCOMPILER=… -DINCLUDE=… -DSOURCE=… -P compile_check.cmake                   it must compile without exceptions and RTTI
#   cmake -DCOMPILER=… -DINCLUDE=… -DSOURCE=… -DEXCEPTIONS=ON -P compile_check.cmake   it must compile, with exceptions
#   cmake -DCOMPILER=… -DINCLUDE=… -DSOURCE=… -DBEFORE_CXX20=ON -P compile_check.cmake older standards: refused in one error

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

set(mode -fno-exceptions -fno-rtti)
if(EXCEPTIONS)
  set(mode "")
endif()
compile("${mode}")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} does not compile (${mode})\n${output}")
endif()
