# SPDX-License-Identifier: MIT
# Runs a demo and compares what it prints with what the files beside this one say:
#   EXPECTED.out     its standard output, exactly; or
#   EXPECTED.regex   a regular expression that matches all of it, but for the last line feed; no file: any output
#   EXPECTED.err     its standard error, exactly; no file: nothing
#   EXPECTED.status  its exit status; no file: 0
# EMULATOR, where there is one, is the command that runs PROGRAM.
execute_process(COMMAND ${EMULATOR} "${PROGRAM}" OUTPUT_VARIABLE out ERROR_VARIABLE err RESULT_VARIABLE status TIMEOUT 100)

function(expect what got file default)
  set(wanted "${default}")
  if(EXISTS "${file}")
    file(READ "${file}" wanted)
  endif()
  if(NOT got STREQUAL wanted)
    message(FATAL_ERROR "${PROGRAM}: ${what} is not as expected.\n--- expected\n${wanted}\n--- got\n${got}\n---")
  endif()
endfunction()

if(EXISTS "${EXPECTED}.regex")
  file(READ "${EXPECTED}.regex" regex)
  string(STRIP "${regex}" regex)
  string(STRIP "${out}" stripped)
  if(NOT stripped MATCHES "^${regex}$")
    message(FATAL_ERROR "${PROGRAM}: the output does not match ${regex}\n--- got\n${out}\n---")
  endif()
elseif(EXISTS "${EXPECTED}.out")
  expect("the output" "${out}" "${EXPECTED}.out" "")
endif()
expect("the error output" "${err}" "${EXPECTED}.err" "")
if(EXISTS "${EXPECTED}.status")
  file(STRINGS "${EXPECTED}.status" wanted_status)
else()
  set(wanted_status 0)
endif()
if(NOT status EQUAL wanted_status)
  message(FATAL_ERROR "${PROGRAM}: exit status ${status}, expected ${wanted_status}\n${out}${err}")
endif()
message("${out}")
