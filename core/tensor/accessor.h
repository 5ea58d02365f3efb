// TensorAccessor: the elements of a tensor by brackets, a[i][j], for loops over a dtype and a number of dimensions that
// are known while compiling. TensorBase::accessor() makes them. Indices are not checked.
#pragma once

#include <keyway/core/base/array_ref.h>
#include <keyway/core/base/macros.h>

#include <cstddef>
#include <cstdint>

namespace keyway::inline v1 {

// What an accessor points with.
template <typename T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
// A promise that nothing else is written or read through another pointer.
template <typename T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};

// Refers to sizes and strides that somebody else keeps.
template <typename T, std::size_t N, template <typename> class PtrTraits = DefaultPtrTraits,
          typename index_t = std::int64_t>
class TensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;

  KEYWAY_HD TensorAccessor(PtrType data, const index_t* sizes, const index_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}

  KEYWAY_HD PtrType data() const { return data_; }
  KEYWAY_HD index_t size(index_t dim) const { return sizes_[dim]; }
  KEYWAY_HD index_t stride(index_t dim) const { return strides_[dim]; }
  ArrayRef<index_t> sizes() const { return {sizes_, N}; }
  ArrayRef<index_t> strides() const { return {strides_, N}; }

  // An element of one dimension, and an accessor of one dimension less otherwise.
  KEYWAY_HD decltype(auto) operator[](index_t i) const {
    if constexpr (N == 1) {
      return (data_[strides_[0] * i]);
    } else {
      return TensorAccessor<T, N - 1, PtrTraits, index_t>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
    }
  }

 private:
  PtrType data_;
  const index_t* sizes_;
  const index_t* strides_;
};

// Has sizes and strides of its own, so that it can be handed to a kernel on a device by value.
template <typename T, std::size_t N, template <typename> class PtrTraits = DefaultPtrTraits,
          typename index_t = std::int64_t>
class GenericPackedTensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;

  template <typename Index>
  KEYWAY_HD GenericPackedTensorAccessor(PtrType data, const Index* sizes, const Index* strides) : data_(data) {
    for (std::size_t i = 0; i < N; ++i) {
      sizes_[i] = static_cast<index_t>(sizes[i]);
      strides_[i] = static_cast<index_t>(strides[i]);
    }
  }

  KEYWAY_HD PtrType data() const { return data_; }
  KEYWAY_HD index_t size(index_t dim) const { return sizes_[dim]; }
  KEYWAY_HD index_t stride(index_t dim) const { return strides_[dim]; }
  KEYWAY_HD decltype(auto) operator[](index_t i) const {
    return TensorAccessor<T, N, PtrTraits, index_t>(data_, sizes_, strides_)[i];
  }

 private:
  PtrType data_;
  index_t sizes_[N];
  index_t strides_[N];
};

template <typename T, std::size_t N, template <typename> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, std::int32_t>;
template <typename T, std::size_t N, template <typename> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, std::int64_t>;

}  // namespace keyway::inline v1
