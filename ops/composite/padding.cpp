#include <keyway/ops/all.h>
#include <keyway/ops/padding_composites.h>

#include <algorithm>

namespace keyway::inline v1::composite {

namespace {

// Of dimension `dim` of `dims`: how much comes before it and after it.
struct Border {
  std::int64_t before = 0, after = 0;
};
Border border_of(IntArrayRef pad, std::size_t dims, std::size_t dim) {
  const std::size_t at = 2 * (dims - 1 - dim);
  return at < pad.size() ? Border{pad[at], pad[at + 1]} : Border{};
}

// The size of dimension `dim` with its border.
std::int64_t size_with(Border border, std::size_t dim, std::int64_t size) {
  std::int64_t end = 0, result = 0;
  KEYWAY_CHECK(border.before != INT64_MIN && !__builtin_add_overflow(size, border.after, &end) &&
                   !__builtin_add_overflow(end, border.before, &result) && result >= 0,
               "dimension {} of size {} cannot have {} and {} elements more", dim, size, border.before, border.after);
  return result;
}

void check_spatial(const Tensor& self, IntArrayRef pad, std::string_view mode) {
  const auto dims = static_cast<std::int64_t>(pad.size() / 2), others = self.dim() - dims;
  KEYWAY_CHECK_AS(NotImplemented, 1 <= dims && dims <= 3 && (others == 1 || others == 2),
                  "mode '{}' pads the last one to three dimensions of an input that has 1 or 2 more, not {} of {}",
                  mode, dims, self.dim());
}

// Which place of a dimension of `size` places each place of the padded one takes.
Tensor sources(std::string_view mode, std::int64_t dim, std::int64_t size, Border border, Device device) {
  const auto from = [device](std::int64_t first, std::int64_t end) {
    return keyway::arange(first, end, TensorOptions(device).dtype(kLong));
  };
  if (mode == "circular") {  // of what a negative border leaves
    const std::int64_t first = std::max<std::int64_t>(-border.before, 0);
    const std::int64_t kept = size - first - std::max<std::int64_t>(-border.after, 0);
    KEYWAY_CHECK(border.before <= kept && border.after <= kept,
                 "dimension {}, size {}, is not wrapped around more than once: {} and {}", dim, size, border.before,
                 border.after);
    const Tensor around =
        from(-std::max<std::int64_t>(border.before, 0), kept + std::max<std::int64_t>(border.after, 0));
    return keyway::where(around < 0, around + kept, keyway::where(around >= kept, around - kept, around)) + first;
  }
  const Tensor places = from(-border.before, size + border.after);
  if (mode == "reflect") {
    KEYWAY_CHECK(border.before < size && border.after < size,
                 "a reflection of dimension {}, size {}, is shorter than it, not {} and {}", dim, size, border.before,
                 border.after);
    const Tensor at = places.abs();
    return at - 2 * (at - (size - 1)).clamp(0);
  }
  KEYWAY_CHECK(size > 0, "dimension {} has no edge to repeat: it is empty", dim);
  return places.clamp(0, size - 1);
}

// With a border of places of `self` itself around its last dimensions.
Tensor pad_from_inside(const Tensor& self, IntArrayRef pad, std::string_view mode) {
  const std::size_t dims = self.sizes().size();
  Tensor result = self;
  bool changed = false;
  for (std::size_t d = dims; d-- > 0;) {
    const Border border = border_of(pad, dims, d);
    if (border.before == 0 && border.after == 0) continue;
    size_with(border, d, self.sizes()[d]);
    const auto dim = static_cast<std::int64_t>(d);
    result = result.index_select(dim, sources(mode, dim, self.sizes()[d], border, self.device()));
    changed = true;
  }
  return changed ? result : self.clone();
}

}  // namespace

Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value) {
  const std::size_t dims = self.sizes().size();
  Tensor inner = self;
  DimVector sizes(self.sizes());
  for (std::size_t d = 0; d < dims; ++d) {
    const auto [before, after] = border_of(pad, dims, d);
    const std::int64_t size = sizes[d];
    sizes[d] = size_with({before, after}, d, size);
    inner = inner.slice(static_cast<std::int64_t>(d), std::max<std::int64_t>(-before, 0),
                        std::max<std::int64_t>(after < 0 ? size + after : size, 0));
  }
  Tensor result = keyway::empty(sizes, self.options(), self.suggest_memory_format());
  if (result.numel() != inner.numel()) result.fill_(value);
  if (inner.numel() == 0) return result;
  Tensor place = result;
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t before = border_of(pad, dims, d).before;
    place = place.narrow(static_cast<std::int64_t>(d), before > 0 ? before : 0, inner.sizes()[d]);
  }
  place.copy_(inner);
  return result;
}

Tensor pad(const Tensor& self, IntArrayRef pad, std::string_view mode, std::optional<double> value) {
  if (mode == "constant") return keyway::constant_pad_nd(self, pad, value.value_or(0));
  KEYWAY_CHECK_AS(NotImplemented, mode == "reflect" || mode == "replicate" || mode == "circular",
                  "mode '{}' is none of 'constant', 'reflect', 'replicate' and 'circular'", mode);
  KEYWAY_CHECK(value.value_or(0) == 0, "mode '{}' takes no value", mode);
  check_spatial(self, pad, mode);
  const std::size_t dims = pad.size() / 2;
  if (mode == "reflect") {
    return dims == 1   ? keyway::reflection_pad1d(self, pad)
           : dims == 2 ? keyway::reflection_pad2d(self, pad)
                       : keyway::reflection_pad3d(self, pad);
  }
  if (mode == "replicate") {
    return dims == 1   ? keyway::replication_pad1d(self, pad)
           : dims == 2 ? keyway::replication_pad2d(self, pad)
                       : keyway::replication_pad3d(self, pad);
  }
  return pad_from_inside(self, pad, mode);
}

Tensor reflection_pad(const Tensor& self, IntArrayRef padding) { return pad_from_inside(self, padding, "reflect"); }

Tensor replication_pad(const Tensor& self, IntArrayRef padding) { return pad_from_inside(self, padding, "replicate"); }

}  // namespace keyway::inline v1::composite
