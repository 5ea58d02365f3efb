// Products of matrices.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

namespace keyway::inline v1::onnx {

namespace {

Results gemm(const Call& call) {
  const auto turned = [&](std::size_t input, std::string_view name) {
    const Tensor& x = call.tensor(input);
    call.check(x.dim() == 2, "input {} must be a matrix, not of sizes {}", input, x.sizes());
    return call.attribute(name, 0) != 0 ? t(x) : x;
  };
  const double alpha = call.single_attribute("alpha", 1);
  const double beta = call.single_attribute("beta", 1);
  const ScalarType dtype = call.tensor(0).dtype();
  const auto scaled = [&](const Tensor& x, double by) {
    if (by == 1) return x;
    return is_integral(dtype, false) ? mul(x, Scalar(by)).to(dtype) : mul(x, Scalar(by));
  };
  const Tensor product = scaled(mm(turned(0, "transA"), turned(1, "transB")), alpha);
  return {call.has(2) ? add(product, scaled(call.tensor(2), beta)) : product};
}

Results sum_of_products(const Call& call) { return {einsum(call.text_attribute("equation"), call.tensors())}; }

constexpr Operator kMatrices[] = {
    {"Det", 11, one<det>},
    {"Einsum", 12, sum_of_products, Operator::kAny, "equation"},
    {"Gemm", 1, gemm, 3, "alpha beta broadcast transA transB"},
    {"Gemm", 7, gemm, 3, "alpha beta transA transB"},
    {"MatMul", 1, two<matmul>, 2},
};

}  // namespace

Family matrix_family() { return kMatrices; }

}  // namespace keyway::inline v1::onnx
