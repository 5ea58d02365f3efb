# Part of the installed package: a plug-in (keyway/dispatch/plugin/plugin.h).
#
#   find_package(keyway REQUIRED)
#   keyway_add_plugin(my_npu npu.cpp)
#
# The target is a module libmy_npu.so. Called keyway_<device type>, and put into a folder of the environment variable
# KEYWAY_PLUGIN_PATH, it is loaded when that device type is first asked for.
#
# When it is linked, `keyway plugin describe` loads it and writes its manifest into it: what it registers, with VERSION (the
# project's by default). NEEDS are plug-ins that have to be loaded before, as targets or files. A plug-in that can be loaded
# on some machines only, or registers something else on each, takes NO_MANIFEST. It has none either if the program
# `keyway` is not built, or cannot run here.
function(keyway_add_plugin target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_MANIFEST" "VERSION" "NEEDS")
  set(sources ${arg_UNPARSED_ARGUMENTS})
  if(NOT sources)
    message(FATAL_ERROR "keyway_add_plugin(${target}): it is keyway_add_plugin(<target> <source>... [VERSION <version>] "
      "[NEEDS <plug-in>...] [NO_MANIFEST])")
  endif()
  add_library(${target} MODULE ${sources})
  target_link_libraries(${target} PRIVATE keyway::keyway)
  # Else g++ marks it as one that cannot be unloaded.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  set_target_properties(${target} PROPERTIES PREFIX lib CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  if(arg_NO_MANIFEST)
    return()
  endif()
  if(CMAKE_CROSSCOMPILING OR NOT TARGET keyway::command)
    message(STATUS "${target} gets no manifest: there is no program keyway that can run here")
    return()
  endif()
  keyway_keep_manifest()
  if(NOT DEFINED arg_VERSION)
    set(arg_VERSION "${PROJECT_VERSION}")
  endif()
  set(options)
  if(NOT arg_VERSION STREQUAL "")  # a project need not have one
    list(APPEND options --plugin-version "${arg_VERSION}")
  endif()
  foreach(needed IN LISTS arg_NEEDS)
    if(TARGET ${needed})
      add_dependencies(${target} ${needed})
      set(needed $<TARGET_FILE:${needed}>)
    endif()
    list(APPEND options --needs ${needed})
  endforeach()
  # Without the path, which would bring plug-ins that nobody named here.
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E env --unset=KEYWAY_PLUGIN_PATH
      $<TARGET_FILE:keyway::command> plugin describe ${options} $<TARGET_FILE:${target}>
    COMMENT "Writing the manifest of ${target}" VERBATIM)
  add_dependencies(${target} keyway::command)
endfunction()

# Where the directory's targets are installed with --strip, the manifest stays. GNU strip leaves notes alone; llvm-strip has
# to be told to.
function(keyway_keep_manifest)
  if(NOT CMAKE_STRIP MATCHES "llvm-strip[^/]*$")
    return()
  endif()
  set(script ${PROJECT_BINARY_DIR}/keyway_strip)
  file(CONFIGURE OUTPUT ${script} CONTENT "#!/bin/sh\nexec '@CMAKE_STRIP@' --keep-section=.note.keyway \"$@\"\n" @ONLY)
  file(CHMOD ${script} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  # In the directory's own scope, which a function that calls this may not be. What is deferred reads its variables then.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL set CMAKE_STRIP [[${script}]])")
endfunction()
