# Part of the installed package: operators of a library out of tree from schema files of its own.
#
#   find_package(keyway REQUIRED)
#   add_library(my_ops SHARED my_ops.cpp)
#   target_include_directories(my_ops PUBLIC include)
#   keyway_add_ops(my_ops SCHEMAS my_ops.json)
#
# All operators stand in one namespace, `func: "my::cube(Tensor self) -> Tensor"`. What is generated becomes part of the
# target, and lies in a folder of that name: <my/ops/my_ops.h> declares my::cube. By the same rule it includes what the
# library has: functors from <my/ops/functors/my_ops.h>, rules and the geometry of views from <my/ops/rules/my_ops.h>.
# Helpers of gradients are declared in <my/autograd/helpers_my_ops.h>, for the library to define.
#
# With CUDA, in a project that has this language, kernels of CUDA are compiled too: of pointwise operators and reductions
# those that are generated, of other entries with "kernels": ["CPU", "CUDA"] those that the target's own .cu files define.
function(keyway_add_ops target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CUDA" "" "SCHEMAS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SCHEMAS)
    message(FATAL_ERROR "keyway_add_ops(${target}): it is keyway_add_ops(<target> SCHEMAS <file>... [CUDA])")
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY" OR type STREQUAL "INTERFACE_LIBRARY")
    # Nothing would refer to the object that makes the operators known: the linker would leave it out.
    message(FATAL_ERROR "keyway_add_ops(${target}): a ${type} cannot hold operators; make it SHARED, MODULE or OBJECT")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(arg_CUDA AND NOT "CUDA" IN_LIST languages)
    message(FATAL_ERROR "keyway_add_ops(${target} ... CUDA): the project does not have the language CUDA; write "
      "project(... LANGUAGES CXX CUDA), or enable_language(CUDA) before")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}_ops)
  file(MAKE_DIRECTORY ${folder})
  keyway_run_codegen(outputs TOOL ${KEYWAY_CODEGEN} DEPENDS ${KEYWAY_CODEGEN} LIST ${folder}/outputs.txt OUT ${folder}
    FOLDER ${CMAKE_CURRENT_SOURCE_DIR} SCHEMAS ${arg_SCHEMAS} BASE ${KEYWAY_SCHEMAS})
  # What other functions take from here: the cases of the generated suite, and the kernels of CUDA.
  set(cases ${outputs})
  list(FILTER cases INCLUDE REGEX "/tests/ops/[^/]*$")
  set(cuda ${outputs})
  list(FILTER cuda INCLUDE REGEX "/backends/cuda/.*\\.(cpp|cu)$")
  set_target_properties(${target} PROPERTIES KEYWAY_OP_CASES "${cases}" KEYWAY_CUDA_KERNELS "${cuda}")

  set(sources ${outputs})
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(REMOVE_ITEM sources ${cases} ${cuda})
  set(loops ${sources})
  list(FILTER loops INCLUDE REGEX "/loops_[^/]*$")
  # As Keyway's are compiled: the same results with every instruction set, and vector code of loops.
  set_property(SOURCE ${sources} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS
    -fno-math-errno -fno-trapping-math -ffp-contract=off)
  # clang warns of every loop that it does not make vector code of.
  set_property(SOURCE ${loops} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS
    $<$<CONFIG:Release,RelWithDebInfo>:-O3> $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
  target_sources(${target} PRIVATE ${sources})
  if(arg_CUDA)
    keyway_add_cuda_kernels(${target})
  endif()
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${folder}>)
  target_link_libraries(${target} PUBLIC keyway::keyway)
  # Users of the target may include what is generated.
  add_custom_target(${target}_generated DEPENDS ${outputs})
  add_dependencies(${target} ${target}_generated)
endfunction()

# The generated kernels of CUDA, and the drivers that they are launched by. Each library has its own of both, since the
# runtime in it launches no kernel of another: nothing of that, nor of the library's own .cu files, may be seen by others,
# unless it is marked as visible.
function(keyway_add_cuda_kernels target)
  find_package(CUDAToolkit 12 REQUIRED)
  get_target_property(kernels ${target} KEYWAY_CUDA_KERNELS)
  set(drivers ${KEYWAY_CUDA_DRIVERS})
  list(TRANSFORM drivers PREPEND ${KEYWAY_SOURCES}/)
  set(cpp ${kernels} ${drivers})
  list(FILTER cpp INCLUDE REGEX "\\.cpp$")
  set(cu ${kernels})
  list(FILTER cu INCLUDE REGEX "\\.cu$")
  set_property(SOURCE ${cpp} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS
    -fvisibility=hidden -fno-math-errno -fno-trapping-math -ffp-contract=off)
  # As Keyway's: nvcc need not tell of the model of thread-local variables (1835), nor of comparisons that have one answer
  # for some types of a template (186).
  set_property(SOURCE ${cu} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS
    --expt-relaxed-constexpr -fmad=false -diag-suppress=1835,186
    -Xcompiler=-fno-math-errno,-fno-trapping-math,-ffp-contract=off)
  set_target_properties(${target} PROPERTIES KEYWAY_HAS_CUDA ON CUDA_VISIBILITY_PRESET hidden)
  get_target_property(architectures ${target} CUDA_ARCHITECTURES)
  list(JOIN architectures ", " architectures)
  set_property(SOURCE ${drivers} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_DEFINITIONS
    KEYWAY_CUDA_ARCHITECTURES="${architectures}")
  set_property(SOURCE ${drivers} TARGET_DIRECTORY ${target} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${kernels} ${drivers})
  target_include_directories(${target} PRIVATE ${KEYWAY_SOURCES})
  target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
endfunction()
