// Packed sequences; a recurrent layer over them against one over each sequence by itself.
#include <keyway/nn/modules/rnn.h>
#include <keyway/nn/utils/convert_parameters.h>
#include <keyway/nn/utils/rnn.h>
#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

using namespace keyway;
using namespace keyway::nn::utils;
using keyway::testing::error_of;
using keyway::testing::exact;
using keyway::testing::largest_difference;
using keyway::testing::some_tensor;
using keyway::testing::tensor_of;
using keyway::testing::values_of;

TEST_CASE("sequences are packed by step, longest first, and come back as they were") {
  const std::vector<Tensor> sequences = {tensor_of({1, 2}, {2}), tensor_of({3, 4, 5}, {3}), tensor_of({6}, {1})};
  const rnn::PackedSequence packed = rnn::pack_sequence(sequences, /*enforce_sorted=*/false);
  CHECK(values_of(packed.data()) == std::vector<double>{3, 1, 6, 4, 2, 5});
  CHECK(values_of(packed.batch_sizes()) == std::vector<double>{3, 2, 1});
  const auto [padded, lengths] = rnn::pad_packed_sequence(packed, /*batch_first=*/true, /*padding_value=*/-1, 4);
  CHECK(values_of(padded) == std::vector<double>{1, 2, -1, -1, 3, 4, 5, -1, 6, -1, -1, -1});
  CHECK(values_of(lengths) == std::vector<double>{2, 3, 1});
  const std::vector<Tensor> back = rnn::unpack_sequence(packed);
  for (std::size_t i = 0; i < 3; ++i) CHECK(values_of(back[i]) == values_of(sequences[i]));
  CHECK(error_of([&] { rnn::pack_sequence(sequences); }) ==
        "pack_padded_sequence: lengths must not grow; without enforce_sorted sequences are sorted");
}

TEST_CASE("a layer over packed sequences gives what it gives over each") {
  const auto lstm = exact(nn::LSTM(nn::LSTMOptions(3, 4).bidirectional(true)));
  const std::vector<Tensor> sequences = {some_tensor({2, 3}, 1), some_tensor({4, 3}, 2)};
  const auto [packed, state] = lstm->forward_with_packed_input(rnn::pack_sequence(sequences, false));
  const Tensor padded = std::get<0>(rnn::pad_packed_sequence(packed, true));
  for (std::size_t i = 0; i < 2; ++i) {
    const auto [alone, last] = lstm->forward(sequences[i]);
    const auto index = static_cast<std::int64_t>(i);
    const Tensor together = padded.select(0, index).narrow(0, 0, sequences[i].size(0));
    CHECK(largest_difference(values_of(together), values_of(alone)) < 1e-14);
    CHECK(largest_difference(values_of(std::get<0>(state).select(1, index)), values_of(std::get<0>(last))) < 1e-14);
  }
}

TEST_CASE("parameters become a vector and come back") {
  const std::vector<Tensor> parameters = {some_tensor({2, 3}, 1), some_tensor({4}, 2)};
  const Tensor vector = parameters_to_vector(parameters);
  CHECK(vector.sizes() == IntArrayRef({10}));
  const std::vector<Tensor> others = {zeros({2, 3}, kDouble), zeros({4}, kDouble)};
  vector_to_parameters(vector, others);
  CHECK(values_of(others[0]) == values_of(parameters[0]));
  CHECK(values_of(others[1]) == values_of(parameters[1]));
}

TEST_CASE("a vector that is too short is refused, and no parameter has changed") {
  const std::vector<Tensor> parameters = {zeros({2, 3}, kDouble), zeros({4}, kDouble)};
  CHECK(error_of([&] { vector_to_parameters(ones({9}, kDouble), parameters); }) ==
        "vector_to_parameters: the vector has shape [9], but the parameters have 10 elements");
  CHECK(values_of(parameters[0]) == std::vector<double>(6, 0));
}

TEST_CASE("a packed sequence without elements is refused") {
  const rnn::PackedSequence none(zeros({0, 3}), zeros({0}, kLong));
  CHECK(error_of([&] { rnn::pad_packed_sequence(none); }) ==
        "pad_packed_sequence: the packed sequence is empty: there is no batch to fill up");
}
