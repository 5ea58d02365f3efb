// A library of operators in C++ over the stable C ABI: it includes no other header of Keyway and links nothing of it,
// so that it works with every version from this one on, whatever compiler made either.
#include <keyway/stable/library.h>
#include <keyway/stable/ops.h>

#include <cmath>
#include <tuple>

using namespace keyway::stable;

// x * sigmoid(beta x), and its derivative by x, in one pass.
static std::tuple<Tensor, Tensor> swish_with_slope(const Tensor& self, double beta) {
  KEYWAY_STABLE_CHECK(self.dtype() == kFloat32 && self.is_contiguous(), "swish takes contiguous float32");
  const Tensor result = empty_like(self), slope = empty_like(self);
  const float* const x = self.const_data_ptr<float>();
  float* const y = result.data_ptr<float>();
  float* const dy = slope.data_ptr<float>();
  const auto b = static_cast<float>(beta);
  parallel_for(0, self.numel(), 4096, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const float sigmoid = 1 / (1 + std::exp(-b * x[i]));
      y[i] = x[i] * sigmoid;
      dy[i] = sigmoid + b * y[i] * (1 - sigmoid);
    }
  });
  return {result, slope};
}

// The same from operators, which have gradients.
static Tensor swish(const Tensor& self, double beta) {
  const Tensor scaled = call<Tensor>("aten::mul", "Scalar", self, Scalar(beta));
  return call<Tensor>("aten::mul", "Tensor", self, call<Tensor>("aten::sigmoid", "", scaled));
}

KEYWAY_STABLE_LIBRARY(cpp_example, m) {
  m.def("swish(Tensor self, float beta=1.0) -> Tensor", {KEYWAY_STABLE_TAG(pointwise)});
  m.def("swish_with_slope(Tensor self, float beta=1.0) -> (Tensor, Tensor)");
}

KEYWAY_STABLE_LIBRARY_IMPL(cpp_example, CompositeImplicitAutograd, m) {
  m.expect("cpp_example::swish(Tensor self, float beta=1.0) -> Tensor");
  m.impl<swish>("swish");
}

KEYWAY_STABLE_LIBRARY_IMPL(cpp_example, CPU, m) { m.impl<swish_with_slope>("swish_with_slope"); }
