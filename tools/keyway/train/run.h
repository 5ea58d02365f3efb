// A whole run of `keyway train`: from a text to a model, and what is told about it on the way.
#pragma once

#include <keyway/tools/keyway/train/trainer.h>
#include <keyway/tools/keyway/train/transformer.h>

#include <cstdint>
#include <string>

namespace keyway::inline v1::tools {

struct RunOptions {
  std::string file;  // empty: the licence texts
  std::int64_t steps = 1200;
  double minutes = 0;  // if set, instead of steps
  int threads = 0;     // 0: as many as there are
  TransformerOptions model;
  TrainerOptions trainer;  // its steps are set by the run
  std::string save;
  std::string svg;
  std::size_t sample = 500;
  double temperature = 0.8;
  std::string device = "cpu";
};

// Learns this text, which is that of `options.file`. Prints to standard output. Throws keyway::Error, also if a file
// cannot be written: before the training where that is to be seen.
void run_training(RunOptions options, const std::string& text);

}  // namespace keyway::inline v1::tools
