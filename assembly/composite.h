// Wrappers of composites: functions over the public Tensor that call other operators. A struct of the
// generator has
//
//   static constexpr auto* kFunction = &composite::linear;
//   static void check(const TensorBase& input, ...);  // the contracts
#pragma once

#include <keyway/assembly/wrapper_sorts.h>
#include <keyway/dispatch/call/user_kernel.h>

namespace keyway::inline v1 {

namespace detail {

template <typename T>
inline constexpr bool kIsReferenceTuple = false;
template <typename... T>
inline constexpr bool kIsReferenceTuple<std::tuple<T&...>> = true;

// Calls a composite with canonical arguments.
template <typename R, typename... Params, typename... Args>
R call_composite(R (*function)(Params...), Args&&... args) {
  return function(Param<Params>::from(std::forward<Args>(args))...);
}

// Writes `from` over `to` by a call of copy_, which records the history that `from` has.
KEYWAY_API void copy_recorded(TensorBase& to, const TensorBase& from);
// What an in-place composite computes from: a copy of `self` where a gradient is recorded, as operators that it calls
// may keep it for theirs, else `self` itself.
KEYWAY_API TensorBase before_change(const TensorBase& self);
// The argument, or `before` in place of `self`.
template <typename T>
const T& with_before(const T& argument, const TensorBase&, const TensorBase&) {
  return argument;
}
inline const TensorBase& with_before(const TensorBase& argument, const TensorBase& self, const TensorBase& before) {
  return &argument == &self ? before : argument;
}
// Throws if an argument of an out= call needs a gradient: there is no history to write it to.
KEYWAY_API void check_no_grad_for_out(bool needs_grad);

}  // namespace detail

template <typename Op, typename Sig>
struct Composite;
template <typename Op, typename R, typename... Args>
struct Composite<Op, R(Args...)> {
  static R call(const KernelBase&, DispatchKeySet, Args... args) {
    Op::check(args...);
    if constexpr (std::is_void_v<R>) {
      detail::call_composite(Op::kFunction, static_cast<Args&&>(args)...);
    } else if constexpr (std::is_reference_v<R> || detail::kIsReferenceTuple<R>) {
      detail::call_composite(Op::kFunction, static_cast<Args&&>(args)...);
      return detail::written_arguments<R>(static_cast<Args&&>(args)...);
    } else {
      return detail::convert_result<R>(detail::call_composite(Op::kFunction, static_cast<Args&&>(args)...));
    }
  }
};

template <typename Op, typename Sig>
struct CompositeInPlace;
template <typename Op, typename... Args>
struct CompositeInPlace<Op, TensorBase&(Args...)> {
  static TensorBase& call(const KernelBase&, DispatchKeySet, Args... args) {
    TensorBase& self = detail::written_argument(static_cast<Args&&>(args)...);
    Op::check(args...);
    const TensorBase before = detail::before_change(self);
    const TensorBase result = detail::call_composite(Op::kFunction, detail::with_before(args, self, before)...);
    check_inplace(self, meta_of(result.sizes()), result.dtype());
    if (!result.is_same(before)) detail::copy_recorded(self, result);
    return self;
  }
};

template <typename Op, typename Sig>
struct CompositeOut;
template <typename Op, typename R, typename... Args>
struct CompositeOut<Op, R(Args...)> {
  static R call(const KernelBase&, DispatchKeySet, Args... args) {
    const std::tuple<Args&...> all(args...);
    bool needs_grad = false;
    detail::each_tensor([&](const TensorBase& tensor) { needs_grad = needs_grad || tensor.requires_grad(); },
                        static_cast<const std::remove_cvref_t<Args>&>(args)...);
    detail::check_no_grad_for_out(needs_grad && grad_enabled());
    detail::split_outputs<Op::kOutputs>(all, [&](auto& given, const auto&... inputs) {
      detail::check_outs<Op>(given);
      std::apply(
          [&](const auto&... each) {
            Op::check(each...);
            detail::store_results(given, Op::kOutNames, detail::call_composite(Op::kFunction, each...), Op::kOutDtype,
                                  detail::copy_recorded);
          },
          detail::functional_arguments<Op>(*given[0], inputs...));
    });
    return detail::written_arguments<R>(static_cast<Args&&>(args)...);
  }
};

}  // namespace keyway::inline v1
