// Kernels of factories: what fills a new tensor.
#include <keyway/backends/cpu/copy.h>
#include <keyway/backends/cpu/kernels_creation.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/core/visit_dtype.h>

#include <algorithm>

namespace keyway::inline v1::cpu {

void fill_Scalar(const TensorBase&, const Scalar& value, TensorBase& out) {
  visit_any(out.dtype(), "fill", [&]<typename T>() {
    const T element = value.to<T>();
    if (!out.is_non_overlapping_and_dense()) {
      TensorBase one = make_tensor({}, out.dtype(), Device(DeviceType::CPU));
      *one.data_ptr<T>() = element;
      copy_elements(one, out);
      return;
    }
    T* data = out.data_ptr<T>();
    parallel_for(0, out.numel(), kElementGrain,
                 [&](std::int64_t begin, std::int64_t end) { std::fill(data + begin, data + end, element); });
  });
}

// Element i is start + i * step, computed in double for floating results and in 64-bit integers for integral ones.
void arange_start_step(const Scalar& start, const Scalar&, const Scalar& step, TensorBase& out) {
  visit_real(out.dtype(), "arange", [&]<typename T>() {
    TensorBase dense = out.is_contiguous() ? out : make_tensor(out.sizes(), out.dtype(), out.device());
    T* data = dense.data_ptr<T>();
    parallel_for(0, out.numel(), kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if constexpr (std::is_integral_v<T>) {
          // The result is known to fit; unsigned arithmetic, since intermediate products may wrap.
          const auto first = static_cast<std::uint64_t>(start.to<std::int64_t>());
          const auto by = static_cast<std::uint64_t>(step.to<std::int64_t>());
          data[i] = static_cast<T>(first + static_cast<std::uint64_t>(i) * by);
        } else {
          data[i] = static_cast<T>(start.to<double>() + static_cast<double>(i) * step.to<double>());
        }
      }
    });
    if (!dense.is_same(out)) copy_elements(dense, out);
  });
}

}  // namespace keyway::inline v1::cpu
