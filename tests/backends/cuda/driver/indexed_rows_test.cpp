// What reads or writes rows that indices name, on CUDA: inputs of many blocks, whose indices meet often. Results have
// the CPU's bits, whatever the order of threads.
#include <keyway/tests/backends/cuda/driver/against_cpu.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr ScalarType kIndexedDtypes[] = {kFloat, kDouble, kHalf,         kBFloat16,     kLong,
                                         kByte,  kBool,   kComplexFloat, kComplexDouble};

}  // namespace

TEST_CASE("CUDA reads rows that indices name, along each dimension, from any layout") {
  if (lacks_device()) return;
  for (const ScalarType dtype : {kByte, kHalf, kFloat, kDouble, kComplexDouble}) {
    INFO(to_string(dtype));
    const Tensor x = values({48, 40, 32}, dtype);
    for (const std::int64_t dim : {0, 1, 2}) {
      for (const ScalarType kind : {kLong, kInt}) {
        const Tensor index = indices({70}, 0, 32, kind);
        check([&](const Placement& at) { return index_select(at(x), dim, at(index)); });
        check([&](const Placement& at) { return index_select(at(x).transpose(0, 2), dim, at(index)); });
      }
    }
    // Rows of so many bytes, from so many after a multiple of 16 and so many apart, that units of each width come.
    const Tensor index = indices({30, 7}, 0, 48, kInt), distinct = arange(48, TensorOptions().dtype(kLong));
    for (const std::int64_t step : {40, 42, 43}) {
      const Tensor table = values({48, step}, dtype);
      for (const std::int64_t width : {1, 2, 3, 4, 8, 12, 32}) {
        for (const std::int64_t from : {0, 1, 2, 4}) {
          INFO(width << " of " << step << " from " << from);
          const auto narrow = [&](const Tensor& whole) { return whole.slice(1, from, from + width, 1); };
          check([&](const Placement& at) { return embedding(narrow(at(table)), at(index)); });
          check([&](const Placement& at) {
            const Tensor copy = at(table);
            narrow(copy).index_copy_(0, at(distinct).flip({0}), narrow(at(table)));
            return copy;
          });
        }
      }
    }
    const Tensor a = indices({60, 1}, -48, 48), b = indices({30}, -32, 32, kInt);
    check([&](const Placement& at) { return _index(at(x), {at(a), std::nullopt, at(b)}); });
    check([&](const Placement& at) { return _index(at(x).transpose(0, 1), {std::nullopt, at(a), at(b)}); });
    check([&](const Placement& at) { return _index(at(x), {std::nullopt, std::nullopt, at(b)}); });
    check([&](const Placement& at) { return _index(at(x), {}); });
  }
}

TEST_CASE("of writes of CUDA that go to one location the last one counts") {
  if (lacks_device()) return;
  for (const ScalarType dtype : kIndexedDtypes) {
    INFO(to_string(dtype));
    const Tensor self = values({20, 24, 16}, dtype), source = values({20, 130, 16}, dtype);
    const Tensor index = indices({130}, 0, 20), long_index = indices({20, 130, 16}, 0, 24);
    check([&](const Placement& at) { return index_copy(at(self), 1, at(index), at(source)); });
    check([&](const Placement& at) {
      return index_copy(at(self).transpose(0, 1), 0, at(index).slice(0, 0, 20, 1), at(source).slice(1, 0, 20, 1));
    });
    check([&](const Placement& at) { return scatter(at(self), 1, at(long_index), at(source)); });
    check([&](const Placement& at) { return scatter(at(self), 1, at(long_index).slice(0, 0, 9, 2), at(source)); });
    check([&](const Placement& at) { return scatter(at(self), 1, at(long_index), 3); });
    const Tensor a = indices({60, 1}, -20, 20), b = indices({30}, -16, 16, kInt);
    for (const Tensor& from : {values({24, 60, 30}, dtype), values({60, 1}, dtype), values({}, dtype)}) {
      check([&](const Placement& at) {
        return _index_put(at(self).transpose(0, 1), {std::nullopt, at(a), at(b)}, at(from));
      });
    }
    check([&](const Placement& at) {
      return _index_put(at(self), {at(a), std::nullopt, at(b)}, at(values({60, 30, 24}, dtype)));
    });
    check([&](const Placement& at) { return _index_put(at(self), {at(a)}, at(values({16}, dtype))); });
    check([&](const Placement& at) { return _index_put(at(self), {}, at(values({16}, dtype))); });
  }
}

TEST_CASE("sums of CUDA that go to one location are made in the order of their terms") {
  if (lacks_device()) return;
  for (const ScalarType dtype : kIndexedDtypes) {
    INFO(to_string(dtype));
    const Tensor self = values({20, 24, 16}, dtype), source = values({20, 130, 16}, dtype);
    const Tensor index = indices({130}, 0, 20, kInt), long_index = indices({20, 130, 16}, 0, 24);
    check([&](const Placement& at) { return index_add(at(self), 1, at(index), at(source), dtype == kBool ? 1 : 3); });
    check([&](const Placement& at) {
      return index_add(at(self).transpose(0, 1), 0, at(index).slice(0, 0, 20, 1), at(source).slice(1, 0, 20, 1));
    });
    check([&](const Placement& at) { return scatter_add(at(self), 1, at(long_index), at(source)); });
    const Tensor a = indices({60, 1}, -20, 20), b = indices({30}, -16, 16);
    for (const Tensor& from : {values({24, 60, 30}, dtype), values({60, 1}, dtype), values({}, dtype)}) {
      check([&](const Placement& at) {
        return _index_put(at(self).transpose(0, 1), {std::nullopt, at(a), at(b)}, at(from), true);
      });
    }
    check([&](const Placement& at) {
      return _index_put(at(self), {at(a), std::nullopt, at(b)}, at(values({60, 30, 24}, dtype)), true);
    });
  }
}

TEST_CASE("long runs of CUDA's equal indices are sums as exact as their dtype has them") {
  if (lacks_device()) return;
  // Runs about as long as segments of them, in a mixed order; the last target has nothing.
  const std::int64_t lengths[] = {3, 1024, 1025, 1, 2048, 1500, 5000, 1023, 2049};
  const std::int64_t targets = std::size(lengths) + 1;
  std::vector<std::int64_t> to;
  for (std::int64_t i = 0; i < targets - 1; ++i) to.insert(to.end(), static_cast<std::size_t>(lengths[i]), i);
  const auto n = static_cast<std::int64_t>(to.size());
  Tensor index = empty({n}, TensorOptions().dtype(kLong));
  for (std::int64_t i = 0; i < n; ++i) index.data_ptr<std::int64_t>()[i * 7919 % n] = to[static_cast<std::size_t>(i)];
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kInt, kComplexFloat}) {
    INFO(to_string(dtype));
    for (const std::int64_t width : {1, 3}) {
      const Tensor rows = values({n, width}, kDouble).div(1e5).to(dtype), own = values({targets, width}, dtype);
      // In float64, one after the other.
      Tensor sums = own.to(kComplexDouble), counts = zeros({targets, 1}, TensorOptions().dtype(kDouble));
      const Tensor wide = rows.to(kComplexDouble);
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t at = index.data_ptr<std::int64_t>()[i];
        for (std::int64_t j = 0; j < width; ++j) {
          sums.data_ptr<complex<double>>()[at * width + j] += wide.data_ptr<complex<double>>()[i * width + j];
        }
        counts.data_ptr<double>()[at] += 1;
      }
      const double tolerance = dtype == kInt ? 0 : tolerance_of(dtype);
      const Tensor expected = sums.to(dtype), at = on_cuda(index), from = on_cuda(rows);
      CHECK(is_close(index_add(on_cuda(own), 0, at, from), expected, tolerance));
      CHECK(is_close(_index_put(on_cuda(own), {at}, from, true), expected, tolerance));
      CHECK(is_close(scatter_add(on_cuda(own), 0, at.unsqueeze(1).expand({n, width}).contiguous(), from), expected,
                     tolerance));
      if (dtype == kInt) continue;
      const Tensor means = (sums - own.to(kComplexDouble)).div(counts.clamp(1, 1e9)).to(dtype);
      CHECK(is_close(embedding_dense_backward(from, at, targets, -1, true), means, tolerance));
    }
  }
}

TEST_CASE("many of CUDA's equal indices add up with the error of a thousand") {
  if (lacks_device()) return;
  // One after the other, 0.1f and the float32 sums of it are wrong by more than 1e-4 after so many.
  const std::int64_t n = 1 << 17;
  const Tensor index = zeros({n}, TensorOptions().dtype(kLong)), x = full({n}, 0.1, TensorOptions().dtype(kFloat));
  const Tensor sum = index_add(zeros({1}, TensorOptions().device(kCUDA)), 0, on_cuda(index), on_cuda(x));
  const double expected = static_cast<double>(0.1f) * static_cast<double>(n);
  CHECK(std::abs(sum.item<double>() / expected - 1) < 1e-5);
  CHECK(std::abs(index_add(zeros({1}, TensorOptions()), 0, index, x).item<double>() / expected - 1) > 1e-5);
}

TEST_CASE("extremes and products of CUDA's long runs are those of all of it") {
  if (lacks_device()) return;
  const std::int64_t n = 3000;
  const Tensor index = zeros({n}, TensorOptions().dtype(kLong)), own = ones({2}, TensorOptions().dtype(kDouble));
  for (const std::int64_t at : {0, 1023, 1024, 2047, 2999}) {
    Tensor x = ones({n}, TensorOptions().dtype(kDouble));
    x.data_ptr<double>()[at] = -3;
    x.data_ptr<double>()[(at + 1500) % n] = 5;
    const auto reduced = [&](const char* how, bool include_self) {
      return scatter_reduce(on_cuda(own), 0, on_cuda(index), on_cuda(x), how, include_self).select(0, 0).item<double>();
    };
    for (const bool include_self : {false, true}) {
      CHECK(reduced("amax", include_self) == 5);
      CHECK(reduced("amin", include_self) == -3);
      CHECK(reduced("prod", include_self) == -15);
      CHECK(reduced("sum", include_self) == n + (include_self ? 1 : 0));
      CHECK(reduced("mean", include_self) == 1);
    }
  }
}

TEST_CASE("all of a long input of CUDA may go to one location, and none of it") {
  if (lacks_device()) return;
  const Tensor x = scattered({10'000}, -99, 99).to(kFloat), own = values({3}, kFloat);
  for (const std::int64_t to : {0, 2}) {
    const Tensor index = full({10'000}, to, TensorOptions().dtype(kLong));
    check([&](const Placement& at) { return scatter_add(at(own), 0, at(index), at(x)); });
    check([&](const Placement& at) { return scatter(at(own), 0, at(index), at(x)); });
    check([&](const Placement& at) {
      return embedding_dense_backward(at(x.view({10'000, 1})), at(index), 3, to, true);
    });
  }
  const Tensor none = indices({0}, 0, 1), nothing = empty({0}, TensorOptions().dtype(kFloat));
  check([&](const Placement& at) { return index_add(at(own), 0, at(none), at(nothing)); });
  check([&](const Placement& at) { return index_copy(at(own), 0, at(none), at(nothing)); });
  check([&](const Placement& at) { return scatter_add(at(own), 0, at(none), at(nothing)); });
  check([&](const Placement& at) { return index_select(at(own), 0, at(none)); });
  check([&](const Placement& at) { return _index_put(at(own), {at(none)}, at(nothing), true); });
  check([&](const Placement& at) {
    return embedding_dense_backward(at(nothing.view({0, 1})), at(none), 3, -1, false);
  });
}

TEST_CASE("gradients of embeddings of CUDA are sums of rows, or their means, but for padding") {
  if (lacks_device()) return;
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kComplexFloat, kComplexDouble}) {
    INFO(to_string(dtype));
    const Tensor grad = values({50, 9, 33}, dtype), index = indices({50, 9}, 0, 40, kInt);
    for (const std::int64_t padding : {-1, 7}) {
      for (const bool by_frequency : {false, true}) {
        check([&](const Placement& at) {
          return embedding_dense_backward(at(grad), at(index), 45, padding, by_frequency);
        });
        check([&](const Placement& at) {
          return embedding_dense_backward(at(grad).transpose(0, 1), at(index).transpose(0, 1), 45, padding,
                                          by_frequency);
        });
      }
    }
  }
}

TEST_CASE("scatter_reduce of CUDA gives the CPU's sums, means, products and extremes") {
  if (lacks_device()) return;
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt, kChar, kByte, kUInt64}) {
    const Tensor self = values({20, 24}, dtype), source = values({20, 300}, dtype), index = indices({20, 300}, 0, 24);
    for (const char* reduce : {"sum", "mean", "prod", "amax", "amin"}) {
      for (const bool include_self : {false, true}) {
        INFO(reduce << " of " << to_string(dtype));
        check(
            [&](const Placement& at) {
              return scatter_reduce(at(self), 1, at(index), at(source), reduce, include_self);
            },
            same_values);
      }
    }
  }
}

TEST_CASE("what is written by indices on CUDA may be what they or their values are read from") {
  if (lacks_device()) return;
  const Tensor numbers = indices({1000}, 0, 1000);
  check([&](const Placement& at) {
    Tensor x = at(numbers);
    return x.scatter_add_(0, x, x);
  });
  check([&](const Placement& at) {
    Tensor x = at(numbers);
    return x.scatter_(0, x, 5);
  });
  check([&](const Placement& at) {
    Tensor x = at(numbers);
    return x.index_copy_(0, x, x.slice(0, 0, 1000, 1));
  });
  check([&](const Placement& at) {
    Tensor x = at(numbers), every_other = x.slice(0, 0, 1000, 2);
    every_other.index_add_(0, every_other.clamp(0, 499), x.slice(0, 1, 1000, 2));
    return x;
  });
  check([&](const Placement& at) {
    Tensor x = at(numbers);
    return _index_put_(x, {x.neg()}, x, true);
  });
}

TEST_CASE("an index of CUDA that is out of range is an error, and what the others name is done") {
  if (lacks_device()) return;
  const TensorOptions there = TensorOptions().device(kCUDA);
  const Tensor x = ones({4}, there.dtype(kFloat)), row = ones({1, 4}, there.dtype(kFloat));
  const auto refused = [&](const Tensor& index, std::string_view argument,
                           const std::function<void(const Tensor&)>& call) {
    const std::string text = error_of([&] {
      call(index);
      synchronize(Device(kCUDA));
    });
    INFO(text);
    CHECK(text.find("argument '" + std::string(argument) + "' has an element that is out of range") !=
          std::string::npos);
    synchronize(Device(kCUDA));
  };
  for (const std::int64_t bad : {std::int64_t{4}, std::int64_t{-5}, INT64_MIN, INT64_MAX}) {
    INFO(bad);
    const Tensor host = arange(4, TensorOptions().dtype(kLong));
    host.data_ptr<std::int64_t>()[1] = bad;
    const Tensor index = host.to(kCUDA, kLong);
    refused(index, "index", [&](const Tensor& i) { (void)index_select(x, 0, i); });
    refused(index, "index", [&](const Tensor& i) { (void)index_add(x, 0, i, x); });
    refused(index, "index", [&](const Tensor& i) { (void)index_copy(x, 0, i, x); });
    refused(index, "index", [&](const Tensor& i) { (void)scatter(x, 0, i, x); });
    refused(index, "index", [&](const Tensor& i) { (void)scatter(x, 0, i, 2); });
    refused(index, "index", [&](const Tensor& i) { (void)scatter_reduce(x, 0, i, x, "amax"); });
    refused(index, "indices", [&](const Tensor& i) { (void)embedding(row.transpose(0, 1), i); });
    refused(index, "indices",
            [&](const Tensor& i) { (void)embedding_dense_backward(row.transpose(0, 1), i, 4, INT64_MIN, false); });
    refused(index, "indices", [&](const Tensor& i) { (void)_index(x, {i}); });
    refused(index, "indices", [&](const Tensor& i) { (void)_index(row, {i.mul(0), i}); });
    refused(index, "indices", [&](const Tensor& i) { (void)_index(row, {i, i.clamp(0, 3)}); });
    Tensor sums = zeros({4}, there.dtype(kFloat));
    refused(index, "index", [&](const Tensor& i) { sums.scatter_add_(0, i, x); });
    const Tensor got = sums.to(kCPU, kFloat);
    for (const std::int64_t i : {0, 2, 3}) CHECK(got.data_ptr<float>()[i] == 1);
    refused(index, "indices", [&](const Tensor& i) { (void)_index_put_(sums, {i}, x, true); });
    CHECK(sums.to(kCPU, kFloat).data_ptr<float>()[3] == 2);
    // One that is refused stays so, whatever the next index tensor names.
    Tensor table = zeros({4, 4}, there.dtype(kFloat));
    refused(index, "indices", [&](const Tensor& i) { _index_put_(table, {i, i.clamp(0, 3)}, x, true); });
    const Tensor last = table.to(kCPU, kFloat), expected = zeros({4, 4}, TensorOptions().dtype(kFloat));
    for (const std::int64_t i : {0, 2, 3}) expected.data_ptr<float>()[i * 5] = 1;
    CHECK(std::memcmp(last.data_ptr(), expected.data_ptr(), last.nbytes()) == 0);
  }
}
