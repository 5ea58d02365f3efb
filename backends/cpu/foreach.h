// over_lists: the driver of kernels that go through several lists of tensors side by side (ops/functors/optimizer.h).
//
//   over_lists(FusedSgd<float>(settings, scaling), lists, {});
//
// Elements are taken in blocks from all lists, changed there, and put back: the compiler sees arrays that do not
// overlap, and makes vector code. What an element becomes does not depend on where it lies or on the number of threads.
#pragma once

#include <keyway/backends/common/foreach_lists.h>
#include <keyway/backends/cpu/loop.h>
#include <keyway/backends/cpu/parallel.h>
#include <keyway/backends/cpu/simd/level.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace keyway::inline v1 {

namespace detail {

template <typename F>
struct ForeachContext {
  const F& functor;
  typename F::Prepared prepared;
  unsigned written;
};

template <typename F>
struct ForeachLoop {
  using T = typename F::Element;
  static constexpr std::int64_t kBlock = 256;
  using Block = T[kBlock];

  template <std::size_t... l>
  KEYWAY_INLINE static void change(const F& functor, const typename F::Prepared& prepared, Block (&x)[F::kLists],
                                   std::int64_t n, std::index_sequence<l...>) {
    KEYWAY_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) functor(prepared, x[l][i]...);
  }

  template <SimdLevel level>
  struct At {
    KEYWAY_INLINE static void run(const void* context, char* const* data, std::int64_t n) {
      const auto& given = *static_cast<const ForeachContext<F>*>(context);
      const F functor = given.functor;
      const typename F::Prepared prepared = given.prepared;
      Block x[F::kLists] = {};
      for (std::int64_t begin = 0; begin < n; begin += kBlock) {
        const std::int64_t count = std::min(kBlock, n - begin);
        const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T), from = begin * sizeof(T);
        for (int l = 0; l < F::kLists; ++l) {
          if (data[l] != nullptr) std::memcpy(x[l], data[l] + from, bytes);
        }
        change(functor, prepared, x, count, std::make_index_sequence<F::kLists>());
        for (int l = 0; l < F::kLists; ++l) {
          if ((given.written >> l & 1) != 0) std::memcpy(data[l] + from, x[l], bytes);
        }
      }
    }
  };
  static constexpr LevelTable<Loop> kLoops = at_levels<At>();
};

}  // namespace detail

// `steps`: a number for each tensor, or none. Requires: the lists are F's, of its Element, on the CPU.
template <typename F>
void over_lists(const F& functor, const ForeachLists& lists, ArrayRef<TensorBase> steps) {
  constexpr std::int64_t kGrain = 8192;
  if (functor.skips()) return;
  const detail::Loop loop = detail::ForeachLoop<F>::kLoops[current_level()];
  for (std::size_t t = 0; t < lists.tensors(); ++t) {
    const float* const step = steps.empty() ? nullptr : static_cast<const float*>(steps[t].data_ptr());
    const detail::ForeachContext<F> context{functor, functor.prepare(step), lists.written()};
    parallel_for(0, lists.numel(t), kGrain, [&](std::int64_t begin, std::int64_t end) {
      char* data[F::kLists];
      for (int l = 0; l < F::kLists; ++l) {
        char* const first = lists.data(static_cast<std::size_t>(l), t);
        data[l] = first == nullptr ? nullptr : first + begin * static_cast<std::int64_t>(sizeof(typename F::Element));
      }
      loop(&context, data, end - begin);
    });
  }
  lists.finish();
}

}  // namespace keyway::inline v1
