// keyway train: a small language model, trained before your eyes.
#include <keyway/tools/keyway/command.h>
#include <keyway/tools/keyway/train/run.h>

namespace keyway::inline v1::tools {

void add_train_command(CLI::App& keyway, ExitStatus& status) {
  CLI::App* command = keyway.add_subcommand("train", "Train a character-level transformer on a text");
  auto options = std::make_shared<RunOptions>();
  command->add_option("--file", options->file, "Text to learn (default: this system's licence texts)");
  auto* steps = command->add_option("--steps", options->steps, "Training steps")->check(CLI::PositiveNumber);
  command->add_option("--minutes", options->minutes, "Train for about so long instead")
      ->check(CLI::PositiveNumber)
      ->excludes(steps);
  command->add_option("--seed", options->trainer.seed, "Same seed, same losses");
  command->add_option("--threads", options->threads, "Threads to compute with (default: all)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--layers", options->model.layers, "Blocks of the transformer")->check(CLI::PositiveNumber);
  command->add_option("--width", options->model.width, "Features of a character")->check(CLI::PositiveNumber);
  command->add_option("--heads", options->model.heads, "Attention heads of a block")->check(CLI::PositiveNumber);
  command->add_option("--context", options->model.context, "Characters that a prediction sees")
      ->check(CLI::PositiveNumber);
  command->add_option("--dropout", options->model.dropout, "Part of the features to drop")->check(CLI::Range(0.0, 0.9));
  command->add_flag("!--untied", options->model.tied_head, "Give the output layer weights of its own");
  command->add_option("--batch", options->trainer.batch, "Contexts in a step")->check(CLI::PositiveNumber);
  command->add_option("--learning-rate", options->trainer.learning_rate, "At its highest")->check(CLI::PositiveNumber);
  command->add_option("--save", options->save, "Write the model here, as safetensors");
  command->add_option("--svg", options->svg, "Write the loss curve here, as SVG");
  command->add_option("--sample", options->sample, "Characters to generate at the end")->check(CLI::NonNegativeNumber);
  command->add_option("--temperature", options->temperature, "Below 1 the sample is more cautious")
      ->check(CLI::PositiveNumber);
  command->add_option("--device", options->device, "Where to compute: cpu");
  command->option_defaults()->always_capture_default();
  command->footer(
      "Holds the last tenth of the text back and compares the model's loss there with that of an interpolated\n"
      "order-3 n-gram model, both in nats a character.");
  command->callback([options, &status] {
    run_training(*options);
    status = ExitStatus::Ok;
  });
}

}  // namespace keyway::inline v1::tools
