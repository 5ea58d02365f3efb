// Recurrent layers: one product for the inputs of all steps of a layer, then a step after the other.
#include <keyway/ops/all.h>
#include <keyway/ops/recurrent_composites.h>

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

namespace keyway::inline v1::composite {

namespace {

using State = std::vector<Tensor>;  // h, or h and c
using Sizes = std::vector<std::int64_t>;

// The next state, from the products of the input and of h with their weights.
using Step = State (*)(const Tensor& inputs, const State& state, const Tensor& hidden);

void check_gates(const Tensor& products, std::int64_t count, const State& state) {
  const std::int64_t width = state.back().size(-1);
  KEYWAY_CHECK(products.size(-1) == count * width, "a state of {} needs weights of {} rows, but they have {}", width,
               count * width, products.size(-1));
}

// The parts of products that belong to each of `count` gates. Throws keyway::Error if they do not fit the state.
std::vector<Tensor> gates_of(const Tensor& products, std::int64_t count, const State& state) {
  check_gates(products, count, state);
  return products.split_with_sizes(Sizes(static_cast<std::size_t>(count), state.back().size(-1)), -1);
}

Tensor single_gate(const Tensor& inputs, const State& state, const Tensor& hidden) {
  check_gates(inputs, 1, state);
  check_gates(hidden, 1, state);
  return inputs + hidden;
}
State tanh_step(const Tensor& inputs, const State& state, const Tensor& hidden) {
  return {single_gate(inputs, state, hidden).tanh()};
}
State relu_step(const Tensor& inputs, const State& state, const Tensor& hidden) {
  return {single_gate(inputs, state, hidden).relu()};
}
State lstm_step(const Tensor& inputs, const State& state, const Tensor& hidden) {
  const std::vector<Tensor> gates = gates_of(inputs + hidden, 4, state);
  const Tensor cell = gates[1].sigmoid() * state[1] + gates[0].sigmoid() * gates[2].tanh();
  return {gates[3].sigmoid() * cell.tanh(), cell};
}
State gru_step(const Tensor& inputs, const State& state, const Tensor& hidden) {
  const std::vector<Tensor> x = gates_of(inputs, 3, state), h = gates_of(hidden, 3, state);
  const Tensor fresh = ((x[0] + h[0]).sigmoid() * h[2] + x[2]).tanh();
  return {fresh + (x[1] + h[1]).sigmoid() * (state[0] - fresh)};
}

// Of one layer in one direction.
struct Weights {
  Tensor ih, hh;
  std::optional<Tensor> bias_ih, bias_hh, hr;
};

// What is asked of a call, beside its tensors.
struct Layers {
  Step step;
  std::vector<Weights> weights;  // those of each direction of the first layer, then of the second, ...
  std::size_t directions;
  double dropout;
  bool train;
};

Layers layers_of(Step step, ArrayRef<Tensor> params, bool has_biases, std::int64_t num_layers, double dropout,
                 bool train, bool bidirectional, bool is_projected) {
  Layers layers{step, {}, bidirectional ? std::size_t{2} : 1, dropout, train};
  KEYWAY_CHECK(static_cast<std::uint64_t>(num_layers) <= params.size(), "{} layers have more than {} parameters",
               num_layers, params.size());
  const std::size_t each = 2 + (has_biases ? 2 : 0) + (is_projected ? 1 : 0);
  const std::size_t count = layers.directions * static_cast<std::size_t>(num_layers);
  KEYWAY_CHECK(params.size() == each * count, "{} layers in {} directions have {} parameters, not {}", num_layers,
               layers.directions, each * count, params.size());
  for (std::size_t at = 0; at < params.size(); at += each) {
    Weights weights{params[at], params[at + 1], {}, {}, {}};
    if (has_biases) weights.bias_ih = params[at + 2], weights.bias_hh = params[at + 3];
    if (is_projected) weights.hr = params[at + each - 1];
    layers.weights.push_back(std::move(weights));
  }
  return layers;
}

State rows_of(const State& state, std::int64_t first, std::int64_t count) {
  State rows;
  for (const Tensor& part : state) rows.push_back(part.narrow(0, first, count));
  return rows;
}

// Each part of one with that of the other behind it.
State joined(const State& a, const State& b) {
  State all;
  for (std::size_t i = 0; i < a.size(); ++i) all.push_back(keyway::cat({a[i], b[i]}));
  return all;
}

// The same of LSTMs along sequences of one length, as one operator.
std::pair<Tensor, State> along_lstm(const Tensor& inputs, const State& begin, const Weights& weights, bool backward) {
  check_gates(inputs, 4, begin);
  auto [output, cells, gates] = keyway::_lstm_layer(inputs, begin[0], begin[1], weights.hh, backward);
  const std::int64_t last = backward ? 0 : inputs.size(0) - 1;
  return {output.flatten(0, 1), {output.select(0, last), cells.select(0, last)}};
}
// In autocast regions states are wider than products.
bool is_one_operator(Step step, const Tensor& inputs, const Sizes& sizes, const State& begin, const Weights& weights) {
  if (step != lstm_step || weights.hr || sizes.front() != sizes.back()) return false;
  const auto dtype = inputs.dtype();
  return begin[0].dtype() == dtype && begin[1].dtype() == dtype && weights.hh.dtype() == dtype;
}

// One layer in one direction: what comes of each row of packed `data`, and the last state of each sequence.
std::pair<Tensor, State> along(Step step, const Tensor& data, const Sizes& sizes, const State& begin,
                               const Weights& weights, bool backward) {
  const bool adds_products = step == lstm_step && weights.bias_hh;  // then their biases are added first
  const std::optional<Tensor> bias = adds_products ? *weights.bias_ih + *weights.bias_hh : weights.bias_ih;
  const std::optional<Tensor> bias_of_state = adds_products ? std::nullopt : weights.bias_hh;
  const Tensor products = keyway::linear(data, weights.ih, bias);
  if (is_one_operator(step, products, sizes, begin, weights)) {
    const auto length = static_cast<std::int64_t>(sizes.size());
    return along_lstm(products.unflatten(0, {length, sizes.front()}), begin, weights, backward);
  }
  const std::vector<Tensor> inputs = products.split_with_sizes(sizes, 0);
  const std::int64_t first = backward ? sizes.back() : sizes.front();
  State state = first == begin[0].size(0) ? begin : rows_of(begin, 0, first);
  std::vector<State> ended;
  std::vector<Tensor> results(inputs.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const std::size_t i = backward ? inputs.size() - 1 - k : k;
    const std::int64_t rows = sizes[i], now = state[0].size(0);
    if (rows < now) {
      ended.push_back(rows_of(state, rows, now - rows));
      state = rows_of(state, 0, rows);
    } else if (rows > now) {
      state = joined(state, rows_of(begin, now, rows - now));
    }
    state = step(inputs[i], state, keyway::linear(state[0], weights.hh, bias_of_state));
    if (weights.hr) state[0] = keyway::linear(state[0], *weights.hr);
    results[i] = state[0];
  }
  for (; !ended.empty(); ended.pop_back()) state = joined(state, ended.back());
  return {keyway::cat(results), state};
}

void check_begin(const State& begin, std::size_t count, std::int64_t batch) {
  for (const Tensor& part : begin) {
    KEYWAY_CHECK(part.dim() == 3 && part.size(0) == static_cast<std::int64_t>(count) && part.size(1) == batch,
                 "a state has shape {}, but must begin with the sizes [{}, {}]", part.sizes(), count, batch);
  }
}

// The results of the last layer for each row, and the last states of all layers.
std::pair<Tensor, State> over_layers(const Layers& layers, Tensor data, const Sizes& sizes, const State& begin) {
  std::vector<State> last;
  for (std::size_t at = 0; at < layers.weights.size(); at += layers.directions) {
    std::vector<Tensor> results;
    for (std::size_t direction = 0; direction < layers.directions; ++direction) {
      State first;
      for (const Tensor& part : begin) first.push_back(part.select(0, static_cast<std::int64_t>(last.size())));
      auto [result, state] = along(layers.step, data, sizes, first, layers.weights[at + direction], direction == 1);
      results.push_back(std::move(result));
      last.push_back(std::move(state));
    }
    data = results.size() == 1 ? results[0] : keyway::cat(results, -1);
    const bool is_last = at + layers.directions == layers.weights.size();
    if (!is_last && layers.dropout > 0) data = keyway::dropout(data, layers.dropout, layers.train);
  }
  State states;
  for (std::size_t part = 0; part < begin.size(); ++part) {
    std::vector<Tensor> of_layers;
    for (const State& state : last) of_layers.push_back(state[part]);
    states.push_back(keyway::stack(of_layers));
  }
  return {data, states};
}

std::pair<Tensor, State> packed(const Layers& layers, const Tensor& data, const Tensor& batch_sizes,
                                const State& begin) {
  KEYWAY_CHECK_AS(NotImplemented, !batch_sizes.is_meta(),
                  "the steps depend on the data of 'batch_sizes', which a tensor on meta has not");
  Sizes sizes;
  for (std::int64_t i = 0; i < batch_sizes.size(0); ++i) {
    sizes.push_back(batch_sizes.select(0, i).item().to<std::int64_t>());
  }
  KEYWAY_CHECK(!sizes.empty(), "the sequence has no elements");
  KEYWAY_CHECK(std::ranges::is_sorted(sizes, std::greater<>()) && sizes.back() > 0,
               "batch sizes are positive and do not grow");
  check_begin(begin, layers.weights.size(), sizes.front());
  return over_layers(layers, data, sizes, begin);
}

std::pair<Tensor, State> padded(const Layers& layers, const Tensor& input, const State& begin, bool batch_first) {
  const Tensor x = batch_first ? input.transpose(0, 1) : input;
  const std::int64_t length = x.size(0), batch = x.size(1);
  KEYWAY_CHECK(length > 0, "the sequence has no elements");
  check_begin(begin, layers.weights.size(), batch);
  const Sizes sizes(static_cast<std::size_t>(length), batch);
  auto [data, states] = over_layers(layers, x.reshape({length * batch, x.size(2)}), sizes, begin);
  const Tensor result = data.reshape({length, batch, data.size(-1)});
  return {batch_first ? result.transpose(0, 1) : result, std::move(states)};
}

using TwoTensors = std::tuple<Tensor, Tensor>;
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

TwoTensors two(std::pair<Tensor, State> of) { return {std::move(of.first), std::move(of.second[0])}; }
ThreeTensors three(std::pair<Tensor, State> of) {
  return {std::move(of.first), std::move(of.second[0]), std::move(of.second[1])};
}

// Of layers that have one state.
TwoTensors of_input(Step step, const Tensor& input, const Tensor& hx, ArrayRef<Tensor> params, bool has_biases,
                    std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  return two(padded(layers_of(step, params, has_biases, num_layers, dropout, train, bidirectional, false), input, {hx},
                    batch_first));
}
TwoTensors of_data(Step step, const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, ArrayRef<Tensor> params,
                   bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional) {
  return two(packed(layers_of(step, params, has_biases, num_layers, dropout, train, bidirectional, false), data,
                    batch_sizes, {hx}));
}

State both(ArrayRef<Tensor> hx) {
  KEYWAY_CHECK(hx.size() == 2, "argument 'hx' is h and c, but has {} tensors", hx.size());
  return {hx[0], hx[1]};
}
bool is_projected(ArrayRef<Tensor> hx) { return hx.size() == 2 && hx[0].size(-1) != hx[1].size(-1); }

State cell(Step step, const Tensor& input, const State& state, const Tensor& w_ih, const Tensor& w_hh,
           const std::optional<Tensor>& b_ih, const std::optional<Tensor>& b_hh) {
  for (const Tensor& part : state) {
    const IntArrayRef a = part.sizes(), b = input.sizes();
    KEYWAY_CHECK(a.size() == b.size() && std::equal(a.begin(), a.end() - 1, b.begin()),
                 "a state of shape {} does not belong to an input of shape {}: all sizes but the last are the same", a,
                 b);
  }
  return step(keyway::linear(input, w_ih, b_ih), state, keyway::linear(state[0], w_hh, b_hh));
}

}  // namespace

ThreeTensors lstm_input(const Tensor& input, ArrayRef<Tensor> hx, ArrayRef<Tensor> params, bool has_biases,
                        std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  const State begin = both(hx);
  return three(
      padded(layers_of(lstm_step, params, has_biases, num_layers, dropout, train, bidirectional, is_projected(hx)),
             input, begin, batch_first));
}
ThreeTensors lstm_data(const Tensor& data, const Tensor& batch_sizes, ArrayRef<Tensor> hx, ArrayRef<Tensor> params,
                       bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional) {
  const State begin = both(hx);
  return three(
      packed(layers_of(lstm_step, params, has_biases, num_layers, dropout, train, bidirectional, is_projected(hx)),
             data, batch_sizes, begin));
}

TwoTensors gru_input(const Tensor& input, const Tensor& hx, ArrayRef<Tensor> params, bool has_biases,
                     std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  return of_input(gru_step, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first);
}
TwoTensors gru_data(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, ArrayRef<Tensor> params,
                    bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional) {
  return of_data(gru_step, data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional);
}

TwoTensors rnn_tanh_input(const Tensor& input, const Tensor& hx, ArrayRef<Tensor> params, bool has_biases,
                          std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  return of_input(tanh_step, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first);
}
TwoTensors rnn_tanh_data(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, ArrayRef<Tensor> params,
                         bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional) {
  return of_data(tanh_step, data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional);
}

TwoTensors rnn_relu_input(const Tensor& input, const Tensor& hx, ArrayRef<Tensor> params, bool has_biases,
                          std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  return of_input(relu_step, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first);
}
TwoTensors rnn_relu_data(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, ArrayRef<Tensor> params,
                         bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional) {
  return of_data(relu_step, data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional);
}

TwoTensors lstm_cell(const Tensor& input, ArrayRef<Tensor> hx, const Tensor& w_ih, const Tensor& w_hh,
                     const std::optional<Tensor>& b_ih, const std::optional<Tensor>& b_hh) {
  State next = cell(lstm_step, input, both(hx), w_ih, w_hh, b_ih, b_hh);
  return {std::move(next[0]), std::move(next[1])};
}
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                const std::optional<Tensor>& b_ih, const std::optional<Tensor>& b_hh) {
  return cell(gru_step, input, {hx}, w_ih, w_hh, b_ih, b_hh)[0];
}
Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const std::optional<Tensor>& b_ih, const std::optional<Tensor>& b_hh) {
  return cell(tanh_step, input, {hx}, w_ih, w_hh, b_ih, b_hh)[0];
}
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const std::optional<Tensor>& b_ih, const std::optional<Tensor>& b_hh) {
  return cell(relu_step, input, {hx}, w_ih, w_hh, b_ih, b_hh)[0];
}

}  // namespace keyway::inline v1::composite
