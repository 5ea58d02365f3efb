#include <keyway/core/base/error.h>
#include <keyway/dispatch/call/operator_entry.h>
#include <keyway/ops/functors/activation.h>
#include <keyway/ops/functors/binary.h>
#include <keyway/ops/functors/operand.h>
#include <keyway/ops/functors/pointwise.h>
#include <keyway/ops/functors/signature.h>
#include <keyway/ops/functors/unary.h>

#include <accelerator/lanes.h>
#include <algorithm>
#include <string>
#include <string_view>

namespace accelerator {

using namespace keyway;
using graph::Graph;
using graph::Node;
using graph::TensorInfo;
using graph::ValueId;

namespace {

template <typename F>
Lane lane(F f) {
  return [f](std::int64_t count, float* out, const float* const* in) {
    for (std::int64_t i = 0; i < count; ++i) {
      if constexpr (std::tuple_size_v<typename FunctorSignature<F>::Arguments> == 1) {
        out[i] = f(in[0][i]);
      } else {
        out[i] = f(in[0][i], in[1][i]);
      }
    }
  };
}

Scalar number(const Stack& arguments, std::size_t at) { return arguments[at].to_scalar(); }

template <template <typename> class F>
Lane plain(const Stack&) {
  return lane(F<float>{});
}
template <template <typename> class F>
Lane with_number(const Stack& arguments) {
  return lane(F<float>{operand<float>(number(arguments, 1))});
}
template <template <typename> class F>
Lane scaled(const Stack& arguments) {
  return lane(F<float>{argument<float>(number(arguments, 2))});
}
template <template <typename> class F>
Lane scaled_number(const Stack& arguments) {
  return lane(F<float>{operand<float>(number(arguments, 1)), argument<float>(number(arguments, 2))});
}
template <template <typename> class F, std::size_t kApproximate>
Lane gelu(const Stack& arguments) {
  return lane(F<float>{std::string_view(arguments[kApproximate].to_string_ref())});
}

struct Row {
  std::string_view op;  // and its overload that writes in place
  Lane (*lane)(const Stack& arguments);
};
constexpr Row kRows[] = {
    {"add.Tensor", scaled<Add>},
    {"add.Scalar", scaled_number<AddScalar>},
    {"sub.Tensor", scaled<Sub>},
    {"sub.Scalar", scaled_number<SubScalar>},
    {"mul.Tensor", plain<Mul>},
    {"mul.Scalar", with_number<MulScalar>},
    {"div.Tensor", plain<Div>},
    {"div.Scalar", with_number<DivScalar>},
    {"maximum", plain<Maximum>},
    {"minimum", plain<Minimum>},
    {"neg", plain<Neg>},
    {"exp", plain<Exp>},
    {"log", plain<Log>},
    {"sqrt", plain<Sqrt>},
    {"reciprocal", plain<Reciprocal>},
    {"tanh", plain<Tanh>},
    {"relu", plain<Relu>},
    {"gelu", gelu<Gelu, 1>},
    {"gelu_backward", gelu<GeluBackward, 2>},
};

// "add.Tensor" of add.Tensor and of add_.Tensor.
std::string functional_name(const OperatorEntry& op) {
  std::string name = op.short_name();
  const std::size_t end = std::min(name.find('.'), name.size());
  if (op.schema().is_inplace()) name.erase(end - 1, 1);
  return name;
}

bool is_dense(const TensorInfo& info, const TensorInfo& like) {
  return info.dtype == kFloat && info.device == like.device && info.sizes == like.sizes &&
         info.strides == TensorInfo(kFloat, info.device, info.sizes).strides;
}

}  // namespace

std::optional<PointwiseCall> pointwise_call(const Graph& graph, const Node& node) {
  if (!node.op->info().name.starts_with("keyway::") ||
      (node.op->schema().is_mutable() && !node.op->schema().is_inplace()))
    return std::nullopt;
  const Row* const row = std::ranges::find(kRows, functional_name(*node.op), &Row::op);
  if (row == std::end(kRows)) return std::nullopt;
  PointwiseCall call{row->lane(node.arguments), {}, node.results[0].to_int()};
  const TensorInfo& result = graph.values[static_cast<std::size_t>(call.result)].info;
  bool all_dense = !result.device.is_cpu() && is_dense(result, result);
  graph::for_each_value(node.op->schema().arguments(), node.arguments, [&](ValueId id) {
    call.operands.push_back(id);
    all_dense = all_dense && is_dense(graph.values[static_cast<std::size_t>(id)].info, result);
  });
  return all_dense ? std::optional(std::move(call)) : std::nullopt;
}

}  // namespace accelerator
