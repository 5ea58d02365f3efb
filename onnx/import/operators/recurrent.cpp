// Recurrent layers, step by step.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

#include <algorithm>
#include <functional>

namespace keyway::inline v1::onnx {

namespace {

using Activation = std::function<Tensor(const Tensor&)>;

// The activations of a direction, from the lists of all directions.
class Activations {
 public:
  Activations(const Call& call, std::vector<std::string> defaults, std::size_t direction) : call_(call) {
    const std::size_t count = defaults.size();
    std::vector<std::string> names = call.texts_attribute("activations");
    const std::vector<float> alphas = call.singles_attribute("activation_alpha");
    const std::vector<float> betas = call.singles_attribute("activation_beta");
    if (names.empty()) names = std::move(defaults);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = names.size() > count ? direction * count + i : i;
      call.check(at < names.size(), "there are {} activations", names.size());
      std::optional<double> alpha;
      std::optional<double> beta;
      if (at < alphas.size()) alpha = static_cast<double>(alphas[at]);
      if (at < betas.size()) beta = static_cast<double>(betas[at]);
      list_.push_back(named(names[at], alpha, beta));
    }
    if (call.has_attribute("clip")) clip_ = call.single_attribute("clip");
  }

  Tensor operator()(std::size_t number, const Tensor& x) const {
    return list_[number](clip_ ? clamp(x, Scalar(-*clip_), Scalar(*clip_)) : x);
  }

 private:
  Activation named(std::string name, std::optional<double> alpha, std::optional<double> beta) const {
    std::ranges::transform(name, name.begin(),
                           [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    if (name == "sigmoid") return [](const Tensor& x) { return sigmoid(x); };
    if (name == "tanh") return [](const Tensor& x) { return tanh(x); };
    if (name == "relu") return [](const Tensor& x) { return relu(x); };
    if (name == "softsign") return [](const Tensor& x) { return div(x, add(abs(x), Scalar(1))); };
    if (name == "softplus") return [](const Tensor& x) { return logaddexp(x, zeros_like(x)); };
    if (name == "leakyrelu") return [a = alpha.value_or(0.01)](const Tensor& x) { return leaky_relu(x, Scalar(a)); };
    if (name == "elu") return [a = alpha.value_or(1)](const Tensor& x) { return elu(x, Scalar(a)); };
    if (name == "affine" || name == "scaledtanh" || name == "hardsigmoid" || name == "thresholdedrelu") {
      const double a = alpha.value_or(name == "hardsigmoid" ? 0.2 : 1);
      const double b = beta.value_or(name == "hardsigmoid" ? 0.5 : name == "scaledtanh" ? 1 : 0);
      if (name == "affine") return [a, b](const Tensor& x) { return add(mul(x, Scalar(a)), Scalar(b)); };
      if (name == "scaledtanh") return [a, b](const Tensor& x) { return mul(tanh(mul(x, Scalar(b))), Scalar(a)); };
      if (name == "thresholdedrelu") return [a](const Tensor& x) { return threshold(x, Scalar(a), Scalar(0)); };
      return [a, b](const Tensor& x) { return clamp(add(mul(x, Scalar(a)), Scalar(b)), Scalar(0), Scalar(1)); };
    }
    call_.refuse("there is no activation '{}'", name);
  }

  const Call& call_;
  std::vector<Activation> list_;
  std::optional<double> clip_;
};

// What a direction of a layer has.
struct Direction {
  Tensor products;   // of the inputs and W, with both biases unless they are apart: [steps, batch, gates * hidden]
  Tensor recurrent;  // R, turned: [hidden, gates * hidden]
  Tensor bias;       // of the recurrent product
  Tensor peepholes;  // undefined if there are none
  std::int64_t hidden = 0;
};

// A step: from the products of the step and the states to the states, of which the first is the output.
using Step = std::function<std::vector<Tensor>(const Direction&, const Activations&, const Tensor& products,
                                               const std::vector<Tensor>& states)>;

struct Layer {
  std::int64_t gates;
  std::size_t states;
  std::vector<std::string> activations;
  Step step;
};

// The state's steps, and the last states.
std::pair<Tensor, std::vector<Tensor>> run_direction(const Layer& layer, const Direction& direction,
                                                     const Activations& activations, std::vector<Tensor> states,
                                                     const std::optional<Tensor>& lengths, bool backwards) {
  const std::int64_t steps = direction.products.size(0);
  std::vector<Tensor> outputs(static_cast<std::size_t>(steps));
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t at = backwards ? steps - 1 - i : i;
    std::vector<Tensor> next = layer.step(direction, activations, select(direction.products, 0, at), states);
    Tensor output = next[0];
    if (lengths) {
      // Beyond the end of a sequence its state stays, and the output is 0.
      const Tensor is_within = gt(*lengths, Scalar(at)).unsqueeze(-1);
      for (std::size_t s = 0; s < states.size(); ++s) next[s] = where(is_within, next[s], states[s]);
      output = where(is_within, output, zeros_like(output));
    }
    outputs[static_cast<std::size_t>(at)] = output;
    states = std::move(next);
  }
  return {stack(outputs, 0), states};
}

Results run_layer(const Call& call, const Layer& layer) {
  const bool batch_first = call.attribute("layout", 0) != 0;
  const Tensor x = batch_first ? call.tensor(0).transpose(0, 1) : call.tensor(0);
  const Tensor& weights = call.tensor(1);
  const Tensor& recurrent = call.tensor(2);
  const std::string word = call.text_attribute("direction", "forward");
  call.check(word == "forward" || word == "reverse" || word == "bidirectional", "direction '{}' is none of ONNX's",
             word);
  const std::int64_t directions = word == "bidirectional" ? 2 : 1;
  call.check(x.dim() == 3 && weights.dim() == 3 && recurrent.dim() == 3 && weights.size(0) == directions &&
                 recurrent.size(0) == directions,
             "inputs of sizes {}, {} and {} do not fit {} directions", x.sizes(), weights.sizes(), recurrent.sizes(),
             directions);
  call.check(x.size(0) > 0, "there are no steps");
  const std::int64_t hidden = recurrent.size(2);
  const std::int64_t width = layer.gates * hidden;
  call.check(call.attribute("hidden_size", hidden) == hidden && recurrent.size(1) == width && weights.size(1) == width,
             "hidden_size {} does not fit weights of sizes {}", call.attribute("hidden_size", hidden), weights.sizes());
  const std::optional<Tensor> lengths = call.tensor_if(4);
  std::vector<Tensor> outputs;
  std::vector<std::vector<Tensor>> last(layer.states);
  for (std::int64_t d = 0; d < directions; ++d) {
    const Tensor bias = call.has(3) ? select(call.tensor(3), 0, d) : zeros({2 * width}, x.options());
    Direction direction;
    direction.products = add(matmul(x, t(select(weights, 0, d))), slice(bias, 0, 0, width, 1));
    direction.recurrent = t(select(recurrent, 0, d));
    direction.bias = slice(bias, 0, width, 2 * width, 1);
    direction.hidden = hidden;
    if (call.has(7)) direction.peepholes = select(call.tensor(7), 0, d);
    std::vector<Tensor> states;
    for (std::size_t s = 0; s < layer.states; ++s) {
      const std::size_t input = 5 + s;
      states.push_back(call.has(input) ? select(call.tensor(input), batch_first ? 1 : 0, d)
                                       : zeros({x.size(1), hidden}, x.options()));
    }
    const Activations activations(call, layer.activations, static_cast<std::size_t>(d));
    auto [y, final_states] =
        run_direction(layer, direction, activations, std::move(states), lengths, d == 1 || word == "reverse");
    outputs.push_back(y);
    for (std::size_t s = 0; s < layer.states; ++s) last[s].push_back(final_states[s]);
  }
  const Tensor y = stack(outputs, 1);  // [steps, directions, batch, hidden]
  Results results = {batch_first ? y.permute({2, 0, 1, 3}) : y};
  for (const std::vector<Tensor>& states : last) results.emplace_back(stack(states, batch_first ? 1 : 0));
  return results;
}

Results recurrent_layer(const Call& call) {
  const Layer layer{1,
                    1,
                    {"Tanh"},
                    [](const Direction& d, const Activations& f, const Tensor& products, const std::vector<Tensor>& s) {
                      return std::vector<Tensor>{f(0, add(products, add(matmul(s[0], d.recurrent), d.bias)))};
                    }};
  return run_layer(call, layer);
}

// Gates: update, reset, hidden.
Results gated_layer(const Call& call) {
  const bool reset_after = call.attribute("linear_before_reset", 0) != 0;
  const Layer layer{
      3,
      1,
      {"Sigmoid", "Tanh"},
      [reset_after](const Direction& d, const Activations& f, const Tensor& products, const std::vector<Tensor>& s) {
        const std::int64_t h = d.hidden;
        const auto part = [&](const Tensor& x, std::int64_t from, std::int64_t to) {
          return slice(x, -1, from * h, to * h, 1);
        };
        const Tensor gates = add(part(products, 0, 2), add(matmul(s[0], part(d.recurrent, 0, 2)), part(d.bias, 0, 2)));
        const Tensor update = f(0, part(gates, 0, 1));
        const Tensor reset = f(0, part(gates, 1, 2));
        const Tensor weight = part(d.recurrent, 2, 3);
        const Tensor bias = part(d.bias, 2, 3);
        const Tensor from_state =
            reset_after ? mul(reset, add(matmul(s[0], weight), bias)) : add(matmul(mul(reset, s[0]), weight), bias);
        const Tensor hidden = f(1, add(part(products, 2, 3), from_state));
        return std::vector<Tensor>{add(mul(rsub(update, Scalar(1)), hidden), mul(update, s[0]))};
      }};
  return run_layer(call, layer);
}

// Gates: input, output, forget, cell.
Results long_layer(const Call& call) {
  if (call.attribute("input_forget", 0) != 0) call.refuse("the attribute input_forget is not there");
  const Layer layer{4,
                    2,
                    {"Sigmoid", "Tanh", "Tanh"},
                    [](const Direction& d, const Activations& f, const Tensor& products, const std::vector<Tensor>& s) {
                      const Tensor gates = add(products, add(matmul(s[0], d.recurrent), d.bias));
                      const auto part = [&](const Tensor& x, std::int64_t gate) {
                        return slice(x, -1, gate * d.hidden, (gate + 1) * d.hidden, 1);
                      };
                      const bool peeps = d.peepholes.defined();
                      const auto with_peephole = [&](std::int64_t gate, std::int64_t peephole, const Tensor& cell) {
                        return peeps ? add(part(gates, gate), mul(part(d.peepholes, peephole), cell))
                                     : part(gates, gate);
                      };
                      const Tensor input = f(0, with_peephole(0, 0, s[1]));
                      const Tensor forget = f(0, with_peephole(2, 2, s[1]));
                      const Tensor cell = add(mul(forget, s[1]), mul(input, f(1, part(gates, 3))));
                      const Tensor output = f(0, with_peephole(1, 1, cell));
                      return std::vector<Tensor>{mul(output, f(2, cell)), cell};
                    }};
  return run_layer(call, layer);
}

constexpr Operator kRecurrents[] = {
    {"GRU", 3, gated_layer, 6,
     "activation_alpha activation_beta activations clip direction hidden_size linear_before_reset output_sequence", 2},
    {"GRU", 7, gated_layer, 6,
     "activation_alpha activation_beta activations clip direction hidden_size layout linear_before_reset", 2},
    {"LSTM", 1, long_layer, 8,
     "activation_alpha activation_beta activations clip direction hidden_size input_forget output_sequence", 3},
    {"LSTM", 7, long_layer, 8,
     "activation_alpha activation_beta activations clip direction hidden_size input_forget layout", 3},
    {"RNN", 1, recurrent_layer, 6,
     "activation_alpha activation_beta activations clip direction hidden_size output_sequence", 2},
    {"RNN", 7, recurrent_layer, 6, "activation_alpha activation_beta activations clip direction hidden_size layout", 2},
};

}  // namespace

Family recurrent_family() { return kRecurrents; }

}  // namespace keyway::inline v1::onnx
