// Random numbers, those of the CPU: element i, counted in row-major order, is a function of the call and of i alone
// (ops/functors/random.h). Arithmetic bounds most of them: ten rounds of Philox for each element.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/kernels/element_bits.h>
#include <keyway/backends/cuda/kernels/kernels_random.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/random.h>
#include <keyway/ops/rules/random.h>

#include <cstring>

namespace keyway::inline v1::cuda {

namespace {

// Operands: out, the element's number.
template <typename Make>
struct Fill {
  Make make;

  KEYWAY_HD void operator()(const Element<2>& element) const {
    const auto x = make(element.number(1));
    element.at<std::remove_const_t<decltype(x)>>(0) = x;
  }
};

template <typename Make>
void fill(const TensorBase& out, const Make& make) {
  if (out.numel() == 0) return;
  each<2>(ElementSpace(out.sizes()).tensor(out).number().space(), Fill<Make>{make}, out.device());
}

// Of integers that the dtype has all; those of one size have the same bits.
void fill_integers(const TensorBase& self, const rules::WholeRange& range, const PhiloxCall& call) {
  if (kFloatingTypes.contains(self.dtype())) {
    return visit_floating(self.dtype(), "random_", [&]<typename T>() {
      fill(self, Whole<T>{call, range.from, range.count});
    });
  }
  const auto fill_as = [&]<typename T>() { fill(self, Whole<T>{call, range.from, range.count}); };
  switch (self.itemsize()) {
    case 1: return fill_as.template operator()<std::uint8_t>();
    case 2: return fill_as.template operator()<std::uint16_t>();
    case 4: return fill_as.template operator()<std::uint32_t>();
    default: return fill_as.template operator()<std::uint64_t>();
  }
}

// The bits of 1; those of 0 are zeros.
template <typename Bits>
Bits bits_of_one(ScalarType dtype) {
  Bits bits{};
  visit_any(dtype, "bernoulli_", [&]<typename T>() {
    const T one(1);
    if constexpr (sizeof(T) == sizeof(Bits)) std::memcpy(&bits, &one, sizeof(T));
  });
  return bits;
}

template <typename Bits>
struct Bernoulli {
  Chance happens;
  double p;
  Bits one;

  KEYWAY_HD Bits operator()(std::int64_t i) const { return happens(i, p) ? one : Bits{}; }
};

// Operands: out, the probability, the element's number.
template <typename Bits>
struct BernoulliOf {
  static constexpr const char* kElementError = "argument 'p' has an element that is not in [0, 1]";
  Chance happens;
  Bits one;

  KEYWAY_HD bool operator()(const Element<3>& element) const {
    const double p = element.at<const double>(1);
    element.at<Bits>(0) = happens(element.number(2), p) ? one : Bits{};
    return p >= 0 && p <= 1;
  }
};

// Operands: out, the mask, input, the element's number.
template <typename T>
struct Dropout {
  Chance happens;
  double p;
  KeptScaled<T> apply;

  KEYWAY_HD void operator()(const Element<4>& element) const {
    const bool kept = !happens(element.number(3), p);
    element.at<bool>(1) = kept;
    element.at<T>(0) = apply(element.at<const T>(2), kept);
  }
};

}  // namespace

void bernoulli__float(TensorBase& self, double p, const Generator& generator) {
  const Chance happens{next_call(generator, self.device())};
  visit_bits(self.itemsize(), [&]<typename T>() {
    fill(self, Bernoulli<T>{happens, p, bits_of_one<T>(self.dtype())});
  });
}

void bernoulli__Tensor(TensorBase& self, const TensorBase& p, const Generator& generator) {
  const Chance happens{next_call(generator, self.device())};
  if (self.numel() == 0) return;
  const TensorBase list = contiguous_as(p, kDouble);
  const IterationSpace space = ElementSpace(self.sizes()).tensor(self).tensor(list).number().space();
  visit_bits(self.itemsize(), [&]<typename T>() {
    each<3>(space, BernoulliOf<T>{happens, bits_of_one<T>(self.dtype())}, self.device());
  });
}

void exponential_(TensorBase& self, double lambd, const Generator& generator) {
  const Waiting waiting{next_call(generator, self.device())};
  visit_floating(self.dtype(), "exponential_", [&]<typename T>() { fill(self, Exponential<T>{waiting, lambd}); });
}

void native_dropout(const TensorBase& input, double p, std::optional<bool> train, TensorBase& out0, TensorBase& out1) {
  const bool drops = train.value_or(true) && p > 0;
  const Chance happens{drops ? next_call(nullptr, input.device()) : PhiloxCall()};
  if (input.numel() == 0) return;
  const IterationSpace space = ElementSpace(input.sizes()).tensor(out0).tensor(out1).tensor(input).number().space();
  visit_floating_and_complex(input.dtype(), "native_dropout", [&]<typename T>() {
    const auto scale = static_cast<Real<Opmath<T>>>(p < 1 && drops ? 1 / (1 - p) : 1);
    each<4>(space, Dropout<T>{happens, drops ? p : 0, {scale}}, input.device());
  });
}

void normal_(TensorBase& self, double mean, double std, const Generator& generator) {
  const PhiloxCall call = next_call(generator, self.device());
  visit_floating_and_complex(self.dtype(), "normal_", [&]<typename T>() { fill(self, Normal<T>(call, mean, std)); });
}

void random_(TensorBase& self, const Generator& generator) {
  fill_integers(self, rules::whole_range(self.dtype()), next_call(generator, self.device()));
}

void random__from(TensorBase& self, std::int64_t from, std::optional<std::int64_t> to, const Generator& generator) {
  const rules::WholeRange range = rules::whole_range(self.dtype(), from, to);
  fill_integers(self, range, next_call(generator, self.device()));
}

void random__to(TensorBase& self, std::int64_t to, const Generator& generator) { random__from(self, 0, to, generator); }

void uniform_(TensorBase& self, double from, double to, const Generator& generator) {
  const PhiloxCall call = next_call(generator, self.device());
  visit_floating(self.dtype(), "uniform_", [&]<typename T>() { fill(self, Uniform<T>(call, from, to)); });
}

}  // namespace keyway::inline v1::cuda
