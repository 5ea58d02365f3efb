// The elements that a scatter writes to.
#pragma once

#include <keyway/backends/cpu/index_list.h>
#include <keyway/backends/cpu/operands.h>
#include <keyway/backends/cpu/panel.h>
#include <keyway/core/dtype/cpp_type.h>
#include <keyway/ops/functors/opmath.h>

#include <concepts>
#include <cstdlib>
#include <initializer_list>

namespace keyway::inline v1 {

inline std::int64_t length(const TensorBase& tensor, std::int64_t dim) {
  return tensor.sizes()[static_cast<std::size_t>(dim)];
}

// Calls f(panel, i, j) for n elements of each line: along lines where the elements of one lie closer together in the
// first operand than its neighbours do, else across them.
template <typename F>
void each_index(const Panel& given, std::int64_t n, const F& f) {
  const Panel panel = given;  // a copy that what f writes to cannot be part of
  if (panel.lines == 1 || std::abs(panel.step[0]) <= std::abs(panel.next[0])) {
    for (std::int64_t j = 0; j < panel.lines; ++j) {
      for (std::int64_t i = 0; i < n; ++i) f(panel, i, j);
    }
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < panel.lines; ++j) f(panel, i, j);
  }
}

// Calls f(target, i, j, panel) for each index, the first operand: `target` is the element of the second operand,
// of Ts, that it names. A line is one thread's, so elements that several indices name are written in order.
template <typename T, typename F>
void each_target(std::initializer_list<const TensorBase*> operands, std::int64_t dim, const F& f) {
  constexpr std::int64_t kWidth = 64;
  const std::int64_t n = length(**operands.begin(), dim);
  for_each_panel(operands, dim, n, kWidth, [&](const Panel& panel) {
    each_index(panel, n, [&](const Panel& p, std::int64_t i, std::int64_t j) {
      f(*p.at<T>(1, *p.at<const std::int64_t>(0, i, j), j), i, j, p);
    });
  });
}

// The operands of a scatter: tested, apart from each other, and `out` with the elements of self.
struct Scatter {
  TensorBase index, out, src;
  std::int64_t dim;

  Scatter(const TensorBase& self, std::int64_t d, const TensorBase& indices, const TensorBase* source,
          const TensorBase& result)
      : index(with_dim(apart_from(indices, result))), out(with_dim(result)), dim(d) {
    if (index.numel() > 0) index = index_list(index, "index", 0, length(out, dim));
    if (source != nullptr) src = with_dim(apart_from(*source, result));
    begin_as(self, result);
  }
  bool empty() const { return index.numel() == 0; }

  // target = x
  template <typename T>
  void fill(T x) const {
    if (empty()) return;
    each_target<T>({&index, &out}, dim, [x](T& target, std::int64_t, std::int64_t, const Panel&) { target = x; });
  }
  // target = f(target, element of src, which is a T)
  template <typename Target, typename T, typename F>
  void combine(const F& f) const {
    if (empty()) return;
    each_target<Target>({&index, &out, &src}, dim,
                        [&](Target& target, std::int64_t i, std::int64_t j, const Panel& panel) {
                          target = f(target, static_cast<Target>(*panel.at<const T>(2, i, j)));
                        });
  }

  // Calls accumulate.operator()<Opmath<T>>(scatter), where the targets of `scatter` are those of this one in the type
  // that sums are kept in: what comes of them is rounded to T once. Costs memory for all of `out` that is touched where
  // indices point only.
  template <typename T, typename F>
  void with_wide_targets(const F& accumulate) const {
    using Acc = Opmath<T>;
    if (empty()) return;
    if constexpr (std::same_as<T, Acc>) {
      accumulate.template operator()<Acc>(*this);
    } else {
      Scatter wide = *this;
      wide.out = make_tensor(out.sizes(), cpp_type_to_scalar_type<Acc>, DeviceType::CPU);
      each_target<Acc>({&index, &wide.out, &out}, dim,
                       [](Acc& target, std::int64_t i, std::int64_t j, const Panel& panel) {
                         target = opmath(*panel.at<const T>(2, *panel.at<const std::int64_t>(0, i, j), j));
                       });
      accumulate.template operator()<Acc>(wide);
      each_target<T>({&index, &out, &wide.out}, dim, [](T& target, std::int64_t i, std::int64_t j, const Panel& panel) {
        target = static_cast<T>(*panel.at<const Acc>(2, *panel.at<const std::int64_t>(0, i, j), j));
      });
    }
  }
};

}  // namespace keyway::inline v1
