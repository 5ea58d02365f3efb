// Random numbers. Element i, counted in row-major order, takes its bits from PhiloxCall::bits(i): so results
// depend on seed and call alone, not on strides or threads.
#include <keyway/backends/cpu/contiguous.h>
#include <keyway/backends/cpu/kernels_random.h>
#include <keyway/backends/cpu/loop.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/random.h>
#include <keyway/core/base/error.h>
#include <keyway/core/visit_dtype.h>
#include <keyway/ops/functors/opmath.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace keyway::inline v1 {

namespace {

constexpr std::int64_t kGrain = 8192;

template <Level level, typename Make>
struct FillBody {
  [[gnu::always_inline]] static void run(const void* context, char* const* data, std::int64_t n) {
    const auto& [make, first] = *static_cast<const std::pair<Make, std::int64_t>*>(context);
    using T = decltype(make(0));
    for (std::int64_t i = 0; i < n; ++i) detail::store<T>(data[0], i, make(first + i));
  }
};

// out[i] = make(i), by threads and at the best instruction set.
template <typename Make>
void fill(const TensorBase& out, const Make& make) {
  using T = decltype(make(0));
  const ContiguousOut result(out);
  T* const to = result.data<T>();
  const detail::Loop loop = detail::kLoopsOf<FillBody, Make>[current_level()];
  parallel_for(0, out.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    const std::pair<Make, std::int64_t> context(make, begin);
    char* data[] = {reinterpret_cast<char*>(to + begin)};
    loop(&context, data, end - begin);
  });
  result.finish();
}

// A number of [0, 1) that T holds exactly: as many bits as its mantissa has.
template <typename T>
[[gnu::always_inline]] inline Opmath<T> uniform(const PhiloxCall& call, std::int64_t i) {
  const PhiloxBlock bits = call.bits(static_cast<std::uint64_t>(i));
  if constexpr (std::is_same_v<T, double>) {
    return uniform_double(bits.wide(0));
  } else if constexpr (std::is_same_v<T, float>) {
    return uniform_float(bits.words[0]);
  } else {
    constexpr int kDigits = std::is_same_v<T, Half> ? 11 : 8;
    return static_cast<float>(bits.words[0] >> (32 - kDigits)) / static_cast<float>(1 << kDigits);
  }
}

template <typename T>
NormalPair<T> normal(const PhiloxCall& call, std::int64_t i) {
  const PhiloxBlock bits = call.bits(static_cast<std::uint64_t>(i));
  if constexpr (std::is_same_v<T, double>) {
    return normal_doubles(bits.wide(0), bits.wide(1));
  } else {
    return normal_floats(bits.words[0], bits.words[1]);
  }
}

// The number of integers from 0 to the greatest that T has, or that is followed by the next one in a float.
template <typename T>
std::uint64_t whole_numbers() {
  if constexpr (std::is_same_v<T, bool>) {
    return 2;
  } else if constexpr (std::integral<T>) {
    return static_cast<std::uint64_t>(std::numeric_limits<T>::max()) + 1;  // 0, all of 2^64, for uint64
  } else {
    return (std::uint64_t{1} << std::numeric_limits<T>::digits) + 1;
  }
}

// Of integers that T has all in [from, from + count), where a count of 0 means 2^64.
void fill_integers(const TensorBase& self, std::int64_t from, std::uint64_t count, const PhiloxCall& call) {
  visit_any(self.dtype(), "random_", [&]<typename T>() {
    if constexpr (!kIsComplex<T>) {
      fill(self, [call, from, count](std::int64_t i) {
        const std::uint64_t x = static_cast<std::uint64_t>(from) + call.bounded(static_cast<std::uint64_t>(i), count);
        if constexpr (std::is_same_v<T, bool>) {
          return x != 0;
        } else if constexpr (std::integral<T>) {
          return static_cast<T>(x);
        } else {
          return static_cast<T>(static_cast<double>(static_cast<std::int64_t>(x)));
        }
      });
    }
  });
}

// Throws unless T holds the integers from `low` to `high`; the integers that a float holds are those up to the
// first gap.
void check_range(ScalarType dtype, std::int64_t low, std::int64_t high) {
  visit_any(dtype, "random_", [&]<typename T>() {
    if constexpr (!kIsComplex<T>) {
      std::int64_t least = 0, greatest = 1;
      if constexpr (std::integral<T> && !std::is_same_v<T, bool>) {
        least = std::is_unsigned_v<T> ? 0 : static_cast<std::int64_t>(std::numeric_limits<T>::min());
        greatest = sizeof(T) == 8 ? INT64_MAX : static_cast<std::int64_t>(std::numeric_limits<T>::max());
      } else if constexpr (!std::is_same_v<T, bool>) {
        greatest = std::int64_t{1} << std::numeric_limits<T>::digits;
        least = -greatest;
      }
      KEYWAY_CHECK(least <= low && high <= greatest, "{} holds the integers from {} to {}, but {} to {} are asked for",
                   dtype, least, greatest, low, high);
    }
  });
}

}  // namespace

PhiloxCall next_call(const Generator& generator) {
  if (!generator.defined()) return default_cpu_generator().next_call();
  KEYWAY_CHECK(generator.device().type() == DeviceType::CPU, "the generator is for device {}, but the tensor is on cpu",
               generator.device());
  Generator handle = generator;
  return handle.next_call();
}

namespace cpu {

void bernoulli__float(TensorBase& self, double p, const Generator& generator) {
  const PhiloxCall call = next_call(generator);
  visit_any(self.dtype(), "bernoulli_", [&]<typename T>() {
    fill(self, [call, p](std::int64_t i) { return T(uniform<double>(call, i) < p ? 1 : 0); });
  });
}

void bernoulli__Tensor(TensorBase& self, const TensorBase& p, const Generator& generator) {
  const TensorBase list = make_tensor(self.sizes(), kDouble, DeviceType::CPU);
  copy_elements(p, list);
  const auto* const probability = static_cast<const double*>(list.data_ptr());
  for (std::int64_t i = 0; i < list.numel(); ++i) {
    KEYWAY_CHECK(probability[i] >= 0 && probability[i] <= 1,
                 "argument 'p' has {} at position {}, but must be in [0, 1]", probability[i], i);
  }
  const PhiloxCall call = next_call(generator);
  visit_any(self.dtype(), "bernoulli_", [&]<typename T>() {
    fill(self, [call, probability](std::int64_t i) { return T(uniform<double>(call, i) < probability[i] ? 1 : 0); });
  });
}

void exponential_(TensorBase& self, double lambd, const Generator& generator) {
  const PhiloxCall call = next_call(generator);
  visit_floating(self.dtype(), "exponential_", [&]<typename T>() {
    fill(self, [call, lambd](std::int64_t i) {
      return static_cast<T>(static_cast<Opmath<T>>(-std::log1p(-uniform<double>(call, i)) / lambd));
    });
  });
}

void normal_(TensorBase& self, double mean, double std, const Generator& generator) {
  const PhiloxCall call = next_call(generator);
  visit_floating_and_complex(self.dtype(), "normal_", [&]<typename T>() {
    using Acc = Real<Opmath<T>>;
    const auto center = static_cast<Acc>(mean), width = static_cast<Acc>(std);
    fill(self, [call, center, width](std::int64_t i) {
      const NormalPair<Acc> pair = normal<Acc>(call, i);
      if constexpr (kIsComplex<T>) {  // its variance is std^2: half of it in each part
        const Acc part = width * static_cast<Acc>(0.70710678118654752440);
        return static_cast<T>(Opmath<T>(center + part * pair.first, part * pair.second));
      } else {
        return static_cast<T>(center + width * pair.first);
      }
    });
  });
}

void random_(TensorBase& self, const Generator& generator) {
  const PhiloxCall call = next_call(generator);
  visit_any(self.dtype(), "random_", [&]<typename T>() {
    if constexpr (!kIsComplex<T>) fill_integers(self, 0, whole_numbers<T>(), call);
  });
}

void random__from(TensorBase& self, std::int64_t from, std::optional<std::int64_t> to, const Generator& generator) {
  std::uint64_t count = 0;
  if (to) {
    check_range(self.dtype(), from, *to - 1);
    count = static_cast<std::uint64_t>(*to) - static_cast<std::uint64_t>(from);
  } else {
    check_range(self.dtype(), from, from);
    visit_any(self.dtype(), "random_", [&]<typename T>() {
      if constexpr (!kIsComplex<T>) count = whole_numbers<T>() - static_cast<std::uint64_t>(from);
    });
  }
  fill_integers(self, from, count, next_call(generator));
}

void random__to(TensorBase& self, std::int64_t to, const Generator& generator) { random__from(self, 0, to, generator); }

// `to` itself, which rounding may reach, gives way to `from`.
void uniform_(TensorBase& self, double from, double to, const Generator& generator) {
  const PhiloxCall call = next_call(generator);
  visit_floating(self.dtype(), "uniform_", [&]<typename T>() {
    using Acc = Opmath<T>;
    const auto low = static_cast<Acc>(from), width = static_cast<Acc>(to - from);
    const T first = static_cast<T>(low), end = static_cast<T>(static_cast<Acc>(to));
    fill(self, [=](std::int64_t i) {
      const T x = static_cast<T>(low + width * uniform<T>(call, i));
      return x < end ? x : first;
    });
  });
}

// Sorts the numbers by 64 random bits of each.
void randperm_generator(std::int64_t n, const Generator& generator, TensorBase& out) {
  check_range(out.dtype(), 0, std::max<std::int64_t>(0, n - 1));
  const PhiloxCall call = next_call(generator);
  std::vector<std::pair<std::uint64_t, std::int64_t>> keys(static_cast<std::size_t>(n));
  parallel_for(0, n, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      keys[static_cast<std::size_t>(i)] = {call.bits(static_cast<std::uint64_t>(i)).wide(0), i};
    }
  });
  std::sort(keys.begin(), keys.end());
  visit_real(out.dtype(), "randperm", [&]<typename T>() {
    const ContiguousOut result(out);
    T* const to = result.data<T>();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if constexpr (std::integral<T>) {
        to[i] = static_cast<T>(keys[i].second);
      } else {
        to[i] = static_cast<T>(static_cast<double>(keys[i].second));
      }
    }
    result.finish();
  });
}

void native_dropout(const TensorBase& input, double p, std::optional<bool> train, TensorBase& out0, TensorBase& out1) {
  const bool drops = train.value_or(true) && p > 0;
  const PhiloxCall call = drops ? next_call(nullptr) : PhiloxCall();
  const TensorBase from = contiguous(input);
  const ContiguousOut values(out0), mask(out1);
  visit_floating_and_complex(input.dtype(), "native_dropout", [&]<typename T>() {
    using Acc = Opmath<T>;
    const auto scale = static_cast<Real<Acc>>(p < 1 && drops ? 1 / (1 - p) : 1);
    const T* const x = static_cast<const T*>(from.data_ptr());
    T* const y = values.data<T>();
    bool* const kept = mask.data<bool>();
    parallel_for(0, input.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        kept[i] = !drops || uniform<double>(call, i) >= p;
        y[i] = kept[i] ? static_cast<T>(opmath(x[i]) * scale) : T();
      }
    });
  });
  values.finish();
  mask.finish();
}

}  // namespace cpu

}  // namespace keyway::inline v1
