#include <keyway/bench/train.h>

namespace {

auto sgd = [](auto parameters) { return lib::optim::SGD(parameters, lib::optim::SGDOptions(0.01)); };
auto adam = [](auto parameters) { return lib::optim::Adam(parameters, lib::optim::AdamOptions(0.001)); };

const bench::Row rows[] = {
    {"mlp_small/sgd", [](bench::State& state) { bench::train(state, bench::kSmallMlp, 1, sgd); }},
    {"mlp/sgd", [](bench::State& state) { bench::train(state, bench::kMlp, 1, sgd); }},
    {"mlp/sgd/2_threads", [](bench::State& state) { bench::train(state, bench::kMlp, 2, sgd); }},
    {"mlp/adam", [](bench::State& state) { bench::train(state, bench::kMlp, 1, adam); }},
    {"mlp/adam/2_threads", [](bench::State& state) { bench::train(state, bench::kMlp, 2, adam); }}};

}  // namespace
