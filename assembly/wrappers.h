// Wrappers: what stands in a table at a backend's key. Guard, rule, outputs, kernel: written once here, over what the
// generator says of each operator in a struct Op:
//
//   struct Op {
//     static constexpr const char* kName = "mm";
//     static constexpr std::size_t kOutputs = 1;
//     static constexpr bool kInPlaceSafe = false;   // the kernel may write where it reads, element by element
//     using Kernel = void(const TensorBase& self, const TensorBase& mat2, TensorBase& out);
//     // The guard and the rule: checks every contract, then fills the plan. Throws, and has changed nothing.
//     static void plan(Plan<1>& plan, const TensorBase& self, const TensorBase& mat2);
//     // Calls the kernel with its arguments made ready: cast to the plan's dtypes, dims wrapped.
//     static void run(Kernel* kernel, const Plan<1>& plan, const TensorBase& self, const TensorBase& mat2,
//                     TensorBase (&out)[1]);
//   };
//
// Functional<Op, kernel, Sig> and so on are then the kernels of the overloads; with a null kernel, Meta's.
#pragma once

#include <keyway/assembly/outputs.h>
#include <keyway/dispatch/kernel.h>

#include <array>
#include <cstddef>
#include <tuple>
#include <utility>

namespace keyway::inline v1 {

// What guard and rule found out about a call.
template <std::size_t N>
struct Plan {
  OutputMeta meta[N];
  ScalarType dtype[N];               // of each result
  ScalarType common = ScalarType::Undefined;  // that the operands are cast to, where the operator promotes
  Device device = DeviceType::CPU;
};

// A tensor as the kernel wants it: itself, or a converted copy that lives as long as this.
class Operand {
 public:
  Operand(const TensorBase& tensor, ScalarType dtype, Device device) : tensor_(&tensor) {
    if (tensor.defined() && (tensor.dtype() != dtype || tensor.device() != device)) [[unlikely]] {
      converted_ = cast_to(tensor, dtype, device);
      tensor_ = &converted_;
    }
  }
  operator const TensorBase&() const { return *tensor_; }

 private:
  const TensorBase* tensor_;
  TensorBase converted_;
};

namespace detail {

template <typename T, std::size_t>
using Repeat = T;

// The result type of a functional call with N results.
template <std::size_t N, typename = std::make_index_sequence<N>>
struct ResultsOf;
template <std::size_t N, std::size_t... I>
struct ResultsOf<N, std::index_sequence<I...>> {
  using values = std::tuple<Repeat<TensorBase, I>...>;
  static values take(TensorBase (&out)[N]) { return values(std::move(out[I])...); }
};

// Calls f with every tensor among the arguments.
template <typename F>
void each_tensor(F&&) {}
template <typename F, typename First, typename... Rest>
void each_tensor(F&& f, const First& first, const Rest&... rest) {
  if constexpr (std::is_same_v<First, TensorBase>) {
    if (first.defined()) f(first);
  } else if constexpr (std::is_same_v<First, ArrayRef<TensorBase>>) {
    for (const TensorBase& tensor : first) f(tensor);
  }
  each_tensor(f, rest...);
}

// Whether a kernel that writes `out` while it reads the arguments would read what it wrote.
template <bool in_place_safe, typename... Args>
bool needs_copy(const TensorBase& out, const Args&... args) {
  bool needs = false;
  each_tensor(
      [&](const TensorBase& input) {
        const Overlap how = input.is_alias_of(out) ? overlap(out, input) : Overlap::None;
        needs = needs || how == Overlap::Partial || (how == Overlap::Same && !in_place_safe);
      },
      args...);
  return needs;
}

}  // namespace detail

template <typename Op, typename Op::Kernel* kernel, typename Sig>
struct Functional;
template <typename Op, typename Op::Kernel* kernel, typename R, typename... Args>
struct Functional<Op, kernel, R(Args...)> {
  static constexpr std::size_t N = Op::kOutputs;

  static R call(const KernelBase&, DispatchKeySet, Args... args) try {
    Plan<N> plan;
    Op::plan(plan, args...);
    TensorBase out[N];
    for (std::size_t i = 0; i < N; ++i) out[i] = allocate_output(plan.meta[i], plan.dtype[i], plan.device);
    if constexpr (kernel != nullptr) Op::run(kernel, plan, args..., out);
    if constexpr (N == 1) {
      return std::move(out[0]);
    } else {
      return detail::ResultsOf<N>::take(out);
    }
  } catch (...) {
    leave_op(Op::kName);
  }
};

// `self` is both first argument and result. Only for operators with one result.
template <typename Op, typename Op::Kernel* kernel, typename Sig>
struct InPlace;
template <typename Op, typename Op::Kernel* kernel, typename... Args>
struct InPlace<Op, kernel, TensorBase&(TensorBase&, Args...)> {
  static TensorBase& call(const KernelBase&, DispatchKeySet, TensorBase& self, Args... args) try {
    Plan<1> plan;
    Op::plan(plan, self, args...);
    check_inplace(self, plan.meta[0], plan.dtype[0]);
    if constexpr (kernel != nullptr) {
      const bool direct = Op::kInPlaceSafe && self.dtype() == plan.dtype[0] &&
                          !detail::needs_copy<true>(self, static_cast<const std::remove_cvref_t<Args>&>(args)...);
      TensorBase out[1] = {direct ? self : allocate_output(plan.meta[0], plan.dtype[0], plan.device)};
      Op::run(kernel, plan, self, args..., out);
      if (!direct) copy_into(self, out[0]);
    }
    return self;
  } catch (...) {
    leave_op(Op::kInPlaceName);
  }
};

// Args are the functional overload's; the results follow them.
template <typename Op, typename Op::Kernel* kernel, typename Sig, typename = std::make_index_sequence<Op::kOutputs>>
struct Out;
template <typename Op, typename Op::Kernel* kernel, typename R, typename... Args, std::size_t... I>
struct Out<Op, kernel, R(Args...), std::index_sequence<I...>> {
  static constexpr std::size_t N = Op::kOutputs;
  using Result = std::conditional_t<N == 1, TensorBase&, std::tuple<detail::Repeat<TensorBase&, I>...>>;

  static Result call(const KernelBase&, DispatchKeySet, Args... args, detail::Repeat<TensorBase&, I>... outs) try {
    TensorBase* const given[N] = {&outs...};
    Plan<N> plan;
    Op::plan(plan, args...);
    for (std::size_t i = 0; i < N; ++i) {
      prepare_out(*given[i], Op::kOutNames[i], plan.meta[i], plan.dtype[i], plan.device);
    }
    if constexpr (kernel != nullptr) {
      TensorBase out[N];
      bool direct[N];
      for (std::size_t i = 0; i < N; ++i) {
        direct[i] = given[i]->dtype() == plan.dtype[i] &&
                    !detail::needs_copy<Op::kInPlaceSafe>(*given[i],
                                                          static_cast<const std::remove_cvref_t<Args>&>(args)...);
        for (std::size_t j = 0; j < i; ++j) direct[i] = direct[i] && !given[i]->is_alias_of(*given[j]);
        out[i] = direct[i] ? *given[i] : allocate_output(plan.meta[i], plan.dtype[i], plan.device);
      }
      Op::run(kernel, plan, args..., out);
      for (std::size_t i = 0; i < N; ++i) {
        if (!direct[i]) copy_into(*given[i], out[i]);
      }
    }
    return Result(outs...);
  } catch (...) {
    leave_op(Op::kOutName);
  }
};

}  // namespace keyway::inline v1
