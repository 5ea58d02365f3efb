// Reductions on CUDA, over what the samples of the operators do not reach: pieces of 16 bytes and what is left of them,
// memory that begins between two, many units of few outputs, dimensions that are no run.
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

using namespace keyway;
using namespace keyway::testing;

namespace {

constexpr ScalarType kDtypes[] = {kFloat, kDouble, kHalf, kBFloat16,     kChar,
                                  kShort, kLong,   kBool, kComplexFloat, kComplexDouble};

// Whole numbers, so that sums are exact in any order, of which few are zero.
Tensor small_numbers(IntArrayRef sizes, ScalarType dtype) { return scattered(sizes, -3, 4).to(kCPU, dtype); }

void compare_reductions(const Tensor& x, IntArrayRef dims) {
  const Tensor there = on_cuda(x);
  CHECK(same_values(sum(there, dims), sum(x, dims)));
  CHECK(same_values(any(there, dims), any(x, dims)));
  if (x.is_complex()) return;
  CHECK(same_values(amax(there, dims), amax(x, dims)));
  if (dims.size() == 1) CHECK(same_values(argmin(there, dims[0]), argmin(x, dims[0])));
  if (x.is_floating_point()) CHECK(is_close(var(there, dims, 1), var(x, dims, 1), tolerance_of(x.dtype())));
}

}  // namespace

TEST_CASE("CUDA reduces elements of every size by pieces and by what is left of them") {
  if (lacks_device()) return;
  for (const ScalarType dtype : kDtypes) {
    for (const std::int64_t n : {1, 3, 15, 16, 17, 31, 64, 100, 1000, 4099}) {
      INFO(to_string(dtype) << ", rows of " << n);
      compare_reductions(small_numbers({3, n}, dtype), {1});
      compare_reductions(small_numbers({n, 12}, dtype), {0});
      compare_reductions(small_numbers({3, n}, dtype), {0, 1});
    }
  }
}

TEST_CASE("CUDA reduces dimensions that are no run, whose inner ones are pieces or not") {
  if (lacks_device()) return;
  for (const ScalarType dtype : kDtypes) {
    for (const std::int64_t inner : {16, 17}) {
      INFO(to_string(dtype) << ", " << inner << " neighbours");
      const Tensor x = small_numbers({5, 3, 7, inner}, dtype);
      compare_reductions(x, {0, 2, 3});
      compare_reductions(x, {0, 3});
      compare_reductions(x.transpose(1, 3), {0, 1});
      compare_reductions(x.narrow(3, 1, inner - 1), {0, 2, 3});
      compare_reductions(x.slice(3, 0, inner, 2), {3});
      const auto repeated = [](const Tensor& all) { return all.select(3, 0).unsqueeze(3).expand({5, 3, 7, 4}); };
      CHECK(same_values(sum(repeated(on_cuda(x)), {3}), sum(repeated(x), {3})));
    }
  }
}

TEST_CASE("a sum on CUDA has the same bits wherever its memory begins") {
  if (lacks_device()) return;
  manual_seed(3);
  for (const ScalarType dtype : kFloatDtypes) {
    const Tensor x = on_cuda(normal_numbers({40, 1003}, dtype));
    const Tensor whole = sum(x).to(kCPU, dtype), rows = sum(x, {1}).to(kCPU, dtype);
    for (const std::int64_t offset : {0, 1, 3, 8}) {
      INFO(to_string(dtype) << ", " << offset << " elements behind");
      CHECK(same_bits(sum(behind(x, offset, 0)), whole));
      CHECK(same_bits(sum(behind(x, offset, 0), {1}), rows));
      CHECK(same_bits(sum(behind(x, offset, 5), {1}), rows));
    }
  }
}

TEST_CASE("CUDA merges the units of few outputs and of many") {
  if (lacks_device()) return;
  for (const Sizes& sizes : {Sizes{1, 300'000}, Sizes{7, 70'001}, Sizes{100, 9'000}}) {
    const Tensor x = small_numbers(sizes, kFloat);
    compare_reductions(x, {1});
    compare_reductions(x.transpose(0, 1).contiguous(), {0});
  }
}
