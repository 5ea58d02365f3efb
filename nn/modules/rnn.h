// RNN, LSTM, GRU: layers that go along sequences, and RNNCell, LSTMCell, GRUCell: single steps of them.
#pragma once

#include <keyway/nn/module.h>
#include <keyway/nn/option.h>
#include <keyway/nn/utils/rnn.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace keyway::inline v1::nn {

class RNNOptions {
 public:
  RNNOptions(std::int64_t input_size, std::int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}
  KEYWAY_OPTION(std::int64_t, input_size);
  KEYWAY_OPTION(std::int64_t, hidden_size);
  KEYWAY_OPTION(std::int64_t, num_layers) = 1;
  KEYWAY_OPTION(std::string, nonlinearity) = "tanh";  // or "relu"; of RNN alone
  KEYWAY_OPTION(bool, bias) = true;
  KEYWAY_OPTION(bool, batch_first) = false;
  KEYWAY_OPTION(double, dropout) = 0;  // between layers
  KEYWAY_OPTION(bool, bidirectional) = false;
  KEYWAY_OPTION(std::int64_t, proj_size) = 0;  // what h is shortened to; of LSTM alone
};
using LSTMOptions = RNNOptions;
using GRUOptions = RNNOptions;

// What all share. Sequences are [length, batch, input_size], [batch, length, input_size] if batch_first, or [length,
// input_size]; states [num_layers * directions, batch, hidden_size], without batch if the sequence is. Parameters are
// named weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_hr_l0, ..., those of the other direction
// ..._reverse; they begin uniform in +-1/sqrt(hidden_size).
class KEYWAY_API RNNBase : public Module {
 public:
  void reset_parameters();
  // Of each layer and direction.
  std::vector<std::vector<Tensor>> all_weights() const;
  void pretty_print(std::ostream& stream) const override;

  RNNOptions options;

 protected:
  RNNBase(RNNOptions options, const char* what, std::int64_t gates);
  // The sequence with a batch, and the states, which are 0 if undefined.
  struct Call {
    Tensor input;
    std::vector<Tensor> state;
    bool has_batch;
  };
  Call call_of(const Tensor& input, std::vector<Tensor> state) const;
  std::vector<Tensor> flat_weights() const;
  // The states of packed sequences in the order in which these are packed, and back.
  Call packed_call_of(const utils::rnn::PackedSequence& input, std::vector<Tensor> state) const;
  static Tensor unsorted(const utils::rnn::PackedSequence& input, const Tensor& state);

 private:
  void fill_state(Call& call, std::int64_t batch) const;
  const char* what_;
};

// Returns the results of the last layer, [..., hidden_size * directions], and the last h of each layer and direction.
class KEYWAY_API RNNImpl : public RNNBase {
 public:
  RNNImpl(std::int64_t input_size, std::int64_t hidden_size) : RNNImpl(RNNOptions(input_size, hidden_size)) {}
  // Throws keyway::Error for options that make no sense.
  explicit RNNImpl(RNNOptions options);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, const Tensor& hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(const utils::rnn::PackedSequence& input,
                                                                           const Tensor& hx = {});
};
using RNN = ModuleHolder<RNNImpl>;

class KEYWAY_API GRUImpl : public RNNBase {
 public:
  GRUImpl(std::int64_t input_size, std::int64_t hidden_size) : GRUImpl(GRUOptions(input_size, hidden_size)) {}
  explicit GRUImpl(GRUOptions options);
  std::tuple<Tensor, Tensor> forward(const Tensor& input, const Tensor& hx = {});
  std::tuple<utils::rnn::PackedSequence, Tensor> forward_with_packed_input(const utils::rnn::PackedSequence& input,
                                                                           const Tensor& hx = {});
};
using GRU = ModuleHolder<GRUImpl>;

// The states are h and c.
class KEYWAY_API LSTMImpl : public RNNBase {
 public:
  LSTMImpl(std::int64_t input_size, std::int64_t hidden_size) : LSTMImpl(LSTMOptions(input_size, hidden_size)) {}
  explicit LSTMImpl(LSTMOptions options);
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(const Tensor& input,
                                                         const std::optional<std::tuple<Tensor, Tensor>>& hx = {});
  std::tuple<utils::rnn::PackedSequence, std::tuple<Tensor, Tensor>> forward_with_packed_input(
      const utils::rnn::PackedSequence& input, const std::optional<std::tuple<Tensor, Tensor>>& hx = {});
};
using LSTM = ModuleHolder<LSTMImpl>;

class RNNCellOptions {
 public:
  RNNCellOptions(std::int64_t input_size, std::int64_t hidden_size)
      : input_size_(input_size), hidden_size_(hidden_size) {}
  KEYWAY_OPTION(std::int64_t, input_size);
  KEYWAY_OPTION(std::int64_t, hidden_size);
  KEYWAY_OPTION(bool, bias) = true;
  KEYWAY_OPTION(std::string, nonlinearity) = "tanh";  // or "relu"; of RNNCell alone
};
using LSTMCellOptions = RNNCellOptions;
using GRUCellOptions = RNNCellOptions;

// weight_ih is [gates * hidden_size, input_size], weight_hh [gates * hidden_size, hidden_size], biases [gates *
// hidden_size]; all begin uniform in +-1/sqrt(hidden_size). Inputs are [batch, input_size] or [input_size].
class KEYWAY_API RNNCellBase : public Module {
 public:
  void reset_parameters();

  RNNCellOptions options;
  Tensor weight_ih, weight_hh;
  Tensor bias_ih, bias_hh;  // undefined if there are none

 protected:
  RNNCellBase(RNNCellOptions options, std::int64_t gates);
  // A state that is 0 if it is not given.
  Tensor begin(const Tensor& input, const Tensor& state) const;
};

class KEYWAY_API RNNCellImpl : public RNNCellBase {
 public:
  RNNCellImpl(std::int64_t input_size, std::int64_t hidden_size)
      : RNNCellImpl(RNNCellOptions(input_size, hidden_size)) {}
  explicit RNNCellImpl(RNNCellOptions options);
  Tensor forward(const Tensor& input, const Tensor& hx = {});
};
using RNNCell = ModuleHolder<RNNCellImpl>;

class KEYWAY_API GRUCellImpl : public RNNCellBase {
 public:
  GRUCellImpl(std::int64_t input_size, std::int64_t hidden_size)
      : GRUCellImpl(GRUCellOptions(input_size, hidden_size)) {}
  explicit GRUCellImpl(GRUCellOptions options_) : RNNCellBase(std::move(options_), 3) {}
  Tensor forward(const Tensor& input, const Tensor& hx = {});
};
using GRUCell = ModuleHolder<GRUCellImpl>;

// The next h and c.
class KEYWAY_API LSTMCellImpl : public RNNCellBase {
 public:
  LSTMCellImpl(std::int64_t input_size, std::int64_t hidden_size)
      : LSTMCellImpl(LSTMCellOptions(input_size, hidden_size)) {}
  explicit LSTMCellImpl(LSTMCellOptions options_) : RNNCellBase(std::move(options_), 4) {}
  std::tuple<Tensor, Tensor> forward(const Tensor& input, const std::optional<std::tuple<Tensor, Tensor>>& hx = {});
};
using LSTMCell = ModuleHolder<LSTMCellImpl>;

}  // namespace keyway::inline v1::nn
