// Views whose elements are of another dtype: larger elements of several smaller ones, or the other way round.
#include <keyway/core/base/error.h>
#include <keyway/ops/rules/views.h>

namespace keyway::inline v1::rules {

namespace {

// Strides and offset of all but the last `kept` dimensions, counted in elements `ratio` times smaller.
void refine(DtypeViewGeometry& to, std::int64_t ratio, std::size_t kept) {
  for (std::size_t d = 0; d + kept < to.strides.size(); ++d) {
    // What overflows belongs to a dimension of size 1, or to a tensor without elements.
    if (__builtin_mul_overflow(to.strides[d], ratio, &to.strides[d])) to.strides[d] = 1;
  }
  KEYWAY_CHECK(!__builtin_mul_overflow(to.offset, ratio, &to.offset), "the storage offset {} is too large", to.offset);
}

// The same counted in elements `ratio` times larger. Errors: what begins within one.
void coarsen(DtypeViewGeometry& to, std::int64_t ratio, std::size_t kept) {
  for (std::size_t d = 0; d + kept < to.strides.size(); ++d) {
    KEYWAY_CHECK(to.strides[d] % ratio == 0, "stride {} of dimension {} is not divisible by {}", to.strides[d], d,
                 ratio);
    to.strides[d] /= ratio;
  }
  KEYWAY_CHECK(to.offset % ratio == 0, "the storage offset {} is not divisible by {}", to.offset, ratio);
  to.offset /= ratio;
}

// Memory of others may begin anywhere; allocators' is aligned for all.
void check_aligned(const TensorBase& self, const DtypeViewGeometry& to) {
  if (self.is_meta() || self.numel() == 0) return;
  const std::size_t bytes = element_size(to.dtype);
  KEYWAY_CHECK(reinterpret_cast<std::uintptr_t>(self.data_ptr()) % bytes == 0,
               "the memory begins at an address that is no multiple of the {} bytes of {}: make a copy first", bytes,
               to.dtype);
}

DtypeViewGeometry same_as(const TensorBase& self, ScalarType dtype) { return {alias(self), dtype}; }

}  // namespace

DtypeViewGeometry view_as_complex(const TensorBase& self) {
  DtypeViewGeometry to = same_as(self, to_complex(self.dtype()));
  to.sizes.pop_back();
  to.strides.pop_back();
  coarsen(to, 2, 0);
  check_aligned(self, to);
  return to;
}

DtypeViewGeometry view_as_real(const TensorBase& self) {
  KEYWAY_CHECK(self.dim() < kMaxDims, "a tensor has at most {} dimensions, and this one has them", kMaxDims);
  DtypeViewGeometry to = same_as(self, to_real(self.dtype()));
  refine(to, 2, 0);
  to.sizes.push_back(2);
  to.strides.push_back(1);
  checked_numel(to.sizes);
  return to;
}

DtypeViewGeometry view_dtype(const TensorBase& self, ScalarType dtype) {
  KEYWAY_CHECK_AS(Type, static_cast<std::size_t>(dtype) < kNumScalarTypes && element_size(dtype) > 0,
                  "dtype {} is none that a tensor can have", dtype);
  DtypeViewGeometry to = same_as(self, dtype);
  const auto from = static_cast<std::int64_t>(self.itemsize()), into = static_cast<std::int64_t>(element_size(dtype));
  if (from == into) return to;
  KEYWAY_CHECK(self.dim() > 0, "a tensor without dimensions cannot be viewed as {}, whose size is another", dtype);
  KEYWAY_CHECK(to.strides.back() == 1, "the last dimension has stride {}, but must have 1 to be viewed as {}",
               to.strides.back(), dtype);
  std::int64_t& size = to.sizes.back();
  if (from > into) {
    KEYWAY_CHECK(!__builtin_mul_overflow(size, from / into, &size), "the last dimension would be too large");
    refine(to, from / into, 1);
    checked_numel(to.sizes);
    return to;
  }
  KEYWAY_CHECK(size % (into / from) == 0, "the last dimension has size {}, which is not divisible by {}", size,
               into / from);
  size /= into / from;
  coarsen(to, into / from, 1);
  check_aligned(self, to);
  return to;
}

}  // namespace keyway::inline v1::rules
