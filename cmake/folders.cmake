# One library per folder of src/. The table src/INCLUDES is the only place that
# says which folder may use which; it is read here, and tools/check/include_table
# holds the #include lines to it.

# Sets `out` to the folders of src/INCLUDES in their order, and
# foretell_uses_<folder> to what each may include.
function(foretell_read_includes out)
  set(table "${PROJECT_SOURCE_DIR}/src/INCLUDES")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
  file(STRINGS "${table}" lines REGEX "^[a-z_]+:")
  set(folders "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z_]+):(.*)$" _ "${line}")
    set(folder "${CMAKE_MATCH_1}")
    string(STRIP "${CMAKE_MATCH_2}" uses)
    separate_arguments(uses)
    foreach(use IN LISTS uses)
      if(NOT use IN_LIST folders)
        message(FATAL_ERROR
          "src/INCLUDES: ${folder} uses ${use}, which no line above names")
      endif()
    endforeach()
    list(APPEND folders "${folder}")
    set("foretell_uses_${folder}" "${uses}" PARENT_SCOPE)
  endforeach()
  set("${out}" "${folders}" PARENT_SCOPE)
endfunction()

function(foretell_add_folders)
  foretell_read_includes(folders)
  set_property(GLOBAL PROPERTY FORETELL_FOLDERS "${folders}")
  foreach(folder IN LISTS folders)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS
      "${PROJECT_SOURCE_DIR}/src/${folder}/*.cc")
    list(FILTER sources EXCLUDE REGEX "_test\\.cc$|/front/cli/main\\.cc$")
    if(sources)
      add_library(foretell_${folder} STATIC ${sources})
      foretell_precompile(foretell_${folder})
    else()
      add_library(foretell_${folder} INTERFACE)
    endif()
    foretell_link(foretell_${folder} foretell_options)
    foreach(use IN LISTS foretell_uses_${folder})
      foretell_link(foretell_${folder} foretell_${use})
    endforeach()
  endforeach()
  foretell_third_party()
endfunction()

# Third parties, each where it may be seen (docs/dependencies.md says why).
function(foretell_third_party)
  find_package(RapidJSON REQUIRED)
  # Its headers, without its warnings.
  add_library(foretell_rapidjson INTERFACE)
  target_include_directories(foretell_rapidjson SYSTEM INTERFACE
    ${RAPIDJSON_INCLUDE_DIRS})
  foretell_link(foretell_input foretell_rapidjson)
  foretell_link(foretell_report foretell_rapidjson)
  find_package(ZLIB REQUIRED)
  foretell_link(foretell_input ZLIB::ZLIB)
  find_library(FORETELL_MINIZIP minizip REQUIRED)
  foretell_link(foretell_input ${FORETELL_MINIZIP})
  find_library(FORETELL_LIBYAML yaml REQUIRED)
  foretell_link(foretell_input ${FORETELL_LIBYAML})
  # Its declarations only: the program opens libcurl itself, when a hub is asked
  # (src/input/source_curl.h).
  find_path(curl_headers curl/curl.h REQUIRED)
  foretell_link(foretell_input ${CMAKE_DL_LIBS})
  find_package(CLI11 REQUIRED)
  foretell_link(foretell_front CLI11::CLI11 Threads::Threads)
endfunction()

# Sets `out` to the libraries of the folders that the given files include.
function(foretell_libraries_of out)
  get_property(folders GLOBAL PROPERTY FORETELL_FOLDERS)
  set(libraries "")
  foreach(file IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(STRINGS "${file}" lines REGEX "^#include \"[a-z_]+/")
    foreach(line IN LISTS lines)
      string(REGEX MATCH "\"([a-z_]+)/" _ "${line}")
      if(CMAKE_MATCH_1 IN_LIST folders)
        list(APPEND libraries "foretell_${CMAKE_MATCH_1}")
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES libraries)
  set("${out}" "${libraries}" PARENT_SCOPE)
endfunction()
