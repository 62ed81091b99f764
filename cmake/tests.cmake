# One test executable per folder of src/ that has *_test.cc, and one for
# tests/. Each runs in the source tree's root and may read files below it. The
# list build/<preset>/tests.txt names them for ./test.

function(foretell_add_test_executable name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} foretell_options
    GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    "FORETELL_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\""
    "FORETELL_BINARY_DIR=\"${PROJECT_BINARY_DIR}\"")
  add_test(NAME ${name} COMMAND ${name}
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  add_dependencies(tests ${name})
  set_property(GLOBAL APPEND PROPERTY FORETELL_TEST_NAMES "${name}")
endfunction()

function(foretell_add_tests)
  if(FORETELL_TESTS STREQUAL "AUTO")
    find_package(GTest QUIET)
  elseif(FORETELL_TESTS)
    find_package(GTest REQUIRED)
  endif()
  if(NOT FORETELL_TESTS OR NOT GTest_FOUND)
    message(STATUS "Tests are not built (./test builds them)")
    return()
  endif()
  include(CTest)
  add_custom_target(tests)
  get_property(folders GLOBAL PROPERTY FORETELL_FOLDERS)
  set(all "")
  foreach(folder IN LISTS folders)
    list(APPEND all "foretell_${folder}")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS
      "${PROJECT_SOURCE_DIR}/src/${folder}/*_test.cc")
    if(sources)
      foretell_add_test_executable(foretell_${folder}_test
        SOURCES ${sources} LIBRARIES foretell_${folder})
    endif()
  endforeach()

  # What those tests share lies beside them, without _test in its name.
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*.cc")
  list(FILTER sources EXCLUDE REGEX "/tests/(fuzz|check|golden)/")
  if(sources)
    foretell_add_test_executable(foretell_tests
      SOURCES ${sources} LIBRARIES ${all})
    target_include_directories(foretell_tests PRIVATE "${PROJECT_SOURCE_DIR}")
    # TLS of the tests' own hub (tests/hub).
    find_package(OpenSSL REQUIRED)
    target_link_libraries(foretell_tests PRIVATE OpenSSL::SSL)
  endif()
  get_property(names GLOBAL PROPERTY FORETELL_TEST_NAMES)
  string(REPLACE ";" "\n" names "${names}")
  file(WRITE "${PROJECT_BINARY_DIR}/tests.txt" "${names}\n")
endfunction()
