// A library of operators over the C++ layer of the stable C ABI.
#include <keyway/stable/library.h>
#include <keyway/stable/ops.h>

#include <map>
#include <stdexcept>

using namespace keyway::stable;

namespace {

// Elements times a number, by several threads.
Tensor scale(const Tensor& self, double by) {
  KEYWAY_STABLE_CHECK(self.dtype() == kFloat64, "layer::scale takes float64, not dtype ", self.dtype().number);
  const Tensor from = contiguous(self), to = empty_like(from);
  const double* const in = from.const_data_ptr<double>();
  double* const out = to.data_ptr<double>();
  parallel_for(0, from.numel(), 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) out[i] = in[i] * by;
  });
  return to;
}

// Every type of slot, as a C++ type, there and back.
using Everything =
    std::tuple<Tensor, std::optional<Tensor>, std::int64_t, double, bool, std::string, ScalarType, Layout, MemoryFormat,
               Device, std::optional<Generator>, Scalar, std::complex<double>, std::optional<std::int64_t>,
               std::vector<std::int64_t>, std::vector<double>, std::vector<bool>, std::vector<Tensor>,
               std::vector<std::optional<Tensor>>, std::vector<std::string>, std::vector<std::optional<std::int64_t>>,
               std::vector<std::vector<std::int64_t>>, std::vector<Scalar>>;
Everything echo(const Tensor& a, std::optional<Tensor> b, std::int64_t c, double d, bool e, const std::string& f,
                ScalarType g, Layout h, MemoryFormat i, Device j, std::optional<Generator> k, const Scalar& l,
                std::complex<double> m, std::optional<std::int64_t> n, std::vector<std::int64_t> o,
                std::vector<double> p, std::vector<bool> q, std::vector<Tensor> r, std::vector<std::optional<Tensor>> s,
                std::vector<std::string> t, std::vector<std::optional<std::int64_t>> u,
                std::vector<std::vector<std::int64_t>> v, std::vector<Scalar> w) {
  return {a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w};
}

// The gradient of scale goes through the operator again.
Tensor scale_with_operators(const Tensor& self, double by) {
  return call<Tensor>("aten::mul", "Scalar", self, Scalar(by));
}

std::tuple<Tensor, Tensor> sorted(const Tensor& self) {
  return call<std::tuple<Tensor, Tensor>>("aten::sort", "", self, std::int64_t{-1}, false);
}

}  // namespace

KEYWAY_STABLE_LIBRARY(layer, m) {
  m.def("scale(Tensor self, float by) -> Tensor", {KEYWAY_STABLE_TAG(pointwise)});
  m.def("scale_by_operators(Tensor self, float by) -> Tensor");
  m.def("sorted(Tensor self) -> (Tensor, Tensor)");
  m.def("geometry(Tensor self) -> int[]");
  m.def("throws(int what) -> ()");
  m.def("wrong_count(int self, int more) -> int");
  m.def("held() -> Tensor");
  m.def(
      "echo(Tensor a, Tensor? b, int c, float d, bool e, str f, ScalarType g, Layout h, MemoryFormat i, Device j, "
      "Generator? k, Scalar l, complex m, int? n, int[] o, float[] p, bool[] q, Tensor[] r, Tensor?[] s, str[] t, "
      "int?[] u, int[][] v, Scalar[] w) -> (Tensor, Tensor?, int, float, bool, str, ScalarType, Layout, MemoryFormat, "
      "Device, Generator?, Scalar, complex, int?, int[], float[], bool[], Tensor[], Tensor?[], str[], int?[], int[][], "
      "Scalar[])");
}

KEYWAY_STABLE_LIBRARY_IMPL(layer, CPU, m) {
  m.impl<scale>("scale(Tensor self, float by) -> Tensor");
  m.impl<echo>("echo");
}

KEYWAY_STABLE_LIBRARY_IMPL(layer, CompositeImplicitAutograd, m) {
  m.expect("layer::sorted(Tensor self) -> (Tensor, Tensor)");
  m.impl<scale_with_operators>("scale_by_operators");
  m.impl<sorted>("sorted");
  m.impl("geometry", [](const Tensor& self) {
    std::vector<std::int64_t> all(self.sizes().begin(), self.sizes().end());
    all.insert(all.end(), self.strides().begin(), self.strides().end());
    all.push_back(self.storage_offset());
    return all;
  });
  m.impl("throws", [](std::int64_t what) {
    if (what == 0) throw std::runtime_error("thrown");
    if (what == 1) throw 1;
    if (what == 2) static_cast<void>(Tensor().dim());
    if (what == 3) static_cast<void>(empty(std::vector<std::int64_t>{2}, kFloat32).data_ptr<double>());
    if (what == 4) call<Tensor>("aten::no_such_operator", "");
    if (what == 5) Device("nowhere");
  });
  m.impl("wrong_count", [](std::int64_t self) { return self; });
  m.impl("held", [] {
    auto numbers = std::make_shared<std::vector<float>>(4, 2.5F);
    const std::int64_t sizes[] = {4}, strides[] = {1};
    return from_blob(numbers->data(), sizes, strides, kFloat32, {}, [numbers] {});
  });
}

// An operator that another library changed since.
#if defined(CHANGED)
KEYWAY_STABLE_LIBRARY_FRAGMENT(aten, m) { m.expect("relu(Tensor self, Scalar slope) -> Tensor"); }
#endif
