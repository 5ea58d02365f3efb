// Trains a small network on the backend of minimal.cpp, whose file is the argument, and on the CPU: the losses are the
// same. Exits with 0 if they are.
#include <keyway/core/device/device_guard.h>
#include <keyway/dispatch/plugin/fallback_report.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/keyway.h>

#include <cstdio>
#include <vector>

using namespace keyway;

namespace {

std::vector<double> losses_on(Device device) {
  manual_seed(5);
  nn::Sequential model(nn::Linear(8, 16), nn::ReLU(), nn::Linear(16, 3));
  const Tensor input = randn({32, 8}).to(device);
  const Tensor target = randint(0, 3, {32}).to(device);
  model->to(device);
  optim::Adam adam(model->parameters(), optim::AdamOptions(1e-2));
  std::vector<double> losses;
  for (int step = 0; step < 5; ++step) {
    adam.zero_grad();
    const Tensor loss = cross_entropy_loss(model->forward(input), target);
    loss.backward();
    adam.step();
    losses.push_back(loss.item<double>());
  }
  return losses;
}

// Whether the plug-in refuses to go while a tensor of its device lives, and all works on.
bool stays_while_in_use(LoadedPlugin& plugin) {
  const Tensor held = ones({3}, Device("sim:1"));
  try {
    plugin.unload();
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return held.sum().item<double>() == 3;
  }
  return false;
}

}  // namespace

int main(int, char** argv) {
  LoadedPlugin plugin = load_plugin(argv[1]);
  const std::vector<double> on_cpu = losses_on(kCPU), on_sim = losses_on(Device("sim:1"));
  for (std::size_t i = 0; i < on_sim.size(); ++i) std::printf("step %zu: loss %.9f\n", i, on_sim[i]);
  std::printf("%s", to_string(cpu_fallback_uses()).c_str());
  const bool right = on_sim == on_cpu && stays_while_in_use(plugin);
  plugin.unload();
  return right ? 0 : 1;
}
