// Rules by backward: the call is recorded for the leaves of its own, and differentiated as it is for gradients.
#include <keyway/autograd/engine.h>
#include <keyway/autograd/formulas/add_term.h>
#include <keyway/autograd/variable.h>
#include <keyway/core/keys/thread_state.h>
#include <keyway/dispatch/call/boxed_tensors.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/forward/dual.h>
#include <keyway/forward/jvp_rules.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <optional>

namespace keyway::inline v1::forward {
namespace {

using autograd::variable_list;

// The call of one operator, recorded.
class Recorded {
 public:
  explicit Recorded(const JvpCall& call) : call_(call), keeps_(grad_enabled() && has_history(call)) {}

  bool keeps() const { return keeps_; }

  // With real tensors expanded to `sizes`, if they are given.
  void run(const std::optional<DimVector>& sizes) {
    const InferenceMode recorded(false);
    Stack tangents = call_.tangents;
    results_ = call_.primals;
    const bool is_mutable = call_.op.schema().is_mutable();
    for_each_pair(results_, tangents, [&](TensorBase& primal, TensorBase& tangent) {
      const bool is_self = is_mutable && primal.is_same(call_.primals[0].to_tensor());
      if (tangent.defined()) {
        Tensor input = as_recorded_input(Tensor(primal), keeps_);
        // What the call's graph has of it, the caller is about to change.
        Tensor weight = is_self && keeps_ ? Tensor(tangent).clone() : Tensor(tangent);
        if (sizes) input = input.expand(*sizes), weight = weight.expand(*sizes);
        inputs_.push_back(input);
        weights_.push_back(weight);
        primal = input;
      }
      if (is_self) primal = Tensor(primal).clone();
    });
    call_boxed(call_.op, results_);
    for_each_tensor(results_, [&](const TensorBase& result) {
      if (autograd::is_differentiable(result.dtype()) && requires_grad(result)) outputs_.push_back(Tensor(result));
    });
  }

  // With the tangents of the results that have any, in order.
  Results finished(const variable_list& tangents) {
    Results all{results_, Stack(results_.size())};
    std::size_t next = 0;
    for_each_pair(all.primals, all.tangents, [&](TensorBase& result, TensorBase& tangent) {
      if (!autograd::is_differentiable(result.dtype()) || !requires_grad(result)) return;
      tangent = tangents[next++];
      if (!keeps_) result = without_history(Tensor(result));
    });
    return all;
  }

  bool has_differentiable_results() const {
    return any_tensor_in(results_,
                         [](const TensorBase& result) { return autograd::is_differentiable(result.dtype()); });
  }
  const variable_list& inputs() const { return inputs_; }
  const variable_list& weights() const { return weights_; }
  const variable_list& outputs() const { return outputs_; }

 private:
  const JvpCall& call_;
  bool keeps_;
  Stack results_;
  variable_list inputs_;   // that have tangents
  variable_list weights_;  // their tangents
  variable_list outputs_;  // that depend on them
};

// An operator whose entry says nothing of derivatives must not be taken for one whose derivative is zero.
void check_has_derivative(const JvpCall& call, bool has) {
  KEYWAY_CHECK_AS(NotImplemented, has || call.op.info().derived != 0,
                  "forward mode: the operator has no derivative that can be differentiated: its results would have no "
                  "tangents; give it one that is made of differentiable operators");
}

// Nothing if they do not broadcast.
std::optional<DimVector> broadcast(IntArrayRef a, IntArrayRef b) {
  if (a.size() < b.size()) return broadcast(b, a);
  DimVector sizes(a);
  for (std::size_t i = 1; i <= b.size(); ++i) {
    const std::int64_t other = b[b.size() - i];
    std::int64_t& size = sizes[sizes.size() - i];
    if (size != other && size != 1 && other != 1) return std::nullopt;
    if (size == 1) size = other;
  }
  return sizes;
}

// The common shape of a pointwise call, if one call expands to it what it is given as each argument alone would be.
std::optional<DimVector> common_sizes(const JvpCall& call, bool& is_real) {
  Stack primals = call.primals, tangents = call.tangents;
  std::optional<DimVector> sizes = DimVector();
  ScalarType dtype = ScalarType::Undefined;
  bool one_dtype = true, any_scalar = false;
  for_each_pair(primals, tangents, [&](const TensorBase& primal, const TensorBase&) {
    is_real = is_real && !is_complex(primal.dtype());
    any_scalar = any_scalar || primal.dim() == 0;
    one_dtype = one_dtype && (dtype == ScalarType::Undefined || dtype == primal.dtype());
    dtype = primal.dtype();
    if (sizes) sizes = broadcast(*sizes, primal.sizes());
  });
  if (any_scalar && !one_dtype) return std::nullopt;
  return sizes;
}

}  // namespace

Results general(const JvpCall& call) {
  Recorded recorded(call);
  recorded.run({});
  if (recorded.outputs().empty()) {
    check_has_derivative(call, !recorded.has_differentiable_results());
    return recorded.finished({});
  }
  const InferenceMode with_graph(false);
  // Products with any weights have the same derivative by these. But some formulas take a weight's logarithm, and those
  // of decompositions refuse weights that no function of what is determined has.
  const bool is_single = recorded.outputs().size() == 1;
  variable_list weights;
  for (const Tensor& output : recorded.outputs()) {
    const TensorOptions options = TensorOptions().dtype(output.dtype()).device(output.device());
    weights.push_back(as_recorded_input(keyway::full(output.sizes(), is_single ? 1 : 0, options), false));
  }
  const variable_list products = autograd::grad(recorded.outputs(), recorded.inputs(), weights, true, true, true);
  variable_list used, tangents;
  for (std::size_t i = 0; i < products.size(); ++i) {
    if (!products[i].defined()) continue;
    const bool depends = requires_grad(products[i]);
    check_has_derivative(call, depends);
    if (!depends) continue;
    used.push_back(products[i]);
    tangents.push_back(recorded.weights()[i]);
  }
  if (used.empty()) return recorded.finished(variable_list(weights.size()));
  const bool keeps = recorded.keeps();
  const variable_list found = autograd::grad(used, weights, tangents, keeps, keeps, true);
  // A product that the weights do not lead to has another history: it was computed without a record of them.
  check_has_derivative(call, std::ranges::any_of(found, [](const Tensor& tangent) { return tangent.defined(); }));
  return recorded.finished(found);
}

Results pointwise(const JvpCall& call) {
  bool is_real = true;
  const std::optional<DimVector> sizes = common_sizes(call, is_real);
  if (!is_real || !sizes) return general(call);
  Recorded recorded(call);
  recorded.run(sizes);
  if (recorded.outputs().empty()) return recorded.finished({});
  const Tensor& output = recorded.outputs()[0];
  const InferenceMode with_graph(false);
  Tensor sum;
  for (std::size_t i = 0; i < recorded.inputs().size(); ++i) {
    const bool is_last = i + 1 == recorded.inputs().size();
    const variable_list product =
        autograd::grad({output}, {recorded.inputs()[i]}, {recorded.weights()[i].to(output.dtype())},
                       recorded.keeps() || !is_last, recorded.keeps(), true);
    if (!product[0].defined()) continue;
    autograd::add_term(sum, product[0].to(output.dtype()));
  }
  return recorded.finished({sum});
}

}  // namespace keyway::inline v1::forward
