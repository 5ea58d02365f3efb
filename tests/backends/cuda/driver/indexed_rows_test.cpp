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
        check([&](const Place& at) { return index_select(at(x), dim, at(index)); });
        check([&](const Place& at) { return index_select(at(x).transpose(0, 2), dim, at(index)); });
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
          check([&](const Place& at) { return embedding(narrow(at(table)), at(index)); });
          check([&](const Place& at) {
            const Tensor copy = at(table);
            narrow(copy).index_copy_(0, at(distinct).flip({0}), narrow(at(table)));
            return copy;
          });
        }
      }
    }
    const Tensor a = indices({60, 1}, -48, 48), b = indices({30}, -32, 32, kInt);
    check([&](const Place& at) { return _index(at(x), {at(a), std::nullopt, at(b)}); });
    check([&](const Place& at) { return _index(at(x).transpose(0, 1), {std::nullopt, at(a), at(b)}); });
    check([&](const Place& at) { return _index(at(x), {std::nullopt, std::nullopt, at(b)}); });
    check([&](const Place& at) { return _index(at(x), {}); });
  }
}

TEST_CASE("of writes of CUDA that go to one place the last one counts") {
  if (lacks_device()) return;
  for (const ScalarType dtype : kIndexedDtypes) {
    INFO(to_string(dtype));
    const Tensor self = values({20, 24, 16}, dtype), source = values({20, 130, 16}, dtype);
    const Tensor index = indices({130}, 0, 20), long_index = indices({20, 130, 16}, 0, 24);
    check([&](const Place& at) { return index_copy(at(self), 1, at(index), at(source)); });
    check([&](const Place& at) {
      return index_copy(at(self).transpose(0, 1), 0, at(index).slice(0, 0, 20, 1), at(source).slice(1, 0, 20, 1));
    });
    check([&](const Place& at) { return scatter(at(self), 1, at(long_index), at(source)); });
    check([&](const Place& at) { return scatter(at(self), 1, at(long_index).slice(0, 0, 9, 2), at(source)); });
    check([&](const Place& at) { return scatter(at(self), 1, at(long_index), 3); });
    const Tensor a = indices({60, 1}, -20, 20), b = indices({30}, -16, 16, kInt);
    for (const Tensor& from : {values({24, 60, 30}, dtype), values({60, 1}, dtype), values({}, dtype)}) {
      check([&](const Place& at) {
        return _index_put(at(self).transpose(0, 1), {std::nullopt, at(a), at(b)}, at(from));
      });
    }
    check([&](const Place& at) {
      return _index_put(at(self), {at(a), std::nullopt, at(b)}, at(values({60, 30, 24}, dtype)));
    });
    check([&](const Place& at) { return _index_put(at(self), {at(a)}, at(values({16}, dtype))); });
    check([&](const Place& at) { return _index_put(at(self), {}, at(values({16}, dtype))); });
  }
}

TEST_CASE("sums of CUDA that go to one place are made in the order of their terms") {
  if (lacks_device()) return;
  for (const ScalarType dtype : kIndexedDtypes) {
    INFO(to_string(dtype));
    const Tensor self = values({20, 24, 16}, dtype), source = values({20, 130, 16}, dtype);
    const Tensor index = indices({130}, 0, 20, kInt), long_index = indices({20, 130, 16}, 0, 24);
    check([&](const Place& at) { return index_add(at(self), 1, at(index), at(source), dtype == kBool ? 1 : 3); });
    check([&](const Place& at) {
      return index_add(at(self).transpose(0, 1), 0, at(index).slice(0, 0, 20, 1), at(source).slice(1, 0, 20, 1));
    });
    check([&](const Place& at) { return scatter_add(at(self), 1, at(long_index), at(source)); });
    const Tensor a = indices({60, 1}, -20, 20), b = indices({30}, -16, 16);
    for (const Tensor& from : {values({24, 60, 30}, dtype), values({60, 1}, dtype), values({}, dtype)}) {
      check([&](const Place& at) {
        return _index_put(at(self).transpose(0, 1), {std::nullopt, at(a), at(b)}, at(from), true);
      });
    }
    check([&](const Place& at) {
      return _index_put(at(self), {at(a), std::nullopt, at(b)}, at(values({60, 30, 24}, dtype)), true);
    });
  }
}

TEST_CASE("all of a long input of CUDA may go to one place, and none of it") {
  if (lacks_device()) return;
  const Tensor x = values({10'000}, kFloat), own = values({3}, kFloat);
  for (const std::int64_t to : {0, 2}) {
    const Tensor index = full({10'000}, to, TensorOptions().dtype(kLong));
    check([&](const Place& at) { return scatter_add(at(own), 0, at(index), at(x)); });
    check([&](const Place& at) { return scatter(at(own), 0, at(index), at(x)); });
    check([&](const Place& at) { return embedding_dense_backward(at(x.view({10'000, 1})), at(index), 3, to, true); });
  }
  const Tensor none = indices({0}, 0, 1), nothing = empty({0}, TensorOptions().dtype(kFloat));
  check([&](const Place& at) { return index_add(at(own), 0, at(none), at(nothing)); });
  check([&](const Place& at) { return index_copy(at(own), 0, at(none), at(nothing)); });
  check([&](const Place& at) { return scatter_add(at(own), 0, at(none), at(nothing)); });
  check([&](const Place& at) { return index_select(at(own), 0, at(none)); });
  check([&](const Place& at) { return _index_put(at(own), {at(none)}, at(nothing), true); });
  check([&](const Place& at) { return embedding_dense_backward(at(nothing.view({0, 1})), at(none), 3, -1, false); });
}

TEST_CASE("gradients of embeddings of CUDA are sums of rows, or their means, but for padding") {
  if (lacks_device()) return;
  for (const ScalarType dtype : {kFloat, kDouble, kHalf, kBFloat16, kComplexFloat, kComplexDouble}) {
    INFO(to_string(dtype));
    const Tensor grad = values({50, 9, 33}, dtype), index = indices({50, 9}, 0, 40, kInt);
    for (const std::int64_t padding : {-1, 7}) {
      for (const bool by_frequency : {false, true}) {
        check(
            [&](const Place& at) { return embedding_dense_backward(at(grad), at(index), 45, padding, by_frequency); });
        check([&](const Place& at) {
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
        check([&](const Place& at) { return scatter_reduce(at(self), 1, at(index), at(source), reduce, include_self); },
              same_values);
      }
    }
  }
}

TEST_CASE("what is written by indices on CUDA may be what they or their values are read from") {
  if (lacks_device()) return;
  const Tensor numbers = indices({1000}, 0, 1000);
  check([&](const Place& at) {
    Tensor x = at(numbers);
    return x.scatter_add_(0, x, x);
  });
  check([&](const Place& at) {
    Tensor x = at(numbers);
    return x.scatter_(0, x, 5);
  });
  check([&](const Place& at) {
    Tensor x = at(numbers);
    return x.index_copy_(0, x, x.slice(0, 0, 1000, 1));
  });
  check([&](const Place& at) {
    Tensor x = at(numbers), every_other = x.slice(0, 0, 1000, 2);
    every_other.index_add_(0, every_other.clamp(0, 499), x.slice(0, 1, 1000, 2));
    return x;
  });
  check([&](const Place& at) {
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
