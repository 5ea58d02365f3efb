# Runs the generator in a build: Keyway's own, and those of libraries out of tree.
#
#   keyway_run_codegen(<outputs>          # set to the files that are generated, with their paths
#     TOOL <program> DEPENDS <files>...   # the generator, and what must be up to date before it runs
#     LIST <file>                         # where the list of generated files is kept
#     OUT <folder>                        # to generate into
#     FOLDER <folder>                     # where it runs; generated code names schema files relative to it
#     SCHEMAS <file>... BASE <file>...)   # relative to FOLDER
#
# Which files there are, the generator says when CMake configures, and again when a schema file changes.
function(keyway_run_codegen outputs_variable)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TOOL;LIST;OUT;FOLDER" "DEPENDS;SCHEMAS;BASE")
  set(files ${arg_SCHEMAS})
  foreach(file IN LISTS arg_BASE)
    list(APPEND files --base ${file})
  endforeach()
  set(list_command ${arg_TOOL} --list-to ${arg_LIST} --out ${arg_OUT} ${files})

  # What an earlier configuration generated and this one does not would still be found by #include.
  set(stale)
  if(EXISTS ${arg_LIST})
    file(STRINGS ${arg_LIST} stale)
  endif()
  execute_process(COMMAND ${list_command} WORKING_DIRECTORY ${arg_FOLDER} COMMAND_ERROR_IS_FATAL ANY)
  file(STRINGS ${arg_LIST} outputs)
  list(REMOVE_ITEM stale ${outputs})
  if(stale)
    file(REMOVE ${stale})
  endif()

  set(schemas)
  foreach(file IN LISTS arg_SCHEMAS arg_BASE)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${arg_FOLDER})
    list(APPEND schemas ${file})
  endforeach()
  # Ninja makes the list when a schema file is newer, and configures again only if it says something else then.
  add_custom_command(OUTPUT ${arg_LIST} COMMAND ${list_command} DEPENDS ${arg_DEPENDS} ${schemas}
    WORKING_DIRECTORY ${arg_FOLDER} COMMENT "Listing the generated files")
  if(CMAKE_GENERATOR MATCHES "Ninja")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arg_LIST})
  else()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${schemas})
  endif()
  add_custom_command(OUTPUT ${outputs} COMMAND ${arg_TOOL} --expect ${arg_LIST} --out ${arg_OUT} ${files}
    DEPENDS ${arg_DEPENDS} ${arg_LIST} ${schemas}
    WORKING_DIRECTORY ${arg_FOLDER} COMMENT "Generating the operators")
  set(${outputs_variable} ${outputs} PARENT_SCOPE)
endfunction()
