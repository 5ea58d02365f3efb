// Sequences of different lengths: padded into one tensor, and packed into one without padding.
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/tensor.h>

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

namespace keyway::inline v1::nn::utils::rnn {

// Sequences sorted by length: `data` has the first elements of all, then their second ones, ...; `batch_sizes`, int64
// on the host, says how many there are of each. `sorted_indices` are the positions that the sequences had before,
// `unsorted_indices` the way back; both undefined where they were sorted. Made by pack_padded_sequence() and
// pack_sequence().
class KEYWAY_API PackedSequence {
 public:
  // Throws keyway::Error for batch sizes that are not positive, that grow, or that do not add up to the rows of `data`.
  PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {}, Tensor unsorted_indices = {});

  const Tensor& data() const { return data_; }
  const Tensor& batch_sizes() const { return batch_sizes_; }
  const Tensor& sorted_indices() const { return sorted_indices_; }
  const Tensor& unsorted_indices() const { return unsorted_indices_; }

 private:
  Tensor data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

// Where each index goes to: int64 [n] to [n].
KEYWAY_API Tensor invert_permutation(const Tensor& permutation);

// Packs sequences [length, batch, ...], or [batch, length, ...] if `batch_first`, of these lengths, int64 [batch] on
// the host. With `enforce_sorted` they do not grow; without it sequences are sorted. Throws keyway::Error for lengths
// that are not one for each sequence, not positive, too long or not sorted.
KEYWAY_API PackedSequence pack_padded_sequence(const Tensor& input, const Tensor& lengths, bool batch_first = false,
                                               bool enforce_sorted = true);
// The sequences [length, batch, ...], or [batch, length, ...] if `batch_first`, filled up with `padding_value`, in the
// order that they had before packing; and their lengths, int64 on the host. The length is that of the longest one
// unless `total_length` is given. Throws keyway::Error if that is less, and for a packed sequence without elements.
KEYWAY_API std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first = false,
                                                          double padding_value = 0,
                                                          std::optional<std::int64_t> total_length = std::nullopt);
// Tensors [length_i, ...] as one, [longest, batch, ...], or [batch, longest, ...] if `batch_first`, filled up behind
// them. Throws keyway::Error for no sequences.
KEYWAY_API Tensor pad_sequence(const std::vector<Tensor>& sequences, bool batch_first = false,
                               double padding_value = 0);
// What pad_sequence() was given: the first elements, as many as `lengths` says, of each sequence.
KEYWAY_API std::vector<Tensor> unpad_sequence(const Tensor& padded_sequences, const Tensor& lengths,
                                              bool batch_first = false);
// Packs tensors [length_i, ...]. With `enforce_sorted` they do not become longer; without it they are sorted.
KEYWAY_API PackedSequence pack_sequence(const std::vector<Tensor>& sequences, bool enforce_sorted = true);
// What pack_sequence() was given.
KEYWAY_API std::vector<Tensor> unpack_sequence(const PackedSequence& packed_sequences);

}  // namespace keyway::inline v1::nn::utils::rnn
