// Tensors of random geometry, and the slow and certain way to walk over them.
#pragma once

#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/core/tensor/tensor_base.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace keyway::inline v1::testing {

using Rng = std::mt19937_64;
using Sizes = std::vector<std::int64_t>;

inline std::int64_t random_int(Rng& rng, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(rng);
}

// Dimensions that meet every tail of every vector loop; up to about max_numel elements.
inline Sizes random_sizes(Rng& rng, std::int64_t rank, std::int64_t max_numel = 9000) {
  constexpr std::int64_t kDims[] = {0, 1, 2, 3, 7, 13, 17, 31, 33, 63, 65, 127, 129};
  Sizes sizes;
  std::int64_t numel = 1;
  for (std::int64_t d = 0; d < rank; ++d) {
    std::int64_t size = kDims[random_int(rng, random_int(rng, 0, 9) == 0 ? 0 : 1, 12)];
    if (numel * size > max_numel) size = random_int(rng, 1, 3);
    sizes.push_back(size);
    numel *= std::max<std::int64_t>(size, 1);
  }
  return sizes;
}

enum class Expand { No, Yes };

// Uninitialised, with a random order of dimensions, gaps and an offset; some dimensions expanded (stride 0)
// if asked.
inline TensorBase random_geometry(Rng& rng, const Sizes& sizes, ScalarType dtype, Expand expand = Expand::No) {
  if (random_int(rng, 0, 3) == 0) return make_tensor(sizes, dtype, DeviceType::CPU);
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), rng);
  Sizes strides(sizes.size());
  std::int64_t next = 1;
  for (const std::size_t d : order) {
    if (sizes[d] > 1 && random_int(rng, 0, 3) == 0) next *= random_int(rng, 1, 2);
    if (expand == Expand::Yes && random_int(rng, 0, 3) == 0) {
      strides[d] = 0;
      continue;
    }
    strides[d] = next;
    if (sizes[d] > 1) next *= sizes[d] + random_int(rng, 0, 1);
  }
  const std::int64_t offset = random_int(rng, 0, 5);
  const Sizes flat{next + offset};
  return make_view(make_tensor(flat, dtype, DeviceType::CPU), sizes, strides, offset);
}

// Calls f(index) for every index of a shape, in row-major order.
template <typename F>
void each_index(const Sizes& sizes, F f) {
  Sizes index(sizes.size(), 0);
  for (const std::int64_t size : sizes) {
    if (size == 0) return;
  }
  for (;;) {
    f(index);
    std::size_t d = sizes.size();
    while (d > 0 && ++index[d - 1] == sizes[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

// The element of `tensor` at an index of a shape that it broadcasts to.
inline void* element_at(const TensorBase& tensor, const Sizes& index) {
  std::int64_t offset = 0;
  const std::size_t lead = index.size() - tensor.sizes().size();
  for (std::size_t d = 0; d < tensor.sizes().size(); ++d) {
    if (tensor.sizes()[d] != 1) offset += index[lead + d] * tensor.strides()[d];
  }
  return static_cast<char*>(tensor.data_ptr()) + offset * static_cast<std::int64_t>(tensor.itemsize());
}
template <typename T>
T& element(const TensorBase& tensor, const Sizes& index) {
  return *static_cast<T*>(element_at(tensor, index));
}

// Small integers as any dtype, so that sums and products are exact.
template <typename T>
T small_value(Rng& rng, std::int64_t low = -4, std::int64_t high = 4) {
  if constexpr (kIsComplex<T>) {
    using Part = typename T::value_type;
    return T(Part(static_cast<float>(random_int(rng, low, high))),
             Part(static_cast<float>(random_int(rng, low, high))));
  } else if constexpr (std::same_as<T, bool>) {
    return random_int(rng, 0, 1) == 1;
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(random_int(rng, low, high));
  } else {
    return T(static_cast<float>(random_int(rng, low, high)));
  }
}

// Fills all of a tensor's storage, also the gaps, which nobody may read or write.
template <typename T, typename Make>
void fill_storage(const TensorBase& tensor, Make make) {
  T* data = static_cast<T*>(tensor.storage().data());
  const std::size_t n = tensor.storage().nbytes() / sizeof(T);
  for (std::size_t i = 0; i < n; ++i) data[i] = make();
}

// A copy of all bytes of the storage.
inline std::vector<char> storage_bytes(const TensorBase& tensor) {
  const char* data = static_cast<const char*>(tensor.storage().data());
  return std::vector<char>(data, data + tensor.storage().nbytes());
}

}  // namespace keyway::inline v1::testing
