#include <keyway/autograd/engine.h>
#include <keyway/forward/dual.h>
#include <keyway/forward/dual_tensor.h>
#include <keyway/forward/gradients.h>
#include <keyway/ops/all.h>

#include <utility>

namespace keyway::inline v1::forward {
namespace {

using Tensors = std::vector<Tensor>;

struct SplitTensors {
  Tensors primals;
  Tensors tangents;  // undefined where there are none
};

void update_level(LevelPtr& level, const Tensors& tensors) {
  for (const Tensor& tensor : tensors) {
    const TensorBase live = unwrap_if_ended(tensor);
    const DualValue* dual = dual_value(live);
    if (dual != nullptr && (level == nullptr || dual->level()->id() > level->id())) level = dual->level();
  }
}

UnpackedDual whole(const Tensor& tensor) { return {Tensor(unwrap_if_ended(tensor)), {}}; }

SplitTensors split(const Tensors& tensors, const LevelPtr& level) {
  SplitTensors all;
  for (const Tensor& tensor : tensors) {
    UnpackedDual parts;
    if (tensor.defined()) parts = level != nullptr ? unpack_dual_at(tensor, *level) : whole(tensor);
    all.primals.push_back(std::move(parts.primal));
    all.tangents.push_back(std::move(parts.tangent));
  }
  return all;
}

// What to run backward from, and with which weights; an undefined weight is 1.
struct Roots {
  Tensors tensors;
  Tensors weights;

  void add(const Tensor& tensor, const Tensor& weight) {
    if (!tensor.defined() || !requires_grad(tensor)) return;
    tensors.push_back(tensor);
    weights.push_back(weight);
  }
};

}  // namespace

// With y for the outputs, w for the weights, and dots for tangents: the gradient g = w * dy/dx has the tangent
// w * dy./dx + w. * dy/dx.
Tensors grad_of_duals(const Tensors& outputs, const Tensors& inputs, const Tensors& grad_outputs, bool retain_graph,
                      bool create_graph, bool allow_unused) {
  LevelPtr level;
  update_level(level, outputs);
  update_level(level, inputs);
  update_level(level, grad_outputs);
  const SplitTensors y = split(outputs, level), x = split(inputs, level), w = split(grad_outputs, level);
  if (level == nullptr)
    return autograd::grad(y.primals, x.primals, w.primals, retain_graph, create_graph, allow_unused);
  Roots plain, dotted;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor weight = i < w.primals.size() ? w.primals[i] : Tensor();
    plain.add(y.primals[i], weight);
    dotted.add(y.tangents[i], weight);
    if (i < w.tangents.size() && w.tangents[i].defined()) dotted.add(y.primals[i], w.tangents[i]);
  }
  Tensors found(inputs.size()), tangents(inputs.size());
  if (!plain.tensors.empty() || dotted.tensors.empty()) {
    // All of the outputs if none has a history, for the error.
    const Roots& roots = plain.tensors.empty() ? Roots{y.primals, w.primals} : plain;
    found = autograd::grad(roots.tensors, x.primals, roots.weights, retain_graph || !dotted.tensors.empty(),
                           create_graph, allow_unused);
  }
  if (!dotted.tensors.empty())
    tangents = autograd::grad(dotted.tensors, x.primals, dotted.weights, retain_graph, create_graph, true);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!tangents[i].defined()) continue;
    if (!found[i].defined()) found[i] = keyway::zeros_like(tangents[i]);
    found[i] = make_dual_at(found[i], tangents[i], level);
  }
  return found;
}

}  // namespace keyway::inline v1::forward
