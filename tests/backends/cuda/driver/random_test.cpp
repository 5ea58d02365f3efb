// Random operators on CUDA: for the same seed and the same calls the numbers are the CPU's, bit by bit, and the
// generators are in the same state afterwards.
#include <keyway/core/dtype/dtype_set.h>
#include <keyway/tests/backends/cuda/driver/compared.h>
#include <keyway/tests/catch.h>

#include <functional>

using namespace keyway;
using namespace keyway::testing;

namespace {

const DtypeSet kWholes = kRealTypes | kBool;

std::vector<ScalarType> dtypes_of(DtypeSet set) {
  std::vector<ScalarType> list;
  for (; !set.empty(); set = set - set.first()) list.push_back(set.first());
  return list;
}

// What fills a tensor from a generator.
struct Filler {
  const char* name;
  DtypeSet dtypes;
  std::function<void(Tensor& x, const Generator& generator)> fill;
};

std::vector<Filler> fillers() {
  return {
      {"uniform_", kFloatingTypes, [](Tensor& x, const Generator& g) { x.uniform_(-2.5, 3, g); }},
      {"normal_", kFloatingAndComplexTypes, [](Tensor& x, const Generator& g) { x.normal_(0.5, 3, g); }},
      {"exponential_", kFloatingTypes, [](Tensor& x, const Generator& g) { x.exponential_(0.7, g); }},
      {"bernoulli_.float", kAnyTypes, [](Tensor& x, const Generator& g) { x.bernoulli_(0.3, g); }},
      {"random_", kWholes, [](Tensor& x, const Generator& g) { x.random_(g); }},
      {"random_.to", kWholes, [](Tensor& x, const Generator& g) { x.random_(x.dtype() == kBool ? 2 : 100, g); }},
      {"random_.from", kSignedIntegralTypes | kFloatingTypes,
       [](Tensor& x, const Generator& g) { x.random_(-100, x.dtype() == kLong ? INT64_MAX : 27, g); }},
      {"random_.from, without an end", kSignedIntegralTypes,
       [](Tensor& x, const Generator& g) { x.random_(x.dtype() == kLong ? INT64_MIN : -128, std::nullopt, g); }},
  };
}

Tensor make(IntArrayRef sizes, ScalarType dtype, Device device, bool strided) {
  if (!strided) return zeros(sizes, TensorOptions().dtype(dtype).device(device));
  const Tensor twice = zeros({sizes[1], 2 * sizes[0]}, TensorOptions().dtype(dtype).device(device));
  return twice.slice(1, 0, 2 * sizes[0], 2).transpose(0, 1);
}

}  // namespace

TEST_CASE("the same seed gives the same bits on CUDA as on the CPU, for every random operator, dtype and layout") {
  if (lacks_device()) return;
  for (const Filler& filler : fillers()) {
    for (const ScalarType dtype : dtypes_of(filler.dtypes)) {
      Generator here(kCPU), there(kCUDA);
      here.manual_seed(11);
      there.manual_seed(11);
      for (const Sizes& sizes : {Sizes{1, 1}, {0, 3}, {7, 5}, {40, 300}}) {
        for (const bool strided : {false, true}) {
          INFO(filler.name << " " << to_string(dtype) << " " << sizes[0] << "x" << sizes[1]
                           << (strided ? " strided" : ""));
          Tensor x = make(sizes, dtype, kCPU, strided), y = make(sizes, dtype, kCUDA, strided);
          filler.fill(x, here);
          filler.fill(y, there);
          CHECK(same_bits(y, x));
          CHECK(there.get_state() == here.get_state());
        }
      }
    }
  }
}

TEST_CASE("bernoulli_ of probabilities gives the same bits on CUDA, whatever their dtype, and refuses what is none") {
  if (lacks_device()) return;
  for (const ScalarType dtype : {kBool, kHalf, kInt, kDouble, kComplexDouble}) {
    for (const ScalarType p_dtype : {kFloat, kHalf, kDouble}) {
      Generator here(kCPU), there(Device("cuda:0"));
      const Tensor p = arange(41, TensorOptions().dtype(kFloat)).div(40).to(kCPU, p_dtype);
      Tensor x = zeros({300, 41}, TensorOptions().dtype(dtype)), y = on_cuda(x);
      x.bernoulli_(p, here);
      y.bernoulli_(on_cuda(p), there);
      CHECK(same_bits(y, x));
      CHECK(there.get_state() == here.get_state());
    }
  }
  for (const double bad : {1.5, -0.25, std::nan("")}) {
    Tensor x = zeros({3}, TensorOptions().device(kCUDA));
    x.bernoulli_(full({3}, bad, TensorOptions().device(kCUDA)));
    CHECK(error_of([] { synchronize(Device("cuda:0")); }).find("bernoulli_.Tensor: argument 'p' has an element") !=
          std::string::npos);
  }
}

TEST_CASE("dropout keeps the same elements on CUDA as on the CPU after manual_seed") {
  if (lacks_device()) return;
  for (const ScalarType dtype : dtypes_of(kFloatingAndComplexTypes)) {
    const Tensor x = randn({100, 70}, TensorOptions()).to(kCPU, dtype).transpose(0, 1);
    for (const double p : {0.0, 0.3, 1.0}) {
      INFO(to_string(dtype) << ", p = " << p);
      manual_seed(12);
      const auto [out, mask] = native_dropout(x, p, true);
      const auto [out_there, mask_there] = native_dropout(on_cuda(x), p, true);
      CHECK(same_bits(out_there, out));
      CHECK(same_bits(mask_there, mask));
      CHECK(default_generator(Device("cuda:0")).get_state() == default_cpu_generator().get_state());
    }
    const auto [out, mask] = native_dropout(on_cuda(x), 0.5, false);
    CHECK(same_bits(out, x));
    CHECK(same_bits(mask, ones_like(mask.to(kCPU, kBool))));
    CHECK(default_generator(Device("cuda:0")).get_state() == default_cpu_generator().get_state());
  }
}

TEST_CASE("factories of random tensors give the same bits on CUDA after manual_seed") {
  if (lacks_device()) return;
  manual_seed(13);
  const TensorOptions there = TensorOptions().device(kCUDA);
  CHECK(same_bits(rand({1000}, there), rand({1000}, TensorOptions())));
  CHECK(same_bits(randn({1000}, there), randn({1000}, TensorOptions())));
  CHECK(same_bits(randint(-5, 1000, {1000}, there.dtype(kLong)),
                  randint(-5, 1000, {1000}, TensorOptions().dtype(kLong))));
}

TEST_CASE("a random operator on CUDA refuses another device's generator, and numbers that a dtype has not") {
  if (lacks_device()) return;
  Tensor x = zeros({3}, TensorOptions().dtype(kChar).device(kCUDA));
  CHECK(error_of([&] {
          x.random_(Generator(kCPU));
        }).find("the generator is for device cpu, but the tensor is on cuda:0") != std::string::npos);
  CHECK(error_of([&] { x.random_(0, 300); }).find("int8 holds the integers from -128 to 127, but 0 to 299") !=
        std::string::npos);
}

TEST_CASE("randperm gives the same order on CUDA as on the CPU") {
  if (lacks_device()) return;
  for (const std::int64_t n : {0, 1, 2, 3, 64, 1000}) {
    for (const ScalarType dtype : {kLong, kInt, kFloat, kHalf}) {
      manual_seed(14);
      const Tensor here = randperm(n, TensorOptions().dtype(dtype));
      CHECK(same_bits(randperm(n, TensorOptions().dtype(dtype).device(kCUDA)), here));
    }
  }
  CHECK(error_of([] { (void)randperm(300, TensorOptions().dtype(kByte).device(kCUDA)); }).find("uint8 holds") !=
        std::string::npos);
}

TEST_CASE("multinomial draws the same on CUDA as on the CPU, with and without replacement") {
  if (lacks_device()) return;
  manual_seed(15);
  for (const std::int64_t classes : {1, 5, 512, 513, 1700}) {
    for (const ScalarType dtype : {kFloat, kDouble, kHalf}) {
      Tensor weights = rand({9, classes}, TensorOptions()).to(kCPU, dtype);
      if (classes > 2) weights.slice(1, 1, 3).fill_(0);
      for (const Tensor& from : {weights, weights.transpose(0, 1).contiguous().transpose(0, 1), weights.select(0, 3)}) {
        for (const bool replacement : {false, true}) {
          const std::int64_t samples = replacement ? 600 : std::max<std::int64_t>(1, classes - 2);
          Generator here(kCPU), there(kCUDA);
          CHECK(same_bits(multinomial(on_cuda(from), samples, replacement, there),
                          multinomial(from, samples, replacement, here)));
          CHECK(there.get_state() == here.get_state());
        }
      }
    }
  }
  for (const double bad : {-1.0, std::nan(""), static_cast<double>(INFINITY), 0.0}) {
    const Tensor weights = zeros({2, 3}, TensorOptions());
    weights.data_ptr<float>()[0] = 1;
    weights.data_ptr<float>()[4] = static_cast<float>(bad);
    (void)multinomial(on_cuda(weights), 1, true);
    CHECK(error_of([] { synchronize(Device("cuda:0")); }).find("multinomial: argument 'self' has a weight") !=
          std::string::npos);
  }
}
