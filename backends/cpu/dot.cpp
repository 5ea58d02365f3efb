#include <keyway/backends/cpu/dot.h>
#include <keyway/backends/cpu/lanes.h>
#include <keyway/backends/cpu/loop.h>
#include <keyway/backends/cpu/parallel.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace keyway::inline v1::detail {

namespace {

// What is worth a thread.
constexpr std::int64_t kPart = std::int64_t{1} << 18;

// The context is the result, data are the operands.
template <SimdLevel level, typename T>
struct DotBody {
  [[gnu::always_inline]] static void run(const void* context, char* const* data, std::int64_t n) {
    const T* const a = reinterpret_cast<const T*>(data[0]);
    const T* const b = reinterpret_cast<const T*>(data[1]);
    *static_cast<T*>(const_cast<void*>(context)) = lane_sum<T>(n, [=](std::int64_t i) { return a[i] * b[i]; });
  }
};

template <typename T>
T dot_of_part(const T* a, const T* b, std::int64_t n) {
  T result{};
  char* const data[] = {reinterpret_cast<char*>(const_cast<T*>(a)), reinterpret_cast<char*>(const_cast<T*>(b))};
  kLoopsOf<DotBody, T>[current_level()](&result, data, n);
  return result;
}

}  // namespace

template <typename T>
T dot(const T* a, const T* b, std::int64_t n) {
  if (n <= kPart) return dot_of_part(a, b, n);
  const std::int64_t parts = (n - 1) / kPart + 1;
  std::vector<T> sums(static_cast<std::size_t>(parts));
  parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t first = p * kPart;
      sums[static_cast<std::size_t>(p)] = dot_of_part(a + first, b + first, std::min(kPart, n - first));
    }
  });
  return static_cast<T>(std::accumulate(sums.begin(), sums.end(), 0.0));
}

template float dot(const float*, const float*, std::int64_t);
template double dot(const double*, const double*, std::int64_t);

}  // namespace keyway::inline v1::detail
