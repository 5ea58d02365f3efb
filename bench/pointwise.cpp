// Pointwise operators over 16M floats, far more than the caches hold: the memory is the limit.
#include <keyway/bench/harness.h>

namespace {

constexpr std::int64_t kCount = 1 << 24;

lib::Tensor numbers() { return lib::rand({kCount}); }

void add_out(bench::State& state) {
  const lib::Tensor a = numbers(), b = numbers();
  lib::Tensor out = lib::zeros_like(a);  // its memory is there before the first call
  for (auto _ : state) bench::keep(lib::add_out(out, a, b));
  bench::moves_bytes(state, 12.0 * kCount);
}

void add(bench::State& state) {
  const lib::Tensor a = numbers(), b = numbers();
  for (auto _ : state) bench::keep(lib::add(a, b));
  bench::moves_bytes(state, 12.0 * kCount);
}

// out_op(out, input): one of the operators with one input.
template <typename OutOp>
void unary(bench::State& state, OutOp out_op) {
  const lib::Tensor a = numbers();
  lib::Tensor out = lib::zeros_like(a);  // its memory is there before the first call
  for (auto _ : state) bench::keep(out_op(out, a));
  bench::moves_bytes(state, 8.0 * kCount);
}

void exp_out(bench::State& state) {
  unary(state, [](lib::Tensor& out, const lib::Tensor& a) { return lib::exp_out(out, a); });
}
void sigmoid_out(bench::State& state) {
  unary(state, [](lib::Tensor& out, const lib::Tensor& a) { return lib::sigmoid_out(out, a); });
}
void gelu_out(bench::State& state) {
  unary(state, [](lib::Tensor& out, const lib::Tensor& a) { return lib::gelu_out(out, a); });
}

const bench::Row rows[] = {{"add_out/16M", add_out},
                           {"add/16M", add},
                           {"exp_out/16M", exp_out},
                           {"sigmoid_out/16M", sigmoid_out},
                           {"gelu_out/16M", gelu_out}};

}  // namespace
