// keyway train: a small language model, trained before your eyes.
#include <keyway/tools/keyway/command.h>
#include <keyway/tools/keyway/numbers.h>
#include <keyway/tools/keyway/train/corpus.h>
#include <keyway/tools/keyway/train/run.h>

#include <memory>
#include <string>

namespace keyway::inline v1::tools {

namespace {

ExitStatus train(const RunOptions& options) {
  std::string text;
  const ExitStatus status = guarded("train", ExitStatus::Usage, [&] {
    text = read_training_text(options.file);
    return ExitStatus::Ok;
  });
  if (status == ExitStatus::Ok) run_training(options, text);
  return status;
}

}  // namespace

void add_train_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("train", "Train a character-level transformer on a text");
  auto options = std::make_shared<RunOptions>();
  command->option_defaults()->always_capture_default();
  command->add_option("--file", options->file, "Text to learn (default: this system's licence texts)");
  auto* steps = command->add_option("--steps", options->steps, "Training steps")->check(above_0());
  command->add_option("--minutes", options->minutes, "Train for about so long instead")
      ->default_str("")
      ->check(above_0())
      ->excludes(steps);
  command->add_option("--seed", options->trainer.seed, "Same seed, same losses")->check(not_negative());
  command->add_option("--threads", options->threads, "Threads to compute with (default: all)")
      ->default_str("")
      ->check(CLI::Range(1, 1024));
  command->add_option("--layers", options->model.layers, "Blocks of the transformer")->check(above_0());
  command->add_option("--width", options->model.width, "Features of a character")->check(above_0());
  command->add_option("--heads", options->model.heads, "Attention heads of a block")->check(above_0());
  command->add_option("--context", options->model.context, "Characters that a prediction sees")->check(above_0());
  command->add_option("--dropout", options->model.dropout, "Part of the features to drop")->check(CLI::Range(0.0, 0.9));
  command->add_flag_callback(
      "--untied", [options] { options->model.tied_head = false; }, "Give the output layer weights of its own");
  command->add_option("--batch", options->trainer.batch, "Contexts in a step")->check(above_0());
  command->add_option("--learning-rate", options->trainer.learning_rate, "At its highest")->check(above_0());
  command->add_option("--save", options->save, "Write the model here, as safetensors");
  command->add_option("--svg", options->svg, "Write the loss curve here, as SVG");
  command->add_option("--sample", options->sample, "Characters to generate at the end")->check(not_negative());
  command->add_option("--temperature", options->temperature, "Below 1 the sample is more cautious")->check(above_0());
  command->add_option("--device", options->device, "Where to compute: cpu, cuda, or what a plug-in brings");
  command->footer(
      "Holds the last tenth of the text back and compares the model's loss there with that of an interpolated\n"
      "order-3 n-gram model, both in nats a character. Exit status: 0, 1 if the training fails, 2 if a file cannot\n"
      "be read.");
  command->callback([options, &status] { status = train(*options); });
}

}  // namespace keyway::inline v1::tools
