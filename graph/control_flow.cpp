#include <keyway/core/base/error.h>
#include <keyway/core/tensor/geometry.h>
#include <keyway/dispatch/call/call.h>
#include <keyway/dispatch/registry/dispatcher.h>
#include <keyway/graph/control_flow.h>
#include <keyway/graph/node_values.h>
#include <keyway/graph/recorder.h>
#include <keyway/graph/subgraph.h>
#include <keyway/ops/all.h>

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace keyway::inline v1::graph {
namespace {

bool is_batched(const Tensor& tensor) { return tensor.key_set().has(Functionality::Batched); }

bool is_recording() { return recorder_of(Level::Program) != nullptr || recorder_of(Level::Executed) != nullptr; }

void check_one_element(const Tensor& pred, const char* what) {
  KEYWAY_CHECK(pred.defined() && pred.numel() == 1, "{} must have one element, but is {}", what,
               pred.defined() ? to_string(TensorInfo(pred)) : "undefined");
}

std::string without_strides(const TensorInfo& info) {
  return to_string(TensorInfo(info.dtype, info.device, info.sizes));
}

bool is_alike(const TensorInfo& a, const TensorInfo& b) {
  return a.dtype == b.dtype && a.device == b.device && a.sizes == b.sizes;
}

std::vector<TensorInfo> infos_of(const std::vector<Tensor>& tensors) {
  return std::vector<TensorInfo>(tensors.begin(), tensors.end());
}

std::vector<TensorInfo> results_of(const Graph& graph) {
  std::vector<TensorInfo> infos;
  for (const ValueId id : graph.outputs) infos.push_back(info_of(graph, id));
  return infos;
}

void check_alike(const std::vector<TensorInfo>& first, const std::vector<TensorInfo>& second, const char* what,
                 const char* other) {
  KEYWAY_CHECK(first.size() == second.size(), "{} gives {} tensors, but {} {}", what, first.size(), other,
               second.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    KEYWAY_CHECK(is_alike(first[i], second[i]),
                 "result {} of {} is {}, but of {} {}: they must have the same dtype, device and sizes", i, what,
                 without_strides(first[i]), other, without_strides(second[i]));
}

std::vector<Tensor> in_own_memories(std::vector<Tensor> results, std::vector<Tensor> others) {
  for (Tensor& result : results) {
    const bool is_shared =
        std::ranges::any_of(others, [&](const Tensor& other) { return other.storage().is_alias_of(result.storage()); });
    if (is_shared) result = result.clone();
    others.push_back(result);
  }
  return results;
}

std::vector<Tensor> with_state(std::vector<Tensor> tensors, const std::vector<Tensor>& state) {
  tensors.insert(tensors.end(), state.begin(), state.end());
  return tensors;
}

// Of an error within a capture, why.
std::string reason_of(std::string_view error) {
  constexpr std::string_view kBegin = "capture: ";
  const std::size_t begin = error.find(kBegin);
  return std::string(begin == std::string_view::npos ? error : error.substr(begin + kBegin.size()));
}

// A capture would copy values alone.
void check_no_tangents(const char* op, const std::vector<Tensor>& operands) {
  for (const Tensor& operand : operands)
    KEYWAY_CHECK(!operand.key_set().has(Functionality::ForwardAD),
                 "{}: an operand is a tensor of forward mode: run the graph of the function within that", op);
}

// A function of the program as a graph; errors name it.
CapturedFunction captured(const char* name, const TensorFunction& function, const std::vector<Tensor>& arguments) {
  try {
    return capture_function(function, arguments);
  } catch (const Error& error) {
    KEYWAY_FAIL(Value, "{}: {}", name, reason_of(error.message()));
  } catch (const std::exception& error) {
    KEYWAY_FAIL(Value, "{}: {}", name, reason_of(error.what()));
  }
}

IValue as_argument(const char* name, Graph graph) {
  try {
    return IValue(make_intrusive<Subgraph>(std::move(graph)));
  } catch (const Error& error) {
    KEYWAY_FAIL(Value, "{}: {}", name, error.message());
  }
}

std::vector<Tensor> call(std::string_view op, Stack arguments) {
  call_boxed(Dispatcher::singleton().op(op).entry(), arguments);
  return arguments[0].toTensorVector();
}

// The arguments of the call of cond that stands for two functions.
Stack cond_call(const Tensor& pred, const TensorFunction& true_fn, const TensorFunction& false_fn,
                const std::vector<Tensor>& operands) {
  check_no_tangents("operands", operands);
  CapturedFunction if_true = captured("true_fn", true_fn, operands);
  CapturedFunction if_false = captured("false_fn", false_fn, operands);
  check_alike(results_of(if_true.graph), results_of(if_false.graph), "true_fn", "false_fn");
  const std::vector<Tensor> state = with_common_arguments({&if_true, &if_false});
  return {IValue(pred), as_argument("true_fn", std::move(if_true.graph)),
          as_argument("false_fn", std::move(if_false.graph)), IValue(with_state(operands, state))};
}

Stack while_call(const TensorFunction& cond_fn, const TensorFunction& body_fn, const std::vector<Tensor>& carried) {
  check_no_tangents("carried_inputs", carried);
  CapturedFunction condition = captured("cond_fn", cond_fn, carried), body = captured("body_fn", body_fn, carried);
  const std::vector<TensorInfo> conditions = results_of(condition.graph);
  KEYWAY_CHECK(conditions.size() == 1 && checked_numel(conditions[0].sizes) == 1, "cond_fn must give one element");
  check_alike(results_of(body.graph), infos_of(carried), "body_fn", "carried_inputs");
  const std::vector<Tensor> state = with_common_arguments({&condition, &body});
  return {as_argument("cond_fn", std::move(condition.graph)), as_argument("body_fn", std::move(body.graph)),
          IValue(carried), IValue(state)};
}

// The call that stands for functions; nothing if the captures are refused, and the program goes on.
template <typename Call>
std::optional<Stack> captured_call(const char* op, Call&& make) {
  try {
    return make();
  } catch (const Error& error) {
    refuse_captures(fmt::format("{}: {}", op, error.message()));
  }
  return std::nullopt;
}

bool truth_of(const Tensor& pred) { return pred.item().to<bool>(); }

std::vector<Tensor> chosen_by_element(const Tensor& pred, const std::vector<Tensor>& if_true,
                                      const std::vector<Tensor>& if_false) {
  check_alike(infos_of(if_true), infos_of(if_false), "true_fn", "false_fn");
  const Tensor one = pred.dim() == 0 ? pred : pred.reshape({});
  const Tensor choice = one.dtype() == ScalarType::Bool ? one : one.ne(0);
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < if_true.size(); ++i) results.push_back(keyway::where(choice, if_true[i], if_false[i]));
  return results;
}

}  // namespace

std::vector<Tensor> cond(const Tensor& pred, const TensorFunction& true_fn, const TensorFunction& false_fn,
                         const std::vector<Tensor>& operands) {
  check_one_element(pred, "cond: pred");
  if (is_batched(pred)) {
    const std::vector<Tensor> if_true = true_fn(operands);
    return chosen_by_element(pred, if_true, false_fn(operands));
  }
  if (is_recording()) {
    const auto make = [&] { return cond_call(pred, true_fn, false_fn, operands); };
    if (std::optional<Stack> arguments = captured_call("cond", make))
      return call("keyway::cond", std::move(*arguments));
  }
  return in_own_memories(truth_of(pred) ? true_fn(operands) : false_fn(operands), operands);
}

std::vector<Tensor> while_loop(const TensorFunction& cond_fn, const TensorFunction& body_fn,
                               const std::vector<Tensor>& carried_inputs) {
  std::vector<Tensor> carried;
  for (const Tensor& tensor : carried_inputs) carried.push_back(tensor.contiguous());
  if (is_recording()) {
    const auto make = [&] { return while_call(cond_fn, body_fn, carried); };
    if (std::optional<Stack> arguments = captured_call("while_loop", make))
      return call("keyway::while_loop", std::move(*arguments));
  }
  for (;;) {
    const std::vector<Tensor> condition = cond_fn(carried);
    KEYWAY_CHECK(condition.size() == 1, "while_loop: cond_fn gives {} tensors, and must give one", condition.size());
    check_one_element(condition[0], "while_loop: what cond_fn gives");
    if (!truth_of(condition[0])) return in_own_memories(std::move(carried), carried_inputs);
    std::vector<Tensor> next = body_fn(carried);
    for (const Tensor& tensor : next) KEYWAY_CHECK(tensor.defined(), "while_loop: body_fn gives an undefined tensor");
    check_alike(infos_of(next), infos_of(carried), "body_fn", "carried_inputs");
    for (Tensor& tensor : next) tensor = tensor.contiguous();
    carried = std::move(next);
  }
}

}  // namespace keyway::inline v1::graph
