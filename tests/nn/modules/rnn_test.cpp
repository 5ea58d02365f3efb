// Recurrent cells against their formulas, and layers against cells.
#include <keyway/nn/modules/rnn.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::exact;
using keyway::testing::largest_difference;
using keyway::testing::some_tensor;
using keyway::testing::values_of;

namespace {

double off(const Tensor& a, const Tensor& b) { return largest_difference(values_of(a), values_of(b)); }

// The weights of a layer's direction as a cell's.
template <typename Cell, typename Layer>
Cell cell_of(const Layer& layer, std::size_t number, std::int64_t width) {
  const auto cell = exact(Cell(width, layer->options.hidden_size()));
  const std::vector<Tensor> weights = layer->all_weights()[number];
  const NoGradGuard no_grad;
  for (std::size_t i = 0; i < 4; ++i) cell->parameters()[i].copy_(weights[i]);
  return cell;
}

Tensor h_of(const Tensor& state) { return state; }
Tensor h_of(const std::tuple<Tensor, Tensor>& state) { return std::get<0>(state); }

// What a cell gives along a sequence, and its last state.
template <typename Cell>
auto steps_of(const Cell& cell, const Tensor& input, bool backward) {
  const std::int64_t length = input.size(0);
  std::vector<Tensor> results(static_cast<std::size_t>(length));
  auto state = cell(input.select(0, backward ? length - 1 : 0));
  for (std::int64_t k = 0; k < length; ++k) {
    const std::int64_t i = backward ? length - 1 - k : k;
    if (k > 0) state = cell(input.select(0, i), state);
    results[static_cast<std::size_t>(i)] = h_of(state);
  }
  return std::pair(stack(results), state);
}

// Two layers in both directions.
template <typename Cell, typename Layer>
Tensor check_layers(const Layer& layer) {
  const Tensor x = some_tensor({4, 2, 3});
  Tensor here = x;
  std::vector<Tensor> last;
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<Tensor> both;
    for (const bool backward : {false, true}) {
      const auto cell = cell_of<Cell>(layer, 2 * i + backward, here.size(2));
      const auto [results, state] = steps_of(cell, here, backward);
      both.push_back(results);
      last.push_back(h_of(state));
    }
    here = cat(both, -1);
  }
  const auto [result, state] = layer(x);
  CHECK(off(result, here) < 1e-13);
  CHECK(off(h_of(state), stack(last)) < 1e-13);
  return result;
}

}  // namespace

TEST_CASE("cells are their formulas") {
  const Tensor x = some_tensor({3, 2}), h = some_tensor({3, 4}, 2), c = some_tensor({3, 4}, 3);
  const auto gates = [&](const auto& cell, const Tensor& in, const Tensor& weight, const Tensor& bias, std::int64_t i) {
    return (linear(in, weight, bias)).narrow(1, i * cell->options.hidden_size(), cell->options.hidden_size());
  };
  const auto rnn = exact(nn::RNNCell(nn::RNNCellOptions(2, 4).nonlinearity("relu")));
  CHECK(off(rnn(x, h), relu(linear(x, rnn->weight_ih, rnn->bias_ih) + linear(h, rnn->weight_hh, rnn->bias_hh))) <
        1e-14);
  const auto of_lstm = exact(nn::LSTMCell(2, 4));
  const auto gate = [&](std::int64_t i) {
    return gates(of_lstm, x, of_lstm->weight_ih, of_lstm->bias_ih, i) +
           gates(of_lstm, h, of_lstm->weight_hh, of_lstm->bias_hh, i);
  };
  const Tensor cell = gate(1).sigmoid() * c + gate(0).sigmoid() * gate(2).tanh();
  const auto [next_h, next_c] = of_lstm(x, std::tuple(h, c));
  CHECK(off(next_c, cell) < 1e-14);
  CHECK(off(next_h, gate(3).sigmoid() * cell.tanh()) < 1e-14);
  const auto of_gru = exact(nn::GRUCell(2, 4));
  const auto in = [&](std::int64_t i) { return gates(of_gru, x, of_gru->weight_ih, of_gru->bias_ih, i); };
  const auto hidden = [&](std::int64_t i) { return gates(of_gru, h, of_gru->weight_hh, of_gru->bias_hh, i); };
  const Tensor z = (in(1) + hidden(1)).sigmoid(), fresh = (in(2) + (in(0) + hidden(0)).sigmoid() * hidden(2)).tanh();
  CHECK(off(of_gru(x, h), (1 - z) * fresh + z * h) < 1e-14);
  CHECK(off(of_gru(x.select(0, 1)), of_gru(x).select(0, 1)) < 1e-14);
}

TEST_CASE("layers are cells along the sequence, in both directions") {
  const auto options = nn::RNNOptions(3, 4).num_layers(2).bidirectional(true);
  const auto plain = exact(nn::RNN(options));
  check_layers<nn::RNNCell>(plain);
  check_layers<nn::GRUCell>(exact(nn::GRU(options)));
  const auto layer = exact(nn::LSTM(options));
  const Tensor result = check_layers<nn::LSTMCell>(layer);
  const auto first = exact(nn::LSTM(nn::LSTMOptions(options).batch_first(true)));
  first->load_state_dict(layer->state_dict());
  const Tensor x = some_tensor({4, 2, 3});
  CHECK(off(std::get<0>(first(x.transpose(0, 1))).transpose(0, 1), result) < 1e-14);
  const auto [alone, state] = first(x.select(1, 1));
  CHECK(off(alone, result.select(1, 1)) < 1e-13);
  CHECK(std::get<1>(state).sizes() == IntArrayRef({4, 4}));
}

TEST_CASE("a recurrent layer goes on from a state, and has PyTorch's parameters") {
  const auto layer = exact(nn::GRU(3, 4));
  CHECK(layer->named_parameters().keys() ==
        std::vector<std::string>{"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"});
  const Tensor x = some_tensor({5, 2, 3});
  const auto [whole, last] = layer(x);
  const auto [half, state] = layer(x.slice(0, 0, 2));
  const auto [rest, end] = layer(x.slice(0, 2), state);
  CHECK(off(cat({half, rest}), whole) < 1e-14);
  CHECK(off(end, last) < 1e-14);
  const auto projected = exact(nn::LSTM(nn::LSTMOptions(3, 4).proj_size(2).num_layers(2).bidirectional(true)));
  CHECK(projected->named_parameters().contains("weight_hr_l1_reverse"));
  const auto [result, states] = projected(x);
  CHECK(result.sizes() == IntArrayRef({5, 2, 4}));
  CHECK(std::get<0>(states).sizes() == IntArrayRef({4, 2, 2}));
  result.sum().backward();
  for (const auto& [name, parameter] : projected->named_parameters()) {
    INFO(name);
    CHECK(parameter.grad().defined());
  }
  std::ostringstream text;
  text << projected << nn::RNN(2, 3);
  CHECK(text.str() == "LSTM(3, 4, proj_size=2, num_layers=2, bidirectional=true)RNN(2, 3)");
}

TEST_CASE("recurrent layers say what they refuse") {
  CHECK(error_of([] { nn::RNN(nn::RNNOptions(2, 3).nonlinearity("sin")); }) ==
        "RNN: nonlinearity is 'sin', but must be 'tanh' or 'relu'");
  CHECK(error_of([] { nn::GRU(nn::GRUOptions(2, 3).proj_size(1)); }) ==
        "GRU: proj_size is 1, but must be 0, or for LSTM less than hidden_size");
  const nn::LSTM layer(2, 3);
  CHECK(error_of([&] {
          layer(keyway::ones({4, 3}));
        }) == "LSTM: input has 2 or 3 dimensions, of which the last has size 2; it has shape [4, 3]");
  CHECK(error_of([&] {
          layer(keyway::ones({4, 1, 2}), std::tuple(keyway::ones({1, 2, 3}), keyway::ones({1, 1, 3})));
        }) == "LSTM: a state has shape [1, 2, 3], but must have [1, 1, 3]");
}
