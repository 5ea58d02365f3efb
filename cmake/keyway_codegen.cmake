# The generator in the build. It has to run before CMake knows the targets, since it says which files there are: so it is
# built when CMake configures, by a small build of its own (KEYWAY_ONLY_CODEGEN), with the compiler of this one and
# without its sanitizers. One `cmake && ninja` does everything; an edit of the generator or of a schema file is enough
# to have the generated files renewed, those whose text changes.
#
#   keyway_generate(SCHEMAS a.json ...)  declares what is generated from the schema files, all that there are.
#
# Modules claim their part with keyway_module(... GENERATED folder).

set(KEYWAY_CODEGEN "" CACHE FILEPATH "A keyway-codegen that was built before; empty: build it")
set(KEYWAY_CODEGEN_FOLDER ${PROJECT_BINARY_DIR}/codegen-bootstrap CACHE PATH
  "Where the generator is built; builds with one compiler may share it")

# Sets `out` to the generator's path, and `out`_DEPENDS to what must be up to date before it runs.
function(keyway_codegen_tool out)
  if(KEYWAY_CODEGEN)
    set(${out} ${KEYWAY_CODEGEN} PARENT_SCOPE)
    set(${out}_DEPENDS ${KEYWAY_CODEGEN} PARENT_SCOPE)
    return()
  endif()
  set(folder ${KEYWAY_CODEGEN_FOLDER})
  set(tool ${folder}/codegen/keyway-codegen${CMAKE_EXECUTABLE_SUFFIX})
  set(build ${CMAKE_COMMAND} -DFOLDER=${folder} -P ${PROJECT_SOURCE_DIR}/cmake/keyway_build_codegen.cmake)
  file(MAKE_DIRECTORY ${folder})
  file(LOCK ${folder} DIRECTORY GUARD FUNCTION)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${folder} -G ${CMAKE_GENERATOR} -DKEYWAY_ONLY_CODEGEN=ON
      -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
    COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
  file(LOCK ${folder} DIRECTORY RELEASE)
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
  set_property(GLOBAL PROPERTY KEYWAY_CODEGEN_TOOL ${tool})  # for tests, and to install
  set_property(GLOBAL PROPERTY KEYWAY_SCHEMAS ${arg_SCHEMAS})
  set(out ${KEYWAY_GENERATED_ROOT}/keyway)
  keyway_run_codegen(outputs TOOL ${tool} DEPENDS ${tool_DEPENDS} LIST ${PROJECT_BINARY_DIR}/generated/outputs.txt
    OUT ${out} FOLDER ${PROJECT_SOURCE_DIR} SCHEMAS ${arg_SCHEMAS})
  add_custom_target(keyway_generated DEPENDS ${outputs})

  list(TRANSFORM outputs REPLACE "^${out}/" "")
  set_property(GLOBAL PROPERTY KEYWAY_GENERATED ${outputs})
endfunction()
