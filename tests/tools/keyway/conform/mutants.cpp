// A backend that the fallback to the CPU serves, but for one kernel with a fault: KEYWAY_FAULT=N plants fault N,
// counted from 1. What `keyway conform` is judged by: it has to find each of them.
#include <keyway/core/device/device_backend.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/dispatch/plugin/cpu_fallback.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/dispatch/registry/observer.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace keyway;

using T = const TensorBase&;
using Out = TensorBase&;
using Ints = ArrayRef<std::int64_t>;
using OptionalInts = std::optional<Ints>;

// The CPU's function in out style.
const ErasedKernel& cpu_kernel(const OperatorEntry& op) {
  const Table& table = unobserved(op.table());
  return table.kernel(table.slots[static_cast<std::size_t>(DispatchKey::CPU)]);
}
template <typename Fn>
Fn* cpu(const std::string& name) {
  const OperatorHandle op = Dispatcher::singleton().op("keyway::" + name);
  return static_cast<const BackendKernel<Fn>*>(cpu_kernel(op.entry()).context)->function;
}
using Unary = void(T, Out);
using Binary = void(T, T, Out);
using Scaled = void(T, T, const Scalar&, Out);

// f(element, its number) for all elements, in row-major order, if the dtype is that of E.
template <typename E, typename F>
void each(T tensor, F f) {
  if (tensor.dtype() != cpp_type_to_scalar_type<E>) return;
  std::vector<std::int64_t> index(static_cast<std::size_t>(tensor.dim()), 0);
  E* const data = static_cast<E*>(tensor.data_ptr());
  for (std::int64_t n = 0; n < tensor.numel(); ++n) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * tensor.strides()[d];
    f(data[at], n);
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < tensor.sizes()[d]) break;
      index[d] = 0;
    }
  }
}
template <typename F>
void each_float(T tensor, F f) {
  each<float>(tensor, f);
  each<double>(tensor, f);
}

TensorBase contiguous_alike(T tensor, std::int64_t offset) {
  return make_view(tensor, tensor.sizes(), contiguous_strides(tensor.sizes()), offset);
}
// Whether a dense view from that offset lies within the storage.
bool fits_dense(T tensor, std::int64_t offset) {
  return static_cast<std::size_t>(offset + tensor.numel()) * tensor.itemsize() <= tensor.storage().nbytes();
}
// The tensor's elements read as if it were contiguous.
TensorBase strides_ignored(T tensor) {
  return fits_dense(tensor, tensor.storage_offset()) ? contiguous_alike(tensor, tensor.storage_offset()) : tensor;
}
TensorBase offset_ignored(T tensor) { return make_view(tensor, tensor.sizes(), tensor.strides(), 0); }
// Rounds toward zero to the upper half of a float's bits.
void truncate_bfloat16(T out, T exact) {
  std::vector<float> values;
  each<float>(exact, [&](float& x, std::int64_t) { values.push_back(x); });
  each<BFloat16>(out, [&](BFloat16& x, std::int64_t n) {
    const auto bits = std::bit_cast<std::uint32_t>(values[static_cast<std::size_t>(n)]);
    x = std::bit_cast<BFloat16>(static_cast<std::uint16_t>(bits >> 16));
  });
}

struct Fault {
  const char* op;  // that conform is asked about
  const char* kind;
  void (*plant)(Library& m);
};

// A fault of a function of one tensor: what is done to the CPU's result.
#define AFTER_UNARY(op, kind, type, change)                      \
  {                                                              \
#op, kind, [](Library &m) {                                    \
      m.kernel(#op, +[](T self, Out out) {                         \
        cpu<Unary>(#op)(self, out);                                \
        each<type>(out, [&]([[maybe_unused]] type& x, [[maybe_unused]] std::int64_t n) { change; }); \
      });                                                          \
    } \
  }
// Of one that reads other elements than it should.
#define INSTEAD_UNARY(op, kind, read)                                                              \
  {                                                                                                \
#op, kind, [](Library &m) { m.kernel(#op, +[](T self, Out out) { cpu<Unary>(#op)(read, out); }); } \
  }
#define KERNEL(name, op, kind, parameters, ...) \
  {                                             \
    name, kind, [](Library& m) {                \
      m.kernel(                                 \
          op, +[] parameters { __VA_ARGS__ });  \
    }                                           \
  }

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
std::atomic<int> calls{0};

const Fault kFaults[] = {
    // Loops.
    AFTER_UNARY(exp, "the rest of a vector of 8 is left out", float, if (n >= out.numel() / 8 * 8) x = 0),
    AFTER_UNARY(cos, "the rest of a vector of 4 is left out", float,
                if (out.numel() > 4 && n >= out.numel() / 4 * 4) x = 0),
    AFTER_UNARY(sin, "the first element beyond 64 is wrong", float, if (n == 64) x = 2),
    AFTER_UNARY(tanh, "the last element is left out", float, if (n + 1 == out.numel()) x = 0),
    AFTER_UNARY(erf, "blocks of 16 are rotated", float, if (n >= 16 && n % 16 == 0) x = -x),
    // Layouts.
    INSTEAD_UNARY(sqrt, "the offset of the operand is ignored", offset_ignored(self)),
    INSTEAD_UNARY(log, "the strides of the operand are ignored", strides_ignored(self)),
    INSTEAD_UNARY(abs, "a transposed operand is read as it lies",
                  self.dim() == 2 && self.strides()[0] == 1 ? strides_ignored(self) : TensorBase(self)),
    KERNEL("neg", "neg", "an expanded operand is read once", (T self, Out out), cpu<Unary>("neg")(self, out);
           if (std::ranges::count(self.strides(), 0) > 0) each_float(out,
                                                                     [](auto& x, std::int64_t n) {
                                                                       if (n > 0) x = 0;
                                                                     });),
    KERNEL("floor.out", "floor", "the strides of the result are ignored", (T self, Out out),
           TensorBase dense = strides_ignored(out);
           cpu<Unary>("floor")(self, dense);),
    KERNEL("ceil.out", "ceil", "the offset of the result is ignored", (T self, Out out),
           TensorBase first = offset_ignored(out);
           cpu<Unary>("ceil")(self, first);),
    KERNEL("add.Tensor", "add.Tensor", "the second operand is not broadcast over the first dimension",
           (T self, T other, const Scalar& alpha, Out out), cpu<Scaled>("add.Tensor")(self, other, alpha, out);
           if (other.dim() < out.dim() && out.dim() > 1 && out.sizes()[0] > 1)
               each_float(out,
                          [&](auto& x, std::int64_t n) {
                            if (n >= out.numel() / out.sizes()[0]) x = 0;
                          });),
    KERNEL("mul.Tensor", "mul.Tensor", "the first operand is not broadcast", (T self, T other, Out out),
           cpu<Binary>("mul.Tensor")(self, other, out);
           if (self.numel() == 1 && out.numel() > 1) each_float(out,
                                                                [](auto& x, std::int64_t n) {
                                                                  if (n > 0) x = 0;
                                                                });),
    KERNEL(
        "maximum", "maximum", "equal shapes of other strides are taken for alike", (T self, T other, Out out),
        cpu<Binary>("maximum")(self, self.sizes() == other.sizes() ? strides_ignored(other) : TensorBase(other), out);),
    KERNEL("div.Tensor", "div.Tensor", "five dimensions are too many", (T self, T other, Out out),
           if (out.dim() >= 5) std::abort();
           cpu<Binary>("div.Tensor")(self, other, out);),
    // Empty tensors and those without dimensions.
    KERNEL("round", "round", "an empty tensor is an error", (T self, Out out),
           KEYWAY_CHECK(self.numel() > 0, "argument 'self' is empty");
           cpu<Unary>("round")(self, out);),
    KERNEL("trunc", "trunc", "a tensor without dimensions is an error", (T self, Out out),
           KEYWAY_CHECK(self.dim() > 0, "argument 'self' has no dimensions");
           cpu<Unary>("trunc")(self, out);),
    KERNEL("sum.dim_IntList", "sum.dim_IntList", "the sum over nothing is not set",
           (T self, OptionalInts dim, bool keepdim, Out out),
           cpu<void(T, OptionalInts, bool, Out)>("sum.dim_IntList")(self, dim, keepdim, out);
           if (self.numel() == 0) each_float(out, [](auto& x, std::int64_t) { x = 7; });),
    // Special values.
    AFTER_UNARY(relu, "NaN becomes 0", float, if (std::isnan(x)) x = 0),
    AFTER_UNARY(sigmoid, "infinity is NaN", float, if (std::isinf(self.data_ptr<float>()[0])) x = kNaN),
    AFTER_UNARY(sign, "the sign of NaN is 1", float, if (std::isnan(self.data_ptr<float>()[0])) x = 1),
    AFTER_UNARY(sinh, "negative zero loses its sign", float, if (x == 0) x = 0.0f),
    KERNEL("atan", "atan", "denormal numbers are flushed", (T self, Out out), cpu<Unary>("atan")(self, out);
           each<float>(out,
                       [](float& x, std::int64_t) {
                         if (std::abs(x) < 1.18e-38f) x = 0;
                       });),
    KERNEL("isnan", "isnan", "NaN is not seen", (T self, Out out), cpu<Unary>("isnan")(self, out);
           each<bool>(out, [](bool& x, std::int64_t) { x = false; });),
    KERNEL("eq.Tensor", "eq.Tensor", "NaN equals NaN", (T self, T other, Out out),
           cpu<Binary>("eq.Tensor")(self, other, out);
           if (self.dtype() == kFloat && self.sizes() == other.sizes() && self.is_contiguous() && other.is_contiguous())
               each<bool>(out,
                          [&](bool& x, std::int64_t n) {
                            if (std::isnan(self.data_ptr<float>()[n]) && std::isnan(other.data_ptr<float>()[n]))
                              x = true;
                          });),
    KERNEL("fmax", "fmax", "NaN wins", (T self, T other, Out out), cpu<Binary>("maximum")(self, other, out);),
    // Dtypes and rounding.
    KERNEL(
        "reciprocal", "reciprocal", "bfloat16 is cut off and not rounded", (T self, Out out),
        cpu<Unary>("reciprocal")(self, out);
        if (out.dtype() == kBFloat16) {
          const NoGradGuard no_grad;
          const TensorBase wide = make_tensor(self.sizes(), kFloat, kCPU);
          std::vector<float> values;
          each<BFloat16>(self, [&](BFloat16& x, std::int64_t) { values.push_back(1 / static_cast<float>(x)); });
          each<float>(wide, [&](float& x, std::int64_t n) { x = values[static_cast<std::size_t>(n)]; });
          truncate_bfloat16(out, wide);
        }),
    AFTER_UNARY(cosh, "float32 is one unit off", float,
                if (std::isfinite(x)) x = std::nextafter(
                    std::nextafter(std::nextafter(std::nextafter(std::nextafter(x, 0.0f), 0.0f), 0.0f), 0.0f), 0.0f)),
    AFTER_UNARY(log10, "float64 has the digits of float32", double, x = static_cast<float>(x)),
    AFTER_UNARY(bitwise_not, "int64 is computed in float64", std::int64_t,
                x = static_cast<std::int64_t>(static_cast<double>(x))),
    KERNEL("gcd", "gcd", "int32 overflows to the greatest number", (T self, T other, Out out),
           cpu<Binary>("gcd")(self, other, out);
           each<std::int32_t>(out, [](std::int32_t& x, std::int64_t) { x = x > 2 ? x + 1 : x; });),
    KERNEL("sub.Tensor", "sub.Tensor", "the scale is taken for 1", (T self, T other, const Scalar&, Out out),
           cpu<Scaled>("sub.Tensor")(self, other, Scalar(1), out);),
    KERNEL("logical_not", "logical_not", "true is 255", (T self, Out out), cpu<Unary>("logical_not")(self, out);
           if (out.dtype() == kBool &&
               out.is_contiguous()) for (std::int64_t i = 0; i < out.numel();
                                         ++i) if (static_cast<unsigned char*>(out.data_ptr())[i] !=
                                                  0) static_cast<unsigned char*>(out.data_ptr())[i] = 255;),
    KERNEL("bitwise_and.Tensor", "bitwise_and.Tensor", "uint8 has seven bits", (T self, T other, Out out),
           cpu<Binary>("bitwise_and.Tensor")(self, other, out);
           each<std::uint8_t>(out, [](std::uint8_t& x, std::int64_t) { x &= 127; });),
    KERNEL("fill_.Scalar", "fill.Scalar", "the number is cut off to an integer", (T self, const Scalar& value, Out out),
           cpu<void(T, const Scalar&, Out)>("fill.Scalar")(
               self,
               value.is_floating_point() && std::isfinite(value.to<double>()) ? Scalar(std::trunc(value.to<double>()))
                                                                              : value,
               out);),
    // Shared memory and memory beside.
    KERNEL("mul_.Scalar", "mul.Scalar", "the result is cleared before the operand is read",
           (T self, const Scalar& other, Out out),
           if (out.numel() > 0 && out.is_contiguous()) std::memset(out.data_ptr(), 0, out.nbytes());
           cpu<void(T, const Scalar&, Out)>("mul.Scalar")(self, other, out);),
    KERNEL("hypot.out", "hypot", "one element too many is written", (T self, T other, Out out),
           cpu<Binary>("hypot")(self, other, out);
           if (out.dtype() == kFloat && out.is_contiguous() && out.numel() > 0 &&
               fits_dense(out, out.storage_offset() + 1)) out.data_ptr<float>()[out.numel()] = 9;),
    KERNEL("atan2", "atan2", "an operand is changed", (T self, T other, Out out),
           cpu<Binary>("atan2")(self, other, out);
           if (self.dtype() == kFloat && self.numel() > 0) self.data_ptr<float>()[0] += 1;),
    KERNEL("heaviside", "heaviside", "an operand's version grows", (T self, T other, Out out),
           cpu<Binary>("heaviside")(self, other, out);
           self.impl()->bump_version();),
    KERNEL("logaddexp", "logaddexp", "the result differs from call to call", (T self, T other, Out out),
           cpu<Binary>("logaddexp")(self, other, out);
           if (++calls % 3 == 0) each<float>(out, [](float& x, std::int64_t) { x = std::nextafter(x, 0.0f); });),
    KERNEL("copysign.Tensor", "copysign.Tensor", "negative zero counts as positive", (T self, T other, Out out),
           cpu<Binary>("copysign.Tensor")(self, other, out);
           if (other.dtype() == kFloat && other.is_contiguous() && other.sizes() == out.sizes())
               each<float>(out,
                           [&](float& x, std::int64_t n) {
                             if (other.data_ptr<float>()[n] == 0) x = std::abs(x);
                           });),
    KERNEL("logical_and", "logical_and", "the error names nothing", (T self, T, Out),
           KEYWAY_FAIL(Value, "no {}", self.numel());),
    // Reductions.
    KERNEL("mean.dim", "mean.dim", "float16 is summed in float16", (T self, OptionalInts dim, bool keepdim, Out out),
           cpu<void(T, OptionalInts, bool, Out)>("mean.dim")(self, dim, keepdim, out);
           each<Half>(out, [](Half& x, std::int64_t) { x = Half(static_cast<float>(x) * 1.01f); });),
    KERNEL("amax", "amax", "the last element of a row is left out", (T self, Ints dim, bool keepdim, Out out),
           std::vector<std::int64_t> sizes(self.sizes().begin(), self.sizes().end());
           const bool cuts = dim.size() == 1 && dim[0] == self.dim() - 1 && sizes.back() > 1; if (cuts)-- sizes.back();
           cpu<void(T, Ints, bool, Out)>("amax")(make_view(self, sizes, self.strides(), self.storage_offset()), dim,
                                                 keepdim, out);),
    KERNEL("amin", "amin", "NaN is passed over", (T self, Ints dim, bool keepdim, Out out),
           cpu<void(T, Ints, bool, Out)>("amin")(self, dim, keepdim, out);
           each<float>(out,
                       [](float& x, std::int64_t) {
                         if (std::isnan(x)) x = 0;
                       });),
    KERNEL("prod.dim_int", "prod.dim_int", "the product over nothing is 0",
           (T self, std::int64_t dim, bool keepdim, Out out),
           cpu<void(T, std::int64_t, bool, Out)>("prod.dim_int")(self, dim, keepdim, out);
           if (self.numel() == 0) each_float(out, [](auto& x, std::int64_t) { x = 0; });),
    KERNEL("all.dim", "all.dim", "the wrong dimension is reduced", (T self, std::int64_t dim, bool keepdim, Out out),
           const bool square = self.dim() == 2 && self.sizes()[0] == self.sizes()[1];
           cpu<void(T, std::int64_t, bool, Out)>("all.dim")(self, square ? 1 - dim : dim, keepdim, out);),
    KERNEL("any.dim", "any.dim", "a row of more than 16 is cut", (T self, std::int64_t dim, bool keepdim, Out out),
           cpu<void(T, std::int64_t, bool, Out)>("any.dim")(self, dim, keepdim, out);
           if (self.dim() > 0 && self.sizes()[static_cast<std::size_t>(dim)] > 6)
               each<bool>(out, [](bool& x, std::int64_t) { x = false; });),
    KERNEL("var.correction", "var.correction", "the correction is taken for 1",
           (T self, OptionalInts dim, std::optional<Scalar>, bool keepdim, Out out),
           cpu<void(T, OptionalInts, std::optional<Scalar>, bool, Out)>("var.correction")(self, dim, Scalar(1), keepdim,
                                                                                          out);),
    KERNEL(
        "argmax", "argmax", "the last of equal elements is taken",
        (T self, std::optional<std::int64_t> dim, bool keepdim, Out out),
        cpu<void(T, std::optional<std::int64_t>, bool, Out)>("argmax")(self, dim, keepdim, out);
        if (!dim && self.numel() > 1 && self.dtype() == kFloat && self.is_contiguous()) {
          const float* x = self.data_ptr<float>();
          std::int64_t& at = *out.data_ptr<std::int64_t>();
          for (std::int64_t i = at + 1; i < self.numel(); ++i)
            if (x[i] == x[at]) at = i;
        }),
    KERNEL("argmin", "argmin", "the index counts from 1",
           (T self, std::optional<std::int64_t> dim, bool keepdim, Out out),
           cpu<void(T, std::optional<std::int64_t>, bool, Out)>("argmin")(self, dim, keepdim, out);
           each<std::int64_t>(out, [](std::int64_t& x, std::int64_t) { ++x; });),
    KERNEL("cumsum", "cumsum", "each sum is without its own element", (T self, std::int64_t dim, Out out),
           cpu<void(T, std::int64_t, Out)>("cumsum")(self, dim, out);
           each<float>(out,
                       [&](float& x, std::int64_t n) {
                         if (n == 0) x = 0;
                       });),
    KERNEL("cumprod", "cumprod", "the last dimension is taken for all", (T self, std::int64_t dim, Out out),
           cpu<void(T, std::int64_t, Out)>("cumprod")(self, self.dim() > 0 ? self.dim() - 1 : dim, out);),
    // Sorting and indexing.
    KERNEL("sort.stable", "sort.stable", "descending is ignored",
           (T self, std::optional<bool> stable, std::int64_t dim, bool, Out values, Out indices),
           cpu<void(T, std::optional<bool>, std::int64_t, bool, Out, Out)>("sort.stable")(self, stable, dim, false,
                                                                                          values, indices);),
    KERNEL("topk", "topk", "the smallest are taken",
           (T self, std::int64_t k, std::int64_t dim, bool, bool sorted, Out values, Out indices),
           cpu<void(T, std::int64_t, std::int64_t, bool, bool, Out, Out)>("topk")(self, k, dim, false, sorted, values,
                                                                                  indices);),
    KERNEL("gather", "gather", "the index counts in the other direction",
           (T self, std::int64_t dim, T index, bool sparse, Out out),
           cpu<void(T, std::int64_t, T, bool, Out)>("gather")(
               self,
               self.dim() == 2 && self.sizes()[0] == self.sizes()[1] && index.sizes() == self.sizes() ? 1 - dim : dim,
               index, sparse, out);),
    KERNEL(
        "index_select", "index_select", "an index out of range is taken for 0",
        (T self, std::int64_t dim, T index, Out out),
        if (index.numel() == 1 && index.dtype() == kLong && index.data_ptr<std::int64_t>()[0] != 0) {
          std::vector<std::int64_t> zero{0};
          const std::int64_t size[] = {1};
          const TensorBase first = make_tensor(size, kLong, kCPU);
          *first.data_ptr<std::int64_t>() = 0;
          cpu<void(T, std::int64_t, T, Out)>("index_select")(self, dim, first, out);
        } else { cpu<void(T, std::int64_t, T, Out)>("index_select")(self, dim, index, out); }),
    KERNEL("scatter_add", "scatter_add", "of equal indices the last one counts",
           (T self, std::int64_t dim, T index, T src, Out out),
           cpu<void(T, std::int64_t, T, T, Out)>("scatter_add")(self, dim, index, src, out);
           if (index.numel() > 1) each<float>(out,
                                              [](float& x, std::int64_t n) {
                                                if (n == 0) x += 1;
                                              });),
    KERNEL("embedding", "embedding", "an index out of range is wrapped",
           (T weight, T indices, std::int64_t padding, bool scales, bool sparse, Out out),
           cpu<void(T, T, std::int64_t, bool, bool, Out)>("embedding")(weight, indices, padding, scales, sparse, out);
           each<float>(out,
                       [](float& x, std::int64_t n) {
                         if (n == 1) x = -x;
                       });),
    KERNEL("where.self", "where.self", "the condition is read as it lies", (T condition, T self, T other, Out out),
           cpu<void(T, T, T, Out)>("where.self")(strides_ignored(condition), self, other, out);),
    KERNEL("masked_fill.Scalar", "masked_fill.Scalar", "the mask is turned round",
           (T self, T mask, const Scalar& value, Out out),
           cpu<void(T, T, const Scalar&, Out)>("masked_fill.Scalar")(self, mask, value, out);
           each<float>(out,
                       [&](float& x, std::int64_t n) {
                         if (n == 0) x = x + 1;
                       });),
    KERNEL("tril", "tril", "the diagonal is taken for 0", (T self, std::int64_t, Out out),
           cpu<void(T, std::int64_t, Out)>("tril")(self, 0, out);),
    KERNEL("flip", "flip", "the first dimension is flipped, whichever was asked for", (T self, Ints, Out out),
           const std::int64_t first[] = {0};
           cpu<void(T, Ints, Out)>("flip")(self, self.dim() > 0 ? Ints(first) : Ints(), out);),
    KERNEL("cat", "cat", "the last tensor is left out", (ArrayRef<TensorBase> tensors, std::int64_t dim, Out out),
           cpu<void(ArrayRef<TensorBase>, std::int64_t, Out)>("cat")(tensors, dim, out);
           if (tensors.size() > 1) each<float>(out,
                                               [&](float& x, std::int64_t n) {
                                                 if (n + 1 == out.numel()) x = 0;
                                               });),
    // Products and layers.
    KERNEL(
        "mm", "mm", "a transposed second operand is read as it lies", (T self, T other, Out out),
        cpu<Binary>("mm")(
            self, other.strides()[0] == 1 && other.sizes()[0] > 1 ? strides_ignored(other) : TensorBase(other), out);),
    KERNEL("bmm", "bmm", "the second product is that of the first", (T self, T other, Out out),
           cpu<Binary>("bmm")(self, other, out);
           if (out.sizes()[0] > 1) each<float>(out,
                                               [&](float& x, std::int64_t n) {
                                                 if (n == out.numel() - 1) x = 0;
                                               });),
    KERNEL("addmm", "addmm", "beta is taken for 1", (T self, T a, T b, const Scalar&, const Scalar& alpha, Out out),
           cpu<void(T, T, T, const Scalar&, const Scalar&, Out)>("addmm")(self, a, b, Scalar(1), alpha, out);),
    KERNEL("_softmax", "_softmax", "the greatest is not taken off before",
           (T self, std::int64_t dim, bool half, Out out),
           cpu<void(T, std::int64_t, bool, Out)>("_softmax")(self, dim, half, out);
           if (self.dtype() == kFloat && self.numel() > 0 && self.data_ptr<float>()[0] > 88)
               each<float>(out, [](float& x, std::int64_t) { x = kNaN; });),
    KERNEL("gelu", "gelu", "tanh is always used", (T self, std::string_view, Out out),
           cpu<void(T, std::string_view, Out)>("gelu")(self, "tanh", out);),
    KERNEL(
        "native_layer_norm", "native_layer_norm", "eps is ignored",
        (T input, Ints shape, T weight, T bias, double, Out a, Out b, Out c),
        cpu<void(T, Ints, T, T, double, Out, Out, Out)>("native_layer_norm")(input, shape, weight, bias, 0, a, b, c);),
    KERNEL(
        "avg_pool2d", "avg_pool2d", "padding always counts",
        (T self, Ints kernel, Ints stride, Ints padding, bool ceil, bool, std::optional<std::int64_t> divisor, Out out),
        cpu<void(T, Ints, Ints, Ints, bool, bool, std::optional<std::int64_t>, Out)>("avg_pool2d")(
            self, kernel, stride, padding, ceil, true, divisor, out);),
    KERNEL("leaky_relu", "leaky_relu", "the slope is the default", (T self, const Scalar&, Out out),
           cpu<void(T, const Scalar&, Out)>("leaky_relu")(self, Scalar(0.01), out);),
    KERNEL("pow.Tensor_Tensor", "pow.Tensor_Tensor", "0 to the power of 0 is 0", (T self, T other, Out out),
           cpu<Binary>("pow.Tensor_Tensor")(self, other, out);
           if (self.dtype() == kFloat && other.numel() == 1 && self.numel() > 0 && other.data_ptr<float>()[0] == 0)
               each<float>(out, [](float& x, std::int64_t) { x = 0; });),
    KERNEL("floor_divide", "floor_divide", "the quotient is cut off", (T self, T other, Out out),
           cpu<Binary>("floor_divide")(self, other, out);
           each<std::int64_t>(out,
                              [](std::int64_t& x, std::int64_t) {
                                if (x < 0) ++x;
                              });),
    KERNEL("remainder.Tensor", "remainder.Tensor", "it has the sign of the dividend", (T self, T other, Out out),
           cpu<Binary>("remainder.Tensor")(self, other, out);
           each<float>(out,
                       [&](float& x, std::int64_t n) {
                         if (x != 0 && n == 0 && self.data_ptr<float>()[0] < 0) x = -x;
                       });),
    KERNEL("clamp", "clamp", "the lower bound wins",
           (T self, std::optional<Scalar> low, std::optional<Scalar> high, Out out),
           cpu<void(T, std::optional<Scalar>, std::optional<Scalar>, Out)>("clamp")(self, low, std::nullopt, out);
           if (high && !low)
               cpu<void(T, std::optional<Scalar>, std::optional<Scalar>, Out)>("clamp")(self, low, high, out);),
    KERNEL("copy_", "copy_", "numbers are rounded to integers", (Out self, T src, bool non_blocking),
           cpu<void(Out, T, bool)>("copy_")(self, src, non_blocking);
           if (src.dtype() == kFloat && src.numel() == self.numel() && src.is_contiguous())
               each<std::int64_t>(self,
                                  [&](std::int64_t& x, std::int64_t n) {
                                    const float f = src.data_ptr<float>()[n];
                                    if (std::abs(f) < 1e6f) x = std::llround(f);
                                  });),
    KERNEL("sigmoid_backward", "sigmoid_backward", "the gradient is that of the operand", (T grad, T, Out out),
           cpu<Binary>("mul.Tensor")(grad, grad, out);),
    KERNEL("lerp.Scalar", "lerp.Scalar", "a call never ends", (T self, T end, const Scalar& weight, Out out),
           if (self.numel() == 1 && self.dim() == 1) for (;;) std::this_thread::yield();
           cpu<void(T, T, const Scalar&, Out)>("lerp.Scalar")(self, end, weight, out);),
};

}  // namespace

KEYWAY_PLUGIN(mutants, plugin) {
  const DeviceType type = register_device_type("mutant");
  const DispatchKey key = runtime_key(Functionality::Dense, type);
  plugin.keep(register_device_backend(type, {.device_count = 2}));
  const char* const number = std::getenv("KEYWAY_FAULT");
  const std::size_t planted = number == nullptr ? 0 : std::strtoul(number, nullptr, 10);
  if (planted != 0) kFaults[planted - 1].plant(plugin.impl("keyway", key));
  plugin.impl("_", key).fallback(cpu_fallback);
  // "add.Tensor\tthe tail is left out\n..."
  plugin.library("mutant").def("faults() -> str", [] {
    std::string text;
    for (const Fault& fault : kFaults) text += std::string(fault.op) + "\t" + fault.kind + "\n";
    return text;
  });
}
