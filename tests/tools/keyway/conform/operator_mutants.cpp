// A library of operators, and kernels of the CPU in the place of Keyway's own, all of them right but for one fault:
// KEYWAY_FAULT=N plants fault N, counted from 1; without it there is none. `keyway conform` has to find each of them.
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/dispatch/registry/observer.h>
#include <keyway/keyway.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace {

using namespace keyway;

struct Fault {
  const char* op;     // that conform is to name
  const char* kind;   // also what the code below asks for
  const char* found;  // what its report says of it
};
constexpr Fault kFaults[] = {
    {"opmutants::squares", "strides ignored", "contiguous copies"},
    {"opmutants::squares", "offset ignored", "contiguous copies"},
    {"opmutants::squares", "transposed read as it lies", "contiguous copies"},
    {"opmutants::squares", "expanded read once", "contiguous copies"},
    {"opmutants::squares", "tail of a vector of 8", "twice in a row"},
    {"opmutants::squares", "tail left unwritten", "other contents of new memory"},
    {"opmutants::squares", "nondeterministic", "the second time"},
    {"opmutants::squares", "writes to its input", "argument changed"},
    {"opmutants::squares", "argument returned", "breaks its schema"},
    {"opmutants::squares", "bfloat16 cut off", "in float64"},
    {"opmutants::squares", "half computed in half", "in float64"},
    {"opmutants::squares", "shape of Meta", "Meta foresees the shape"},
    {"opmutants::squares", "dtype of Meta", "Meta foresees the dtype"},
    {"opmutants::squares", "strides of Meta", "Meta foresees the strides"},
    {"opmutants::squares", "gradient by a factor", "gradient: gradient fails"},
    {"opmutants::squares", "gradient of the wrong sign below 0", "gradient: gradient fails"},
    {"opmutants::squares", "crash on no elements", "crash"},
    {"opmutants::row_sums", "half added up in half", "in float64"},
    {"opmutants::row_sums", "no elements give one", "Meta foresees the shape"},
    {"opmutants::row_sums", "last element left out of float32", "in float64"},
    {"opmutants::row_sums", "gradient of the first element alone", "gradient: gradient fails"},
    {"opmutants::plus", "gradient not added up over what is broadcast", "gradient: gradient fails"},
    {"opmutants::plus", "broadcast operand read as it lies", "in float64"},
    {"opmutants::scale_", "no version", "its version did not grow"},
    {"opmutants::scale_", "another factor", "beside opmutants::scale"},
    {"opmutants::scale_", "changed before it is refused", "by a call that is refused"},
    {"opmutants::scale_", "strides ignored", "argument changed"},
    {"opmutants::scale.out", "not resized", "beside opmutants::scale"},
    {"opmutants::scale.out", "memory beside", "memory beside it was changed"},
    {"opmutants::norm_of_squares", "composite of contiguous memory", "contiguous copies"},
    {"relu", "NaN lost", "not nan"},
    {"relu", "tail of a vector of 8", "result"},
    {"mul.Tensor", "strides ignored", "result"},
    {"mul_.Tensor", "strides ignored", "self"},
    {"sum.dim_IntList", "half added up in half", "result"},
    {"sigmoid", "gradient by a factor", "gradient"},
};

// Which fault is planted; read once, in the plug-in's function.
const Fault* planted = nullptr;

bool is_planted(std::string_view op, std::string_view kind) {
  return planted != nullptr && op == planted->op && kind == planted->kind;
}

template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

// The place of each element, in row-major order.
std::vector<std::int64_t> places(IntArrayRef sizes, IntArrayRef strides) {
  std::vector<std::int64_t> found = {0};
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::vector<std::int64_t> further;
    for (const std::int64_t place : found) {
      for (std::int64_t i = 0; i < sizes[d]; ++i) further.push_back(place + i * strides[d]);
    }
    found = std::move(further);
  }
  return found;
}
std::vector<std::int64_t> in_a_row(std::size_t count) {
  std::vector<std::int64_t> found(count);
  for (std::size_t i = 0; i < count; ++i) found[i] = static_cast<std::int64_t>(i);
  return found;
}
bool fits_dense(const TensorBase& tensor, std::int64_t offset) {
  return static_cast<std::size_t>(offset + tensor.numel()) * tensor.itemsize() <= tensor.storage().nbytes();
}

// Where the elements of an operand are read, with the faults of an operator.
std::vector<std::int64_t> read_places(std::string_view op, const TensorBase& self) {
  const std::vector<std::int64_t> right = places(self.sizes(), self.strides());
  const bool is_transposed = self.dim() == 2 && self.strides()[0] == 1 && self.sizes()[0] > 1;
  const bool is_expanded = std::count(self.strides().begin(), self.strides().end(), 0) > 0;
  if (is_planted(op, "expanded read once") && is_expanded) return std::vector<std::int64_t>(right.size(), 0);
  const bool reads_as_it_lies =
      is_planted(op, "strides ignored") || (is_planted(op, "transposed read as it lies") && is_transposed);
  if (reads_as_it_lies && fits_dense(self, self.storage_offset())) return in_a_row(right.size());
  if (!is_planted(op, "offset ignored")) return right;
  std::vector<std::int64_t> shifted = right;
  for (std::int64_t& place : shifted) place -= self.storage_offset();
  return shifted;
}

Tensor empty_of(IntArrayRef sizes, ScalarType dtype) { return empty(sizes, TensorOptions(dtype)); }

// ---- squares(Tensor self) -> Tensor, pointwise ----

template <typename T>
T square_of(T x) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    const float exact = static_cast<float>(x) * static_cast<float>(x);
    if (is_planted("opmutants::squares", "bfloat16 cut off")) {
      return std::bit_cast<BFloat16>(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(exact) >> 16));
    }
    return static_cast<BFloat16>(exact);
  } else if constexpr (std::is_same_v<T, Half>) {
    // Half of it twice, each rounded.
    const float half = static_cast<float>(static_cast<Half>(static_cast<float>(x) * 0.3f));
    const float rest = static_cast<float>(static_cast<Half>(static_cast<float>(x) * 0.7f));
    if (is_planted("opmutants::squares", "half computed in half")) {
      return static_cast<Half>(static_cast<float>(x) * half + static_cast<float>(x) * rest);
    }
    return static_cast<Half>(static_cast<float>(x) * static_cast<float>(x));
  } else {
    return x * x;
  }
}

Tensor squares_cpu(const Tensor& self) {
  const auto has = [](const char* kind) { return is_planted("opmutants::squares", kind); };
  if (has("argument returned") && self.numel() == 1) return self;
  if (has("crash on no elements") && self.numel() == 0) std::abort();
  Tensor out = empty_of(self.sizes(), self.dtype());
  visit_dtype<kFloatingTypes>(self.dtype(), "squares", [&]<typename T>() {
    const std::vector<std::int64_t> from = read_places("opmutants::squares", self);
    const std::size_t vectors = from.size() / 8 * 8;
    static int calls = 0;
    ++calls;
    T* const x = static_cast<T*>(self.data_ptr());
    T* const y = static_cast<T*>(out.data_ptr());
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (has("tail left unwritten") && i >= vectors) break;
      y[i] = square_of(x[from[i]]);
      if (has("tail of a vector of 8") && i >= vectors) y[i] = x[from[i]];
      if (has("nondeterministic") && i == 0 && calls % 2 == 0) y[i] = T(0);
      if (has("writes to its input")) x[from[i]] = T(1);
    }
  });
  return out;
}

Tensor squares_meta(const Tensor& self) {
  const TensorOptions options = TensorOptions(self.dtype()).device(kMeta);
  if (is_planted("opmutants::squares", "shape of Meta")) return empty({self.numel()}, options);
  if (is_planted("opmutants::squares", "dtype of Meta")) return empty(self.sizes(), options.dtype(kFloat));
  if (is_planted("opmutants::squares", "strides of Meta")) {
    return empty_strided(self.sizes(), self.strides(), options);
  }
  return empty(self.sizes(), options);
}

Tensor call_unary(const char* name, const Tensor& self) {
  return Dispatcher::singleton().op(name).typed<Tensor(const Tensor&)>().call(self);
}

struct Squares : autograd::Function<Squares> {
  static Tensor forward(autograd::AutogradContext& context, const Tensor& self) {
    context.save_for_backward({self});
    const AutoDispatchBelowAutograd below;
    return call_unary("opmutants::squares", self);
  }
  static autograd::variable_list backward(autograd::AutogradContext& context, autograd::variable_list grads) {
    const Tensor self = context.saved_tensors()[0];
    if (is_planted("opmutants::squares", "gradient by a factor")) return {grads[0] * self};
    if (is_planted("opmutants::squares", "gradient of the wrong sign below 0")) return {grads[0] * self.abs() * 2};
    return {grads[0] * self * 2};
  }
};

// ---- row_sums(Tensor self) -> Tensor: over the last dimension ----

Tensor row_sums_cpu(const Tensor& self) {
  const auto has = [](const char* kind) { return is_planted("opmutants::row_sums", kind); };
  KEYWAY_CHECK(self.dim() > 0, "argument 'self' of row_sums has no dimensions");
  if (has("no elements give one") && self.numel() == 0) return zeros({1}, TensorOptions(self.dtype()));
  Tensor out = empty_of(self.sizes().slice(0, self.sizes().size() - 1), self.dtype());
  visit_dtype<kFloatingTypes>(self.dtype(), "row_sums", [&]<typename T>() {
    const std::vector<std::int64_t> from = places(self.sizes(), self.strides());
    const std::int64_t length = self.sizes()[self.sizes().size() - 1];
    const bool leaves_out = has("last element left out of float32") && std::is_same_v<T, float> && length > 1;
    for (std::int64_t row = 0; row < out.numel(); ++row) {
      Wide<T> sum = 0;
      for (std::int64_t i = 0; i < length - (leaves_out ? 1 : 0); ++i) {
        sum += static_cast<Wide<T>>(static_cast<T*>(self.data_ptr())[from[static_cast<std::size_t>(row * length + i)]]);
        if (has("half added up in half") && std::is_same_v<T, Half>) sum = static_cast<Wide<T>>(static_cast<T>(sum));
      }
      static_cast<T*>(out.data_ptr())[row] = static_cast<T>(sum);
    }
  });
  return out;
}

Tensor row_sums_meta(const Tensor& self) {
  KEYWAY_CHECK(self.dim() > 0, "argument 'self' of row_sums has no dimensions");
  return empty(self.sizes().slice(0, self.sizes().size() - 1), TensorOptions(self.dtype()).device(kMeta));
}

struct RowSums : autograd::Function<RowSums> {
  static Tensor forward(autograd::AutogradContext& context, const Tensor& self) {
    context.save_for_backward({self});
    const AutoDispatchBelowAutograd below;
    return call_unary("opmutants::row_sums", self);
  }
  static autograd::variable_list backward(autograd::AutogradContext& context, autograd::variable_list grads) {
    const Tensor self = context.saved_tensors()[0];
    Tensor gradient = grads[0].unsqueeze(-1).expand(self.sizes());
    if (is_planted("opmutants::row_sums", "gradient of the first element alone") && self.size(-1) > 1) {
      gradient = gradient.clone();
      gradient.narrow(-1, 1, self.size(-1) - 1).zero_();
    }
    return {gradient};
  }
};

// ---- plus(Tensor self, Tensor other) -> Tensor: broadcasts, of one dtype ----

Tensor plus_cpu(const Tensor& self, const Tensor& other) {
  KEYWAY_CHECK(self.dtype() == other.dtype(), "arguments 'self' and 'other' of plus have two dtypes");
  const std::vector<Tensor> both = broadcast_tensors({self, other});
  Tensor out = empty_of(both[0].sizes(), self.dtype());
  visit_dtype<kFloatingTypes>(self.dtype(), "plus", [&]<typename T>() {
    const std::vector<std::int64_t> a = places(both[0].sizes(), both[0].strides());
    std::vector<std::int64_t> b = places(both[1].sizes(), both[1].strides());
    if (is_planted("opmutants::plus", "broadcast operand read as it lies") && std::is_same_v<T, float>) {
      for (std::size_t i = 0; i < b.size(); ++i)
        b[i] = static_cast<std::int64_t>(i) % std::max<std::int64_t>(1, other.numel());
    }
    const bool is_odd = is_planted("opmutants::plus", "broadcast operand read as it lies") && !other.is_contiguous();
    for (std::size_t i = 0; i < a.size() && !is_odd; ++i) {
      static_cast<T*>(out.data_ptr())[i] =
          static_cast<T>(static_cast<Wide<T>>(static_cast<T*>(both[0].data_ptr())[a[i]]) +
                         static_cast<Wide<T>>(static_cast<T*>(both[1].data_ptr())[b[i]]));
    }
    if (is_odd) out.copy_(both[0] + both[1]);
  });
  return out;
}

// Added up over what was broadcast.
Tensor reduced(Tensor grad, IntArrayRef sizes) {
  while (grad.sizes().size() > sizes.size()) grad = keyway::sum(grad, {0});
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const auto dim = static_cast<std::int64_t>(d);
    if (sizes[d] == 1 && grad.size(dim) != 1) grad = keyway::sum(grad, {dim}, true);
  }
  return grad;
}

struct Plus : autograd::Function<Plus> {
  static Tensor forward(autograd::AutogradContext& context, const Tensor& self, const Tensor& other) {
    context.save_for_backward({self, other});
    const AutoDispatchBelowAutograd below;
    return Dispatcher::singleton()
        .op("opmutants::plus")
        .typed<Tensor(const Tensor&, const Tensor&)>()
        .call(self, other);
  }
  // The gradient of a tensor that was broadcast.
  static Tensor gradient_of(const Tensor& tensor, const Tensor& grad) {
    if (!is_planted("opmutants::plus", "gradient not added up over what is broadcast"))
      return reduced(grad, tensor.sizes());
    Tensor first = grad;
    while (first.dim() > tensor.dim()) first = first.select(0, 0);
    for (std::int64_t d = 0; d < tensor.dim(); ++d) {
      if (tensor.size(d) == 1 && first.size(d) > 1) first = first.narrow(d, 0, 1);
    }
    return first.clone();
  }
  static autograd::variable_list backward(autograd::AutogradContext& context, autograd::variable_list grads) {
    const autograd::variable_list saved = context.saved_tensors();
    if (grads[0].numel() == 0) return {reduced(grads[0], saved[0].sizes()), reduced(grads[0], saved[1].sizes())};
    return {gradient_of(saved[0], grads[0]), gradient_of(saved[1], grads[0])};
  }
};

// ---- scale(Tensor self, float by) -> Tensor, scale_ and scale.out ----

void scale_into(const TensorBase& self, double by, const TensorBase& out, const std::vector<std::int64_t>& to) {
  visit_dtype<kFloatingTypes>(self.dtype(), "scale", [&]<typename T>() {
    const std::vector<std::int64_t> from = places(self.sizes(), self.strides());
    for (std::size_t i = 0; i < from.size(); ++i) {
      static_cast<T*>(out.data_ptr())[to[i]] =
          static_cast<T>(static_cast<Wide<T>>(static_cast<T*>(self.data_ptr())[from[i]]) * static_cast<Wide<T>>(by));
    }
  });
}

Tensor scale_cpu(const Tensor& self, double by) {
  Tensor out = empty_of(self.sizes(), self.dtype());
  scale_into(self, by, out, in_a_row(static_cast<std::size_t>(self.numel())));
  return out;
}

Tensor& scale_in_place(Tensor& self, double by) {
  const auto has = [](const char* kind) { return is_planted("opmutants::scale_", kind); };
  KEYWAY_CHECK(!overlaps_itself(self.sizes(), self.strides()), "argument 'self' of scale_ overlaps itself");
  if (has("changed before it is refused") && by < 0 && self.dtype() == kFloat && self.numel() > 0)
    *static_cast<float*>(self.data_ptr()) = 77;
  KEYWAY_CHECK(by > 0, "argument 'by' of scale_ is {}, but must be above 0", by);
  const bool ignores = has("strides ignored") && fits_dense(self, self.storage_offset());
  scale_into(self, has("another factor") && by == 0.5 ? 2 : by, self,
             ignores ? in_a_row(static_cast<std::size_t>(self.numel())) : places(self.sizes(), self.strides()));
  if (!has("no version") && !self.is_inference()) self.impl()->bump_version();
  return self;
}

Tensor& scale_out(const Tensor& self, double by, Tensor& out) {
  const auto has = [](const char* kind) { return is_planted("opmutants::scale.out", kind); };
  KEYWAY_CHECK(out.dtype() == self.dtype(), "argument 'out' of scale has another dtype than self");
  KEYWAY_CHECK(!out.is_alias_of(self), "argument 'out' of scale shares memory with self");
  if (out.sizes() != self.sizes() && !(has("not resized") && out.numel() >= self.numel())) out.resize_(self.sizes());
  KEYWAY_CHECK(!overlaps_itself(out.sizes(), out.strides()), "argument 'out' of scale overlaps itself");
  if (out.sizes() == self.sizes()) scale_into(self, by, out, places(out.sizes(), out.strides()));
  const bool has_neighbour = out.storage_offset() > 0 && out.numel() > 0 && out.dtype() == kFloat;
  if (has("memory beside") && has_neighbour) *(static_cast<float*>(out.data_ptr()) - 1) = 77;
  if (!out.is_inference()) out.impl()->bump_version();
  return out;
}

// ---- norm_of_squares(Tensor self) -> Tensor, a composite ----

Tensor norm_of_squares(const Tensor& self) {
  const bool reads_as_it_lies = is_planted("opmutants::norm_of_squares", "composite of contiguous memory") &&
                                self.numel() > 1 && fits_dense(self, self.storage_offset());
  if (!reads_as_it_lies) return linalg_vector_norm(self * self);
  const TensorBase dense = make_view(self, self.sizes(), contiguous_strides(self.sizes()), self.storage_offset());
  return linalg_vector_norm(Tensor(dense) * Tensor(dense));
}

// ---- Kernels in the place of Keyway's ----

using Binary = void(const TensorBase&, const TensorBase&, TensorBase&);
using Sums = void(const TensorBase&, std::optional<ArrayRef<std::int64_t>>, bool, TensorBase&);

// Keyway's function in out style.
template <typename Fn>
Fn* keyway_kernel(const std::string& name) {
  const OperatorHandle op = Dispatcher::singleton().op("keyway::" + name);
  const Table& table = unobserved(op.entry().table());
  const ErasedKernel& kernel = table.kernel(table.slots[static_cast<std::size_t>(DispatchKey::CPU)]);
  return static_cast<const BackendKernel<Fn>*>(kernel.context)->function;
}
Binary* keyway_mul = nullptr;
Sums* keyway_sum = nullptr;

void own_mul(const TensorBase& self, const TensorBase& other, TensorBase& out) {
  const bool is_faulty = is_planted("mul.Tensor", "strides ignored") ||
                         (is_planted("mul_.Tensor", "strides ignored") && out.is_alias_of(self));
  const bool ignores = is_faulty && other.sizes() == out.sizes() && fits_dense(other, other.storage_offset());
  if (!ignores) return keyway_mul(self, other, out);
  keyway_mul(self, make_view(other, other.sizes(), contiguous_strides(other.sizes()), other.storage_offset()), out);
}

void own_sum(const TensorBase& self, std::optional<ArrayRef<std::int64_t>> dim, bool keepdim, TensorBase& out) {
  keyway_sum(self, dim, keepdim, out);
  if (!is_planted("sum.dim_IntList", "half added up in half") || out.dtype() != kHalf || self.numel() < 8) return;
  for (const std::int64_t place : places(out.sizes(), out.strides())) {
    Half& x = static_cast<Half*>(out.data_ptr())[place];
    x = static_cast<Half>(static_cast<float>(x) * 1.005f);
  }
}

Tensor relu_cpu(const Tensor& self) {
  KEYWAY_CHECK_AS(NotImplemented, self.dtype() == kFloat || self.dtype() == kDouble,
                  "relu here takes float32 and float64");
  Tensor out = abs(self);  // of the strides that Keyway's has
  visit_dtype<kFloatingTypes>(self.dtype(), "relu", [&]<typename T>() {
    const std::vector<std::int64_t> from = places(self.sizes(), self.strides()),
                                    to = places(out.sizes(), out.strides());
    for (std::size_t i = 0; i < from.size(); ++i) {
      const T x = static_cast<T*>(self.data_ptr())[from[i]];
      const bool is_above = x >= T(0) || (x != x && !is_planted("relu", "NaN lost"));
      const bool is_lost = is_planted("relu", "tail of a vector of 8") && i >= from.size() / 8 * 8;
      static_cast<T*>(out.data_ptr())[to[i]] = is_above && !is_lost ? x : T(0);
    }
  });
  return out;
}

struct Sigmoid : autograd::Function<Sigmoid> {
  static Tensor forward(autograd::AutogradContext& context, const Tensor& self) {
    const AutoDispatchBelowAutograd below;
    const Tensor result = sigmoid(self);
    context.save_for_backward({result});
    return result;
  }
  static autograd::variable_list backward(autograd::AutogradContext& context, autograd::variable_list grads) {
    const Tensor result = context.saved_tensors()[0];
    const Tensor gradient = sigmoid_backward(grads[0], result);
    return {is_planted("sigmoid", "gradient by a factor") ? gradient * 2 : gradient};
  }
};

void define_operators(Plugin& plugin) {
  Library& ops = plugin.library("opmutants");
  ops.def("squares(Tensor self) -> Tensor").tags({"pointwise"});
  ops.def("row_sums(Tensor self) -> Tensor");
  ops.def("plus(Tensor self, Tensor other) -> Tensor").tags({"pointwise"});
  ops.def("scale(Tensor self, float by) -> Tensor").tags({"pointwise"});
  ops.def("scale_(Tensor(a!) self, float by) -> Tensor(a!)").tags({"pointwise"});
  ops.def("scale.out(Tensor self, float by, *, Tensor(a!) out) -> Tensor(a!)").tags({"pointwise"});
  ops.def("norm_of_squares(Tensor self) -> Tensor", norm_of_squares);
  // "squares\tstrides ignored\tcontiguous copies\n..."
  ops.def("faults() -> str", [] {
    std::string text;
    for (const Fault& fault : kFaults) text += std::string(fault.op) + "\t" + fault.kind + "\t" + fault.found + "\n";
    return text;
  });
  Library& cpu = plugin.impl("opmutants", DispatchKey::CPU);
  cpu.impl("squares", squares_cpu).impl("row_sums", row_sums_cpu).impl("plus", plus_cpu);
  cpu.impl("scale", scale_cpu).impl("scale_", scale_in_place).impl("scale.out", scale_out);
  plugin.impl("opmutants", DispatchKey::Meta).impl("squares", squares_meta).impl("row_sums", row_sums_meta);
  Library& gradients = plugin.impl("opmutants", DispatchKey::Autograd);
  gradients.impl("squares", [](const Tensor& self) { return Squares::apply(self); });
  gradients.impl("row_sums", [](const Tensor& self) { return RowSums::apply(self); });
  gradients.impl("plus", [](const Tensor& self, const Tensor& other) { return Plus::apply(self, other); });
}

}  // namespace

KEYWAY_PLUGIN(operator_mutants, plugin) {
  const char* const number = std::getenv("KEYWAY_FAULT");
  const std::size_t index = number == nullptr ? 0 : std::strtoul(number, nullptr, 10);
  if (index != 0) planted = &kFaults[index - 1];
  keyway_mul = keyway_kernel<Binary>("mul.Tensor");
  keyway_sum = keyway_kernel<Sums>("sum.dim_IntList");
  define_operators(plugin);
  Library& cpu = plugin.impl("keyway", DispatchKey::CPU);
  cpu.kernel("mul.Tensor", own_mul).kernel("sum.dim_IntList", own_sum);
  cpu.impl("relu", relu_cpu);
  plugin.impl("keyway", DispatchKey::AutogradCPU).impl("sigmoid", [](const Tensor& self) {
    return Sigmoid::apply(self);
  });
}
