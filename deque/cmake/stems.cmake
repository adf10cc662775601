# SPDX-License-Identifier: MIT
# One stem per part: header, unit test, model, properties, benchmark and page have the same name. This reports those
# that are missing.

# To add a queue, add its stem here: then configuring says what is still missing.
set(runq_stems ring split_ring runnext inject shared_fifo local_queue chase_lev split_deque boxed)
# What works on several queues, or within them: a header, a unit test and models.
set(runq_queue_helper_stems all_empty eventcount shared_barrier)
# The parts of the scheduler that have models: a header and a folder of cases each. The scheduler is made of the
# protocols; users include the other headers.
set(runq_protocol_stems park machine_loop visitors monitor parker short_lock suspension join_counter handoff readiness
    poll_sleep time_slice deadlock timer_heap spares blocking_calls fd_uses descriptors
    task_state processor_table live_tasks destruction)
# The protocols that the headers for users need, and those that only the library does.
set(runq_protocol_dirs scheduler/include/runq/protocol scheduler/src/inside/runq/protocol)
set(runq_scheduler_stems wait_group channel select mutex scope semaphore condition_variable shared_mutex once barrier)
# Protocols that are modelled within others: the lists of waiting tasks, by channel, select, mutex, wait_group and others;
# the shards of the global queue, by machine_loop.
set(runq_shared_protocols waiting global_shards)
# Headers that are not a queue.
set(runq_support_headers atomics common membarrier one_object split_word version)

set(holes "")
foreach(stem IN LISTS runq_stems)
  foreach(part IN ITEMS "deque/include/runq/${stem}.hpp" "deque/test/${stem}_test.cpp"
                        "models/cases/queues/${stem}/*.cpp" "proptests/${stem}_props.cpp"
                        "bench/${stem}_bench.cpp" "docs/queues/${stem}.md")
    file(GLOB found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${part}")
    if(NOT found)
      list(APPEND holes "stem '${stem}' has no ${part}")
    endif()
  endforeach()
endforeach()
foreach(stem IN LISTS runq_queue_helper_stems)
  foreach(part IN ITEMS "deque/include/runq/${stem}.hpp" "deque/test/${stem}_test.cpp"
                        "models/cases/queues/${stem}/*.cpp")
    file(GLOB found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${part}")
    if(NOT found)
      list(APPEND holes "stem '${stem}' has no ${part}")
    endif()
  endforeach()
endforeach()
foreach(stem IN LISTS runq_protocol_stems runq_scheduler_stems)
  set(headers "scheduler/include/runq/${stem}.hpp")
  if(stem IN_LIST runq_protocol_stems)
    list(TRANSFORM runq_protocol_dirs APPEND "/${stem}.hpp" OUTPUT_VARIABLE headers)
  endif()
  file(GLOB found_headers CONFIGURE_DEPENDS ${headers})
  if(NOT found_headers)
    list(JOIN headers " or " headers)
    list(APPEND holes "stem '${stem}' has no ${headers}")
  endif()
  file(GLOB found CONFIGURE_DEPENDS "models/cases/scheduler/${stem}/*.cpp")
  if(NOT found)
    list(APPEND holes "stem '${stem}' has no models/cases/scheduler/${stem}/*.cpp")
  endif()
endforeach()
list(TRANSFORM runq_protocol_dirs APPEND "/*.hpp" OUTPUT_VARIABLE headers)
file(GLOB headers CONFIGURE_DEPENDS ${headers})
foreach(header IN LISTS headers)
  cmake_path(GET header STEM stem)
  if(NOT stem IN_LIST runq_protocol_stems AND NOT stem IN_LIST runq_shared_protocols)
    list(APPEND holes "${header} belongs to no stem: add it to deque/cmake/stems.cmake")
  endif()
endforeach()

file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true "${PROJECT_SOURCE_DIR}/models/cases/queues/*"
     "${PROJECT_SOURCE_DIR}/models/cases/scheduler/*")
foreach(folder IN LISTS folders)
  cmake_path(GET folder FILENAME stem)
  if(NOT stem IN_LIST runq_stems AND NOT stem IN_LIST runq_protocol_stems AND NOT stem IN_LIST runq_scheduler_stems
     AND NOT stem IN_LIST runq_queue_helper_stems)
    list(APPEND holes "${folder} belongs to no stem: add it to deque/cmake/stems.cmake")
  endif()
endforeach()

file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/deque/include/runq"
     "${PROJECT_SOURCE_DIR}/deque/include/runq/*.hpp")
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.hpp$" "" stem "${header}")
  if(NOT stem IN_LIST runq_stems AND NOT stem IN_LIST runq_support_headers AND NOT stem IN_LIST runq_queue_helper_stems)
    list(APPEND holes "deque/include/runq/${header} belongs to no stem: add it to deque/cmake/stems.cmake")
  endif()
endforeach()

if(holes)
  if(RUNQ_STRICT_STEMS)
    set(severity FATAL_ERROR)
  else()
    set(severity WARNING)
  endif()
  list(JOIN holes "\n  " holes)
  message(${severity} "runqkit: parts are missing\n  ${holes}")
endif()
