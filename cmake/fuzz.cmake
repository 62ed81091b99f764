# Each tests/fuzz/NAME_fuzz.cc defines LLVMFuzzerTestOneInput. With the preset
# `fuzz` it becomes a libFuzzer program; in every other build it is linked with
# tests/fuzz/replay_main.cc, which runs the corpus tests/fuzz/corpus/NAME/ as a
# test. The list build/<preset>/fuzz.txt names them for ./test.

function(foretell_add_fuzz_targets)
  set(root "${PROJECT_SOURCE_DIR}/tests/fuzz")
  file(GLOB sources CONFIGURE_DEPENDS "${root}/*_fuzz.cc")
  set(names "")
  add_custom_target(fuzz_targets)
  foreach(source IN LISTS sources)
    get_filename_component(target "${source}" NAME_WE)
    string(REGEX REPLACE "_fuzz$" "" name "${target}")
    string(APPEND names "${name}\n")
    foretell_libraries_of(libraries "${source}")
    add_executable(${target} EXCLUDE_FROM_ALL "${source}")
    target_link_libraries(${target} PRIVATE ${libraries} foretell_options)
    if(FORETELL_FUZZ)
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    else()
      target_sources(${target} PRIVATE "${root}/replay_main.cc")
    endif()
    add_dependencies(fuzz_targets ${target})
    if(NOT FORETELL_FUZZ AND TARGET tests)
      add_dependencies(tests ${target})
      add_test(NAME replay_${name}
        COMMAND ${target} "${root}/corpus/${name}"
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    endif()
  endforeach()
  file(WRITE "${PROJECT_BINARY_DIR}/fuzz.txt" "${names}")
endfunction()
