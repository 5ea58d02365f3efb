#include <keyway/backends/common/foreach_lists.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <concepts>

namespace keyway::inline v1 {

ForeachLists::ForeachLists(std::initializer_list<List> lists, Copy copy) : lists_(lists), copy_(copy) {
  data_.reserve(tensors() * lists_.size());
  for (std::size_t l = 0; l < lists_.size(); ++l) {
    if (lists_[l].written && !lists_[l].tensors.empty()) written_ |= 1u << l;
  }
  for (std::size_t i = 0; i < tensors(); ++i) {
    const bool aligned = is_aligned(i);
    for (const List& list : lists_) {
      if (list.tensors.empty()) {
        data_.push_back(nullptr);
        continue;
      }
      TensorBase operand = list.tensors[i];
      if (!aligned) {
        operand = make_tensor(operand.sizes(), operand.dtype(), operand.device());
        copy_(list.tensors[i], operand);
        apart_.push_back({operand, &list.tensors[i], list.written});
      }
      data_.push_back(static_cast<char*>(operand.data_ptr()));
    }
  }
}

void ForeachLists::finish() const {
  for (const Apart& apart : apart_) {
    if (apart.written) copy_(apart.copy, *apart.of);
  }
}

bool ForeachLists::is_aligned(std::size_t tensor) const {
  const TensorBase& first = lists_.front().tensors[tensor];
  bool aligned = first.is_non_overlapping_and_dense();
  for (const List& list : lists_) {
    aligned = aligned && (list.tensors.empty() || list.tensors[tensor].strides() == first.strides());
  }
  return aligned;
}

void check_converts(const Scalar& scalar, ArrayRef<TensorBase> tensors) {
  for (const TensorBase& tensor : tensors) {
    visit_dtype<kNumberTypes>(tensor.dtype(), "check_converts", [&]<typename T>() {
      // Narrow types compute in float.
      if constexpr (NarrowFloatType<T>) {
        static_cast<void>(scalar.to<float>());
      } else if constexpr (std::same_as<T, complex<Half>>) {
        static_cast<void>(scalar.to<complex<float>>());
      } else {
        static_cast<void>(scalar.to<T>());
      }
    });
  }
}

}  // namespace keyway::inline v1
