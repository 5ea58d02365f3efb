// Wrappers: what stands in a table at a backend's key. Guard, rule, outputs, kernel: written once here, over
// what the generator says of each operator in a struct Op:
//
//   struct mm {
//     static constexpr std::size_t kOutputs = 1;
//     static constexpr const char* kOutNames[] = {"out"};
//     static constexpr OutDtype kOutDtype = OutDtype::Same;
//     static constexpr bool kInPlaceSafe = false;  // whether the kernel may write where it reads, element by element
//     using Kernel = void(const TensorBase& self, const TensorBase& mat2, TensorBase& out);
//     // Guard and rule: checks every contract, then fills the plan. Throws, and has changed nothing.
//     static void plan(Plan<1>& plan, const TensorBase& self, const TensorBase& mat2);
//     // Calls the kernel with its arguments made ready: cast to the plan's dtypes, dims wrapped.
//     static void run(Kernel* kernel, const Plan<1>& plan, const TensorBase& self, const TensorBase& mat2,
//                     TensorBase* const* out);
//   };
//
// Functional<mm, Sig>::call and so on are then the kernels of its overloads, one for all backends: the
// context of a table's kernel is the backend's out-style function (kKernelOf), null at Meta. What else a
// struct may have, and the wrappers of other sorts of operators, are in wrapper_sorts.h.
#pragma once

#include <keyway/assembly/outputs.h>
#include <keyway/assembly/plan.h>
#include <keyway/dispatch/call/backend_kernel.h>

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace keyway::inline v1 {

// The CPU's function as the context of a wrapper.
template <typename Op, typename Op::Kernel* function>
inline constexpr BackendKernel<typename Op::Kernel> kKernelOf{function};

namespace detail {

// The backend's function; null at Meta.
template <typename Op>
typename Op::Kernel* backend_kernel(const KernelBase& kernel) {
  const auto* backend = static_cast<const BackendKernel<typename Op::Kernel>*>(kernel.context);
  return backend == nullptr ? nullptr : backend->function;
}

template <typename T, std::size_t>
using Repeat = T;

// What a functional call with N results returns.
template <std::size_t N, std::size_t... I>
auto take_results(TensorBase (&out)[N], std::index_sequence<I...>) {
  if constexpr (N == 1) {
    return std::move(out[0]);
  } else {
    return std::tuple<Repeat<TensorBase, I>...>(std::move(out[I])...);
  }
}

// Calls f with every tensor among the arguments.
template <typename F, typename... Args>
void each_tensor(F&& f, const Args&... args) {
  const auto look = [&]<typename T>(const T& arg) {
    if constexpr (std::is_same_v<T, TensorBase>) {
      if (arg.defined()) f(arg);
    } else if constexpr (std::is_same_v<T, ArrayRef<TensorBase>>) {
      for (const TensorBase& tensor : arg) {
        if (tensor.defined()) f(tensor);
      }
    }
  };
  (look(args), ...);
}

// Whether a kernel that writes `out` while it reads the arguments would read what it wrote.
template <bool in_place_safe, typename... Args>
bool needs_copy(const TensorBase& out, const Args&... args) {
  bool needs = false;
  each_tensor(
      [&](const TensorBase& input) {
        const Overlap how = input.is_same(out)       ? Overlap::Same
                            : input.is_alias_of(out) ? overlap(out, input)
                                                     : Overlap::None;
        needs = needs || how == Overlap::Partial || (how == Overlap::Same && !in_place_safe);
      },
      args...);
  return needs;
}

// Checks that the dtype which an in-place call asks for is that of the tensor it writes to.
template <typename... Args>
void check_asked_dtype(const TensorBase& self, const Args&... args) {
  const auto check = [&]<typename Arg>(const Arg& arg) {
    if constexpr (std::is_same_v<Arg, std::optional<ScalarType>>) {
      KEYWAY_CHECK_AS(Type, !arg || *arg == self.dtype(), "argument 'dtype' is {}, but argument 'self' is {}", *arg,
                      self.dtype());
    }
  };
  (check(args), ...);
}

// The argument that an in-place overload writes to.
template <typename First, typename... Rest>
TensorBase& written_argument(First&& first, Rest&&... rest) {
  if constexpr (std::is_same_v<First, TensorBase&>) {
    return first;
  } else {
    return written_argument(std::forward<Rest>(rest)...);
  }
}

}  // namespace detail

// The functional overload, with results of its own.
template <typename Op, typename Sig>
struct Functional;
template <typename Op, typename R, typename... Args>
struct Functional<Op, R(Args...)> {
  static constexpr std::size_t N = Op::kOutputs;

  static R call(const KernelBase& self_kernel, DispatchKeySet, Args... args) {
    Plan<N> plan;
    Op::plan(plan, args...);
    TensorBase out[N];
    TensorBase* given[N];
    for (std::size_t i = 0; i < N; ++i) {
      out[i] = allocate_output(plan.meta[i], plan.dtype[i], plan.device);
      given[i] = &out[i];
    }
    if (auto* kernel = detail::backend_kernel<Op>(self_kernel)) Op::run(kernel, plan, args..., given);
    return detail::take_results(out, std::make_index_sequence<N>());
  }
};

// The in-place overload: one argument is the result too. Only for operators with one result.
template <typename Op, typename Sig>
struct InPlace;
template <typename Op, typename... Args>
struct InPlace<Op, TensorBase&(Args...)> {
  static TensorBase& call(const KernelBase& self_kernel, DispatchKeySet, Args... args) {
    TensorBase& self = detail::written_argument(static_cast<Args&&>(args)...);
    Plan<1> plan;
    Op::plan(plan, args...);
    check_inplace(self, plan.meta[0], plan.dtype[0]);
    detail::check_asked_dtype(self, static_cast<const std::remove_cvref_t<Args>&>(args)...);
    if (auto* kernel = detail::backend_kernel<Op>(self_kernel)) {
      const bool direct = Op::kInPlaceSafe && self.dtype() == plan.dtype[0] &&
                          !detail::needs_copy<true>(self, static_cast<const std::remove_cvref_t<Args>&>(args)...);
      TensorBase apart = direct ? TensorBase() : allocate_output(plan.meta[0], plan.dtype[0], plan.device);
      TensorBase* const given[1] = {direct ? &self : &apart};
      Op::run(kernel, plan, args..., given);
      if (!direct) copy_into(self, apart);
    }
    return self;
  }
};

namespace detail {

// An argument as it is, but the dtype that is asked for, where none is, that of `out`.
template <typename Arg>
decltype(auto) in_dtype_of(const TensorBase& out, const Arg& arg, bool complex_only) {
  if constexpr (std::is_same_v<Arg, std::optional<ScalarType>>) {
    return arg || (complex_only && !is_complex(out.dtype())) ? arg : std::optional(out.dtype());
  } else {
    return (arg);
  }
}

// The arguments that the functional overload would have: those of the out= overload, and where the operator
// describes a new tensor, what is known of it from `out`.
template <typename Op, typename... Args>
auto functional_arguments(const TensorBase& out, const Args&... args) {
  if constexpr (requires { Op::from_out(out, args...); }) {
    return Op::from_out(out, args...);
  } else if constexpr (Op::kOutDtype == OutDtype::AsResult) {
    bool complex_only = false;  // a complex number has no value in a real dtype
    each_tensor([&](const TensorBase& input) { complex_only = complex_only || is_complex(input.dtype()); }, args...);
    return std::tuple<decltype(in_dtype_of(out, args, complex_only))...>(in_dtype_of(out, args, complex_only)...);
  } else {
    return std::tuple<const Args&...>(args...);
  }
}

// Whether a tensor shares memory with an argument.
template <typename... Args>
bool shares_memory(const TensorBase& out, const Args&... args) {
  bool shares = false;
  each_tensor([&](const TensorBase& input) { shares = shares || input.is_alias_of(out); }, args...);
  return shares;
}

// Of the tensors that an out= call writes to: that they are there, and apart from each other.
template <typename Op>
void check_outs(TensorBase* const (&given)[Op::kOutputs]) {
  for (std::size_t i = 0; i < Op::kOutputs; ++i) check_defined(Op::kOutNames[i], *given[i]);
  if constexpr (Op::kOutputs > 1) check_apart(Op::kOutNames, given);
}

// Computes into tensors of the caller, resized to what the rule says. Those that the kernel cannot write to, because it
// reads them or computes in another dtype, get a copy of its result.
template <typename Op, typename... Args>
void compute_out(typename Op::Kernel* kernel, TensorBase* const (&given)[Op::kOutputs], const Args&... args) {
  constexpr std::size_t N = Op::kOutputs;
  Plan<N> plan;
  check_outs<Op>(given);
  const auto arguments = functional_arguments<Op>(*given[0], args...);
  std::apply([&](const auto&... all) { Op::plan(plan, all...); }, arguments);
  for (std::size_t i = 0; i < N; ++i) {
    if (!plan.meta[i].defined) continue;
    check_out(*given[i], Op::kOutNames[i], plan.meta[i], plan.dtype[i], plan.device, Op::kOutDtype);
  }
  bool direct[N];
  ResizedOut resized[N];
  for (std::size_t i = 0; i < N; ++i) {
    const bool fit = plan.meta[i].defined && fits(*given[i], plan.meta[i]);
    direct[i] = plan.meta[i].defined && given[i]->dtype() == plan.dtype[i] &&
                !(fit ? needs_copy<Op::kInPlaceSafe>(*given[i], args...) : shares_memory(*given[i], args...));
    for (std::size_t j = 0; j < i; ++j) direct[i] = direct[i] && !given[i]->is_alias_of(*given[j]);
    if (direct[i] && !fit) resized[i].resize(*given[i], plan.meta[i]);
  }
  TensorBase apart[N];
  if (kernel != nullptr) {
    TensorBase* out[N];
    for (std::size_t i = 0; i < N; ++i) {
      if (!direct[i]) apart[i] = allocate_output(plan.meta[i], plan.dtype[i], plan.device);
      out[i] = direct[i] ? given[i] : &apart[i];
    }
    std::apply([&](const auto&... all) { Op::run(kernel, plan, all..., out); }, arguments);
  }
  for (std::size_t i = 0; i < N; ++i) {
    resized[i].keep();
    if (direct[i] || !plan.meta[i].defined) continue;
    if (!fits(*given[i], plan.meta[i])) resize_tensor(*given[i], plan.meta[i].sizes, plan.meta[i].strides);
    if (kernel != nullptr) copy_into(*given[i], apart[i]);
  }
}

// The last Op::kOutputs of `args` are tensors to write to; calls f with the others.
template <std::size_t outputs, typename F, typename Tuple>
void split_outputs(const Tuple& args, F&& f) {
  constexpr std::size_t inputs = std::tuple_size_v<Tuple> - outputs;
  [&]<std::size_t... I, std::size_t... O>(std::index_sequence<I...>, std::index_sequence<O...>) {
    TensorBase* const given[] = {&std::get<inputs + O>(args)...};
    f(given, std::get<I>(args)...);
  }
  (std::make_index_sequence<inputs>(), std::make_index_sequence<outputs>());
}

// The result of an overload that returns the arguments that it writes to.
template <typename R, typename... Args>
R written_arguments(Args&&... args) {
  if constexpr (std::is_void_v<R>) {
    return;
  } else if constexpr (std::is_same_v<R, TensorBase&>) {
    return written_argument(std::forward<Args>(args)...);
  } else {
    const auto if_written = []<typename Arg>(Arg&& arg) {
      if constexpr (std::is_same_v<Arg, TensorBase&>) {
        return std::tuple<TensorBase&>(arg);
      } else {
        return std::tuple<>();
      }
    };
    return std::tuple_cat(if_written(std::forward<Args>(args))...);
  }
}

}  // namespace detail

// The out= overload: the tensors that it writes to stand last.
template <typename Op, typename Sig>
struct Out;
template <typename Op, typename R, typename... Args>
struct Out<Op, R(Args...)> {
  static R call(const KernelBase& self_kernel, DispatchKeySet, Args... args) {
    const std::tuple<Args&...> all(args...);
    detail::split_outputs<Op::kOutputs>(all, [&](auto& given, const auto&... inputs) {
      detail::compute_out<Op>(detail::backend_kernel<Op>(self_kernel), given, inputs...);
    });
    return detail::written_arguments<R>(static_cast<Args&&>(args)...);
  }
};

}  // namespace keyway::inline v1
