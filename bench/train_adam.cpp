#include <keyway/bench/train.h>

namespace {

auto adam = [](auto parameters) { return lib::optim::Adam(parameters, lib::optim::AdamOptions(0.001)); };

const bench::Row rows[] = {
    {"mlp/adam", [](bench::State& state) { bench::train(state, bench::kMlp, 1, adam); }},
    {"mlp/adam/2_threads", [](bench::State& state) { bench::train(state, bench::kMlp, 2, adam); }}};

}  // namespace
