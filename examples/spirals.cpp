// Trains a small network to tell two spirals apart, saves it and loads it again.
//
//   c++ -std=c++20 spirals.cpp -lkeyway && ./a.out
#include <keyway/keyway.h>

#include <cmath>
#include <cstdio>

namespace nn = keyway::nn;
namespace F = keyway::nn::functional;
using keyway::Tensor;

namespace {

constexpr std::int64_t kPoints = 200;  // of each spiral

class NetImpl : public nn::Module {
 public:
  NetImpl()
      : hidden(register_module("hidden", nn::Linear(2, 64))),
        deeper(register_module("deeper", nn::Linear(64, 64))),
        output(register_module("output", nn::Linear(64, 2))) {}

  Tensor forward(const Tensor& x) { return output(deeper(hidden(x).relu()).relu()); }

 private:
  nn::Linear hidden, deeper, output;
};
using Net = nn::ModuleHolder<NetImpl>;

// Points [2 * kPoints, 2] and the spiral that each is on.
std::pair<Tensor, Tensor> make_spirals() {
  Tensor points = keyway::empty({2 * kPoints, 2});
  Tensor labels = keyway::empty({2 * kPoints}, keyway::kLong);
  auto* xy = points.data_ptr<float>();
  for (std::int64_t i = 0; i < 2 * kPoints; ++i) {
    const double turn = 0.3 + 2.7 * static_cast<double>(i / 2) / kPoints;
    const double side = i % 2 == 0 ? 1 : -1;
    xy[2 * i] = static_cast<float>(side * turn * std::cos(turn * 2));
    xy[2 * i + 1] = static_cast<float>(side * turn * std::sin(turn * 2));
    labels.data_ptr<std::int64_t>()[i] = i % 2;
  }
  return {points, labels};
}

double accuracy(Net net, const Tensor& points, const Tensor& labels) {
  const keyway::NoGradGuard no_grad;
  const Tensor scores = net(points);
  const Tensor says_second = scores.select(1, 1) > scores.select(1, 0);
  return (says_second.to(keyway::kLong) == labels).to(keyway::kDouble).mean().item<double>();
}

}  // namespace

int main() {
  keyway::manual_seed(1);
  const auto [points, labels] = make_spirals();
  Net net;
  keyway::optim::AdamW optimizer(net->parameters(), keyway::optim::AdamWOptions(1e-2));
  for (int step = 0; step <= 300; ++step) {
    const Tensor loss = F::cross_entropy(net(points), labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 100 == 0) std::printf("step %3d  loss %.4f\n", step, loss.item<double>());
  }

  nn::save_safetensors(net->state_dict(), "spirals.safetensors");
  Net loaded;
  loaded->load_state_dict(nn::load_safetensors("spirals.safetensors"));
  const double correct = accuracy(loaded, points, labels);
  std::printf("%.1f %% of the points are told apart\n", 100 * correct);
  return correct > 0.95 ? 0 : 1;
}
