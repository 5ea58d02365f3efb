// Programs that are run, captured and replayed: the same bits, in the same memory.
#pragma once

#include <keyway/graph/capture.h>
#include <keyway/graph/run.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace keyway::inline v1::testing {

// Its results. What it is given it may write to.
using Program = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

// A copy of tensors, with their strides, and with the memory that they share shared.
inline std::vector<Tensor> copies_of(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> copies;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    std::size_t first = 0;
    while (!tensors[first].is_alias_of(tensor)) ++first;
    if (first < i && tensors[first].is_same(tensor)) {
      copies.push_back(copies[first]);
      continue;
    }
    if (first < i) {
      copies.push_back(Tensor(make_view(copies[first], tensor.sizes(), tensor.strides(), tensor.storage_offset())));
      continue;
    }
    // Of all of its memory, so that others may lie elsewhere in it.
    const std::size_t bytes = tensor.storage().nbytes();
    const Storage storage = make_storage(bytes, DeviceType::CPU);
    if (bytes != 0) std::memcpy(storage.data(), tensor.storage().data(), bytes);
    const auto count = static_cast<std::int64_t>(bytes / tensor.itemsize());
    const TensorBase whole(
        make_intrusive<TensorImpl>(storage, tensor.dtype(), IntArrayRef({count}), IntArrayRef({1}), count, true));
    copies.push_back(Tensor(make_view(whole, tensor.sizes(), tensor.strides(), tensor.storage_offset())));
    if (tensor.requires_grad()) copies.back().requires_grad_();
  }
  return copies;
}

// Where tensors differ from others, in a bit of their elements, in geometry, dtype or in which of them share memory;
// empty if nowhere.
inline std::string bit_difference(const std::vector<Tensor>& tensors, const std::vector<Tensor>& expected) {
  if (tensors.size() != expected.size()) return std::to_string(tensors.size()) + " tensors";
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor &a = tensors[i], &b = expected[i];
    const std::string at = "tensor " + std::to_string(i) + ": ";
    if (a.defined() != b.defined()) return at + (a.defined() ? "defined" : "undefined");
    if (!a.defined()) continue;
    if (describe(a) != describe(b)) return at + describe(a) + ", not " + describe(b);
    if (a.strides() != b.strides() || a.storage_offset() != b.storage_offset()) return at + "strides or offset";
    const Tensor a_rows = a.detach().contiguous(), b_rows = b.detach().contiguous();
    if (a.numel() != 0 && std::memcmp(a_rows.const_data_ptr(), b_rows.const_data_ptr(), a.nbytes()) != 0)
      return at + "its elements";
    for (std::size_t j = 0; j < i; ++j) {
      if (!tensors[j].defined()) continue;
      if (a.is_alias_of(tensors[j]) != b.is_alias_of(expected[j])) return at + "shares memory with another, or not";
      if (a.is_same(tensors[j]) != b.is_same(expected[j])) return at + "is another, or not";
    }
  }
  return {};
}

// Inputs and results, one behind the other.
inline std::vector<Tensor> joined(std::vector<Tensor> inputs, const std::vector<Tensor>& results) {
  inputs.insert(inputs.end(), results.begin(), results.end());
  return inputs;
}

inline graph::Graph captured(const Program& program, const std::vector<Tensor>& inputs,
                             graph::Level level = graph::Level::Executed) {
  graph::Capture capture(level);
  for (const Tensor& input : inputs) capture.add_argument(input);
  return capture.finish(program(inputs));
}

}  // namespace keyway::inline v1::testing
