#include <keyway/nn/init.h>
#include <keyway/nn/modules/rnn.h>
#include <keyway/nn/optional.h>
#include <keyway/ops/all.h>

#include <cmath>
#include <ostream>

namespace keyway::inline v1::nn {

namespace {

void draw(const Module& module, std::int64_t hidden_size) {
  const double bound = hidden_size > 0 ? 1 / std::sqrt(static_cast<double>(hidden_size)) : 0;
  for (const Tensor& parameter : module.parameters()) init::uniform_(parameter, -bound, bound);
}

bool is_relu(const char* what, const std::string& nonlinearity) {
  KEYWAY_CHECK(nonlinearity == "tanh" || nonlinearity == "relu",
               "{}: nonlinearity is '{}', but must be 'tanh' or 'relu'", what, nonlinearity);
  return nonlinearity == "relu";
}

}  // namespace

RNNBase::RNNBase(RNNOptions options_, const char* what, std::int64_t gates)
    : options(std::move(options_)), what_(what) {
  const std::int64_t hidden = options.hidden_size(), projected = options.proj_size();
  KEYWAY_CHECK(hidden > 0 && options.num_layers() > 0, "{}: hidden_size and num_layers must be positive", what);
  KEYWAY_CHECK(0 <= options.dropout() && options.dropout() <= 1, "{}: dropout is a probability, but is {}", what,
               options.dropout());
  KEYWAY_CHECK(0 <= projected && projected < hidden && (projected == 0 || gates == 4),
               "{}: proj_size is {}, but must be 0, or for LSTM less than hidden_size", what, projected);
  const std::int64_t rows = gates * hidden, out = projected > 0 ? projected : hidden;
  for (std::int64_t layer = 0; layer < options.num_layers(); ++layer) {
    const std::int64_t width = layer == 0 ? options.input_size() : out * (options.bidirectional() ? 2 : 1);
    for (const char* direction : {"", "_reverse"}) {
      if (*direction != '\0' && !options.bidirectional()) continue;
      const std::string suffix = "_l" + std::to_string(layer) + direction;
      const auto make = [&](const char* name, IntArrayRef sizes) { register_parameter(name + suffix, empty(sizes)); };
      make("weight_ih", {rows, width});
      make("weight_hh", {rows, out});
      if (options.bias()) {
        make("bias_ih", {rows});
        make("bias_hh", {rows});
      }
      if (projected > 0) make("weight_hr", {projected, hidden});
    }
  }
  reset_parameters();
}

void RNNBase::reset_parameters() { draw(*this, options.hidden_size()); }

std::vector<Tensor> RNNBase::flat_weights() const { return parameters(/*recurse=*/false); }

std::vector<std::vector<Tensor>> RNNBase::all_weights() const {
  const std::vector<Tensor> flat = flat_weights();
  const std::size_t each = 2 + (options.bias() ? 2 : 0) + (options.proj_size() > 0 ? 1 : 0);
  std::vector<std::vector<Tensor>> all;
  for (std::size_t at = 0; at < flat.size(); at += each) {
    const auto first = flat.begin() + static_cast<std::ptrdiff_t>(at);
    all.emplace_back(first, first + static_cast<std::ptrdiff_t>(each));
  }
  return all;
}

RNNBase::Call RNNBase::call_of(const Tensor& input, std::vector<Tensor> state) const {
  KEYWAY_CHECK((input.dim() == 2 || input.dim() == 3) && input.size(-1) == options.input_size(),
               "{}: input has 2 or 3 dimensions, of which the last has size {}; it has shape {}", what_,
               options.input_size(), input.sizes());
  const bool has_batch = input.dim() == 3;
  const std::int64_t batch = options.batch_first() ? 0 : 1;
  Call call{has_batch ? input : input.unsqueeze(batch), std::move(state), has_batch};
  if (!has_batch) {
    for (Tensor& part : call.state) {
      if (part.defined()) part = part.unsqueeze(1);
    }
  }
  fill_state(call, call.input.size(batch));
  return call;
}

// States that are not given are 0.
void RNNBase::fill_state(Call& call, std::int64_t batch) const {
  const std::int64_t count = options.num_layers() * (options.bidirectional() ? 2 : 1);
  const TensorOptions made = TensorOptions(call.input.device()).dtype(call.input.dtype());
  for (std::size_t i = 0; i < call.state.size(); ++i) {
    Tensor& part = call.state[i];
    const std::int64_t projected = i == 0 ? options.proj_size() : 0;
    const std::int64_t sizes[] = {count, batch, projected > 0 ? projected : options.hidden_size()};
    if (!part.defined()) part = zeros(sizes, made);
    KEYWAY_CHECK(part.sizes() == IntArrayRef(sizes), "{}: a state has shape {}, but must have {}", what_, part.sizes(),
                 IntArrayRef(sizes));
  }
}

RNNBase::Call RNNBase::packed_call_of(const utils::rnn::PackedSequence& input, std::vector<Tensor> state) const {
  const Tensor& data = input.data();
  KEYWAY_CHECK(data.dim() == 2 && data.size(-1) == options.input_size(),
               "{}: packed data must be [rows, {}], but has shape {}", what_, options.input_size(), data.sizes());
  Call call{data, std::move(state), true};
  for (Tensor& part : call.state) {
    if (part.defined() && input.sorted_indices().defined()) part = part.index_select(1, input.sorted_indices());
  }
  fill_state(call, input.batch_sizes().numel() > 0 ? input.batch_sizes().select(0, 0).item<std::int64_t>() : 0);
  return call;
}

Tensor RNNBase::unsorted(const utils::rnn::PackedSequence& input, const Tensor& state) {
  return input.unsorted_indices().defined() ? state.index_select(1, input.unsorted_indices()) : state;
}

void RNNBase::pretty_print(std::ostream& stream) const {
  stream << what_ << "(" << options.input_size() << ", " << options.hidden_size();
  if (options.proj_size() > 0) stream << ", proj_size=" << options.proj_size();
  if (options.num_layers() != 1) stream << ", num_layers=" << options.num_layers();
  if (!options.bias()) stream << ", bias=false";
  if (options.batch_first()) stream << ", batch_first=true";
  if (options.dropout() > 0) stream << ", dropout=" << options.dropout();
  if (options.bidirectional()) stream << ", bidirectional=true";
  stream << ")";
}

RNNImpl::RNNImpl(RNNOptions options_) : RNNBase(std::move(options_), "RNN", 1) {
  is_relu("RNN", options.nonlinearity());
}
GRUImpl::GRUImpl(GRUOptions options_) : RNNBase(std::move(options_), "GRU", 3) {}
LSTMImpl::LSTMImpl(LSTMOptions options_) : RNNBase(std::move(options_), "LSTM", 4) {}

std::tuple<Tensor, Tensor> RNNImpl::forward(const Tensor& input, const Tensor& hx) {
  const Call call = call_of(input, {hx});
  const auto run = [&](const auto& layers) {
    return layers(call.input, call.state[0], flat_weights(), options.bias(), options.num_layers(), options.dropout(),
                  is_training(), options.bidirectional(), options.batch_first());
  };
  const auto [result, state] = is_relu("RNN", options.nonlinearity())
                                   ? run([](const auto&... args) { return rnn_relu(args...); })
                                   : run([](const auto&... args) { return rnn_tanh(args...); });
  if (call.has_batch) return {result, state};
  return {result.squeeze(options.batch_first() ? 0 : 1), state.squeeze(1)};
}

std::tuple<Tensor, Tensor> GRUImpl::forward(const Tensor& input, const Tensor& hx) {
  const Call call = call_of(input, {hx});
  const auto [result, state] = gru(call.input, call.state[0], flat_weights(), options.bias(), options.num_layers(),
                                   options.dropout(), is_training(), options.bidirectional(), options.batch_first());
  if (call.has_batch) return {result, state};
  return {result.squeeze(options.batch_first() ? 0 : 1), state.squeeze(1)};
}

std::tuple<Tensor, std::tuple<Tensor, Tensor>> LSTMImpl::forward(const Tensor& input,
                                                                 const std::optional<std::tuple<Tensor, Tensor>>& hx) {
  const Call call =
      call_of(input, hx ? std::vector<Tensor>{std::get<0>(*hx), std::get<1>(*hx)} : std::vector<Tensor>(2));
  const auto [result, h, c] = lstm(call.input, call.state, flat_weights(), options.bias(), options.num_layers(),
                                   options.dropout(), is_training(), options.bidirectional(), options.batch_first());
  if (call.has_batch) return {result, {h, c}};
  return {result.squeeze(options.batch_first() ? 0 : 1), {h.squeeze(1), c.squeeze(1)}};
}

namespace {

utils::rnn::PackedSequence packed_like(const utils::rnn::PackedSequence& input, const Tensor& data) {
  return {data, input.batch_sizes(), input.sorted_indices(), input.unsorted_indices()};
}

}  // namespace

std::tuple<utils::rnn::PackedSequence, Tensor> RNNImpl::forward_with_packed_input(
    const utils::rnn::PackedSequence& input, const Tensor& hx) {
  const Call call = packed_call_of(input, {hx});
  const auto run = [&](const auto& layers) {
    return layers(call.input, input.batch_sizes(), call.state[0], flat_weights(), options.bias(), options.num_layers(),
                  options.dropout(), is_training(), options.bidirectional());
  };
  const auto [result, state] = is_relu("RNN", options.nonlinearity())
                                   ? run([](const auto&... args) { return rnn_relu(args...); })
                                   : run([](const auto&... args) { return rnn_tanh(args...); });
  return {packed_like(input, result), unsorted(input, state)};
}

std::tuple<utils::rnn::PackedSequence, Tensor> GRUImpl::forward_with_packed_input(
    const utils::rnn::PackedSequence& input, const Tensor& hx) {
  const Call call = packed_call_of(input, {hx});
  const auto [result, state] = gru(call.input, input.batch_sizes(), call.state[0], flat_weights(), options.bias(),
                                   options.num_layers(), options.dropout(), is_training(), options.bidirectional());
  return {packed_like(input, result), unsorted(input, state)};
}

std::tuple<utils::rnn::PackedSequence, std::tuple<Tensor, Tensor>> LSTMImpl::forward_with_packed_input(
    const utils::rnn::PackedSequence& input, const std::optional<std::tuple<Tensor, Tensor>>& hx) {
  const Call call =
      packed_call_of(input, hx ? std::vector<Tensor>{std::get<0>(*hx), std::get<1>(*hx)} : std::vector<Tensor>(2));
  const auto [result, h, c] = lstm(call.input, input.batch_sizes(), call.state, flat_weights(), options.bias(),
                                   options.num_layers(), options.dropout(), is_training(), options.bidirectional());
  return {packed_like(input, result), {unsorted(input, h), unsorted(input, c)}};
}

RNNCellBase::RNNCellBase(RNNCellOptions options_, std::int64_t gates) : options(std::move(options_)) {
  const std::int64_t rows = gates * options.hidden_size();
  const auto make = [&](const char* name, bool is_there, IntArrayRef sizes) {
    return register_parameter(name, is_there ? empty(sizes) : Tensor());
  };
  weight_ih = make("weight_ih", true, {rows, options.input_size()});
  weight_hh = make("weight_hh", true, {rows, options.hidden_size()});
  bias_ih = make("bias_ih", options.bias(), {rows});
  bias_hh = make("bias_hh", options.bias(), {rows});
  reset_parameters();
}

void RNNCellBase::reset_parameters() { draw(*this, options.hidden_size()); }

Tensor RNNCellBase::begin(const Tensor& input, const Tensor& state) const {
  if (state.defined()) return state;
  std::vector<std::int64_t> sizes = input.sizes().vec();
  KEYWAY_CHECK(!sizes.empty(), "a recurrent cell's input has 1 or 2 dimensions, not 0");
  sizes.back() = options.hidden_size();
  return zeros(sizes, TensorOptions(input.device()).dtype(input.dtype()));
}

RNNCellImpl::RNNCellImpl(RNNCellOptions options_) : RNNCellBase(std::move(options_), 1) {
  is_relu("RNNCell", options.nonlinearity());
}

Tensor RNNCellImpl::forward(const Tensor& input, const Tensor& hx) {
  const Tensor state = begin(input, hx);
  if (is_relu("RNNCell", options.nonlinearity())) {
    return rnn_relu_cell(input, state, weight_ih, weight_hh, if_defined(bias_ih), if_defined(bias_hh));
  }
  return rnn_tanh_cell(input, state, weight_ih, weight_hh, if_defined(bias_ih), if_defined(bias_hh));
}

Tensor GRUCellImpl::forward(const Tensor& input, const Tensor& hx) {
  return gru_cell(input, begin(input, hx), weight_ih, weight_hh, if_defined(bias_ih), if_defined(bias_hh));
}

std::tuple<Tensor, Tensor> LSTMCellImpl::forward(const Tensor& input,
                                                 const std::optional<std::tuple<Tensor, Tensor>>& hx) {
  const Tensor h = begin(input, hx ? std::get<0>(*hx) : Tensor()), c = begin(input, hx ? std::get<1>(*hx) : Tensor());
  return lstm_cell(input, {h, c}, weight_ih, weight_hh, if_defined(bias_ih), if_defined(bias_hh));
}

}  // namespace keyway::inline v1::nn
