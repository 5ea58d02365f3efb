#include <keyway/backends/cpu/parallel.h>
#include <keyway/dispatch/inspect/profiler.h>
#include <keyway/tools/keyway/train/loss_curve.h>
#include <keyway/tools/keyway/train/ngram.h>
#include <keyway/tools/keyway/train/progress.h>
#include <keyway/tools/keyway/train/run.h>
#include <keyway/tools/terminal/terminal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <system_error>

namespace keyway::inline v1::tools {

namespace {

constexpr double kHeldOut = 0.1;
constexpr std::int64_t kEvaluations = 12;  // during a run
constexpr std::size_t kQuickWindows = 64;  // of each of them
constexpr std::int64_t kProfiledSteps = 5;

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

void heading(std::string_view text) { fmt::print("\n{}\n", Colours(stdout)(Colour::Bold, text)); }

std::string thousands(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<std::int64_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

// What a run has shown.
struct Outcome {
  LossCurve curve;
  std::string kernels;          // a table
  double training_seconds = 0;  // without evaluations
  std::int64_t profiled_steps = 0;
};

Transformer make_model(const RunOptions& options, const Corpus& corpus) {
  manual_seed(options.trainer.seed);
  TransformerOptions model = options.model;
  model.alphabet = static_cast<std::int64_t>(corpus.alphabet().size());
  Transformer made(model);
  made->to(Device(options.device));
  return made;
}

// How many steps fit into the time that is asked for, judged by a few with a model that is thrown away.
std::int64_t steps_in(double minutes, const RunOptions& options, const Corpus& corpus) {
  constexpr std::int64_t kWarmUp = 3, kMeasured = 16;
  constexpr double kSteps = 0.85;  // part of the time that goes into steps; the rest into looking at held-out text
  TrainerOptions trial = options.trainer;
  trial.steps = kWarmUp + kMeasured;
  Trainer trainer(make_model(options, corpus), corpus, trial);
  for (std::int64_t i = 0; i < kWarmUp; ++i) trainer.step();
  const auto begin = Clock::now();
  for (std::int64_t i = 0; i < kMeasured; ++i) trainer.step();
  const double each = seconds_since(begin) / kMeasured;
  return std::max<std::int64_t>(static_cast<std::int64_t>(kSteps * minutes * 60 / each), 2);
}

// A step that is neither the first nor the last, which are unlike the others.
bool is_profiled(std::int64_t step, std::int64_t steps) {
  const std::int64_t begin = steps / 2;
  return step >= begin && step < begin + kProfiledSteps;
}

Outcome train(Transformer& model, const Corpus& corpus, const TrainerOptions& options, double ngram_loss) {
  Outcome outcome;
  outcome.curve.ngram = ngram_loss;
  Trainer trainer(model, corpus, options);
  const auto profile = std::make_shared<Profile>();
  Progress progress(stdout, options.steps);
  const std::int64_t pause = std::max<std::int64_t>(options.steps / kEvaluations, 1);
  double smooth = 0, held_out = std::nan("");
  for (std::int64_t step = 1; step <= options.steps; ++step) {
    std::optional<ThreadListenerGuard> recording;
    if (is_profiled(step, options.steps)) recording.emplace(profile), ++outcome.profiled_steps;
    const auto begin = Clock::now();
    const double loss = trainer.step();
    recording.reset();
    outcome.training_seconds += seconds_since(begin);
    KEYWAY_CHECK(std::isfinite(loss), "the loss became {} at step {}: try a smaller --learning-rate", loss, step);

    outcome.curve.training.push_back({step, loss});
    smooth = step == 1 ? loss : 0.95 * smooth + 0.05 * loss;
    if (step % pause == 0 && step != options.steps) {
      held_out = held_out_loss(model, corpus, kQuickWindows);
      outcome.curve.held_out.push_back({step, held_out});
    }
    const auto rate = static_cast<double>(step * trainer.characters_per_step()) / outcome.training_seconds;
    const std::string seen = std::isnan(held_out) ? "" : fmt::format("held-out {:.3f}  ", held_out);
    progress.show(step, fmt::format("loss {:.3f}  {}{} tokens/s", smooth, seen, thousands(std::llround(rate))));
  }
  outcome.curve.held_out.push_back({options.steps, held_out_loss(model, corpus)});
  outcome.kernels = profile->table(Profile::Column::Self, 24, static_cast<std::uint64_t>(outcome.profiled_steps));
  return outcome;
}

void print_text(const Corpus& corpus, const std::string& file) {
  heading("Text");
  fmt::print("  {}: {} characters, {} different; the last {} are held out\n",
             file.empty() ? "this system's licence texts" : file,
             thousands(static_cast<std::int64_t>(corpus.all().size())), corpus.alphabet().size(),
             thousands(static_cast<std::int64_t>(corpus.held_out().size())));
}

void print_model(const Transformer& model, const RunOptions& options) {
  heading("Model");
  fmt::print("  transformer: {} layers of width {}, {} heads, context {}, {} parameters\n", options.model.layers,
             options.model.width, options.model.heads, options.model.context, thousands(model->parameter_count()));
  fmt::print("  {} steps of {} x {} tokens, seed {}, {} threads\n\n", thousands(options.trainer.steps),
             options.trainer.batch, options.model.context, options.trainer.seed, get_num_threads());
  std::fflush(stdout);
}

void print_losses(const Outcome& outcome, const TrainerOptions& options, std::int64_t tokens_per_step) {
  heading("Loss on the held-out text, nats a character");
  const double model = outcome.curve.held_out.back().loss, ngram = outcome.curve.ngram;
  fmt::print("  {:<34} {:.3f}\n", "transformer", model);
  fmt::print("  {:<34} {:.3f}\n", "interpolated order-3 n-gram model", ngram);
  fmt::print("  the transformer's is {:.1f} % {}\n", 100 * std::abs(ngram - model) / ngram,
             model < ngram ? "lower" : "higher");
  const auto tokens = static_cast<double>(options.steps * tokens_per_step);
  fmt::print("  trained for {:.1f} s at {} tokens/s\n", outcome.training_seconds,
             thousands(std::llround(tokens / outcome.training_seconds)));
}

void print_sample(Transformer& model, const Corpus& corpus, const RunOptions& options) {
  if (options.sample == 0) return;
  heading("Sample");
  const Characters held_out = corpus.held_out();
  const auto prompt = held_out.first(std::min<std::size_t>(held_out.size(), 16));
  const auto text = generate(model, {prompt.begin(), prompt.end()}, options.sample, options.temperature);
  fmt::print("{}\n", corpus.text(text));
}

void write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  KEYWAY_CHECK(written && closed, "cannot write {}", path);
}

// Leaves an empty file where there was none.
void check_writable(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "ab");
  KEYWAY_CHECK(file != nullptr, "cannot write {}: {}", path, std::generic_category().message(errno));
  std::fclose(file);
}

// What is needed to use the file: the sizes, and the byte of each character.
nn::Metadata describe_model(const Transformer& model, const Corpus& corpus) {
  std::string alphabet;
  for (const char c : corpus.alphabet()) alphabet += fmt::format("{:02x}", static_cast<unsigned char>(c));
  const TransformerOptions& options = model->options();
  return {{"format", "keyway character transformer"},
          {"alphabet", alphabet},
          {"layers", std::to_string(options.layers)},
          {"heads", std::to_string(options.heads)}};
}

}  // namespace

void run_training(RunOptions options, const std::string& text) {
  if (options.threads > 0) set_num_threads(options.threads);
  for (const std::string* path : {&options.svg, &options.save}) {
    if (!path->empty()) check_writable(*path);
  }
  const Corpus corpus(text, kHeldOut);
  print_text(corpus, options.file);
  if (options.minutes > 0) options.steps = steps_in(options.minutes, options, corpus);
  options.trainer.steps = options.steps;
  const double ngram = Ngram(corpus.training(), corpus.alphabet().size()).loss(corpus.all(), corpus.training().size());
  Transformer model = make_model(options, corpus);
  print_model(model, options);

  const Outcome outcome = train(model, corpus, options.trainer, ngram);
  heading("Loss");
  fmt::print("{}", draw_text(outcome.curve, 72, 16));
  print_losses(outcome, options.trainer, options.trainer.batch * options.model.context);
  print_sample(model, corpus, options);
  heading(fmt::format("Kernels of a training step (mean of {})", outcome.profiled_steps));
  fmt::print("{}", outcome.kernels);
  if (!options.svg.empty()) write_file(options.svg, draw_svg(outcome.curve, "Loss, nats a character"));
  if (!options.save.empty()) nn::save_safetensors(model->state_dict(), options.save, describe_model(model, corpus));
}

}  // namespace keyway::inline v1::tools
