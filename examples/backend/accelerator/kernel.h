// What kernels are written with. A kernel queues a command in the current stream and returns; the command runs later,
// on the chip. So a command holds by value what it needs: addresses, sizes and strides, but no tensor, whose memory the
// host may have given to somebody else by then.
#pragma once

#include <keyway/core/device/stream.h>
#include <keyway/core/dtype/scalar.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/core/tensor/iteration_space.h>
#include <keyway/dispatch/call/call_declined.h>
#include <keyway/dispatch/plugin/cpu_fallback.h>
#include <keyway/dispatch/registry/library.h>
#include <keyway/ops/functors/opmath.h>
#include <keyway/ops/functors/signature.h>

#include <accelerator/hardware.h>
#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

namespace accelerator {

using keyway::IntArrayRef;
using keyway::Library;
using keyway::Opmath;
using keyway::Scalar;
using keyway::ScalarType;
using keyway::TensorBase;

inline constexpr keyway::DtypeSet kFloats{ScalarType::Float, ScalarType::Double, ScalarType::Half,
                                          ScalarType::BFloat16};
inline constexpr keyway::DtypeSet kIntegers{ScalarType::Long, ScalarType::Int};
inline constexpr keyway::DtypeSet kNumbers = kFloats | kIntegers;
inline constexpr keyway::DtypeSet kAll = kNumbers | keyway::DtypeSet{ScalarType::Bool, ScalarType::Byte};

// Serves an operator and its overloads; calls that the kernel declines are made on the CPU.
template <typename... Args>
void serve(Library& m, const char* op, void (*kernel)(Args...),
           keyway::SourceLocation where = keyway::SourceLocation::current()) {
  m.kernel(op, kernel, where).or_else(keyway::cpu_fallback);
}

// Declines the call unless the condition holds. Called before anything is queued.
inline void accept_if(bool condition, const char* otherwise) {
  if (!condition) throw keyway::CallDeclined(otherwise);
}

// Calls f<T>() with the type of a dtype, and declines the call if it is none of the set.
template <keyway::DtypeSet set, typename F>
void visit(ScalarType dtype, F&& f) {
  accept_if(set.contains(dtype), "the accelerator has no such arithmetic");
  keyway::visit_dtype<set>(dtype, "accelerator", f);
}

// Where work on a device is queued.
inline Queue& current_queue(keyway::Device device) {
  return *static_cast<Queue*>(keyway::current_stream(device).native_handle());
}

namespace detail {

template <typename F, typename R, typename... A, std::size_t... k>
void run_pointwise(const F& f, const keyway::IterationSpace& space, std::tuple<A...>*, std::index_sequence<k...>) {
  char* at[1 + sizeof...(A)];
  for (std::size_t i = 0; i <= sizeof...(A); ++i) at[i] = reach(space.data[i]);
  std::int64_t index[keyway::kMaxDims] = {};
  while (true) {
    for (std::int64_t i = 0; i < space.size(0); ++i) {
      *reinterpret_cast<R*>(at[0] + i * space.stride(0, 0)) =
          f(*reinterpret_cast<const A*>(at[k + 1] + i * space.stride(static_cast<int>(k) + 1, 0))...);
    }
    int d = 1;
    for (; d < space.rank; ++d) {  // the next row
      const bool wraps = ++index[d] == space.sizes[d];
      for (std::size_t i = 0; i <= sizeof...(A); ++i) {
        at[i] += space.strides[i][d] * (wraps ? 1 - space.sizes[d] : 1);
      }
      if (!wraps) break;
      index[d] = 0;
    }
    if (d >= space.rank) return;
  }
}

}  // namespace detail

// out[i] = f(in[i]...) for every index, with operands that broadcast. f is a functor as in <keyway/ops/functors>, whose
// operator() says the types of the elements.
template <typename F, std::same_as<TensorBase>... In>
void pointwise(F f, const TensorBase& out, const In&... in) {
  using Signature = keyway::FunctorSignature<F>;
  if (out.numel() == 0) return;
  const TensorBase* const operands[] = {&out, &in...};
  keyway::IterationSpace space;
  keyway::make_iteration_space(space, out.sizes(), operands, 1 + sizeof...(In));
  current_queue(out.device()).push([f, space] {
    typename Signature::Arguments* const arguments = nullptr;
    detail::run_pointwise<F, typename Signature::Result>(f, space, arguments, std::index_sequence_for<In...>());
  });
}

// Elements that a command works on together, in row-major order, wherever they lie. Those of an undefined tensor are
// none.
template <typename T>
class Elements {
 public:
  Elements(char* data, std::int64_t first, const std::vector<std::int64_t>& offsets)
      : data_(reinterpret_cast<T*>(data) + first), offsets_(offsets.data()), size_(std::ssize(offsets)) {}
  T& operator[](std::int64_t i) const { return data_[offsets_[i]]; }
  std::int64_t size() const { return size_; }

 private:
  T* data_;
  const std::int64_t* offsets_;
  std::int64_t size_;
};

// The offsets of all elements, in row-major order.
inline std::vector<std::int64_t> offsets_of(IntArrayRef sizes, IntArrayRef strides) {
  std::vector<std::int64_t> offsets = {0};
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return {};
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    std::vector<std::int64_t> finer;
    for (const std::int64_t offset : offsets) {
      for (std::int64_t i = 0; i < sizes[d]; ++i) finer.push_back(offset + i * strides[d]);
    }
    offsets = std::move(finer);
  }
  return offsets;
}

// A tensor cut into lines: what lies along some of its dimensions.
struct Lines {
  void* data = nullptr;
  std::vector<std::int64_t> lines, elements;  // the offsets of lines, and of elements within one

  // As many lines as those of `like`, which has the same sizes in the other dimensions, or smaller ones. Lines of an
  // undefined tensor are empty.
  Lines(const TensorBase& tensor, IntArrayRef dims, const TensorBase& like) {
    keyway::DimVector sizes, strides, line_sizes, line_strides;
    const TensorBase& from = tensor.defined() ? tensor : like;
    for (std::size_t d = 0; d < from.sizes().size(); ++d) {
      const bool along = std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d)) != dims.end();
      (along ? sizes : line_sizes).push_back(along ? from.sizes()[d] : like.sizes()[d]);
      (along ? strides : line_strides).push_back(from.strides()[d]);
    }
    lines = offsets_of(line_sizes, line_strides);
    if (!tensor.defined()) return;
    data = tensor.data_ptr();
    elements = offsets_of(sizes, strides);
  }
  // The whole as one line.
  explicit Lines(const TensorBase& tensor) : lines{0} {
    if (!tensor.defined()) return;
    data = tensor.data_ptr();
    elements = offsets_of(tensor.sizes(), tensor.strides());
  }
};

namespace detail {

template <typename... T, typename F, std::size_t... k>
void run_lines(const F& body, const std::vector<Lines>& operands, std::index_sequence<k...>) {
  char* const data[] = {reach(operands[k].data)...};
  for (std::size_t i = 0; i < operands[0].lines.size(); ++i) {
    body(Elements<T>(data[k], operands[k].lines[i], operands[k].elements)...);
  }
}

}  // namespace detail

// body(elements...) for each line along `dims`: each_line<T, const T>({dim}, body, out, self). Lines may be of
// different lengths. There are as many as the first tensor has.
template <typename... T, typename F, std::same_as<TensorBase>... Tensors>
void each_line(IntArrayRef dims, F body, const TensorBase& first, const Tensors&... others) {
  std::vector<Lines> operands = {Lines(first, dims, first), Lines(others, dims, first)...};
  current_queue(first.device()).push([body, operands = std::move(operands)] {
    detail::run_lines<T...>(body, operands, std::index_sequence_for<T...>());
  });
}

// body(elements...) once, with all elements of each tensor.
template <typename... T, typename F, std::same_as<TensorBase>... Tensors>
void whole(F body, const TensorBase& first, const Tensors&... others) {
  std::vector<Lines> operands = {Lines(first), Lines(others)...};
  current_queue(first.device()).push([body, operands = std::move(operands)] {
    detail::run_lines<T...>(body, operands, std::index_sequence_for<T...>());
  });
}

}  // namespace accelerator
