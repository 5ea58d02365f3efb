#include <keyway/nn/utils/rnn.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace keyway::inline v1::nn::utils::rnn {

namespace {

using Numbers = std::vector<std::int64_t>;

Numbers numbers_of(const Tensor& tensor) {
  const Tensor flat = tensor.to(kCPU, kLong).contiguous();
  return {flat.const_data_ptr<std::int64_t>(), flat.const_data_ptr<std::int64_t>() + flat.numel()};
}

Tensor tensor_of(const Numbers& numbers) {
  Tensor tensor = empty({static_cast<std::int64_t>(numbers.size())}, kLong);
  std::ranges::copy(numbers, tensor.data_ptr<std::int64_t>());
  return tensor;
}

// How many of `numbers` are greater.
std::int64_t count_above(const Numbers& numbers, std::int64_t least) {
  return std::ranges::count_if(numbers, [&](std::int64_t number) { return number > least; });
}

// `count` rows of the shape of those of `data`.
Tensor filling(const Tensor& data, std::int64_t count, double value) {
  Numbers sizes = data.sizes().vec();
  sizes[0] = count;
  return data.new_full(sizes, value);
}

void check_lengths(const Numbers& lengths, const Tensor& x) {
  KEYWAY_CHECK(static_cast<std::int64_t>(lengths.size()) == x.size(1),
               "pack_padded_sequence: there are {} lengths, but the batch is {}", lengths.size(), x.size(1));
  KEYWAY_CHECK(!lengths.empty() && std::ranges::min(lengths) > 0,
               "pack_padded_sequence: there must be lengths, and all must be greater than 0");
  KEYWAY_CHECK(std::ranges::is_sorted(lengths, std::greater()),
               "pack_padded_sequence: lengths must not grow; without enforce_sorted sequences are sorted");
  KEYWAY_CHECK(lengths[0] <= x.size(0), "pack_padded_sequence: a length is {}, but the sequences have {} elements",
               lengths[0], x.size(0));
}

}  // namespace

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices, Tensor unsorted_indices)
    : data_(std::move(data)),
      batch_sizes_(std::move(batch_sizes)),
      sorted_indices_(std::move(sorted_indices)),
      unsorted_indices_(std::move(unsorted_indices)) {
  KEYWAY_CHECK(batch_sizes_.is_cpu(), "PackedSequence: batch_sizes must be on the CPU");
  const Numbers sizes = numbers_of(batch_sizes_);
  const std::int64_t rows = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  KEYWAY_CHECK(
      std::ranges::all_of(sizes, [](std::int64_t size) { return size > 0; }) &&
          std::ranges::is_sorted(sizes, std::greater()) && rows == data_.size(0),
      "PackedSequence: batch_sizes must be positive, must not grow and must add up to the {} rows of data, but are "
      "{}",
      data_.size(0), IntArrayRef(sizes));
  if (!unsorted_indices_.defined() && sorted_indices_.defined()) {
    unsorted_indices_ = invert_permutation(sorted_indices_);
  }
}

Tensor invert_permutation(const Tensor& permutation) {
  const Tensor indices = arange(permutation.numel(), TensorOptions(permutation.device()).dtype(kLong));
  return empty_like(indices).scatter_(0, permutation, indices);
}

PackedSequence pack_padded_sequence(const Tensor& input, const Tensor& lengths, bool batch_first, bool enforce_sorted) {
  KEYWAY_CHECK(lengths.is_cpu(), "pack_padded_sequence: lengths must be on the CPU");
  Tensor x = input, given = lengths, order;
  if (!enforce_sorted) {
    std::tie(given, order) = sort(lengths, -1, /*descending=*/true);
    order = order.to(input.device(), kLong);
    x = input.index_select(batch_first ? 0 : 1, order);
  }
  if (batch_first) x = x.transpose(0, 1);
  const Numbers numbers = numbers_of(given);
  check_lengths(numbers, x);
  Numbers sizes;
  std::vector<Tensor> parts;
  for (std::int64_t t = 0; t < numbers[0]; ++t) {
    sizes.push_back(count_above(numbers, t));
    parts.push_back(x.select(0, t).narrow(0, 0, sizes.back()));
  }
  return PackedSequence(cat(parts), tensor_of(sizes), order);
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first, double padding_value,
                                               std::optional<std::int64_t> total_length) {
  const Numbers sizes = numbers_of(sequence.batch_sizes());
  const auto length = static_cast<std::int64_t>(sizes.size());
  KEYWAY_CHECK(length > 0, "pad_packed_sequence: the packed sequence is empty: there is no batch to fill up");
  KEYWAY_CHECK(total_length.value_or(length) >= length,
               "pad_packed_sequence: total_length is {}, but the longest sequence has {} elements", *total_length,
               length);
  const Tensor& data = sequence.data();
  std::vector<Tensor> steps;
  std::int64_t at = 0;
  for (const std::int64_t size : sizes) {
    const Tensor part = data.narrow(0, at, size);
    steps.push_back(size == sizes[0] ? part : cat({part, filling(data, sizes[0] - size, padding_value)}));
    at += size;
  }
  for (std::int64_t t = length; t < total_length.value_or(length); ++t) {
    steps.push_back(filling(data, sizes[0], padding_value));
  }
  Numbers counts;
  for (std::int64_t i = 0; i < sizes[0]; ++i) counts.push_back(count_above(sizes, i));
  Tensor padded = stack(steps), lengths = tensor_of(counts);
  if (sequence.unsorted_indices().defined()) {
    padded = padded.index_select(1, sequence.unsorted_indices());
    lengths = lengths.index_select(0, sequence.unsorted_indices().to(kCPU, kLong));
  }
  return {batch_first ? padded.transpose(0, 1) : padded, lengths};
}

Tensor pad_sequence(const std::vector<Tensor>& sequences, bool batch_first, double padding_value) {
  KEYWAY_CHECK(!sequences.empty(), "pad_sequence: there are no sequences");
  std::int64_t longest = 0;
  for (const Tensor& sequence : sequences) longest = std::max(longest, sequence.size(0));
  std::vector<Tensor> rows;
  for (const Tensor& sequence : sequences) {
    rows.push_back(cat({sequence, filling(sequence, longest - sequence.size(0), padding_value)}));
  }
  return stack(rows, batch_first ? 0 : 1);
}

std::vector<Tensor> unpad_sequence(const Tensor& padded_sequences, const Tensor& lengths, bool batch_first) {
  const Tensor x = batch_first ? padded_sequences : padded_sequences.transpose(0, 1);
  std::vector<Tensor> sequences;
  for (const std::int64_t length : numbers_of(lengths)) {
    sequences.push_back(x.select(0, static_cast<std::int64_t>(sequences.size())).narrow(0, 0, length));
  }
  return sequences;
}

PackedSequence pack_sequence(const std::vector<Tensor>& sequences, bool enforce_sorted) {
  Numbers lengths;
  for (const Tensor& sequence : sequences) lengths.push_back(sequence.size(0));
  return pack_padded_sequence(pad_sequence(sequences), tensor_of(lengths), false, enforce_sorted);
}

std::vector<Tensor> unpack_sequence(const PackedSequence& packed_sequences) {
  const auto [padded, lengths] = pad_packed_sequence(packed_sequences, /*batch_first=*/true);
  return unpad_sequence(padded, lengths, /*batch_first=*/true);
}

}  // namespace keyway::inline v1::nn::utils::rnn
