// randperm and multinomial, with the CPU's numbers (backends/cpu/random.cpp, multinomial.cpp).
//
// What is drawn without replacement is sorted by random keys, by a bitonic network (Batcher, Sorting networks and their
// applications, 1968): a launch for each of its log(n) (log(n) + 1) / 2 stages, each bound by memory. Running sums of
// weights are added up in the order of the CPU, since their last bits decide what is drawn: a thread for each row.
#include <keyway/backends/cuda/driver/each.cuh>
#include <keyway/backends/cuda/driver/rows.cuh>
#include <keyway/backends/cuda/kernels/kernels_random.h>
#include <keyway/backends/cuda/kernels/operands.h>
#include <keyway/ops/functors/random.h>
#include <keyway/ops/rules/random.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace keyway::inline v1::cuda {

namespace {

// Rows of keys, and the places that they had; each row is padded to a power of two with places from `n` on.
struct Keys {
  std::uint64_t* key;
  std::int64_t* place;
  std::int64_t n, padded;

  KEYWAY_HD bool less(std::int64_t a, std::int64_t b) const {
    return key[a] != key[b] ? key[a] < key[b] : place[a] < place[b];
  }
  KEYWAY_HD void swap(std::int64_t a, std::int64_t b) const {
    const std::uint64_t k = key[a];
    const std::int64_t p = place[a];
    key[a] = key[b];
    place[a] = place[b];
    key[b] = k;
    place[b] = p;
  }
};

// Puts the two of a pair `apart` in order; runs of `run` are turned in turn. Operands: the first key of a pair, the
// pair's number.
struct Exchange {
  Keys keys;
  std::int64_t run, apart;

  KEYWAY_HD void operator()(const Place<2>& place) const {
    const std::int64_t half = keys.padded / 2, row = place.number(1) / half, pair = place.number(1) - row * half;
    const std::int64_t i = (pair / apart) * 2 * apart + pair % apart;
    const std::int64_t a = row * keys.padded + i, b = a + apart;
    const bool up = (i & run) == 0;
    if (up ? keys.less(b, a) : keys.less(a, b)) keys.swap(a, b);
  }
};

// Operands: the key, its number. `make(row, i)` is one.
template <typename Make>
struct MakeKey {
  Keys keys;
  Make make;

  KEYWAY_HD void operator()(const Place<2>& place) const {
    const std::int64_t at = place.number(1), row = at / keys.padded, i = at - row * keys.padded;
    keys.key[at] = i < keys.n ? make(row, i) : ~std::uint64_t{0};
    keys.place[at] = i;
  }
};

// The places of the keys of each row in the order of the keys; of equal ones in their own.
template <typename Make>
TensorBase sorted_places(std::int64_t rows, std::int64_t n, const Make& make, Device device) {
  const auto padded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
  const TensorBase key = make_tensor({rows, padded}, kLong, device), place = make_tensor({rows, padded}, kLong, device);
  const Keys keys{static_cast<std::uint64_t*>(key.data_ptr()), static_cast<std::int64_t*>(place.data_ptr()), n, padded};
  each<2>(Places(key.sizes()).tensor(key).number().space(), MakeKey<Make>{keys, make}, device);
  const TensorBase pairs = make_view(key, {rows, padded / 2}, {padded, 2}, 0);
  if (padded == 1) return place;
  const Strided space = Places(pairs.sizes()).tensor(pairs).number().space();
  for (std::int64_t run = 2; run <= padded; run *= 2) {
    for (std::int64_t apart = run / 2; apart > 0; apart /= 2) {
      each<2>(space, Exchange{keys, run, apart}, device);
    }
  }
  return place;
}

struct RandomKey {
  PhiloxCall call;

  KEYWAY_HD std::uint64_t operator()(std::int64_t, std::int64_t i) const {
    return call.bits(static_cast<std::uint64_t>(i)).wide(0);
  }
};

// The time of a class, in the order of its bits; those without a weight come last.
struct TimeKey {
  PhiloxCall call;
  const double* weights;
  std::int64_t classes;

  KEYWAY_HD std::uint64_t operator()(std::int64_t row, std::int64_t c) const {
    const std::int64_t place = row * classes + c;
    const double weight = weights[place];
    const double time = weight > 0 ? Waiting{call}(place) / weight : std::numeric_limits<double>::infinity();
    return keyway::detail::bit_cast<std::uint64_t>(time);
  }
};

// What is known of a row of weights.
struct Verdict {
  bool valid;
  std::int64_t positive;
  double sum;
};

// Operands: the weights.
struct CheckWeights {
  static constexpr const char* kRefusal =
      "argument 'self' has a weight that is negative or not finite, a row with too few that are not zero, or one whose "
      "sum "
      "is infinite";
  std::int64_t needed;

  __device__ bool operator()(const Row<1>& row) const {
    const Verdict all = row.fold(
        Verdict{true, 0, 0},
        [&](const Verdict& v, std::int64_t i) {
          const double weight = row.at<const double>(0, i);
          return Verdict{v.valid && weight >= 0 && std::isfinite(weight), v.positive + (weight > 0 ? 1 : 0),
                         v.sum + weight};
        },
        [](const Verdict& a, const Verdict& b) {
          return Verdict{a.valid && b.valid, a.positive + b.positive, a.sum + b.sum};
        });
    return row.n() == 0 || (all.valid && all.positive >= needed && std::isfinite(all.sum));
  }
};

// Running sums of a row of weights. Operands: the last class with a weight, the line of weights, that of sums.
struct AddWeights {
  std::int64_t classes;

  KEYWAY_HD void operator()(const Place<3>& place) const {
    const double* const weights = &place.at<const double>(1);
    double* const sums = &place.at<double>(2);
    double sum = 0;
    std::int64_t last = 0;
    for (std::int64_t c = 0; c < classes; ++c) {
      sum += weights[c];
      sums[c] = sum;
      if (weights[c] > 0) last = c;
    }
    place.at<std::int64_t>(0) = last;
  }
};

// The first class whose sum is above a share of the last one. Operands: out, the line of sums, the last class with a
// weight, the number of the sample.
struct DrawWith {
  PhiloxCall call;
  std::int64_t classes;

  KEYWAY_HD void operator()(const Place<4>& place) const {
    const double* const sums = &place.at<const double>(1);
    const std::int64_t last = place.at<const std::int64_t>(2);
    const double u = uniform_double(call.bits(static_cast<std::uint64_t>(place.number(3))).wide(0)) * sums[classes - 1];
    std::int64_t begin = 0, end = classes;
    while (begin < end) {
      const std::int64_t middle = begin + (end - begin) / 2;
      if (sums[middle] > u) {
        end = middle;
      } else {
        begin = middle + 1;
      }
    }
    place.at<std::int64_t>(0) = begin < last ? begin : last;
  }
};

// [rows, n] of [n] or [rows, n].
TensorBase as_rows(const TensorBase& tensor) {
  if (tensor.dim() == 2) return tensor;
  return make_view(tensor, {1, tensor.sizes()[0]}, {0, tensor.strides()[0]}, tensor.storage_offset());
}

}  // namespace

void multinomial(const TensorBase& self, std::int64_t num_samples, bool replacement, const Generator& generator,
                 TensorBase& out) {
  const PhiloxCall call = next_call(generator, self.device());
  if (self.numel() == 0) return;
  const TensorBase weights = as_rows(contiguous_as(self, kDouble)), to = as_rows(out);
  const std::int64_t rows = weights.sizes()[0], classes = weights.sizes()[1];
  cuda::rows<1>(RowPlaces(weights.sizes(), 1).tensor(weights), CheckWeights{replacement ? 1 : num_samples},
                self.device());
  if (!replacement) {
    const TimeKey time{call, static_cast<const double*>(weights.data_ptr()), classes};
    const TensorBase places = sorted_places(rows, classes, time, self.device());
    return copy_elements(make_view(places, {rows, num_samples}, places.strides(), 0), to);
  }
  const TensorBase sums = make_tensor(weights.sizes(), kDouble, self.device());
  const TensorBase last = make_tensor({rows, 1}, kLong, self.device());
  each<3>(Places(last.sizes()).tensor(last).line(weights, 1).line(sums, 1).space(), AddWeights{classes}, self.device());
  each<4>(Places(to.sizes()).tensor(to).line(sums, 1).tensor(last).number().space(), DrawWith{call, classes},
          self.device());
}

void randperm_generator(std::int64_t n, const Generator& generator, TensorBase& out) {
  rules::check_holds(out.dtype(), 0, std::max<std::int64_t>(0, n - 1));
  const PhiloxCall call = next_call(generator, out.device());
  if (n == 0) return;
  const TensorBase places = sorted_places(1, n, RandomKey{call}, out.device());
  copy_elements(make_view(places, {n}, {1}, 0), out);
}

}  // namespace keyway::inline v1::cuda
