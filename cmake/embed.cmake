# Puts the files of data/ into the program: library foretell_data, read through
# data/embedded.h. The assembler's .incbin copies the bytes, so that a build
# takes no longer for a large file and start-up costs nothing.

function(foretell_embed_data)
  set(root "${PROJECT_SOURCE_DIR}/data")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/*")
  list(FILTER files EXCLUDE REGEX "(^|/)\\.|\\.(md|h|cc|sh)$|~$")
  list(SORT files)  # Embedded() searches by halves

  set(declarations "")
  set(rows "")
  set(paths "")
  set(index 0)
  foreach(file IN LISTS files)
    set(symbol "foretell_data_${index}")
    set(path "${root}/${file}")
    list(APPEND paths "${path}")
    string(APPEND declarations
      "asm(\".pushsection .rodata\\n\"\n"
      "    \".balign 16\\n\"\n"
      "    \"${symbol}: .incbin \\\"${path}\\\"\\n\"\n"
      "    \"${symbol}_end: .byte 0\\n\"\n"
      "    \".popsection\\n\");\n"
      "extern const char ${symbol}[] asm(\"${symbol}\");\n"
      "extern const char ${symbol}_end[] asm(\"${symbol}_end\");\n")
    string(APPEND rows
      "    {\"${file}\", ${symbol}, ${symbol}_end},\n")
    math(EXPR index "${index} + 1")
  endforeach()

  set(FORETELL_EMBED_DECLARATIONS "${declarations}")
  set(FORETELL_EMBED_ROWS "${rows}")
  set(FORETELL_EMBED_COUNT "${index}")
  set(generated "${PROJECT_BINARY_DIR}/generated")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/embedded.cc.in"
    "${generated}/data/embedded.cc" @ONLY)
  configure_file("${root}/embedded.h" "${generated}/data/embedded.h" COPYONLY)
  set_source_files_properties("${generated}/data/embedded.cc" PROPERTIES
    OBJECT_DEPENDS "${paths}")

  add_library(foretell_data STATIC "${generated}/data/embedded.cc")
  target_include_directories(foretell_data PUBLIC "${generated}")
  target_link_libraries(foretell_data PUBLIC foretell_options)
  # A cache of compiled files cannot see what .incbin reads.
  set_target_properties(foretell_data PROPERTIES CXX_COMPILER_LAUNCHER "")
endfunction()
