# Each bench/NAME_bench.cc is a program of Google Benchmark, built by the
# target `bench` alone. The list build/<preset>/bench.txt names them for ./test.

function(foretell_add_benchmarks)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*_bench.cc")
  find_package(benchmark QUIET)
  if(NOT benchmark_FOUND)
    return()
  endif()
  add_custom_target(bench)
  set(names "")
  foreach(source IN LISTS sources)
    get_filename_component(target "${source}" NAME_WE)
    string(APPEND names "${target}\n")
    foretell_libraries_of(libraries "${source}")
    add_executable(${target} EXCLUDE_FROM_ALL "${source}")
    target_link_libraries(${target} PRIVATE ${libraries} foretell_options
      benchmark::benchmark_main)
    add_dependencies(bench ${target})
  endforeach()
  file(WRITE "${PROJECT_BINARY_DIR}/bench.txt" "${names}")
endfunction()
