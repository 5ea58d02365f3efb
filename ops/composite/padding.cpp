#include <keyway/ops/all.h>
#include <keyway/ops/composite/opmath.h>
#include <keyway/ops/padding_composites.h>

#include <algorithm>
#include <vector>

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

// What a border that is filled from inside may be at most.
void check_border(Border border, std::size_t dim, std::int64_t size, std::string_view mode) {
  size_with(border, dim, size);
  if (mode == "reflect") {
    KEYWAY_CHECK(border.before < size && border.after < size,
                 "a reflection of dimension {}, size {}, is shorter than it, not {} and {}", dim, size, border.before,
                 border.after);
  } else if (mode == "circular") {  // of what a negative border leaves
    const std::int64_t kept = size + std::min<std::int64_t>(border.before, 0) + std::min<std::int64_t>(border.after, 0);
    KEYWAY_CHECK(border.before <= kept && border.after <= kept,
                 "dimension {}, size {}, is not wrapped around more than once: {} and {}", dim, size, border.before,
                 border.after);
  } else {
    KEYWAY_CHECK(size > 0, "dimension {} has no edge to repeat: it is empty", dim);
  }
}

// What pads says it too, before it calls the operator: an error is to name what was called.
void check_borders(IntArrayRef sizes, IntArrayRef pad, std::string_view mode) {
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const Border border = border_of(pad, sizes.size(), d);
    if (border.before != 0 || border.after != 0) check_border(border, d, sizes[d], mode);
  }
}

// `pad` of what comes to it, and of what goes.
DimVector grown(IntArrayRef pad) {
  DimVector part(pad);
  for (std::int64_t& n : part) n = std::max<std::int64_t>(n, 0);
  return part;
}
DimVector shrunk(IntArrayRef pad) {
  DimVector part(pad);
  for (std::int64_t& n : part) n = std::min<std::int64_t>(n, 0);
  return part;
}

DimVector sizes_with(IntArrayRef sizes, IntArrayRef pad) {
  DimVector result(sizes);
  for (std::size_t d = 0; d < sizes.size(); ++d) result[d] = size_with(border_of(pad, sizes.size(), d), d, sizes[d]);
  return result;
}

// Borders around `whole`, as much as `pad` says, none negative, each filled from inside.
class Borders {
 public:
  Borders(const Tensor& whole, IntArrayRef pad, std::string_view mode)
      : whole_(whole), pad_(pad), mode_(mode), dims_(whole.sizes().size()) {}

  // All but the borders.
  Tensor inside() const { return inside(dims_); }

  // Those of the last dimension first: those of the others go over them.
  void fill() const {
    for (std::size_t d = dims_; d-- > 0;) {
      for (const Strip& strip : strips(d)) strip.border.copy_(mirrored(strip.source, d));
    }
  }
  // Adds them to what they are filled from: the transpose of fill().
  void fold() const {
    for (std::size_t d = 0; d < dims_; ++d) {
      for (Strip& strip : strips(d)) {
        const bool edge = strip.source.size(static_cast<std::int64_t>(d)) == 1;
        strip.source.add_(edge ? strip.border.sum(static_cast<std::int64_t>(d), true) : mirrored(strip.border, d));
      }
    }
  }

 private:
  struct Strip {
    Tensor border, source;
  };

  Border border(std::size_t d) const { return border_of(pad_, dims_, d); }
  // Without the borders of the first dimensions, `end` of them.
  Tensor inside(std::size_t end) const {
    Tensor region = whole_;
    for (std::size_t d = 0; d < end; ++d) {
      const auto [before, after] = border(d);
      region = region.narrow(static_cast<std::int64_t>(d), before, region.sizes()[d] - before - after);
    }
    return region;
  }
  Tensor mirrored(const Tensor& strip, std::size_t d) const {
    const auto dim = static_cast<std::int64_t>(d);
    return mode_ == "reflect" && strip.size(dim) > 1 ? strip.flip(IntArrayRef{dim}) : strip;
  }
  // Dimension d's, and what they are filled from.
  std::vector<Strip> strips(std::size_t d) const {
    const auto [before, after] = border(d);
    const auto dim = static_cast<std::int64_t>(d);
    const Tensor region = inside(d);
    const std::int64_t end = region.size(dim) - after;  // of what is inside, which begins at `before`
    const bool reflects = mode_ == "reflect", wraps = mode_ == "circular";
    std::vector<Strip> found;
    const auto add = [&](std::int64_t at, std::int64_t length, std::int64_t from) {
      if (length > 0) {
        found.push_back({region.narrow(dim, at, length), region.narrow(dim, from, reflects || wraps ? length : 1)});
      }
    };
    add(0, before, reflects ? before + 1 : wraps ? end - before : before);
    add(end, after, reflects ? end - 1 - after : wraps ? before : end - 1);
    return found;
  }

  Tensor whole_;
  IntArrayRef pad_;
  std::string_view mode_;
  std::size_t dims_;
};

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
  Tensor target = result;
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t before = border_of(pad, dims, d).before;
    target = target.narrow(static_cast<std::int64_t>(d), before > 0 ? before : 0, inner.sizes()[d]);
  }
  target.copy_(inner);
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
  check_borders(self.sizes(), pad, mode);
  return keyway::_pad_from_inside(self, pad, mode);
}

Tensor reflection_pad(const Tensor& self, IntArrayRef padding) {
  check_borders(self.sizes(), padding, "reflect");
  return keyway::_pad_from_inside(self, padding, "reflect");
}

Tensor replication_pad(const Tensor& self, IntArrayRef padding) {
  check_borders(self.sizes(), padding, "replicate");
  return keyway::_pad_from_inside(self, padding, "replicate");
}

// What goes around a circle is what a negative border leaves; mirrors and edges are those of all of `self`.
Tensor pad_from_inside(const Tensor& self, IntArrayRef pad, std::string_view mode) {
  check_borders(self.sizes(), pad, mode);
  const DimVector more = grown(pad), less = shrunk(pad);
  const bool wraps = mode == "circular";
  const Tensor inner = wraps ? keyway::constant_pad_nd(self, less) : self;
  const Tensor whole = keyway::empty(sizes_with(inner.sizes(), more), self.options(), self.suggest_memory_format());
  const Borders borders(whole, more, mode);
  borders.inside().copy_(inner);
  borders.fill();
  return wraps || less == DimVector(less.size(), 0) ? whole : keyway::constant_pad_nd(whole, less);
}

Tensor pad_from_inside_backward(const Tensor& grad_output, IntArrayRef input_sizes, IntArrayRef pad,
                                std::string_view mode) {
  check_borders(input_sizes, pad, mode);
  KEYWAY_CHECK(grad_output.sizes() == IntArrayRef(sizes_with(input_sizes, pad)),
               "grad_output has shape {}, but what it is the gradient of has shape {}", grad_output.sizes(),
               IntArrayRef(sizes_with(input_sizes, pad)));
  DimVector back = shrunk(pad);
  for (std::int64_t& n : back) n = -n;
  const DimVector more = grown(pad);
  const bool wraps = mode == "circular";
  // Borders of one dimension after the other are added, and the sums rounded once.
  const Tensor wide = to_opmath(grad_output);
  const Tensor whole = wraps ? wide.clone() : keyway::constant_pad_nd(wide, back);
  const Borders borders(whole, more, mode);
  borders.fold();
  const Tensor inside = narrowed(borders.inside(), grad_output.dtype());
  return wraps ? keyway::constant_pad_nd(inside, back) : inside.contiguous();
}

}  // namespace keyway::inline v1::composite
