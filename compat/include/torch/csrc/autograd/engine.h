// The engine of backward.
#pragma once

#include <keyway/autograd/engine.h>

#include <torch/csrc/autograd/function.h>

namespace keyway::inline v1::autograd {
struct Engine {
  static Engine& get_default_engine() {
    static Engine engine;
    return engine;
  }
  void queue_callback(std::function<void()> callback) { autograd::queue_callback(std::move(callback)); }
};
}  // namespace keyway::inline v1::autograd
