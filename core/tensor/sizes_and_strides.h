// SizesAndStrides: a tensor's geometry; five dimensions without an allocation.
#pragma once

#include <keyway/core/base/array_ref.h>

#include <cstdint>
#include <cstring>

namespace keyway::inline v1 {

class SizesAndStrides {
 public:
  static constexpr std::size_t kInline = 5;

  SizesAndStrides() {}
  SizesAndStrides(const SizesAndStrides&) = delete;
  SizesAndStrides& operator=(const SizesAndStrides&) = delete;
  ~SizesAndStrides() {
    if (rank_ > kInline) delete[] heap_;
  }

  std::size_t rank() const { return rank_; }
  IntArrayRef sizes() const { return {begin(), rank_}; }
  IntArrayRef strides() const { return {begin() + half(), rank_}; }
  // Requires: d < rank().
  std::int64_t size(std::size_t d) const { return begin()[d]; }
  std::int64_t stride(std::size_t d) const { return begin()[half() + d]; }

  // Requires: equal lengths, at most 64. The lists may be this object's own.
  void set(IntArrayRef sizes, IntArrayRef strides) {
    const std::size_t rank = sizes.size();
    if (rank <= kInline && rank_ <= kInline) [[likely]] {
      // Copied element by element: shorter than a call of memmove for the usual two or three.
      for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t stride = strides[d];
        store_[d] = sizes[d];
        store_[kInline + d] = stride;
      }
      rank_ = static_cast<std::uint8_t>(rank);
      return;
    }
    set_slowly(sizes, strides);
  }

 private:
  std::size_t half() const { return rank_ > kInline ? rank_ : kInline; }
  const std::int64_t* begin() const { return rank_ > kInline ? heap_ : store_; }

  void set_slowly(IntArrayRef sizes, IntArrayRef strides) {
    const std::size_t rank = sizes.size();
    std::int64_t copy[2 * 64];
    for (std::size_t d = 0; d < rank; ++d) {  // not memcpy: an empty list may have no address
      copy[d] = sizes[d];
      copy[rank + d] = strides[d];
    }
    std::int64_t* fresh = rank > kInline ? new std::int64_t[2 * rank] : nullptr;
    if (rank_ > kInline) delete[] heap_;
    if (fresh != nullptr) {
      heap_ = fresh;
      std::memcpy(heap_, copy, 2 * rank * sizeof(std::int64_t));
    } else {
      std::memcpy(store_, copy, rank * sizeof(std::int64_t));
      std::memcpy(store_ + kInline, copy + rank, rank * sizeof(std::int64_t));
    }
    rank_ = static_cast<std::uint8_t>(rank);
  }

  union {
    std::int64_t store_[2 * kInline];
    std::int64_t* heap_;
  };
  std::uint8_t rank_ = 0;
};

}  // namespace keyway::inline v1
