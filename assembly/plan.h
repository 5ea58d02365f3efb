// Plan: what guard and rule of an operator find out about a call; and what a kernel's arguments go through.
#pragma once

#include <keyway/assembly/outputs.h>
#include <keyway/ops/rules/contracts.h>

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

template <std::size_t N>
struct Plan {
  static constexpr std::size_t kSlots = N == 0 ? 1 : N;

  OutputMeta meta[kSlots];
  ScalarType dtype[kSlots];                   // of each result
  ScalarType common = ScalarType::Undefined;  // that the operands are cast to, where the operator promotes
  Device device = DeviceType::CPU;

  // What the rule of an operator with several results gives.
  void set(std::array<OutputMeta, N> metas) {
    for (std::size_t i = 0; i < N; ++i) meta[i] = std::move(metas[i]);
  }
  // One answer for all results.
  void set_all(const OutputMeta& one) {
    for (std::size_t i = 0; i < N; ++i) meta[i] = one;
  }
};

// An absent argument of an operator that a contract calls: an undefined tensor, or no value.
class NoArgument {
 public:
  operator const TensorBase&() const { return none_; }
  template <typename T>
  operator std::optional<T>() const {
    return std::nullopt;
  }

 private:
  TensorBase none_;
};

// The plan of an operator that a contract calls.
template <std::size_t N, typename... Params, typename... Args>
Plan<N> planned(void (*make_plan)(Plan<N>&, Params...), const Args&... args) {
  Plan<N> plan;
  make_plan(plan, args...);
  return plan;
}

// A tensor as the kernel wants it: itself, or a converted copy that lives as long as this.
class Operand {
 public:
  [[gnu::always_inline]] Operand(const TensorBase& tensor, ScalarType dtype, Device device) : tensor_(&tensor) {
    if (tensor.defined() && (tensor.dtype() != dtype || tensor.device() != device)) [[unlikely]] {
      converted_ = cast_to(tensor, dtype, device);
      tensor_ = &converted_;
    }
  }
  // Of its own dtype: only a number from the CPU among tensors of another device is copied.
  Operand(const TensorBase& tensor, Device device)
      : Operand(tensor, tensor.defined() ? tensor.dtype() : ScalarType::Undefined, device) {}
  operator const TensorBase&() const { return *tensor_; }

 private:
  const TensorBase* tensor_;
  TensorBase converted_;
};

// The same for a list: itself unless one of its tensors has to be converted.
class Operands {
 public:
  Operands(ArrayRef<TensorBase> tensors, ScalarType dtype, Device device) : tensors_(tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (!tensors[i].defined() || (tensors[i].dtype() == dtype && tensors[i].device() == device)) continue;
      if (converted_.empty()) converted_.assign(tensors.begin(), tensors.end());
      converted_[i] = cast_to(tensors[i], dtype, device);
    }
    if (!converted_.empty()) tensors_ = converted_;
  }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;
  operator ArrayRef<TensorBase>() const { return tensors_; }

 private:
  ArrayRef<TensorBase> tensors_;
  std::vector<TensorBase> converted_;
};

inline std::optional<std::int64_t> wrap_optional_dim(std::optional<std::int64_t> dim, std::int64_t rank) {
  return dim ? std::optional<std::int64_t>(wrap_dim(*dim, rank)) : std::nullopt;
}

// Dimensions counted from the front.
class WrappedDims {
 public:
  WrappedDims(IntArrayRef dims, std::int64_t rank) : dims_(dims) {
    for (std::int64_t& dim : dims_) dim = wrap_dim(dim, rank);
  }
  WrappedDims(const std::optional<IntArrayRef>& dims, std::int64_t rank)
      : WrappedDims(dims.value_or(IntArrayRef()), rank) {
    given_ = dims.has_value();
  }
  operator IntArrayRef() const { return dims_; }
  operator std::optional<IntArrayRef>() const { return given_ ? std::optional<IntArrayRef>(dims_) : std::nullopt; }

 private:
  DimVector dims_;
  bool given_ = true;
};

}  // namespace keyway::inline v1
