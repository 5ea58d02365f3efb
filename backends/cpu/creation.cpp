// Kernels of factories: what fills a new tensor.
#include <keyway/backends/cpu/copy.h>
#include <keyway/backends/cpu/kernels_creation.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <algorithm>
#include <cstring>

namespace keyway::inline v1::cpu {

void fill_Scalar(const TensorBase&, const Scalar& value, TensorBase& out) {
  visit_dtype<kCastTypes>(out.dtype(), "fill", [&]<typename T>() {
    const T element = value.to<T>();
    if (!out.is_non_overlapping_and_dense()) {
      TensorBase one = make_tensor({}, out.dtype(), Device(DeviceType::CPU));
      *one.data_ptr<T>() = element;
      copy_elements(one, out);
      return;
    }
    T* data = out.data_ptr<T>();
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &element, sizeof(T));
    const bool of_one_byte =
        std::all_of(bytes, bytes + sizeof(T), [&](unsigned char byte) { return byte == bytes[0]; });
    parallel_for(0, out.numel(), kElementGrain, [&](std::int64_t begin, std::int64_t end) {
      if (of_one_byte) {
        std::memset(static_cast<void*>(data + begin), bytes[0], static_cast<std::size_t>(end - begin) * sizeof(T));
      } else {
        std::fill(data + begin, data + end, element);
      }
    });
  });
}

// Element i is start + i * step, computed in double for floating results and in 64-bit integers for integral ones.
void arange_start_step(const Scalar& start, const Scalar&, const Scalar& step, TensorBase& out) {
  visit_real(out.dtype(), "arange", [&]<typename T>() {
    TensorBase dense = out.is_contiguous() ? out : make_tensor(out.sizes(), out.dtype(), out.device());
    T* const data = dense.data_ptr<T>();
    // The result is known to fit; unsigned arithmetic, since intermediate products may wrap.
    using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
    using Given = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
    const Wide first = static_cast<Wide>(start.to<Given>()), by = static_cast<Wide>(step.to<Given>());
    parallel_for(0, out.numel(), kElementGrain, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) data[i] = static_cast<T>(first + static_cast<Wide>(i) * by);
    });
    if (!dense.is_same(out)) copy_elements(dense, out);
  });
}

}  // namespace keyway::inline v1::cpu
