// Normalisation, attention, dropout and recurrent layers.
#include <keyway/onnx/export/operators/common.h>
#include <keyway/ops/creation.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace keyway::inline v1::onnx::exporter {

namespace {

std::vector<std::int64_t> last_dims(std::int64_t count) {
  std::vector<std::int64_t> dims(static_cast<std::size_t>(count));
  std::iota(dims.begin(), dims.end(), -count);
  return dims;
}

// The weight or the bias, or what stands for one that is absent.
Var or_number(const Call& call, std::string_view name, const std::vector<std::int64_t>& sizes, int number) {
  if (call.has(name)) return call.tensor(name);
  return call.constant(full(sizes, number, call.result_dtype()));
}

Vars batch_norm(const Call& call) {
  if (call.has("training") && call.flag("training")) call.refuse("the batch's own statistics: call eval()");
  const std::vector<std::int64_t> channels{call.fixed_size_of("running_mean", 0)};
  return call.node("BatchNormalization",
                   {call.tensor("input"), or_number(call, "weight", channels, 1), or_number(call, "bias", channels, 0),
                    call.tensor("running_mean"), call.tensor("running_var")},
                   {{"epsilon", call.real("eps")}});
}

Vars layer_norm(const Call& call) {
  const std::vector<std::int64_t> sizes = call.integers("normalized_shape");
  const ScalarType dtype = call.result_dtype();
  std::vector<ScalarType> dtypes(call.results(), dtype);
  return call.nodes("LayerNormalization",
                    {call.tensor("input"), or_number(call, "weight", sizes, 1), call.tensor("bias")}, dtypes,
                    {{"axis", -static_cast<std::int64_t>(sizes.size())}, {"epsilon", call.real("eps")}});
}

Vars rms_norm(const Call& call) {
  const Var x = call.tensor("input");
  const std::vector<std::int64_t> dims = last_dims(static_cast<std::int64_t>(call.integers("normalized_shape").size()));
  if (!call.has("eps") && x.dtype != kFloat && x.dtype != kDouble) call.refuse("no 'eps', for narrow floats");
  const double least =
      x.dtype == kFloat ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const double eps = call.has("eps") ? call.real("eps") : least;
  const Var mean = call.node("ReduceMean", {call.node("Mul", {x, x}), call.ints(dims)}, {{"keepdims", true}});
  const Var root = call.node("Sqrt", {call.node("Add", {mean, call.number(eps, x.dtype)})});
  const Var y = call.node("Div", {x, root});
  return call.has("weight") ? call.node("Mul", {y, call.tensor("weight")}) : y;
}

Vars group_norm(const Call& call) {
  const Var x = call.tensor("input");
  const std::int64_t groups = call.integer("num_groups");
  const Var grouped = call.node("Reshape", {x, call.ints(std::vector<std::int64_t>{0, groups, -1})});
  const Var ones = call.constant(full({groups}, 1, x.dtype)), zeros = call.constant(full({groups}, 0, x.dtype));
  Var y = call.node("InstanceNormalization", {grouped, ones, zeros}, {{"epsilon", call.real("eps")}});
  y = call.reshape(y, call.shape(x));
  const std::vector<std::int64_t> behind = [&] {
    std::vector<std::int64_t> dims;
    for (std::int64_t dim = 1; dim < call.rank("input") - 1; ++dim) dims.push_back(dim);
    return dims;
  }();
  if (call.has("weight")) y = call.node("Mul", {y, call.unsqueeze(call.tensor("weight"), behind)});
  if (call.has("bias")) y = call.node("Add", {y, call.unsqueeze(call.tensor("bias"), behind)});
  return y;
}

Vars dropped(const Call& call) {
  if (call.flag("train") && call.real("p") != 0) call.refuse("random numbers: call eval()");
  return call.tensor("input");
}

// Of squares or sizes of differences: each, their mean, or their sum.
Vars loss(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  const Var difference = call.node("Sub", {call.as("self", dtype), call.as("target", dtype)});
  const bool is_square = call.word() == "square";
  const Var size = is_square ? call.node("Mul", {difference, difference}) : call.node("Abs", {difference});
  const std::int64_t reduction = call.integer("reduction");
  if (reduction == 0) return size;
  return call.node(reduction == 1 ? "ReduceMean" : "ReduceSum", {size}, {{"keepdims", false}});
}

// What is added to the products: -inf where a query may not see a key.
Var mask_of(const Call& call, const Var& scores) {
  const ScalarType dtype = scores.dtype;
  const Var hidden = call.number(-std::numeric_limits<double>::infinity(), dtype), zero = call.number(0, dtype);
  if (call.flag("is_causal")) {
    const Var sizes = call.node("Shape", {scores}, kLong, {{"start", -2}});
    const Var ones = call.node("Expand", {call.number(1, kInt), sizes});
    const Var seen = call.cast(call.node("Trilu", {ones, call.number(0, kLong)}, {{"upper", 0}}), kBool);
    return call.node("Where", {seen, zero, hidden}, dtype);
  }
  if (!call.has("attn_mask")) return {};
  const Var mask = call.tensor("attn_mask");
  return mask.dtype == kBool ? call.node("Where", {mask, zero, hidden}, dtype) : call.cast(mask, dtype);
}

Vars attention(const Call& call) {
  if (call.real("dropout_p") != 0) call.refuse("random numbers: 'dropout_p' is not 0");
  if (call.flag("enable_gqa")) call.refuse("'enable_gqa'");
  const Var query = call.tensor("query"), key = call.tensor("key");
  const std::int64_t rank = call.rank("key");
  const double width = static_cast<double>(call.fixed_size_of("query", call.rank("query") - 1));
  const double scale = call.has("scale") ? call.real("scale") : 1 / std::sqrt(width);
  const Var turned = call.transpose(key, exchanged(rank, rank - 2, rank - 1));
  Var scores = call.node("MatMul", {call.node("Mul", {query, call.number(scale, query.dtype)}), turned});
  const Var mask = mask_of(call, scores);
  if (!mask.name.empty()) scores = call.node("Add", {scores, mask});
  return call.node("MatMul", {call.node("Softmax", {scores}, {{"axis", -1}}), call.tensor("value")});
}

// The parts of a weight in the order in which ONNX has the gates.
Var ordered(const Call& call, const Var& weight, std::int64_t hidden, const std::vector<std::size_t>& gates) {
  if (gates.size() == 1) return weight;
  const std::vector<std::int64_t> sizes(gates.size(), hidden);
  const std::vector<Var> parts = call.nodes("Split", {weight, call.ints(sizes)},
                                            std::vector<ScalarType>(gates.size(), weight.dtype), {{"axis", 0}});
  std::vector<Var> turned;
  for (const std::size_t gate : gates) turned.push_back(parts[gate]);
  return call.node("Concat", turned, {{"axis", 0}});
}

struct Recurrent {
  std::string_view op;
  std::vector<std::size_t> gates;
  std::int64_t directions, hidden, weights;  // weights of a direction
};

// Of all directions of a layer, one behind the other: weights are from `at` on, and every `step`.
Var joined(const Call& call, const Recurrent& kind, const std::vector<Var>& params, std::size_t at, bool is_bias) {
  std::vector<Var> rows;
  for (std::int64_t direction = 0; direction < kind.directions; ++direction) {
    const std::size_t first = at + static_cast<std::size_t>(direction * kind.weights);
    Var row = ordered(call, params[first], kind.hidden, kind.gates);
    if (is_bias)
      row = call.node("Concat", {row, ordered(call, params[first + 1], kind.hidden, kind.gates)}, {{"axis", 0}});
    rows.push_back(call.unsqueeze(row, {0}));
  }
  return rows.size() == 1 ? rows[0] : call.node("Concat", rows, {{"axis", 0}});
}

// The state of a layer: rows of that of all layers.
Var state_of(const Call& call, const Var& all, std::int64_t layer, std::int64_t directions) {
  return call.slice(all, 0, call.ints(std::vector{layer * directions}),
                    call.ints(std::vector{(layer + 1) * directions}));
}

Vars recurrent(const Call& call) {
  const bool is_lstm = call.word() == "LSTM", is_gru = call.word() == "GRU";
  if (call.flag("train") && call.real("dropout") != 0) call.refuse("random numbers: call eval()");
  const bool has_bias = call.flag("has_biases");
  const std::vector<Var> params = call.tensors("params");
  const std::vector<Var> states = is_lstm ? call.tensors("hx") : std::vector{call.tensor("hx")};
  const std::int64_t layers = call.integer("num_layers");
  Recurrent kind{is_lstm  ? "LSTM"
                 : is_gru ? "GRU"
                          : "RNN",
                 {0},
                 call.flag("bidirectional") ? 2 : 1,
                 0,
                 has_bias ? 4 : 2};
  if (is_lstm) kind.gates = {0, 3, 1, 2};  // input, output, forget, cell
  if (is_gru) kind.gates = {1, 0, 2};      // update, reset, new
  kind.hidden = call.fixed_size_of_item("params", 1, 1);
  if (static_cast<std::int64_t>(params.size()) != layers * kind.directions * kind.weights)
    call.refuse("projections of the hidden state");
  Var x = call.tensor("input");
  const bool is_batch_first = call.flag("batch_first");
  if (is_batch_first) x = call.transpose(x, {1, 0, 2});
  std::vector<std::vector<Var>> last(states.size());
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const auto at = static_cast<std::size_t>(layer * kind.directions * kind.weights);
    std::vector<Var> inputs{x, joined(call, kind, params, at, false), joined(call, kind, params, at + 1, false),
                            has_bias ? joined(call, kind, params, at + 2, true) : Var(), Var()};
    for (const Var& state : states) inputs.push_back(state_of(call, state, layer, kind.directions));
    Attributes attributes{{"hidden_size", kind.hidden},
                          {"direction", kind.directions == 2 ? "bidirectional" : "forward"}};
    if (is_gru) attributes.emplace_back("linear_before_reset", 1);
    if (call.word() == "Relu")
      attributes.emplace_back("activations",
                              std::vector<std::string>(static_cast<std::size_t>(kind.directions), "Relu"));
    const std::vector<Var> results =
        call.nodes(kind.op, inputs, std::vector<ScalarType>(1 + states.size(), x.dtype), attributes);
    // [sequence, directions, batch, hidden] to [sequence, batch, directions * hidden].
    const Var turned = call.transpose(results[0], {0, 2, 1, 3});
    x = call.node("Reshape", {turned, call.ints(std::vector<std::int64_t>{0, 0, kind.directions * kind.hidden})});
    for (std::size_t i = 0; i < states.size(); ++i) last[i].push_back(results[i + 1]);
  }
  if (is_batch_first) x = call.transpose(x, {1, 0, 2});
  Vars results{x};
  for (const std::vector<Var>& parts : last)
    results.push_back(parts.size() == 1 ? parts[0] : call.node("Concat", parts, {{"axis", 0}}));
  return results;
}

constexpr Mapping kLayers[] = {
    {"_native_batch_norm_legit", batch_norm},
    {"_native_batch_norm_legit_no_training", batch_norm},
    {"dropout", dropped},
    {"group_norm", group_norm},
    {"gru.input", recurrent, "GRU"},
    {"l1_loss", loss},
    {"layer_norm", layer_norm},
    {"lstm.input", recurrent, "LSTM"},
    {"mse_loss", loss, "square"},
    {"native_layer_norm", layer_norm},
    {"rms_norm", rms_norm},
    {"rnn_relu.input", recurrent, "Relu"},
    {"rnn_tanh.input", recurrent, "Tanh"},
    {"scaled_dot_product_attention", attention},
};

}  // namespace

Family layer_family() { return kLayers; }

}  // namespace keyway::inline v1::onnx::exporter
