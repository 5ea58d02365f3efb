// The kernels of cond and while_loop: how calls that take graphs are run, recorded and differentiated.
#include <keyway/autograd/engine.h>
#include <keyway/autograd/function.h>
#include <keyway/autograd/variable.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/registry/class_builder.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/capture.h>
#include <keyway/graph/control_flow.h>
#include <keyway/graph/control_flow_operators.h>
#include <keyway/graph/effects.h>
#include <keyway/graph/recorder.h>
#include <keyway/graph/subgraph.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1::graph {
namespace {

using GraphObject = intrusive_ptr<Subgraph>;
using Tensors = std::vector<Tensor>;

Tensors joined(ArrayRef<Tensor> first, ArrayRef<Tensor> second) {
  Tensors all(first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

bool is_true(const Tensor& pred) {
  KEYWAY_CHECK(pred.numel() == 1, "pred must have one element, but is {}", to_string(TensorInfo(pred)));
  return pred.item().to<bool>();
}

// --- Running

Tensors run_cond(const Tensor& pred, const GraphObject& true_graph, const GraphObject& false_graph,
                 ArrayRef<Tensor> operands) {
  return (is_true(pred) ? true_graph : false_graph)->run(operands.vec());
}

Tensors run_while(const GraphObject& cond_graph, const GraphObject& body_graph, ArrayRef<Tensor> carried_inputs,
                  ArrayRef<Tensor> additional_inputs) {
  Tensors carried = carried_inputs.vec();
  for (bool is_first = true;; is_first = false) {
    const Tensors all = joined(carried, additional_inputs);
    const Tensors condition = cond_graph->run(all);
    KEYWAY_CHECK(condition.size() == 1, "cond_graph gives {} tensors, and must give one", condition.size());
    if (is_true(condition[0])) {
      carried = body_graph->run(all);
      continue;
    }
    if (is_first) {
      for (Tensor& tensor : carried) tensor = tensor.clone(MemoryFormat::Contiguous);
    }
    return carried;
  }
}

// --- On Meta: what the graph gives

Tensors results_on_meta(const Graph& graph) {
  Tensors results;
  for (const ValueId id : graph.outputs) {
    const TensorInfo& info = info_of(graph, id);
    results.push_back(
        keyway::empty_strided(info.sizes, info.strides, TensorOptions(DeviceType::Meta).dtype(info.dtype)));
  }
  return results;
}

Tensors cond_on_meta(const Tensor&, const GraphObject& true_graph, const GraphObject&, ArrayRef<Tensor>) {
  return results_on_meta(true_graph->graph());
}

Tensors while_on_meta(const GraphObject&, const GraphObject& body_graph, ArrayRef<Tensor>, ArrayRef<Tensor>) {
  return results_on_meta(body_graph->graph());
}

// --- Recording what is executed: graphs of programs become graphs of what these execute

GraphObject executed(const Subgraph& program, const Tensors& inputs) {
  const CapturesSetAside unseen;
  Tensors plain;  // in memory of their own: what shares memory now does not after an iteration, or after a pass
  for (std::size_t i = 0; i < inputs.size(); ++i)
    plain.push_back(laid_out(inputs[i].detach().clone(), info_of(program.graph(), program.graph().inputs[i].value)));
  CapturedFunction captured =
      capture_function([&](const Tensors& arguments) { return program.run(arguments); }, plain, Level::Executed);
  return make_intrusive<Subgraph>(std::move(captured.graph));
}

void record_executed(const OperatorEntry& op, const KernelBase& kernel, DispatchKeySet keys, Stack& stack) {
  if (Recorder* const recorder = recorder_of(Level::Executed)) {
    with_arguments(op, stack, [&](Stack& values) {
      Tensors inputs;
      for (const IValue& value : values) {
        if (value.is(ValueTag::TensorList)) inputs = joined(inputs, value.toTensorVector());
      }
      for (IValue& value : values) {
        const Subgraph* const program = subgraph_of(value);
        if (program == nullptr || program->graph().level == Level::Executed) continue;
        try {
          value = IValue(executed(*program, inputs));
        } catch (const Error& error) {
          recorder->refuse(op.short_name() + ": " + std::string(error.message()));
        }
      }
    });
  }
  record_as_executed(op, kernel, keys, stack);
}

// --- Gradients

bool needs_gradient(ArrayRef<Tensor> tensors) {
  return grad_enabled() && std::ranges::any_of(tensors, [](const Tensor& tensor) { return tensor.requires_grad(); });
}

bool has_random_calls(const Subgraph& subgraph) {
  return std::ranges::any_of(subgraph.graph().nodes, [](const Node& node) { return draws_random(node); });
}

bool is_dual(const Tensor& tensor) { return tensor.key_set().has(Functionality::ForwardAD); }

void refuse_tangents(const char* op, ArrayRef<Tensor> tensors) {
  if (std::ranges::any_of(tensors, is_dual))
    refuse_captures(fmt::format("a {} in forward mode has no tangents in a graph: run the graph of its function", op));
}

// The history of what a branch or a loop gave is that of the calls that it made now. A capture that runs a backward of
// it would have these alone.
Tensors with_history_of_now(const char* op, Tensors results) {
  if (!is_capturing()) return results;
  for (const Tensor& result : results) {
    if (const intrusive_ptr<autograd::Node> node = autograd::grad_fn(result))
      node->add_pre_hook([op](Tensors&) {
        refuse_captures(
            fmt::format("a backward goes through the {} of a program as it is written, and another run could "
                        "make other calls: capture what is executed",
                        op));
      });
  }
  return results;
}

// The gradients of `wanted` operands, as a graph of what is executed of the operands and of the gradients of the
// results. It computes the branch again.
GraphObject gradient_graph(const Subgraph& branch, const Tensors& operands, const Tensors& grads,
                           const std::vector<std::size_t>& wanted) {
  const CapturesSetAside unseen;
  Tensors inputs;
  for (const Tensor& operand : operands) inputs.push_back(operand.detach().clone());
  for (const std::size_t i : wanted) inputs[i].requires_grad_();
  for (const Tensor& grad : grads) inputs.push_back(grad.detach().clone());
  const auto backward = [&](const Tensors& arguments) {
    const AutoGradMode recorded(true);
    const auto count = static_cast<std::ptrdiff_t>(operands.size());
    const Tensors taken(arguments.begin(), arguments.begin() + count),
        given(arguments.begin() + count, arguments.end());
    Tensors results, their_grads, leaves;
    const Tensors all = branch.run(taken);
    const auto count_with_grads = std::ranges::count_if(
        all, [](const Tensor& result) { return result.is_floating_point() || result.is_complex(); });
    KEYWAY_CHECK(count_with_grads == std::ssize(given),
                 "a branch gives {} tensors that can have gradients, and the other {}", count_with_grads, given.size());
    for (std::size_t i = 0, number = 0; i < all.size(); ++i) {
      if (!all[i].is_floating_point() && !all[i].is_complex()) continue;
      if (all[i].requires_grad()) {
        results.push_back(all[i]);
        their_grads.push_back(given[number]);
      }
      ++number;
    }
    for (const std::size_t i : wanted) leaves.push_back(taken[i]);
    Tensors gradients(leaves.size());
    if (!results.empty())
      gradients = autograd::grad(results, leaves, their_grads, /*retain_graph=*/false, /*create_graph=*/false,
                                 /*allow_unused=*/true);
    const NoGradGuard unrecorded;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) gradients[i] = keyway::zeros_like(taken[wanted[i]]);
    }
    return gradients;
  };
  return make_intrusive<Subgraph>(capture_function(backward, inputs, Level::Executed).graph);
}

Tensors call_cond(const Tensor& pred, const IValue& true_graph, const IValue& false_graph, const Tensors& operands) {
  Stack stack = {IValue(pred), true_graph, false_graph, IValue(operands)};
  call_boxed(Dispatcher::singleton().op("keyway::cond").entry(), stack);
  return stack[0].toTensorVector();
}

}  // namespace

// Of a cond in a capture of what is executed, whose backward becomes a cond as well.
struct Cond : autograd::Function<Cond> {
  static Tensors forward(autograd::AutogradContext& ctx, const Tensor& pred, const GraphObject& true_graph,
                         const GraphObject& false_graph, const Tensors& operands) {
    ctx.saved_data["true_graph"] = IValue(true_graph);
    ctx.saved_data["false_graph"] = IValue(false_graph);
    ctx.save_for_backward(joined({pred}, operands));
    const AutoDispatchBelowADInplaceOrView below;
    Tensors results = call_cond(pred, ctx.saved_data["true_graph"], ctx.saved_data["false_graph"], operands);
    Tensors whole;
    for (const Tensor& result : results) {
      if (!result.is_floating_point() && !result.is_complex()) whole.push_back(result);
    }
    ctx.mark_non_differentiable(whole);
    return results;
  }

  static Tensors backward(autograd::AutogradContext& ctx, Tensors grads) {
    Tensors operands = ctx.saved_tensors();
    const Tensor pred = operands.front();
    operands.erase(operands.begin());
    std::vector<std::size_t> wanted;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (ctx.needs_input_grad(1 + i)) wanted.push_back(i);
    }
    if (grad_enabled()) {
      refuse_captures("a cond of what is executed has no second derivative in a graph: make no graph of the first");
      const bool is_chosen = is_true(pred);
      return differentiable(*subgraph_of(ctx.saved_data.at(is_chosen ? "true_graph" : "false_graph")), operands, wanted,
                            grads);
    }
    std::erase_if(
        grads, [](const Tensor& grad) { return !grad.defined() || (!grad.is_floating_point() && !grad.is_complex()); });
    const auto graph = [&](const char* name) {
      return IValue(gradient_graph(*subgraph_of(ctx.saved_data.at(name)), operands, grads, wanted));
    };
    const Tensors found = call_cond(pred, graph("true_graph"), graph("false_graph"), joined(operands, grads));
    Tensors gradients(1 + operands.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) gradients[1 + wanted[i]] = found[i];
    return gradients;
  }

 private:
  // The gradients of pred and the operands, by calls that record gradients.
  static Tensors differentiable(const Subgraph& branch, Tensors operands, const std::vector<std::size_t>& wanted,
                                const Tensors& grads) {
    Tensors leaves, results, their_grads;
    for (const std::size_t i : wanted) leaves.push_back(operands[i] = keyway::alias(operands[i]));
    const Tensors all = branch.run(operands);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].requires_grad() || !grads[i].defined()) continue;
      results.push_back(all[i]);
      their_grads.push_back(grads[i]);
    }
    Tensors gradients(1 + operands.size());
    if (results.empty()) return gradients;
    const Tensors found = autograd::grad(results, leaves, their_grads, /*retain_graph=*/true, /*create_graph=*/true,
                                         /*allow_unused=*/true);
    for (std::size_t i = 0; i < wanted.size(); ++i) gradients[1 + wanted[i]] = found[i];
    return gradients;
  }
};

namespace {

void check_has_history(const Subgraph& subgraph, ArrayRef<Tensor> tensors) {
  KEYWAY_CHECK_AS(NotImplemented, subgraph.graph().level == Level::Program || !needs_gradient(tensors),
                  "a graph of what is executed has no gradients: detach() its arguments");
}

// Eagerly, and where a graph of the program as it is written is run, the calls of the branch are recorded.
Tensors cond_with_history(const Tensor& pred, const GraphObject& true_graph, const GraphObject& false_graph,
                          ArrayRef<Tensor> operands) {
  const bool needs = needs_gradient(operands);
  Recorder* const recorder = recorder_of(Level::Executed);
  if (recorder != nullptr && needs && (has_random_calls(*true_graph) || has_random_calls(*false_graph)))
    recorder->refuse("the gradient of a cond whose functions draw random numbers would draw others: draw them outside");
  check_has_history(*true_graph, operands);
  check_has_history(*false_graph, operands);
  refuse_tangents("cond", operands);
  if (recorder == nullptr || recorder->is_refused())
    return with_history_of_now("cond", run_cond(pred, true_graph, false_graph, operands));
  if (needs) return Cond::apply(pred, true_graph, false_graph, operands.vec());
  const AutoDispatchBelowADInplaceOrView below;
  return call_cond(pred, IValue(true_graph), IValue(false_graph), operands.vec());
}

Tensors while_with_history(const GraphObject& cond_graph, const GraphObject& body_graph,
                           ArrayRef<Tensor> carried_inputs, ArrayRef<Tensor> additional_inputs) {
  const bool needs = needs_gradient(carried_inputs) || needs_gradient(additional_inputs);
  Recorder* const recorder = recorder_of(Level::Executed);
  if (recorder != nullptr && needs)
    recorder->refuse(
        "a while_loop has no gradient in a graph of what is executed, since nobody knows how often it runs: "
        "detach() what it takes, or capture the program as it is written");
  check_has_history(*body_graph, joined(carried_inputs, additional_inputs));
  refuse_tangents("while_loop", joined(carried_inputs, additional_inputs));
  if (recorder == nullptr || recorder->is_refused())
    return with_history_of_now("while_loop", run_while(cond_graph, body_graph, carried_inputs, additional_inputs));
  const AutoDispatchBelowADInplaceOrView below;
  Stack stack = {IValue(cond_graph), IValue(body_graph), IValue(carried_inputs.vec()), IValue(additional_inputs.vec())};
  call_boxed(Dispatcher::singleton().op("keyway::while_loop").entry(), stack);
  return stack[0].toTensorVector();
}

// In forward mode, what is run carries the tangents.
void check_has_tangents(const char* op, const Subgraph& subgraph, ArrayRef<Tensor> tensors) {
  KEYWAY_CHECK_AS(NotImplemented, subgraph.graph().level == Level::Program,
                  "a graph of what is executed has no tangents: run the program as it is written");
  refuse_tangents(op, tensors);
}

Tensors cond_in_forward_mode(const Tensor& pred, const GraphObject& true_graph, const GraphObject& false_graph,
                             ArrayRef<Tensor> operands) {
  check_has_tangents("cond", *true_graph, operands);
  check_has_tangents("cond", *false_graph, operands);
  return run_cond(pred, true_graph, false_graph, operands);
}

Tensors while_in_forward_mode(const GraphObject& cond_graph, const GraphObject& body_graph,
                              ArrayRef<Tensor> carried_inputs, ArrayRef<Tensor> additional_inputs) {
  check_has_tangents("while_loop", *body_graph, joined(carried_inputs, additional_inputs));
  return run_while(cond_graph, body_graph, carried_inputs, additional_inputs);
}

void register_operators() {
  Library library(Library::Kind::Fragment, "keyway");
  library.class_<Subgraph>("Graph", "A graph that is an argument of a call.");
  library.def(
      "cond(Tensor pred, __torch__.torch.classes.keyway.Graph true_graph, __torch__.torch.classes.keyway.Graph "
      "false_graph, Tensor[] operands) -> Tensor[]");
  library.def(
      "while_loop(__torch__.torch.classes.keyway.Graph cond_graph, __torch__.torch.classes.keyway.Graph body_graph, "
      "Tensor[] carried_inputs, Tensor[] additional_inputs) -> Tensor[]");
  library.impl("cond", DispatchKey::CompositeExplicitAutograd, run_cond);
  library.impl("cond", DispatchKey::Meta, cond_on_meta);
  library.impl("cond", DispatchKey::Autograd, cond_with_history);
  library.impl("cond", DispatchKey::ForwardAD, cond_in_forward_mode);
  library.impl("while_loop", DispatchKey::CompositeExplicitAutograd, run_while);
  library.impl("while_loop", DispatchKey::Meta, while_on_meta);
  library.impl("while_loop", DispatchKey::Autograd, while_with_history);
  library.impl("while_loop", DispatchKey::ForwardAD, while_in_forward_mode);
  library.commit().release();
  Library recorded(Library::Kind::Impl, "keyway", DispatchKey::Functionalize);
  recorded.impl_boxed("cond", record_executed);
  recorded.impl_boxed("while_loop", record_executed);
  recorded.commit().release();
}

void register_once() {
  static const bool registered = (register_operators(), true);
  static_cast<void>(registered);
}

IValue subgraph_argument(Graph&& graph) { return IValue(make_intrusive<Subgraph>(std::move(graph))); }

}  // namespace

// Weak, since a program of selected operators may have another one.
[[gnu::weak]] extern const ControlFlow kControlFlow;
constinit const ControlFlow kControlFlow{&register_once, &subgraph_argument};

void register_control_flow() {
  if (kControlFlow.register_operators != nullptr) kControlFlow.register_operators();
}

}  // namespace keyway::inline v1::graph
