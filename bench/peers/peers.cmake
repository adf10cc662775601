# SPDX-License-Identifier: MIT
# The peers: those that are installed are built; the others are named in peers_absent.txt, which run.py repeats in its
# table.
set(absent "")
macro(peer_absent candidates why)
  foreach(candidate IN ITEMS ${candidates})
    string(APPEND absent "${candidate}: ${why}\n")
  endforeach()
  message(STATUS "bench: no ${candidates}: ${why}")
endmacro()

# add_peer_bench(name include libraries…): the queues of a library whose headers lie in `include`.
function(add_peer_bench name include)
  add_bench(${name}_bench peers/${name}_bench.cpp)
  # Their headers are not compiled with our warnings.
  target_include_directories(${name}_bench SYSTEM PRIVATE ${include})
  target_link_libraries(${name}_bench PRIVATE Threads::Threads ${ARGN})
endfunction()

find_package(TBB QUIET)
if(TARGET TBB::tbb)
  add_bench(tbb_bench peers/tbb_bench.cpp)
  target_link_libraries(tbb_bench PRIVATE TBB::tbb)
  add_candidate(tbb scheduler/tbb.cpp TBB::tbb)
else()
  peer_absent("tbb_queue;tbb" "no libtbb-dev")
endif()

# Schedulers that Debian does not have: RUNQ_BENCH_<NAME> names a checkout. Its headers lie in `include`.
function(add_checkout name include marker standard)
  string(TOUPPER ${name} upper)
  set(RUNQ_BENCH_${upper} "" CACHE PATH "A checkout of ${name}")
  set(checkout "${RUNQ_BENCH_${upper}}")
  if(NOT checkout)
    peer_absent(${name} "no checkout named (--${name} DIR)")
    set(absent "${absent}" PARENT_SCOPE)
  elseif(NOT EXISTS "${checkout}/${include}/${marker}")
    message(FATAL_ERROR "bench: ${checkout} is no checkout of ${name}: it has no ${include}/${marker}")
  else()
    add_executable(candidate_${name} scheduler/checkouts/${name}.cpp)
    target_compile_features(candidate_${name} PRIVATE cxx_std_${standard})
    target_include_directories(candidate_${name} SYSTEM PRIVATE "${checkout}/${include}")
    target_link_libraries(candidate_${name} PRIVATE Threads::Threads)
  endif()
endfunction()
add_checkout(libfork include libfork/core.hpp 23)
add_checkout(stdexec include stdexec/execution.hpp 20)
add_checkout(taskflow "" taskflow/taskflow.hpp 20)
# As for ./kit hosts: tmc-examples, which has TooManyCooks as a submodule.
add_checkout(toomanycooks submodules/TooManyCooks/include tmc/all_headers.hpp 20)

find_path(RUNQ_XENIUM xenium/chase_work_stealing_deque.hpp)
if(RUNQ_XENIUM)
  add_peer_bench(xenium ${RUNQ_XENIUM})
  # A queue that is read after a failed pop looks uninitialised to this compiler.
  target_compile_options(xenium_bench PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
else()
  peer_absent("xenium_chase_lev;xenium_vyukov" "no libxenium-dev")
endif()

find_path(RUNQ_MOODYCAMEL concurrentqueue.h PATH_SUFFIXES concurrentqueue concurrentqueue/moodycamel)
if(RUNQ_MOODYCAMEL)
  add_peer_bench(moodycamel ${RUNQ_MOODYCAMEL})
else()
  peer_absent("moodycamel;moodycamel_bulk" "no libconcurrentqueue-dev")
endif()

find_path(RUNQ_CK ck_ring.h)
find_library(RUNQ_CK_LIBRARY ck)
if(RUNQ_CK AND RUNQ_CK_LIBRARY)
  add_peer_bench(ck ${RUNQ_CK} ${RUNQ_CK_LIBRARY})
else()
  peer_absent("ck_ring_spmc" "no libck-dev")
endif()

find_package(Boost 1.70 QUIET COMPONENTS fiber)
if(TARGET Boost::fiber)
  add_candidate(fiber scheduler/fiber.cpp Boost::fiber)
else()
  peer_absent("fiber" "no libboost-fiber-dev")
endif()

# Rust, from the sources that Debian installs; nothing is downloaded.
find_program(RUNQ_CARGO cargo)
set(registry /usr/share/cargo/registry)
# add_crate(name folder product sources…): builds the crate in its own folder and copies the product here.
function(add_crate name folder product)
  set(target "${CMAKE_CURRENT_BINARY_DIR}/${folder}")
  list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" OUTPUT_VARIABLE sources)
  # Built from a copy, because cargo writes its lock file, which depends on the installed registry, next to Cargo.toml.
  add_custom_command(
    OUTPUT ${product}
    COMMAND ${CMAKE_COMMAND} -E make_directory "${target}/crate/src"
    COMMAND ${CMAKE_COMMAND} -E copy ${sources} "${target}/crate/src"
    COMMAND ${CMAKE_COMMAND} -E copy "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/Cargo.toml" "${target}/crate"
    COMMAND ${RUNQ_CARGO} build --quiet --release --offline --manifest-path "${target}/crate/Cargo.toml" --target-dir
            "${target}" --config "source.crates-io.replace-with='debian'" --config
            "source.debian.directory='${registry}'"
    COMMAND ${CMAKE_COMMAND} -E copy "${target}/release/${product}" "${CMAKE_CURRENT_BINARY_DIR}/${product}"
    DEPENDS ${sources} "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/Cargo.toml"
    VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${product})
endfunction()
function(has_crate name result)
  file(GLOB found "${registry}/${name}-*")
  if(RUNQ_CARGO AND found)
    set(${result} ON PARENT_SCOPE)
  else()
    set(${result} OFF PARENT_SCOPE)
  endif()
endfunction()

has_crate(crossbeam-deque has_crossbeam)
if(has_crossbeam)
  add_crate(crossbeam_crate peers/crossbeam librunq_crossbeam.a peers/crossbeam/src/lib.rs)
  add_bench(crossbeam_bench peers/crossbeam_bench.cpp)
  add_dependencies(crossbeam_bench crossbeam_crate)
  target_link_libraries(crossbeam_bench PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/librunq_crossbeam.a" Threads::Threads
                                                ${CMAKE_DL_LIBS})
else()
  peer_absent("crossbeam_lifo;crossbeam_fifo;crossbeam_fifo_batch;crossbeam_injector" "no cargo or librust-crossbeam-deque-dev")
endif()
foreach(crate IN ITEMS rayon tokio)
  has_crate(${crate} has_${crate})
  if(has_${crate})
    add_crate(${crate}_crate scheduler/${crate} candidate_${crate} scheduler/${crate}/src/main.rs scheduler/rows.rs)
  else()
    peer_absent("${crate}" "no cargo or librust-${crate}-dev")
  endif()
endforeach()

# Go: the scheduler as it is; and its run queue, which is measured from inside package runtime: an overlay adds a file
# to it.
find_program(RUNQ_GO go)
if(RUNQ_GO)
  add_custom_command(
    OUTPUT candidate_go
    COMMAND ${CMAKE_COMMAND} -E env GO111MODULE=off ${RUNQ_GO} build -o "${CMAKE_CURRENT_BINARY_DIR}/candidate_go"
            "${CMAKE_CURRENT_SOURCE_DIR}/scheduler/go/main.go"
    DEPENDS scheduler/go/main.go
    VERBATIM)
  execute_process(COMMAND ${RUNQ_GO} env GOROOT OUTPUT_VARIABLE goroot OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/go_overlay.json"
       "{\"Replace\": {\"${goroot}/src/runtime/runq_bench.go\": \"${CMAKE_CURRENT_SOURCE_DIR}/peers/go_runq/runtime.go\"}}\n")
  add_custom_command(
    OUTPUT go_runq_bench
    COMMAND ${CMAKE_COMMAND} -E env GO111MODULE=off ${RUNQ_GO} build -overlay
            "${CMAKE_CURRENT_BINARY_DIR}/go_overlay.json" -o "${CMAKE_CURRENT_BINARY_DIR}/go_runq_bench"
            "${CMAKE_CURRENT_SOURCE_DIR}/peers/go_runq/main.go"
    DEPENDS peers/go_runq/main.go peers/go_runq/runtime.go
    VERBATIM)
  add_custom_target(candidates_in_go ALL DEPENDS candidate_go go_runq_bench)
else()
  peer_absent("go_runq;go" "no golang-go")
endif()

file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/peers_absent.txt" "${absent}")
