#include <keyway/backends/cpu/parallel.h>
#include <keyway/tests/backends/cuda/has_device.h>
#include <keyway/tests/catch.h>
#include <keyway/tools/keyway/train/trainer.h>

using namespace keyway;
using keyway::testing::error_of;

namespace {

tools::Corpus make_corpus() {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "the cat sat on the mat ";
  return tools::Corpus(text, 0.1);
}

struct Run {
  std::vector<double> losses;
  double held_out;
};

Run train(const tools::Corpus& corpus, std::uint64_t seed, std::int64_t steps, Device device = kCPU) {
  tools::TransformerOptions model;
  model.alphabet = static_cast<std::int64_t>(corpus.alphabet().size());
  model.context = 16;
  model.width = 32;
  model.layers = 2;
  model.heads = 2;
  tools::TrainerOptions options;
  options.steps = steps;
  options.batch = 8;
  options.seed = seed;
  manual_seed(seed);
  tools::Transformer transformer(model);
  transformer->to(device);
  tools::Trainer trainer(transformer, corpus, options);
  Run run;
  for (std::int64_t i = 0; i < steps; ++i) run.losses.push_back(trainer.step());
  run.held_out = tools::held_out_loss(transformer, corpus);
  return run;
}

}  // namespace

TEST_CASE("the same seed gives the same losses, whatever the number of threads, and another seed others") {
  const tools::Corpus corpus = make_corpus();
  const int threads = get_num_threads();
  set_num_threads(1);
  const Run one = train(corpus, 3, 5);
  set_num_threads(2);
  const Run two = train(corpus, 3, 5);
  set_num_threads(threads);
  CHECK(one.losses == two.losses);
  CHECK(one.held_out == two.held_out);
  CHECK(train(corpus, 4, 5).losses != one.losses);
}

TEST_CASE("training on a CUDA device goes as it does on the CPU") {
  if (keyway::testing::lacks_device()) return;
  const tools::Corpus corpus = make_corpus();
  const Run here = train(corpus, 3, 4), there = train(corpus, 3, 4, kCUDA);
  for (std::size_t i = 0; i < here.losses.size(); ++i) CHECK(there.losses[i] == Approx(here.losses[i]).epsilon(1e-4));
  CHECK(there.held_out == Approx(here.held_out).epsilon(1e-4));
}

TEST_CASE("training learns a simple text") {
  const tools::Corpus corpus = make_corpus();
  const Run run = train(corpus, 1, 150);
  CHECK(run.losses.front() > 2);
  CHECK(run.held_out < 0.5);
}

TEST_CASE("a text shorter than a context is refused") {
  const tools::Corpus corpus = make_corpus();
  tools::TransformerOptions model;
  model.alphabet = 20;
  model.context = 10000;
  model.width = 2;
  model.heads = 1;
  model.layers = 1;
  tools::Transformer transformer(model);
  CHECK(error_of([&] {
          tools::TrainerOptions options;
          options.steps = 10;
          tools::Trainer trainer(transformer, corpus, options);
        }).find("the text to learn from has 8280 characters, but one context 10000") == 0);
}
