// Products of matrices.
#include <keyway/onnx/export/operators/common.h>

namespace keyway::inline v1::onnx::exporter {

namespace {

Vars linear_of(const Call& call) {
  const Var x = call.tensor("input"), weight = call.tensor("weight"), bias = call.tensor("bias");
  if (call.rank("input") == 2 && call.rank("weight") == 2 && !bias.name.empty())
    return call.node("Gemm", {x, weight, bias}, {{"transB", 1}});
  const Var turned = call.rank("weight") == 2 ? call.transpose(weight, {1, 0}) : weight;
  const Var y = call.node("MatMul", {x, turned});
  return bias.name.empty() ? y : call.node("Add", {y, bias});
}

Var times(const Call& call, const Var& a, const Var& b) { return call.node("MatMul", {a, b}); }

Vars product(const Call& call) {
  const std::string_view other = call.word();
  return times(call, call.tensor("self"), call.tensor(other));
}

// beta * self + alpha * (a product).
Vars added(const Call& call, Var product) {
  const ScalarType dtype = call.result_dtype();
  if (call.real("alpha") != 1) product = call.node("Mul", {product, call.as("alpha", dtype)});
  if (call.real("beta") == 0) return product;
  Var self = call.tensor("self");
  if (call.real("beta") != 1) self = call.node("Mul", {self, call.as("beta", dtype)});
  return call.node("Add", {self, product});
}
Vars add_mm(const Call& call) {
  if (!is_floating_point(call.result_dtype()))
    return added(call, times(call, call.tensor("mat1"), call.tensor("mat2")));
  return call.node("Gemm", {call.tensor("mat1"), call.tensor("mat2"), call.tensor("self")},
                   {{"alpha", call.real("alpha")}, {"beta", call.real("beta")}});
}
Vars add_mv(const Call& call) { return added(call, times(call, call.tensor("mat"), call.tensor("vec"))); }
Vars add_bmm(const Call& call) { return added(call, times(call, call.tensor("batch1"), call.tensor("batch2"))); }

Var outer_of(const Call& call, std::string_view a, std::string_view b) {
  const ScalarType dtype = call.result_dtype();
  return call.node("Mul", {call.unsqueeze(call.as(a, dtype), {1}), call.unsqueeze(call.as(b, dtype), {0})});
}
Vars outer_product(const Call& call) { return outer_of(call, "self", "vec2"); }
Vars add_outer(const Call& call) { return added(call, outer_of(call, "vec1", "vec2")); }

Vars einsum_of(const Call& call) {
  std::string equation;
  for (const char c : call.text("equation")) equation += c == ' ' ? "" : std::string(1, c);
  return call.node("Einsum", call.tensors("tensors"), {{"equation", std::string_view(equation)}});
}

Vars determinant(const Call& call) { return call.node("Det", {call.tensor(call.word())}); }

constexpr Mapping kMatrices[] = {
    {"addmm", add_mm},
    {"addmv", add_mv},
    {"addr", add_outer},
    {"baddbmm", add_bmm},
    {"bmm", product, "mat2"},
    {"det", determinant, "self"},
    {"dot", product, "tensor"},
    {"einsum", einsum_of},
    {"linalg_det", determinant, "A"},
    {"linear", linear_of},
    {"matmul", product, "other"},
    {"mm", product, "mat2"},
    {"mv", product, "vec"},
    {"outer", outer_product},
    {"vdot", product, "other"},
};

}  // namespace

Family matrix_family() { return kMatrices; }

}  // namespace keyway::inline v1::onnx::exporter
