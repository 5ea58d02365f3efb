# Part of the installed package: the generated suite for the operators of a library out of tree.
#
#   enable_testing()
#   keyway_add_ops(my_ops SCHEMAS my_ops.json)
#   keyway_test_ops(my_ops)
#
# Of the entries' examples and samples it makes the tests that Keyway's own operators have (docs/adding_an_op.md, "What is
# tested without a test"): those of ctest named "my_ops: ...", of the program my_ops_suite. NO_GRADCHECK <operator>...
# names those whose gradients are not to be compared with differences: since they are others on purpose, or the operator
# takes no float64. A library with kernels of CUDA is tested on a device, too, where there is one.
function(keyway_test_ops target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "NO_GRADCHECK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "keyway_test_ops(${target}): it is keyway_test_ops(<target> [NO_GRADCHECK <operator>...])")
  endif()
  get_target_property(cases ${target} KEYWAY_OP_CASES)
  if(NOT cases)
    message(FATAL_ERROR "keyway_test_ops(${target}): the target has no operators; call keyway_add_ops(${target} ...) before")
  endif()
  set(tests ${KEYWAY_SUITE_TESTS})
  get_target_property(has_cuda ${target} KEYWAY_HAS_CUDA)
  if(has_cuda)
    list(APPEND tests ${KEYWAY_SUITE_CUDA_TESTS})
  endif()
  set(sources ${KEYWAY_SUITE_SOURCES})
  list(TRANSFORM tests PREPEND ${KEYWAY_SOURCES}/)
  list(TRANSFORM sources PREPEND ${KEYWAY_SOURCES}/)
  set(program ${target}_suite)
  add_executable(${program} ${tests} ${sources} ${cases})
  add_dependencies(${program} ${target}_generated)
  # Compiled quickly, in one piece: what takes time when it runs is the library.
  set_target_properties(${program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  target_compile_options(${program} PRIVATE -O0 -w)
  list(JOIN arg_NO_GRADCHECK " " no_gradcheck)
  target_compile_definitions(${program} PRIVATE KEYWAY_NO_GRADCHECK="${no_gradcheck}")
  target_include_directories(${program} BEFORE PRIVATE
    ${KEYWAY_SOURCES}/keyway/tests/ops/in_library ${KEYWAY_SOURCES})
  target_link_libraries(${program} PRIVATE keyway::keyway)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "OBJECT_LIBRARY")
    target_link_libraries(${program} PRIVATE ${target})
  else()
    # As Python loads it, and whether or not it can be linked.
    target_compile_definitions(${program} PRIVATE KEYWAY_SUITE_LIBRARY="$<TARGET_FILE:${target}>")
    add_dependencies(${program} ${target})
  endif()
  foreach(file IN LISTS tests)
    file(STRINGS ${file} names REGEX "^TEST_CASE")
    foreach(name IN LISTS names)
      string(REGEX REPLACE "^TEST_CASE\\(\"([^\"]*)\".*$" "\\1" name "${name}")
      add_test(NAME "${target}: ${name}" COMMAND ${program} ${name})
      set_tests_properties("${target}: ${name}" PROPERTIES LABELS ${target}
        SKIP_REGULAR_EXPRESSION "skipped: there is no CUDA device")
    endforeach()
  endforeach()
endfunction()
