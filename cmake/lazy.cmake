# A shared library that is loaded when it is first needed, by the files that call it.
#
#   tg_lazy_library(TARGET PREFIX LIBRARY FILES SOURCE…)
#
# The header PREFIX_lazy.h, made from the calls PREFIX_…() in the SOURCEs, turns them into calls through
# a table of pointers, and has what dlopen and dlsym are asked for; one SOURCE defines the table (union
# tg_lazy_PREFIX tg_lazy_PREFIX) and fills it, from TG_LAZY_NAMES (core/base/lazy.h). FILES is what
# LIBRARY, an imported target, links, itself first. A static library has no SONAME: then, and
# with -DTG_LAZY=OFF, it is linked as ever and TG_LAZY is not defined for the files. Tools that look at what a program is linked with (dpkg-shlibdeps) do not see such a library.
function(tg_lazy_library target prefix library files)
  list(GET files 0 file)
  execute_process(COMMAND ${CMAKE_READELF} -d ${file} OUTPUT_VARIABLE dynamic ERROR_QUIET)
  if(NOT TG_LAZY OR NOT dynamic MATCHES "SONAME[^[]*\\[([^]]+)\\]")
    target_link_libraries(${target} PRIVATE ${library})
    return()
  endif()
  set(soname ${CMAKE_MATCH_1})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  set(text "")
  foreach(source IN LISTS ARGN)
    file(READ ${source} one)
    string(APPEND text "${one}")
  endforeach()
  string(REGEX MATCHALL "[^A-Za-z0-9_]${prefix}_[A-Za-z0-9_]+\\(" names "${text}")
  list(TRANSFORM names REPLACE "[^A-Za-z0-9_]" "")
  list(REMOVE_DUPLICATES names)
  list(LENGTH names count)
  set(members "")
  set(texts "")
  set(defines "")
  foreach(name IN LISTS names)
    string(APPEND members "        __typeof__(${name}) *${name};\n")
    string(APPEND texts " \\\n    \"${name}\",")
    string(APPEND defines "#define ${name} (*tg_lazy_${prefix}.call.${name})\n")
  endforeach()
  string(CONCAT made "/* Made by cmake/lazy.cmake. */\n"
    "#define TG_LAZY_SONAME \"${soname}\"\n"
    "#define TG_LAZY_NAMES${texts}\n\n"
    "union tg_lazy_${prefix} {\n    struct {\n${members}    } call;\n"
    "    void *at[${count}];\n};\nextern union tg_lazy_${prefix} tg_lazy_${prefix};\n\n${defines}")
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${prefix}_lazy.h CONTENT "${made}" @ONLY)
  target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR})
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_DEFINITIONS TG_LAZY)
endfunction()
