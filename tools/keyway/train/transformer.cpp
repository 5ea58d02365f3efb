#include <keyway/keyway.h>
#include <keyway/tools/keyway/train/transformer.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace keyway::inline v1::tools {

namespace {

constexpr double kInitialStd = 0.02;

nn::LayerNorm make_norm(const TransformerOptions& options) {
  return nn::LayerNorm(std::vector<std::int64_t>{options.width});
}

nn::Sequential make_thought(const TransformerOptions& options) {
  const std::int64_t width = options.width;
  return nn::Sequential(make_norm(options), nn::Linear(width, 4 * width), nn::GELU("tanh"),
                        nn::Linear(4 * width, width), nn::Dropout(options.dropout));
}

}  // namespace

AttentionImpl::AttentionImpl(const TransformerOptions& options)
    : heads_(options.heads),
      to_heads_(register_module("to_heads", nn::Linear(options.width, 3 * options.width))),
      from_heads_(register_module("from_heads", nn::Linear(options.width, options.width))),
      drop_result_(register_module("drop_result", nn::Dropout(options.dropout))) {}

Tensor AttentionImpl::forward(const Tensor& x) {
  const std::int64_t batch = x.size(0), time = x.size(1), width = x.size(2), head_width = width / heads_;
  // [batch, time, 3 * width] to three of [batch, heads, time, head_width].
  const Tensor parts = to_heads_(x).view({batch, time, 3, heads_, head_width}).permute({2, 0, 3, 1, 4});
  const Tensor query = parts.select(0, 0), key = parts.select(0, 1), value = parts.select(0, 2);

  const double dropped = is_training() ? drop_result_->options.p() : 0;
  const Tensor seen = nn::functional::scaled_dot_product_attention(query, key, value, {}, dropped, /*is_causal=*/true);
  return drop_result_(from_heads_(seen.transpose(1, 2).reshape({batch, time, width})));
}

BlockImpl::BlockImpl(const TransformerOptions& options)
    : norm_attention_(register_module("norm_attention", make_norm(options))),
      attention_(register_module("attention", Attention(options))),
      thought_(register_module("thought", make_thought(options))) {}

Tensor BlockImpl::forward(const Tensor& x) {
  const Tensor seen = x + attention_(norm_attention_(x));
  return seen + thought_(seen);
}

TransformerImpl::TransformerImpl(const TransformerOptions& options)
    : options_(options),
      characters_(register_module("characters", nn::Embedding(options.alphabet, options.width))),
      positions_(register_module("positions", nn::Embedding(options.context, options.width))),
      drop_(register_module("drop", nn::Dropout(options.dropout))),
      norm_(nullptr) {
  KEYWAY_CHECK(options.heads > 0 && options.width % options.heads == 0, "{} heads do not divide a width of {}",
               options.heads, options.width);
  for (std::int64_t i = 0; i < options.layers; ++i) {
    blocks_.push_back(register_module("block" + std::to_string(i), Block(options)));
  }
  norm_ = register_module("norm", make_norm(options));
  if (!options.tied_head) {
    head_ = register_module("head", nn::Linear(nn::LinearOptions(options.width, options.alphabet).bias(false)));
  }
  reset_parameters();
}

// Layers that add to the stream begin smaller, so that its variance does not grow with their number.
void TransformerImpl::reset_parameters() {
  const double added_std = kInitialStd / std::sqrt(2.0 * static_cast<double>(options_.layers));
  for (const auto& [name, parameter] : named_parameters()) {
    if (name.ends_with(".bias")) {
      nn::init::zeros_(parameter);
    } else if (parameter.dim() >= 2) {
      const bool adds = name.ends_with("from_heads.weight") || name.ends_with("thought.3.weight");
      nn::init::normal_(parameter, 0, adds ? added_std : kInitialStd);
    }
  }
}

Tensor TransformerImpl::forward(const Tensor& characters) {
  const std::int64_t time = characters.size(1);
  KEYWAY_CHECK(time <= options_.context, "{} characters do not fit into a context of {}", time, options_.context);
  const Tensor positions = arange(time, TensorOptions(kLong).device(characters.device()));
  Tensor x = drop_(characters_(characters) + positions_(positions));
  for (const Block& block : blocks_) x = block(x);
  x = norm_(x);
  return head_ ? head_(x) : linear(x, characters_->weight);
}

std::int64_t TransformerImpl::parameter_count() const {
  std::int64_t count = 0;
  for (const Tensor& parameter : parameters()) count += parameter.numel();
  return count;
}

Tensor to_tensor(Characters characters, std::int64_t row_size, Device device) {
  Tensor tensor = empty({static_cast<std::int64_t>(characters.size()) / row_size, row_size}, kLong);
  std::ranges::copy(characters, tensor.data_ptr<std::int64_t>());
  return tensor.to(device, kLong);
}

namespace {

// Sum of the losses of the last `counted` predictions of a window, given the character behind each of its own.
double window_loss(Transformer& model, Characters characters, std::size_t counted) {
  const auto time = static_cast<std::int64_t>(characters.size()) - 1;
  const auto from = time - static_cast<std::int64_t>(counted);
  const Tensor logits = model(to_tensor(characters.first(characters.size() - 1), time, model->device())).select(0, 0);
  const Tensor targets = to_tensor(characters.subspan(1), time, model->device()).select(0, 0);
  const double mean = nn::functional::cross_entropy(logits.slice(0, from), targets.slice(0, from)).item<double>();
  return mean * static_cast<double>(counted);
}

}  // namespace

double held_out_loss(Transformer model, const Corpus& corpus, std::size_t most_windows) {
  const NoGradGuard no_grad;
  const bool was_training = model->is_training();
  model->eval();
  const auto context = static_cast<std::size_t>(model->options().context);
  const std::size_t half = std::max<std::size_t>(context / 2, 1);
  const Characters text = corpus.all();
  const std::size_t begin = corpus.training().size();
  const std::size_t windows = (text.size() - begin + half - 1) / half;
  const std::size_t used = std::min(windows, most_windows);
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < used; ++i) {
    // Predicts text[first, last) from up to `context` characters before each.
    const std::size_t first = begin + i * windows / used * half, last = std::min(first + half, text.size());
    const std::size_t start = last - 1 > context ? last - 1 - context : 0;
    sum += window_loss(model, text.subspan(start, last - start), last - first);
    count += last - first;
  }
  model->train(was_training);
  return sum / static_cast<double>(count);
}

std::vector<std::uint8_t> generate(Transformer model, std::vector<std::uint8_t> prompt, std::size_t count,
                                   double temperature) {
  const NoGradGuard no_grad;
  const bool was_training = model->is_training();
  model->eval();
  const auto context = static_cast<std::size_t>(model->options().context);
  std::vector<std::uint8_t> text = std::move(prompt);
  const std::size_t begin = text.size();
  while (text.size() < begin + count) {
    const Characters recent = Characters(text).last(std::min(text.size(), context));
    const Tensor characters = to_tensor(recent, static_cast<std::int64_t>(recent.size()), model->device());
    const Tensor logits = model(characters).select(0, 0).select(0, -1);
    const Tensor chosen = multinomial(softmax(logits / temperature, -1), 1);
    text.push_back(static_cast<std::uint8_t>(chosen.item<std::int64_t>()));
  }
  model->train(was_training);
  text.erase(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin));
  return text;
}

}  // namespace keyway::inline v1::tools
