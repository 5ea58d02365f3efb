# Part of the installed package: operators of a library out of tree from schema files of its own.
#
#   find_package(keyway REQUIRED)
#   add_library(my_ops SHARED my_ops.cpp)
#   target_include_directories(my_ops PUBLIC include)
#   keyway_add_ops(my_ops SCHEMAS my_ops.json)
#
# All operators stand in one namespace, `func: "my::cube(Tensor self) -> Tensor"`. What is generated becomes part of the
# target, and lies in a folder of that name: <my/ops/my_ops.h> declares my::cube. By the same rule it includes what the
# library has: functors from <my/ops/functors/my_ops.h>, rules from <my/ops/rules/my_ops.h>. Helpers of gradients are
# declared in <my/autograd/helpers_my_ops.h>, for the library to define.
function(keyway_add_ops target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SCHEMAS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SCHEMAS)
    message(FATAL_ERROR "keyway_add_ops(${target}): it is keyway_add_ops(<target> SCHEMAS <file>...)")
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY" OR type STREQUAL "INTERFACE_LIBRARY")
    # Nothing would refer to the object that makes the operators known: the linker would leave it out.
    message(FATAL_ERROR "keyway_add_ops(${target}): a ${type} cannot hold operators; make it SHARED, MODULE or OBJECT")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_ops)
  file(MAKE_DIRECTORY ${folder})
  keyway_run_codegen(outputs TOOL ${KEYWAY_CODEGEN} DEPENDS ${KEYWAY_CODEGEN} LIST ${folder}/outputs.txt OUT ${folder}
    FOLDER ${CMAKE_CURRENT_SOURCE_DIR} SCHEMAS ${arg_SCHEMAS} BASE ${KEYWAY_SCHEMAS})
  set(sources ${outputs})
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  set(loops ${sources})
  list(FILTER loops INCLUDE REGEX "/loops_[^/]*$")
  # As Keyway's are compiled: the same results with every instruction set, and vector code of loops.
  set_property(SOURCE ${sources} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS
    -fno-math-errno -fno-trapping-math -ffp-contract=off)
  # clang warns of every loop that it does not make vector code of.
  set_property(SOURCE ${loops} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS
    $<$<CONFIG:Release,RelWithDebInfo>:-O3> $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
  target_sources(${target} PRIVATE ${outputs})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}>)
  target_link_libraries(${target} PUBLIC keyway::keyway)
  # Users of the target may include what is generated.
  add_custom_target(${target}_generated DEPENDS ${outputs})
  add_dependencies(${target} ${target}_generated)
endfunction()
