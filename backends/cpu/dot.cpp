#include <keyway/backends/cpu/dot.h>
#include <keyway/backends/cpu/lanes.h>
#include <keyway/backends/cpu/loop.h>

namespace keyway::inline v1::detail {

namespace {

// The context is the result, data are the operands.
template <Level level, typename T>
struct DotBody {
  [[gnu::always_inline]] static void run(const void* context, char* const* data, std::int64_t n) {
    const T* const a = reinterpret_cast<const T*>(data[0]);
    const T* const b = reinterpret_cast<const T*>(data[1]);
    *static_cast<T*>(const_cast<void*>(context)) = lane_sum<T>(n, [=](std::int64_t i) { return a[i] * b[i]; });
  }
};

}  // namespace

template <typename T>
T dot(const T* a, const T* b, std::int64_t n) {
  T result{};
  char* const data[] = {reinterpret_cast<char*>(const_cast<T*>(a)), reinterpret_cast<char*>(const_cast<T*>(b))};
  kLoopsOf<DotBody, T>[current_level()](&result, data, n);
  return result;
}

template float dot(const float*, const float*, std::int64_t);
template double dot(const double*, const double*, std::int64_t);

}  // namespace keyway::inline v1::detail
