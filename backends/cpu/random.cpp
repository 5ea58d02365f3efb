// Random numbers. Element i, counted in row-major order, takes its bits from PhiloxCall::bits(i): so results
// depend on seed and call alone, not on strides or threads.
#include <keyway/backends/cpu/element_cast.h>
#include <keyway/backends/cpu/kernels_creation.h>
#include <keyway/backends/cpu/kernels_random.h>
#include <keyway/backends/cpu/loop.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/backends/cpu/order.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/pointwise.h>
#include <keyway/backends/cpu/scratch.h>
#include <keyway/core/base/error.h>
#include <keyway/core/dtype/cpp_type.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/functors/random.h>
#include <keyway/ops/rules/random.h>

#include <algorithm>
#include <limits>

namespace keyway::inline v1 {

namespace {

constexpr std::int64_t kRandomGrain = 8192;

template <SimdLevel level, typename Make>
struct FillBody {
  [[gnu::always_inline]] static void run(const void* context, char* const* data, std::int64_t n) {
    const auto& [make, first] = *static_cast<const std::pair<Make, std::int64_t>*>(context);
    using T = decltype(make(0));
    for (std::int64_t i = 0; i < n; ++i) detail::store<T>(data[0], i, make(first + i));
  }
};

// to[i] = make(first + i) for n elements, at the best instruction set.
template <typename Make>
void fill_some(void* to, const Make& make, std::int64_t first, std::int64_t n) {
  const std::pair<Make, std::int64_t> context(make, first);
  char* data[] = {static_cast<char*>(to)};
  detail::kLoopsOf<FillBody, Make>[current_level()](&context, data, n);
}

// out[i] = make(i), by threads; converted, some at a time, where out has another dtype.
template <typename Make>
void fill(const TensorBase& out, const Make& make) {
  using T = decltype(make(0));
  constexpr ScalarType kMade = cpp_type_to_scalar_type<T>;
  const detail::ElementCast cast =
      out.dtype() == kMade ? detail::ElementCast() : detail::ElementCast(out.dtype(), kMade, current_level());
  const ContiguousOut result(out);
  const auto itemsize = static_cast<std::int64_t>(out.itemsize());
  parallel_for(0, out.numel(), kRandomGrain, [&](std::int64_t begin, std::int64_t end) {
    char* const to = result.data<char>();
    if (!cast.given()) return fill_some(to + begin * itemsize, make, begin, end - begin);
    constexpr std::int64_t kBlock = 1024;
    alignas(64) char made[kBlock * sizeof(T)];
    for (; begin < end; begin += kBlock) {
      const std::int64_t n = std::min(kBlock, end - begin);
      fill_some(made, make, begin, n);
      cast.run(to + begin * itemsize, made, n);
    }
  });
  result.finish();
}

// Whole<std::int64_t>, of at most 2^32 numbers.
struct FewWhole : Whole<std::int64_t> {};

template <SimdLevel level>
struct FillBody<level, FewWhole> {
  [[gnu::always_inline]] static void run(const void* context, char* const* data, std::int64_t n) {
    constexpr std::int64_t kBlock = 1024;
    const auto& [make, first] = *static_cast<const std::pair<FewWhole, std::int64_t>*>(context);
    auto* to = reinterpret_cast<std::int64_t*>(data[0]);
    for (std::int64_t begin = 0; begin < n; begin += kBlock) {
      const std::int64_t end = std::min(n, begin + kBlock);
      std::uint32_t unsure = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        const auto element = static_cast<std::uint64_t>(first + i);
        to[i] = make.from + static_cast<std::int64_t>(make.call.bounded_unless(element, make.count, unsure));
      }
      if (unsure == 0) [[likely]]
        continue;
      for (std::int64_t i = begin; i < end; ++i) to[i] = make(first + i);
    }
  }
};

// Of integers that the dtype has all.
void fill_integers(const TensorBase& self, const rules::WholeRange& range, const PhiloxCall& call) {
  const Whole<std::int64_t> make{call, range.from, range.count};
  if (range.count != 0 && range.count <= std::uint64_t{1} << 32) return fill(self, FewWhole{make});
  fill(self, make);
}

}  // namespace

namespace cpu {

// In float32, whose loop becomes vector code; a bool's does not.
void bernoulli__float(TensorBase& self, double p, const Generator& generator) {
  const Chance happens{next_call(generator, kCPU)};
  fill(self, [happens, p](std::int64_t i) { return happens(i, p) ? 1.0F : 0.0F; });
}

void bernoulli__Tensor(TensorBase& self, const TensorBase& p, const Generator& generator) {
  const TensorBase list = make_tensor(self.sizes(), kDouble, DeviceType::CPU);
  copy_elements(p, list);
  const auto* const probability = static_cast<const double*>(list.data_ptr());
  for (std::int64_t i = 0; i < list.numel(); ++i) {
    KEYWAY_CHECK(probability[i] >= 0 && probability[i] <= 1,
                 "argument 'p' has {} at position {}, but must be in [0, 1]", probability[i], i);
  }
  const Chance happens{next_call(generator, kCPU)};
  fill(self, [happens, probability](std::int64_t i) { return happens(i, probability[i]) ? 1.0F : 0.0F; });
}

void exponential_(TensorBase& self, double lambd, const Generator& generator) {
  const Waiting waiting{next_call(generator, kCPU)};
  visit_loop_dtype<Exponential, kFloatingTypes>(self.dtype(), "exponential_", [&]<typename T>() {
    fill(self, Exponential<T>{waiting, lambd});
  });
}

void normal_(TensorBase& self, double mean, double std, const Generator& generator) {
  const PhiloxCall call = next_call(generator, kCPU);
  visit_loop_dtype<Normal, kFloatingAndComplexTypes>(self.dtype(), "normal_",
                                                     [&]<typename T>() { fill(self, Normal<T>(call, mean, std)); });
}

void random_(TensorBase& self, const Generator& generator) {
  fill_integers(self, rules::whole_range(self.dtype()), next_call(generator, kCPU));
}

void random__from(TensorBase& self, std::int64_t from, std::optional<std::int64_t> to, const Generator& generator) {
  const rules::WholeRange range = rules::whole_range(self.dtype(), from, to);
  fill_integers(self, range, next_call(generator, kCPU));
}

void random__to(TensorBase& self, std::int64_t to, const Generator& generator) { random__from(self, 0, to, generator); }

void uniform_(TensorBase& self, double from, double to, const Generator& generator) {
  const PhiloxCall call = next_call(generator, kCPU);
  visit_floating(self.dtype(), "uniform_", [&]<typename T>() { fill(self, Uniform<T>(call, from, to)); });
}

namespace {

// to[i] = the number of rank i when they are ordered by their bits, and equal bits by number. By the first
// bits first, by as many digits as leave few numbers equal: those are put in order by all of them.
template <typename Item>
void order_numbers(const ScratchArray<std::uint64_t>& bits, std::int64_t* to) {
  const std::int64_t n = bits.size();
  const int digits = n < 4096 ? 2 : n < 1 << 20 ? 3 : kKeyBits<Item> / 8;
  const std::int64_t kept = std::int64_t{-1} << (64 - 8 * digits);
  const ScratchArray<Item> items(n), room(n);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto as_signed = static_cast<std::int64_t>(bits[i] ^ std::uint64_t{1} << 63);  // keys are signed
    items[i] = make_item<Item>((as_signed & kept) >> (64 - kKeyBits<Item>), i);
  }
  Item* const ordered = sort_items(items.data(), room.data(), n);
  for (std::int64_t begin = 0, end = 0; begin < n; begin = end) {
    while (end < n && ordered[end] >> kKeyBits<Item> == ordered[begin] >> kKeyBits<Item>) ++end;
    if (end - begin == 1) continue;
    std::sort(ordered + begin, ordered + end, [&](Item a, Item b) {
      const std::int64_t i = index_of(a), j = index_of(b);
      return bits[i] != bits[j] ? bits[i] < bits[j] : i < j;
    });
  }
  for (std::int64_t i = 0; i < n; ++i) to[i] = index_of(ordered[i]);
}

}  // namespace

// Sorts the numbers by 64 random bits of each.
void randperm_generator(std::int64_t n, const Generator& generator, TensorBase& out) {
  rules::check_permutation(out.dtype(), n);
  const PhiloxCall call = next_call(generator, kCPU);
  const ScratchArray<std::uint64_t> bits(n);
  const auto draw = [call](std::int64_t i) { return call.bits(static_cast<std::uint64_t>(i)).wide(0); };
  parallel_for(0, n, kRandomGrain,
               [&](std::int64_t begin, std::int64_t end) { fill_some(bits.data() + begin, draw, begin, end - begin); });
  const bool direct = out.dtype() == kLong && out.is_contiguous();
  const TensorBase numbers = direct ? out : make_tensor(out.sizes(), kLong, kCPU);
  const auto order = n <= std::numeric_limits<std::uint32_t>::max() ? &order_numbers<Item32> : &order_numbers<Item64>;
  order(bits, numbers.data_ptr<std::int64_t>());
  if (!direct) copy_elements(numbers, out);
}

void native_dropout(const TensorBase& input, double p, std::optional<bool> train, TensorBase& out0, TensorBase& out1) {
  const bool drops = train.value_or(true) && p > 0;
  if (!drops) {
    fill_Scalar(out1, true, out1);
    return copy_elements(input, out0);
  }
  const Chance happens{next_call(nullptr, kCPU)};
  fill(out1, [happens, p](std::int64_t i) { return happens(i, p) ? 0.0F : 1.0F; });
  visit_loop_dtype<KeptScaled, kFloatingAndComplexTypes>(input.dtype(), "native_dropout", [&]<typename T>() {
    pointwise(KeptScaled<T>{static_cast<Real<T>>(p < 1 ? 1 / (1 - p) : 1)}, out0, input, out1);
  });
}

}  // namespace cpu

}  // namespace keyway::inline v1
