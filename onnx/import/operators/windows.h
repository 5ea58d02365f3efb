// What convolutions and pooling say of their windows: sizes, strides, dilations and padding.
#pragma once

#include <keyway/onnx/import/program/call.h>

#include <cstdint>
#include <vector>

namespace keyway::inline v1::onnx {

struct Windows {
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> dilations;
  std::vector<std::int64_t> before;  // padding
  std::vector<std::int64_t> after;

  std::size_t dims() const { return kernel.size(); }
  // How many elements a window reaches over.
  std::int64_t extent(std::size_t dim) const { return (kernel[dim] - 1) * dilations[dim] + 1; }
  bool is_padded_evenly() const { return before == after; }
  bool is_dilated() const;
  // The padding as constant_pad_nd takes it.
  std::vector<std::int64_t> padding() const;
};

// The windows of a call over an input with dimensions of a batch and of channels, whose kernel has these sizes. Throws
// keyway::Error if lengths differ or numbers are not positive.
Windows windows_of(const Call& call, IntArrayRef input, std::vector<std::int64_t> kernel);

// An attribute for each dimension, all of `otherwise` if there is none.
std::vector<std::int64_t> list_for(const Call& call, std::string_view name, std::size_t dims, std::int64_t otherwise);

}  // namespace keyway::inline v1::onnx
