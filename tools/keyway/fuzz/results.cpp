#include <keyway/core/tensor/geometry.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/tools/keyway/fuzz/results.h>

#include <fmt/format.h>

namespace keyway::inline v1::tools {

namespace {

std::string with_strides(const TensorBase& tensor) {
  return describe(tensor) + " strides " + FormatArg(tensor.strides()).str();
}

std::string inconsistency_of(const TensorBase& tensor) {
  const auto dtype = static_cast<int>(tensor.dtype());
  if (dtype < 0 || dtype >= static_cast<int>(kNumScalarTypes)) return fmt::format("its dtype is {}", dtype);
  if (tensor.strides().size() != tensor.sizes().size()) return "it has more sizes than strides, or fewer";
  try {
    if (checked_numel(tensor.sizes()) != tensor.numel())
      return fmt::format("it says it has {} elements", tensor.numel());
    if (tensor.device().type() != DeviceType::CPU || tensor.numel() == 0) return {};
    const std::size_t bytes =
        checked_nbytes(tensor.sizes(), tensor.strides(), tensor.storage_offset(), tensor.itemsize());
    const std::size_t there = tensor.storage().nbytes();
    if (bytes > there) return fmt::format("it reaches over {} bytes of a storage of {}", bytes, there);
    if (tensor.data_ptr() == nullptr) return "it has elements and no data";
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

std::vector<TensorBase> tensors_of(const Stack& results) {
  std::vector<TensorBase> tensors;
  for (const IValue& result : results) {
    any_tensor(result, [&](const TensorBase& tensor) {
      tensors.push_back(tensor);
      return false;  // and go on
    });
  }
  return tensors;
}

std::string inconsistency(const Stack& results) {
  for (const TensorBase& tensor : tensors_of(results)) {
    const std::string text = inconsistency_of(tensor);
    if (!text.empty()) return with_strides(tensor) + ": " + text;
  }
  return {};
}

std::string metadata_difference(const Stack& meta, const Stack& results) {
  const std::vector<TensorBase> there = tensors_of(meta);
  const std::vector<TensorBase> here = tensors_of(results);
  if (there.size() != here.size()) return fmt::format("Meta gives {} tensors, the call {}", there.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) {
    const TensorBase &a = there[i], &b = here[i];
    if (a.sizes() == b.sizes() && a.dtype() == b.dtype() && a.strides() == b.strides()) continue;
    return fmt::format("Meta gives {}, the call {}", with_strides(a), with_strides(b));
  }
  return {};
}

}  // namespace keyway::inline v1::tools
