#include <keyway/ops/rules/broadcast.h>
#include <keyway/ops/rules/list_ops.h>
#include <keyway/ops/rules/predicates.h>

#include <algorithm>
#include <cmath>

namespace keyway::inline v1 {

namespace detail {
void fail_lengths(std::size_t a, std::size_t b) {
  KEYWAY_FAIL(Value, "lists of {} and {} items do not go together", a, b);
}
void fail_item(std::int64_t index, std::size_t length) {
  KEYWAY_FAIL(Index, "item {} of a list of {} does not exist", index, length);
}
}  // namespace detail

namespace contract {

namespace {

// The end of every predicate that can say why: the reason is put together only if somebody asks.
template <typename... Args>
bool no(Refusal* why, std::string_view text, const Args&... args) {
  if (why != nullptr) {
    const FormatArg list[] = {FormatArg(args)...};
    why->text = format(text, list);
  }
  return false;
}

std::int64_t extreme(IntArrayRef list, bool greatest) {
  KEYWAY_CHECK(!list.empty(), "an empty list has no {}", greatest ? "greatest item" : "least item");
  return greatest ? *std::max_element(list.begin(), list.end()) : *std::min_element(list.begin(), list.end());
}

// Marks the dimensions of a list. Ranks above 64 cannot be.
class DimSet {
 public:
  bool add(std::int64_t dim) {
    const std::uint64_t bit = std::uint64_t{1} << (dim & 63);
    const bool fresh = (bits_ & bit) == 0;
    bits_ |= bit;
    return fresh;
  }

 private:
  std::uint64_t bits_ = 0;
};

}  // namespace

std::int64_t max(IntArrayRef list) { return extreme(list, true); }
std::int64_t min(IntArrayRef list) { return extreme(list, false); }

std::int64_t sum(IntArrayRef list, std::string_view text) {
  std::int64_t total = 0;
  for (const std::int64_t item : list) total = add(total, item, text);
  return total;
}

std::int64_t product(IntArrayRef list, std::string_view text) {
  if (std::find(list.begin(), list.end(), 0) != list.end()) return 0;
  std::int64_t total = 1;
  for (const std::int64_t item : list) total = mul(total, item, text);
  return total;
}

bool is_finite(const Scalar& value) {
  const auto number = value.to<complex<double>>();
  return std::isfinite(number.real()) && std::isfinite(number.imag());
}

namespace {

// -1, 0, 1, or 2 where there is no order (NaN).
int compare(std::int64_t a, std::int64_t b) { return a < b ? -1 : a > b; }
int compare(double a, double b) { return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2; }
int compare(std::int64_t a, double b) {
  if (!(b < 0x1p63)) return b != b ? 2 : -1;
  if (b < -0x1p63) return 1;
  const auto whole = static_cast<std::int64_t>(b);
  if (a != whole) return compare(a, whole);
  return compare(0.0, b - static_cast<double>(whole));
}
int compare(const Scalar& a, const Scalar& b) {
  KEYWAY_CHECK_AS(Type, !a.is_complex() && !b.is_complex(), "complex numbers {} and {} have no order", a, b);
  std::int64_t x = 0, y = 0;
  const bool a_int = a.is_integral(true) && a.type() != ScalarType::UInt64 && a.try_to(x);
  const bool b_int = b.is_integral(true) && b.type() != ScalarType::UInt64 && b.try_to(y);
  if (a_int && b_int) return compare(x, y);
  if (a_int) return b.is_floating_point() ? compare(x, b.to<double>()) : -1;
  if (b_int) {
    const int inverse = a.is_floating_point() ? compare(y, a.to<double>()) : -1;
    return inverse == 2 ? 2 : -inverse;
  }
  if (a.is_integral(false) && b.is_integral(false)) {
    const auto u = a.to<std::uint64_t>(), v = b.to<std::uint64_t>();
    return u < v ? -1 : u > v;
  }
  return compare(a.to<double>(), b.to<double>());
}

}  // namespace

bool less(const Scalar& a, const Scalar& b) { return compare(a, b) == -1; }
bool less_equal(const Scalar& a, const Scalar& b) { return compare(a, b) <= 0; }

namespace detail {
void fail_size(std::string_view argument, IntArrayRef sizes, std::int64_t dim) {
  KEYWAY_FAIL(Index, "argument '{}' of shape {} has no dimension {}", argument, sizes, dim);
}
}  // namespace detail

bool is_dim(std::int64_t dim, std::int64_t rank, Refusal* why) {
  if (is_dim(dim, rank)) return true;
  if (why != nullptr) why->kind = ErrorKind::Index;
  const std::int64_t dims = max(rank, 1);
  return no(why, "dimension {} is not from {} to {}", dim, -dims, dims - 1);
}

bool are_dims(IntArrayRef dims, std::int64_t rank, Refusal* why) {
  DimSet seen;
  for (const std::int64_t dim : dims) {
    if (!is_dim(dim, rank, why)) return false;
    if (!seen.add(dim < 0 ? dim + max(rank, 1) : dim)) return no(why, "dimension {} stands twice in {}", dim, dims);
  }
  return true;
}

bool is_permutation(IntArrayRef dims, std::int64_t rank, Refusal* why) {
  if (len(dims) != rank) return no(why, "{} has {} dimensions, not {}", dims, dims.size(), rank);
  return are_dims(dims, rank, why);
}

bool broadcasts_to(IntArrayRef from, IntArrayRef to, Refusal* why) {
  if (keyway::broadcasts_to(from, to)) return true;
  return no(why, "shape {} does not broadcast to {}", from, to);
}

bool broadcastable(IntArrayRef a, IntArrayRef b, Refusal* why) {
  for (std::size_t i = 1; i <= a.size() && i <= b.size(); ++i) {
    const std::int64_t x = a[a.size() - i];
    const std::int64_t y = b[b.size() - i];
    if (x == y || x == 1 || y == 1) continue;
    return no(why, "shapes {} and {} do not broadcast: dimension {} is {} and {}", a, b,
              std::max(a.size(), b.size()) - i, x, y);
  }
  return true;
}

bool broadcastable(ArrayRef<TensorBase> tensors, Refusal* why) {
  DimVector common;
  for (const TensorBase& tensor : tensors) {
    if (!tensor.defined()) continue;
    if (!broadcastable(common, tensor.sizes(), why)) return false;
    common = keyway::broadcast_sizes(common, tensor.sizes());
  }
  return true;
}

DimVector broadcast_sizes(IntArrayRef a, IntArrayRef b) { return keyway::broadcast_sizes(a, b); }

bool concatenable(ArrayRef<TensorBase> tensors, std::int64_t dim, Refusal* why) {
  const TensorBase* first = nullptr;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorBase& tensor = tensors[i];
    if (!tensor.defined()) return no(why, "tensor {} is undefined", i);
    const IntArrayRef sizes = tensor.sizes();
    if (sizes.size() == 1 && sizes[0] == 0) continue;
    if (sizes.empty()) return no(why, "tensor {} has no dimensions", i);
    if (first == nullptr) {
      first = &tensor;
      if (!is_dim(dim, tensor.dim(), why)) return false;
    }
    const IntArrayRef wanted = first->sizes();
    const auto along = static_cast<std::size_t>(dim < 0 ? dim + first->dim() : dim);
    bool fits = sizes.size() == wanted.size();
    for (std::size_t d = 0; fits && d < sizes.size(); ++d) fits = d == along || sizes[d] == wanted[d];
    if (!fits) {
      return no(why, "tensor {} has shape {}, and the first one {}: they may differ in dimension {} only", i, sizes,
                wanted, along);
    }
    if (__builtin_add_overflow(total, sizes[along], &total)) return no(why, "dimension {} gets above 2^63 - 1", along);
  }
  return true;
}

bool same_sizes(ArrayRef<TensorBase> tensors, Refusal* why) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined()) return no(why, "tensor {} is undefined", i);
    if (tensors[i].sizes() == tensors[0].sizes()) continue;
    return no(why, "tensor {} has shape {}, and the first one {}", i, tensors[i].sizes(), tensors[0].sizes());
  }
  return true;
}

bool same_sizes(ArrayRef<TensorBase> a, ArrayRef<TensorBase> b, Refusal* why) {
  if (a.size() != b.size()) return no(why, "one list has {} tensors, and the other {}", a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i].defined() || !b[i].defined()) return no(why, "tensor {} is undefined", i);
    if (a[i].sizes() == b[i].sizes()) continue;
    return no(why, "tensor {} has shape {} in one list, and {} in the other", i, a[i].sizes(), b[i].sizes());
  }
  return true;
}

namespace {

// How far a window of `kernel` elements, `dilation` apart, reaches: dilation * (kernel - 1).
std::int64_t reach(std::int64_t kernel, std::int64_t dilation, std::string_view text) {
  return mul(dilation, sub(kernel, 1, text), text);
}

}  // namespace

DimVector pool_sizes(IntArrayRef input, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                     IntArrayRef dilation, bool ceil_mode, std::string_view text) {
  const auto size = [&](std::int64_t in, std::int64_t k, std::int64_t s, std::int64_t p, std::int64_t d) {
    const std::int64_t padded = add(in, mul(2, p, text), text);
    const std::int64_t room = sub(sub(padded, reach(k, d, text), text), 1, text);
    const std::int64_t rounding = ceil_mode ? sub(s, 1, text) : 0;
    const std::int64_t out = add(floor_div(add(room, rounding, text), s, text), 1, text);
    // The last window must begin inside the input or its left padding.
    const bool outside = ceil_mode && mul(sub(out, 1, text), s, text) >= add(in, p, text);
    return outside ? out - 1 : out;
  };
  return lists::map(size, input, kernel, stride, padding, dilation);
}

DimVector conv_sizes(IntArrayRef input, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                     IntArrayRef dilation, bool transposed, IntArrayRef output_padding, std::string_view text) {
  const auto size = [&](std::int64_t in, std::int64_t k, std::int64_t s, std::int64_t p, std::int64_t d,
                        std::int64_t extra) {
    const std::int64_t both = mul(2, p, text);
    if (transposed) {
      const std::int64_t spread = mul(sub(in, 1, text), s, text);
      return add(add(sub(spread, both, text), reach(k, d, text), text), add(extra, 1, text), text);
    }
    const std::int64_t room = sub(sub(add(in, both, text), reach(k, d, text), text), 1, text);
    return add(floor_div(room, s, text), 1, text);
  };
  return lists::map(size, input, kernel, stride, padding, dilation, output_padding);
}

}  // namespace contract

}  // namespace keyway::inline v1
