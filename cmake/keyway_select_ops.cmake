# Part of the installed package: programs and libraries with some of the operators only.
#
#   find_package(keyway REQUIRED COMPONENTS static)
#   add_executable(infer infer.cpp)
#   keyway_select_ops(infer ops.txt)
#
# Each file names operators, one a line, or is what a DispatchRecorder wrote of a run. They are what the program's
# registry begins with; the linker adds what they, and the program itself, refer to, such as the operators of their
# gradients, and drops the rest. cond and while_loop are there if one of them is named.
#
# The target may be a SHARED library: libkeyway.so with these operators. A program that calls another one does not link,
# and is told its name.
function(keyway_select_ops target)
  if(NOT ARGN)
    message(FATAL_ERROR "keyway_select_ops(${target}): it is keyway_select_ops(<target> <file>...)")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_ops)
  set(selections)
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file)
    list(APPEND selections --select ${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  execute_process(COMMAND ${KEYWAY_CODEGEN} ${selections} --out ${folder} ${KEYWAY_SCHEMAS}
    COMMAND_ERROR_IS_FATAL ANY)
  target_sources(${target} PRIVATE ${folder}/op_list.cpp)
  target_link_options(${target} PRIVATE LINKER:--gc-sections
    $<$<BOOL:${KEYWAY_PACKS_RELOCATIONS}>:LINKER:-z,pack-relative-relocs>)
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "SHARED_LIBRARY")
    target_link_libraries(${target} PRIVATE keyway::keyway_static)
    return()
  endif()
  # What the whole library may export, without the entries of the operators that were not chosen.
  file(READ ${KEYWAY_EXPORTS} exports)
  file(READ ${folder}/left_out.map left_out)
  string(REPLACE "  local:\n" "  local:\n${left_out}" exports "${exports}")
  file(CONFIGURE OUTPUT ${folder}/exports.map CONTENT "${exports}" @ONLY)
  target_link_options(${target} PRIVATE LINKER:--version-script=${folder}/exports.map)
  target_link_libraries(${target} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,keyway::keyway_static>)
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:$<TARGET_PROPERTY:keyway::keyway,INTERFACE_INCLUDE_DIRECTORIES>>)
  target_compile_features(${target} INTERFACE cxx_std_20)
endfunction()
