// Operators on a CUDA device. A row queues its call some times and waits for the device once; the rows of host/ count
// how long the calls take to return.
#include <keyway/bench/cuda/device.h>

namespace {

using bench::drawn, bench::queue, bench::wait;

constexpr std::int64_t kCount = std::int64_t{1} << 26, kSide = std::int64_t{1} << 13;
constexpr double kBytes = 4.0 * kCount;

lib::Tensor numbers() { return drawn(kCount); }
lib::Tensor square() { return drawn(kSide, kSide); }

// What memory can do: each element is read once and written once.
void copy(bench::State& state) {
  const lib::Tensor from = numbers();
  lib::Tensor to = lib::empty_like(from);
  queue(state, [&] { bench::keep(to.copy_(from)); });
  bench::moves_bytes(state, 2 * kBytes);
}

void add_out(bench::State& state) {
  const lib::Tensor a = numbers(), b = numbers();
  lib::Tensor out = lib::empty_like(a);
  queue(state, [&] { bench::keep(lib::add_out(out, a, b)); });
  bench::moves_bytes(state, 3 * kBytes);
}

template <typename OutOp>
void unary(bench::State& state, OutOp out_op) {
  const lib::Tensor a = numbers();
  lib::Tensor out = lib::empty_like(a);
  queue(state, [&] { bench::keep(out_op(out, a)); });
  bench::moves_bytes(state, 2 * kBytes);
}
void exp_out(bench::State& state) {
  unary(state, [](lib::Tensor& out, const lib::Tensor& a) { return lib::exp_out(out, a); });
}
void gelu_out(bench::State& state) {
  unary(state, [](lib::Tensor& out, const lib::Tensor& a) { return lib::gelu_out(out, a); });
}

void add_row(bench::State& state) {
  const lib::Tensor a = square(), b = drawn(kSide);
  lib::Tensor out = lib::empty_like(a);
  queue(state, [&] { bench::keep(lib::add_out(out, a, b)); });
  bench::moves_bytes(state, 2 * kBytes);
}

void add_transposed(bench::State& state) {
  const lib::Tensor a = square(), b = square().transpose(0, 1);
  lib::Tensor out = lib::empty_like(a);
  queue(state, [&] { bench::keep(lib::add_out(out, a, b)); });
  bench::moves_bytes(state, 3 * kBytes);
}

void add_bfloat16(bench::State& state) {
  const lib::Tensor a = numbers().to(lib::kBFloat16), b = numbers().to(lib::kBFloat16);
  lib::Tensor out = lib::empty_like(a);
  queue(state, [&] { bench::keep(lib::add_out(out, a, b)); });
  bench::moves_bytes(state, 1.5 * kBytes);
}

void to_bfloat16(bench::State& state) {
  const lib::Tensor a = numbers();
  queue(state, [&] { bench::keep(a.to(lib::kBFloat16)); });
  bench::moves_bytes(state, 1.5 * kBytes);
}

void sum_all(bench::State& state) {
  const lib::Tensor a = square();
  queue(state, [&] { bench::keep(a.sum()); });
  bench::moves_bytes(state, kBytes);
}
void sum_bfloat16(bench::State& state) {
  const lib::Tensor a = square().to(lib::kBFloat16);
  queue(state, [&] { bench::keep(a.sum()); });
  bench::moves_bytes(state, kBytes / 2);
}
template <std::int64_t dim>
void sum_dim(bench::State& state) {
  const lib::Tensor a = square();
  queue(state, [&] { bench::keep(a.sum(dim)); });
  bench::moves_bytes(state, kBytes);
}

template <std::int64_t width>
void softmax(bench::State& state) {
  const lib::Tensor a = drawn(kCount / width, width);
  queue(state, [&] { bench::keep(lib::softmax(a, -1)); });
  bench::moves_bytes(state, 2 * kBytes);
}

void softmax_bfloat16(bench::State& state) {
  const lib::Tensor a = drawn(kCount / 1024, std::int64_t{1024}).to(lib::kBFloat16);
  queue(state, [&] { bench::keep(lib::softmax(a, -1)); });
  bench::moves_bytes(state, kBytes);
}

template <std::int64_t width>
void layer_norm(bench::State& state) {
  const lib::Tensor a = drawn(kCount / width, width), weight = drawn(width), bias = drawn(width);
  queue(state, [&] { bench::keep(lib::layer_norm(a, {width}, weight, bias)); });
  bench::moves_bytes(state, 2 * kBytes);
}

// And its gradient: what has to move is the logits, twice, and the gradient.
void cross_entropy(bench::State& state) {
  constexpr std::int64_t kClasses = 32768;
  const lib::Tensor logits = drawn(kCount / kClasses, kClasses).requires_grad_();
  const lib::Tensor target = lib::zeros({kCount / kClasses}, logits.options().dtype(lib::kInt64));
  queue(state, [&] {
    const lib::Tensor loss = lib::nn::functional::cross_entropy(logits, target);
    bench::keep(lib::autograd::grad({loss}, {logits})[0]);
  });
  bench::moves_bytes(state, 3 * kBytes);
}

// Of 16 heads of 64 columns and so many queries and keys, for four examples, and its gradient if that is wanted: two
// products of matrices forward, five backward.
constexpr std::int64_t kLength = 4096;
template <bool backward>
void attention(bench::State& state) {
  const auto heads = [] {
    return drawn(4 * 16 * kLength, std::int64_t{64}).reshape({4, 16, kLength, 64}).to(lib::kBFloat16);
  };
  const lib::Tensor query = heads().detach().requires_grad_(backward), key = heads().detach().requires_grad_(backward);
  const lib::Tensor value = heads().detach().requires_grad_(backward), grad = heads();
  queue(state, [&] {
    const lib::Tensor result = lib::scaled_dot_product_attention(query, key, value);
    bench::keep(backward ? lib::autograd::grad({result}, {query, key, value}, {grad})[0] : result);
  });
  bench::computes(state, (backward ? 7 : 2) * 2.0 * 4 * 16 * kLength * kLength * 64);
}

// How long a call of an operator takes to return: the device has next to nothing to do.
template <typename Call>
void host(bench::State& state, const Call& call) {
  constexpr int kCalls = 200;
  for (auto _ : state) {
    for (int i = 0; i < kCalls; ++i) call();
    state.PauseTiming();
    wait();
    state.ResumeTiming();
  }
  bench::does_times(state, kCalls);
}
void host_add(bench::State& state) {
  const lib::Tensor a = drawn(std::int64_t{1}), b = drawn(std::int64_t{1});
  host(state, [&] { bench::keep(lib::add(a, b)); });
}
void host_add_out(bench::State& state) {
  const lib::Tensor a = drawn(std::int64_t{1}), b = drawn(std::int64_t{1});
  lib::Tensor out = lib::empty_like(a);
  host(state, [&] { bench::keep(lib::add_out(out, a, b)); });
}
void host_sum(bench::State& state) {
  const lib::Tensor a = drawn(std::int64_t{12});
  host(state, [&] { bench::keep(a.sum()); });
}
void host_empty(bench::State& state) {
  host(state, [&] { bench::keep(lib::empty({1}, lib::TensorOptions().device(lib::kCUDA))); });
}

const bench::Row rows[] = {{"copy", copy},
                           {"add_out", add_out},
                           {"exp_out", exp_out},
                           {"gelu_out", gelu_out},
                           {"add_out/row", add_row},
                           {"add_out/transposed", add_transposed},
                           {"add_out/bfloat16", add_bfloat16},
                           {"to_bfloat16", to_bfloat16},
                           {"sum/all", sum_all},
                           {"sum/all/bfloat16", sum_bfloat16},
                           {"sum/first_dim", sum_dim<0>},
                           {"sum/last_dim", sum_dim<1>},
                           {"softmax/1024", softmax<1024>},
                           {"softmax/1024/bfloat16", softmax_bfloat16},
                           {"softmax/8192", softmax<8192>},
                           {"softmax/32768", softmax<32768>},
                           {"layer_norm/1024", layer_norm<1024>},
                           {"layer_norm/8192", layer_norm<8192>},
                           {"cross_entropy/32768", cross_entropy},
                           {"attention/4096/bfloat16", attention<false>},
                           {"attention/4096/bfloat16/grad", attention<true>},
                           {"host/empty", host_empty},
                           {"host/add", host_add},
                           {"host/add_out", host_add_out},
                           {"host/sum", host_sum}};

}  // namespace
