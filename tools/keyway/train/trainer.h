// Trainer: teaches a transformer a corpus, one step after the other. The same options give the same losses, on any
// number of threads.
#pragma once

#include <keyway/nn/nn.h>
#include <keyway/tools/keyway/train/corpus.h>
#include <keyway/tools/keyway/train/transformer.h>

#include <cstdint>
#include <random>

namespace keyway::inline v1::tools {

struct TrainerOptions {
  std::int64_t steps = 0;
  std::int64_t batch = 16;
  double learning_rate = 3e-3;
  double weight_decay = 0.1;
  double max_grad_norm = 1;
  std::uint64_t seed = 1;
};

class Trainer {
 public:
  // Requires: model and corpus outlive this.
  Trainer(Transformer model, const Corpus& corpus, const TrainerOptions& options);

  // Returns the loss of a random batch before the step that it leads to.
  double step();
  std::int64_t characters_per_step() const { return options_.batch * model_->options().context; }

 private:
  struct Batch {
    Tensor inputs, targets;  // [batch, context]; targets are one character ahead
  };
  Batch draw_batch();

  Transformer model_;
  const Corpus& corpus_;
  TrainerOptions options_;
  std::mt19937_64 random_;
  std::vector<Tensor> parameters_;
  optim::AdamW optimizer_;
  optim::LambdaLR schedule_;
};

}  // namespace keyway::inline v1::tools
