// A product of bfloat16 matrices by oneDNN, summed in float32: made once for a shape and kept; run on the calling
// thread alone.
#pragma once

#include <cstdint>
#include <memory>

namespace keyway::inline v1::onednn {

// Everything that a product depends on: [m, k] times [k, n]. Of each operand one stride is 1.
struct ProductKey {
  std::int64_t m, n, k;
  std::int64_t a_row, a_column;
  std::int64_t b_row, b_column;
  std::int64_t c_row;
  bool rounds;  // the result is bfloat16, else float32; its rows are dense

  friend bool operator==(const ProductKey&, const ProductKey&) = default;
  std::size_t hash() const;
};

class Product {
 public:
  // From a cache of those used last. Null if oneDNN has none that is fit (refuse_unfit).
  static std::shared_ptr<const Product> get(const ProductKey& key);
  explicit Product(const ProductKey& key);
  ~Product();

  // Threads may run it at once.
  void run(const void* a, const void* b, void* c) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace keyway::inline v1::onednn
