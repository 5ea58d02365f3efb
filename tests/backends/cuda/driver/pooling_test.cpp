// Pooling on CUDA over what the samples of the operators do not reach: many blocks, windows that overlap or leave gaps,
// padding, dilation, channels last, and indices that are of no window.
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

struct Window {
  Sizes kernel, stride, padding, dilation;
  bool ceil_mode;
};

Tensor channels_last(const Tensor& x) { return x.transpose(1, -1).contiguous().transpose(1, -1); }

template <typename Pool, typename Backward>
void compare(const Tensor& x, const Pool& pool, const Backward& backward) {
  for (const Tensor& from : {x, channels_last(x)}) {
    const Tensor out = pool(from);
    CHECK(same_bits(pool(on_cuda(from)), out));
    const Tensor grad = normal_numbers(out.sizes(), x.dtype());
    CHECK(same_bits(backward(on_cuda(grad), on_cuda(from)), backward(grad, from)));
  }
}

void compare_max(const Tensor& x, const Window& w) {
  for (const Tensor& from : {x, channels_last(x)}) {
    const bool flat = x.dim() == 4;
    const auto pool = [&](const Tensor& t) {
      return flat ? max_pool2d_with_indices(t, w.kernel, w.stride, w.padding, w.dilation, w.ceil_mode)
                  : max_pool3d_with_indices(t, w.kernel, w.stride, w.padding, w.dilation, w.ceil_mode);
    };
    const auto [out, indices] = pool(from);
    const auto [out_there, indices_there] = pool(on_cuda(from));
    CHECK(same_bits(out_there, out));
    CHECK(same_bits(indices_there, indices));
    const auto backward = [&](const Tensor& g, const Tensor& t, const Tensor& at) {
      return flat ? max_pool2d_with_indices_backward(g, t, w.kernel, w.stride, w.padding, w.dilation, w.ceil_mode, at)
                  : max_pool3d_with_indices_backward(g, t, w.kernel, w.stride, w.padding, w.dilation, w.ceil_mode, at);
    };
    const Tensor grad = normal_numbers(out.sizes(), x.dtype());
    CHECK(same_bits(backward(on_cuda(grad), on_cuda(from), on_cuda(indices)), backward(grad, from, indices)));
    // Elements of the plane that are in other windows.
    const std::int64_t positions = from.numel() / (from.sizes()[0] * from.sizes()[1]);
    const Tensor anywhere = randint(0, positions, indices.sizes(), TensorOptions().dtype(kLong));
    CHECK(same_bits(backward(on_cuda(grad), on_cuda(from), on_cuda(anywhere)), backward(grad, from, anywhere)));
  }
}

}  // namespace

TEST_CASE("CUDA's max pooling and its gradient are the CPU's, bit by bit") {
  if (lacks_device()) return;
  manual_seed(20);
  const Window flat[] = {{{2}, {}, {0}, {1}, false},
                         {{3, 2}, {2, 1}, {1, 0}, {1, 1}, true},
                         {{3}, {1}, {1}, {2}, false},
                         {{2}, {4}, {0}, {3}, true}};
  const Window deep[] = {{{2}, {1}, {1}, {1}, false}, {{1, 3, 2}, {1, 2, 2}, {0, 1, 1}, {1, 1, 2}, true}};
  for (const ScalarType dtype : kFloatDtypes) {
    for (const Window& w : flat) compare_max(normal_numbers({2, 5, 17, 23}, dtype), w);
    for (const Window& w : deep) compare_max(normal_numbers({2, 3, 5, 7, 6}, dtype), w);
  }
  const Tensor whole = randint(-9, 9, {2, 3, 20, 20}, TensorOptions().dtype(kLong));
  CHECK(same_bits(max_pool2d(on_cuda(whole), {3}, {2}, {1}), max_pool2d(whole, {3}, {2}, {1})));
}

TEST_CASE("on CUDA NaN is the greatest, and a window of nothing but -inf has its first index") {
  if (lacks_device()) return;
  const double nan = std::nan("");
  Tensor x = full({1, 1, 4, 6}, -INFINITY, TensorOptions());
  x.data_ptr<float>()[9] = static_cast<float>(nan);
  const auto [out, indices] = max_pool2d_with_indices(x, {2}, {1}, {1});
  const auto [out_there, indices_there] = max_pool2d_with_indices(on_cuda(x), {2}, {1}, {1});
  CHECK(is_close(out_there, out, 0));
  CHECK(same_bits(indices_there, indices));
}

TEST_CASE("an index out of its plane is an error of the next synchronisation") {
  if (lacks_device()) return;
  const Tensor x = on_cuda(normal_numbers({1, 1, 4, 4}, kFloat)), grad = on_cuda(normal_numbers({1, 1, 2, 2}, kFloat));
  for (const std::int64_t bad : {16, -1}) {
    const Tensor indices = on_cuda(full({1, 1, 2, 2}, bad, TensorOptions().dtype(kLong)));
    (void)max_pool2d_with_indices_backward(grad, x, {2}, {}, {0}, {1}, false, indices);
    CHECK(error_of([] {
            synchronize(Device("cuda:0"));
          }).find("max_pool2d_with_indices_backward: argument 'indices' has an element") != std::string::npos);
  }
}

TEST_CASE("CUDA's average pooling and its gradient are the CPU's, bit by bit") {
  if (lacks_device()) return;
  manual_seed(21);
  for (const ScalarType dtype : kFloatDtypes) {
    for (const bool padded : {false, true}) {
      for (const std::optional<std::int64_t> divisor :
           {std::optional<std::int64_t>(), std::optional<std::int64_t>(-3)}) {
        const auto each = [&](const Sizes& kernel, const Sizes& stride, const Sizes& padding, bool ceil_mode) {
          compare(
              normal_numbers({2, 5, 17, 23}, dtype),
              [&](const Tensor& t) { return avg_pool2d(t, kernel, stride, padding, ceil_mode, padded, divisor); },
              [&](const Tensor& g, const Tensor& t) {
                return avg_pool2d_backward(g, t, kernel, stride, padding, ceil_mode, padded, divisor);
              });
        };
        each({2}, {}, {0}, false);
        each({3, 4}, {2, 1}, {1, 2}, true);
        each({2}, {5}, {1}, true);
        compare(
            normal_numbers({2, 3, 5, 7, 6}, dtype),
            [&](const Tensor& t) {
              return avg_pool3d(t, {2, 3, 2}, {1, 2, 2}, {1}, true, padded, divisor);
            },
            [&](const Tensor& g, const Tensor& t) {
              return avg_pool3d_backward(g, t, {2, 3, 2}, {1, 2, 2}, {1}, true, padded, divisor);
            });
      }
    }
  }
}

TEST_CASE("CUDA's adaptive pooling and its gradient are the CPU's, bit by bit, to fewer elements and to more") {
  if (lacks_device()) return;
  manual_seed(22);
  for (const ScalarType dtype : kFloatDtypes) {
    for (const Sizes& to : {Sizes{1, 1}, {5, 4}, {17, 23}, {30, 40}}) {
      compare(
          normal_numbers({2, 5, 17, 23}, dtype), [&](const Tensor& t) { return _adaptive_avg_pool2d(t, to); },
          [](const Tensor& g, const Tensor& t) { return _adaptive_avg_pool2d_backward(g, t); });
    }
    for (const Sizes& to : {Sizes{1, 1, 1}, {4, 3, 7}}) {
      compare(
          normal_numbers({2, 3, 5, 7, 6}, dtype), [&](const Tensor& t) { return _adaptive_avg_pool3d(t, to); },
          [](const Tensor& g, const Tensor& t) { return _adaptive_avg_pool3d_backward(g, t); });
    }
  }
  const Tensor x = on_cuda(normal_numbers({1, 2, 3, 3}, kFloat)), none = on_cuda(normal_numbers({1, 2, 0, 2}, kFloat));
  CHECK(same_bits(_adaptive_avg_pool2d_backward(none, x), zeros({1, 2, 3, 3}, TensorOptions())));
}
