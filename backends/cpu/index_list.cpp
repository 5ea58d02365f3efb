#include <keyway/backends/cpu/index_list.h>
#include <keyway/backends/cpu/loop.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/core/base/error.h>

#include <atomic>

namespace keyway::inline v1 {

namespace {

struct Bounds {
  std::int64_t low, high;
};

// Whether one of n integers, data[0], is outside of Bounds, the context; added to the byte data[1].
template <SimdLevel level, typename>
struct OutsideBody {
  KEYWAY_INLINE static void run(const void* context, char* const* data, std::int64_t n) {
    const Bounds bounds = *static_cast<const Bounds*>(context);
    const auto* index = reinterpret_cast<const std::int64_t*>(data[0]);
    std::int64_t outside = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      outside |= static_cast<std::int64_t>(index[i] < bounds.low) | static_cast<std::int64_t>(index[i] >= bounds.high);
    }
    if (outside != 0) *data[1] = 1;
  }
};

// Requires: `index` is row-major.
void check_list(const std::int64_t* index, std::int64_t n, std::string_view argument, std::int64_t low,
                std::int64_t high) {
  const Bounds bounds{low, high};
  const detail::Loop find = detail::kLoopsOf<OutsideBody, Bounds>[current_level()];
  std::atomic<bool> within{true};
  parallel_for(0, n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {
    char outside = 0;
    char* const data[] = {reinterpret_cast<char*>(const_cast<std::int64_t*>(index + begin)), &outside};
    find(&bounds, data, end - begin);
    if (outside != 0) within.store(false, std::memory_order_relaxed);
  });
  if (within.load(std::memory_order_relaxed)) return;
  for (std::int64_t i = 0; i < n; ++i) {
    KEYWAY_CHECK_AS(Index, low <= index[i] && index[i] < high,
                    "argument '{}' has {} at position {}, but must be in [{}, {})", argument, index[i], i, low, high);
  }
}

}  // namespace

void check_indices(const TensorBase& index, std::string_view argument, std::int64_t low, std::int64_t high) {
  const TensorBase list = contiguous_as(index, kLong);
  check_list(static_cast<const std::int64_t*>(list.data_ptr()), list.numel(), argument, low, high);
}

TensorBase index_list(const TensorBase& index, std::string_view argument, std::int64_t low, std::int64_t high) {
  TensorBase list = contiguous_as(index, kLong);
  const auto* from = static_cast<const std::int64_t*>(list.data_ptr());
  const std::int64_t n = list.numel();
  check_list(from, n, argument, low, high);
  if (low >= 0) return list;
  const TensorBase wrapped = make_tensor(index.sizes(), kLong, DeviceType::CPU);
  auto* const to = static_cast<std::int64_t*>(wrapped.data_ptr());
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[i] < 0 ? from[i] + high : from[i];
  return wrapped;
}

}  // namespace keyway::inline v1
