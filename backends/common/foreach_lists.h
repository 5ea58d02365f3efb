// ForeachLists: the operands of a kernel that goes through several lists of tensors side by side.
#pragma once

#include <keyway/core/dtype/scalar.h>
#include <keyway/core/tensor/tensor_base.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace keyway::inline v1 {

// Tensors at one index of the lists come to the kernel as pieces of memory with one order of elements: where their
// strides differ or leave gaps, as row-major copies that finish() writes back.
class KEYWAY_API ForeachLists {
 public:
  struct List {
    ArrayRef<TensorBase> tensors;  // none: the list is absent
    bool written = true;
  };
  using Copy = void (*)(const TensorBase& from, const TensorBase& to);

  // Requires: the first list is there, and the others have its length and sizes, if they are there; they outlive this.
  ForeachLists(std::initializer_list<List> lists, Copy copy);

  std::size_t tensors() const { return lists_.front().tensors.size(); }
  Device device() const { return lists_.front().tensors[0].device(); }
  ScalarType dtype() const { return lists_.front().tensors[0].dtype(); }
  std::int64_t numel(std::size_t tensor) const { return lists_.front().tensors[tensor].numel(); }
  // Null if the list is absent.
  char* data(std::size_t list, std::size_t tensor) const { return data_[tensor * lists_.size() + list]; }
  // Bit i: list i.
  unsigned written() const { return written_; }
  void finish() const;

 private:
  struct Apart {
    TensorBase copy;
    const TensorBase* of;
    bool written;
  };

  bool is_aligned(std::size_t tensor) const;

  std::vector<List> lists_;
  std::vector<char*> data_;
  std::vector<Apart> apart_;
  unsigned written_ = 0;
  Copy copy_;
};

// For kernels that change several tensors by a number: what one of them cannot take is an error before any is changed
// (Value, as Scalar::to).
KEYWAY_API void check_converts(const Scalar& scalar, ArrayRef<TensorBase> tensors);

}  // namespace keyway::inline v1
