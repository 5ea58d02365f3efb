// TopAndSum: what softmax and cross entropy ask of a row, in one pass.
#pragma once

#include <cmath>
#include <limits>

namespace keyway::inline v1::cuda {

// The greatest of some numbers, and the sum of exp(number - top) over them, in one pass (Milakov and Gimelshein,
// "Online normalizer calculation for softmax", 2018). `top` begins at the lowest finite number: so numbers of which all
// are minus infinity have the sum 0.
template <typename Acc>
struct TopAndSum {
  Acc top = std::numeric_limits<Acc>::lowest(), sum = 0;

  // x - x makes the sum NaN where the greatest is infinite, as exp(x - top) is.
  __device__ TopAndSum with(Acc x) const {
    const Acc above = x - top, power = std::exp(-std::abs(above));
    return above > 0 ? TopAndSum{x, sum * power + 1 + (x - x)} : TopAndSum{top, sum + power};
  }
  __device__ TopAndSum with(const TopAndSum& other) const {
    const Acc greater = other.top > top ? other.top : top;
    return {greater, sum * std::exp(top - greater) + other.sum * std::exp(other.top - greater)};
  }
};

// Of the values of a row (row_values.cuh), the same in all threads of the team. Every thread calls it.
template <typename Acc, typename Values>
__device__ TopAndSum<Acc> top_and_sum(const Values& x) {
  const auto add = [](const TopAndSum<Acc>& acc, const auto& more) { return acc.with(more); };
  return x.fold(TopAndSum<Acc>(), add, add);
}

}  // namespace keyway::inline v1::cuda
