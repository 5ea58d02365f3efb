# The generator in the build. It has to run before CMake knows the targets, since it says which files there are: so it is
# built when CMake configures, by a small build of its own (KEYWAY_ONLY_CODEGEN), with the compiler of this one and
# without its sanitizers. One `cmake && ninja` does everything; an edit of the generator or of a schema file is enough
# to have the generated files renewed, those whose text changes.
#
#   keyway_generate(SCHEMAS a.json ...)  declares what is generated from the schema files, all that there are.
#
# Modules claim their part with keyway_module(... GENERATED folder).

set(KEYWAY_CODEGEN "" CACHE FILEPATH "A keyway-codegen that was built before; empty: build it")

# Sets `out` to the generator's path, and `out`_DEPENDS to what must be up to date before it runs.
function(keyway_codegen_tool out)
  if(KEYWAY_CODEGEN)
    set(${out} ${KEYWAY_CODEGEN} PARENT_SCOPE)
    set(${out}_DEPENDS ${KEYWAY_CODEGEN} PARENT_SCOPE)
    return()
  endif()
  set(folder ${PROJECT_BINARY_DIR}/codegen-bootstrap)
  set(tool ${folder}/codegen/keyway-codegen${CMAKE_EXECUTABLE_SUFFIX})
  set(build ${CMAKE_COMMAND} --build ${folder} --target keyway-codegen)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${folder} -G ${CMAKE_GENERATOR} -DKEYWAY_ONLY_CODEGEN=ON
      -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
    COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
  message(STATUS "Building the generator")
  execute_process(COMMAND ${build} RESULT_VARIABLE failed OUTPUT_VARIABLE log)
  if(failed)
    message(FATAL_ERROR "The generator does not build:\n${log}")
  endif()

  set(sources)
  foreach(module IN LISTS KEYWAY_CODEGEN_MODULES)
    string(REPLACE "/" "_" target keyway_${module})
    get_target_property(module_sources ${target} SOURCES)
    get_target_property(module_headers ${target} HEADER_SET)
    list(TRANSFORM module_sources PREPEND ${PROJECT_SOURCE_DIR}/${module}/)
    list(APPEND sources ${module_sources} ${module_headers})
  endforeach()
  add_custom_command(OUTPUT ${tool} COMMAND ${build} DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/codegen/main.cpp
    COMMENT "Building the generator")
  set(${out} ${tool} PARENT_SCOPE)
  set(${out}_DEPENDS ${tool} PARENT_SCOPE)
endfunction()

function(keyway_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "SCHEMAS")
  keyway_codegen_tool(tool)
  set_property(GLOBAL PROPERTY KEYWAY_CODEGEN_TOOL ${tool})  # for tests
  set(out ${KEYWAY_GENERATED_ROOT}/keyway)
  set(list ${PROJECT_BINARY_DIR}/generated/outputs.txt)
  set(list_command ${tool} --list-to ${list} --out ${out} ${arg_SCHEMAS})

  # What an earlier configuration generated and this one does not would still be found by #include.
  set(stale)
  if(EXISTS ${list})
    file(STRINGS ${list} stale)
  endif()
  execute_process(COMMAND ${list_command} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMAND_ERROR_IS_FATAL ANY)
  file(STRINGS ${list} outputs)
  list(REMOVE_ITEM stale ${outputs})
  if(stale)
    file(REMOVE ${stale})
  endif()

  set(schemas ${arg_SCHEMAS})
  list(TRANSFORM schemas PREPEND ${PROJECT_SOURCE_DIR}/)
  # Ninja makes the list when a schema file is newer, and configures again only if it says something else then.
  add_custom_command(OUTPUT ${list} COMMAND ${list_command} DEPENDS ${tool_DEPENDS} ${schemas}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "Listing the generated files")
  if(CMAKE_GENERATOR MATCHES "Ninja")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  else()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${schemas})
  endif()
  add_custom_command(OUTPUT ${outputs} COMMAND ${tool} --expect ${list} --out ${out} ${arg_SCHEMAS}
    DEPENDS ${tool_DEPENDS} ${list} ${schemas}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMENT "Generating the operators")
  add_custom_target(keyway_generated DEPENDS ${outputs})

  list(TRANSFORM outputs REPLACE "^${out}/" "")
  set_property(GLOBAL PROPERTY KEYWAY_GENERATED ${outputs})
endfunction()
