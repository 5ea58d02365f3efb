# The generated suite, as it is also compiled for libraries out of tree (cmake/keyway_test_ops.cmake). Each *_test.cpp has
# claims of every operator; TEST_CASE("...") stands at the beginning of a line, where CMake reads its name.
set(KEYWAY_SUITE_TESTS
  autocast_test.cpp
  batching_test.cpp
  copy_on_write_test.cpp
  empty_test.cpp
  examples_test.cpp
  forward_test.cpp
  gradcheck_test.cpp
  gradients_test.cpp
  graph_test.cpp
  history_test.cpp
  inplace_out_test.cpp
  layouts_test.cpp
  refusals_test.cpp)
# Of an operator's kernels on a device.
set(KEYWAY_SUITE_CUDA_TESTS cuda_test.cpp)
set(KEYWAY_SUITE_SOURCES
  boxed_example.cpp
  device.cpp
  differences.cpp
  differentiable.cpp
  gradient_exceptions.cpp
  samples.cpp
  tensor_arguments.cpp
  test_values.cpp)
# What else they consist of, by its path in the tree.
set(KEYWAY_SUITE_LIBRARY_SOURCES
  tests/ops/in_library/main.cpp
  tools/op_examples/arguments.cpp
  tools/op_examples/literal.cpp)
set(KEYWAY_SUITE_HEADERS
  tests/backends/cuda/has_device.h
  tests/campaign.h
  tests/error_texts.h
  tests/graph/replayed.h
  tests/ops/boxed_example.h
  tests/ops/device.h
  tests/ops/differentiable.h
  tests/ops/gradient_exceptions.h
  tests/ops/in_library/keyway/tests/catch.h
  tests/ops/op_cases.h
  tests/ops/samples.h
  tests/ops/tensor_arguments.h
  tests/ops/test_values.h
  tools/op_examples/arguments.h
  tools/op_examples/literal.h)
