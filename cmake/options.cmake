# How every file is compiled: the language, the warnings, the sanitizers. All
# targets link foretell_options; nothing else sets a flag.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# `try_compile` and the assembler see the same position-independent code.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND
   CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "g++ ${CMAKE_CXX_COMPILER_VERSION} is too old: 12 is needed")
endif()

find_program(FORETELL_CCACHE ccache)
if(FORETELL_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${FORETELL_CCACHE}")
endif()

# A first build has no cache to answer it: there the standard library's headers
# are compiled once for all files. Not where a warning is an error: precompiled,
# they are no system headers any more, and g++ 12 warns of their own code. Not
# for clang: clang-tidy reads its command lines and would need the result.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND
   NOT FORETELL_WERROR)
  set(precompile ON)
else()
  set(precompile OFF)
endif()
option(FORETELL_PRECOMPILE "Compile the standard headers once" ${precompile})

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)

add_library(foretell_options INTERFACE)
target_include_directories(foretell_options INTERFACE "${PROJECT_SOURCE_DIR}/src")
target_compile_options(foretell_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow
  # Checks print their file: the same on every machine.
  "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/="
  # Digits are the same on every machine: no fused multiply-add.
  -ffp-contract=off)
target_compile_definitions(foretell_options INTERFACE
  "FORETELL_VERSION=\"${PROJECT_VERSION}\"")
target_link_libraries(foretell_options INTERFACE fmt::fmt)

if(FORETELL_PRECOMPILE)
  # https://gcc.gnu.org/PR105651: std::string's own code.
  target_compile_options(foretell_options INTERFACE
    -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
endif()
if(FORETELL_WERROR)
  target_compile_options(foretell_options INTERFACE -Werror)
endif()
if(FORETELL_SANITIZERS)
  set(flags "-fsanitize=${FORETELL_SANITIZERS}" -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  set(ignore "${PROJECT_SOURCE_DIR}/cmake/sanitizer_ignore.txt")
  target_compile_options(foretell_options INTERFACE ${flags}
    $<$<CXX_COMPILER_ID:Clang>:-fsanitize-ignorelist=${ignore}>)
  target_link_options(foretell_options INTERFACE ${flags})
endif()
if(FORETELL_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "FORETELL_FUZZ needs clang: use the preset `fuzz`")
  endif()
  target_compile_options(foretell_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Lets the library TARGET find precompiled what most files include. The first
# one compiles it; the others share its result.
function(foretell_precompile target)
  if(NOT FORETELL_PRECOMPILE)
    return()
  endif()
  get_property(owner GLOBAL PROPERTY FORETELL_PRECOMPILED)
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  else()
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <charconv> <cmath> <cstdint> <functional> <map>
      <memory> <optional> <set> <span> <string> <string_view> <tuple> <utility>
      <variant> <vector> <fmt/format.h> <fmt/ranges.h>)
    set_property(GLOBAL PROPERTY FORETELL_PRECOMPILED ${target})
  endif()
endfunction()

# Links LIBRARY into TARGET whichever kind of library TARGET is.
function(foretell_link target)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_link_libraries(${target} INTERFACE ${ARGN})
  else()
    target_link_libraries(${target} PUBLIC ${ARGN})
  endif()
endfunction()
