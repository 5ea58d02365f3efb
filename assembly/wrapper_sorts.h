// Wrappers of operators that are not "guard, rule, outputs, kernel": see wrappers.h for those that are.
#pragma once

#include <keyway/assembly/wrappers.h>

#include <type_traits>
#include <vector>

namespace keyway::inline v1 {

namespace detail {

// An argument of a kernel that writes to arguments: a tensor that shares memory with one of them is read from
// a copy.
template <typename Arg>
struct Separate {
  Arg value;
  template <bool safe, typename... Args>
  static Separate from(Arg arg, const std::tuple<Args&...>&) {
    return {static_cast<Arg&&>(arg)};
  }
  operator Arg() const { return static_cast<Arg>(value); }
};
// Whether a kernel that writes the written ones of `all` while it reads `read` would read what it wrote.
template <bool safe, typename... Args>
bool written_over(const TensorBase& read, const std::tuple<Args&...>& all) {
  bool clash = false;
  const auto look = [&](auto& arg) {
    if constexpr (std::is_same_v<decltype(arg), TensorBase&>) {
      clash = clash || (read.defined() && arg.defined() && needs_copy<safe>(arg, read));
    }
  };
  std::apply([&](auto&... each) { (look(each), ...); }, all);
  return clash;
}
template <>
struct Separate<const TensorBase&> {
  const TensorBase* tensor;
  TensorBase copy;
  template <bool safe, typename... Args>
  static Separate from(const TensorBase& arg, const std::tuple<Args&...>& all) {
    if (!written_over<safe>(arg, all)) return {&arg, {}};
    return {nullptr, cast_to(arg, arg.dtype(), arg.device())};
  }
  operator const TensorBase&() const { return tensor != nullptr ? *tensor : copy; }
};
template <>
struct Separate<ArrayRef<TensorBase>> {
  ArrayRef<TensorBase> tensors;
  std::vector<TensorBase> copies;
  template <bool safe, typename... Args>
  static Separate from(ArrayRef<TensorBase> arg, const std::tuple<Args&...>& all) {
    Separate out{arg, {}};
    for (std::size_t i = 0; i < arg.size(); ++i) {
      if (!written_over<safe>(arg[i], all)) continue;
      if (out.copies.empty()) out.copies = arg.vec();
      out.copies[i] = cast_to(arg[i], arg[i].dtype(), arg[i].device());
    }
    return out;
  }
  operator ArrayRef<TensorBase>() const { return copies.empty() ? tensors : ArrayRef<TensorBase>(copies); }
};

[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_on_meta();
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_to_write_from_meta();

// Whether arguments that are written to have data.
template <typename... Args>
bool writes_data(const std::remove_reference_t<Args>&... args) {
  const auto is_data = [](const TensorBase& tensor) { return tensor.defined() && !tensor.is_meta(); };
  const auto is_written = [&]<typename Arg>(const auto& arg) {
    if constexpr (std::is_same_v<Arg, TensorBase&>) {
      return is_data(arg);
    } else {
      return false;
    }
  };
  return (is_written.template operator()<Args>(args) || ...);
}

}  // namespace detail

// The kernel writes to arguments, and these are the results: copy_, normal_.
template <typename Op, typename Sig>
struct Mutating;
template <typename Op, typename R, typename... Args>
struct Mutating<Op, R(Args...)> {
  static R call(const KernelBase& self_kernel, DispatchKeySet, Args... args) {
    Plan<0> plan;
    Op::plan(plan, args...);
    if (auto* kernel = detail::backend_kernel<Op>(self_kernel)) {
      const std::tuple<std::remove_reference_t<Args>&...> all(args...);
      Op::run(kernel, plan, detail::Separate<Args>::template from<Op::kInPlaceSafe>(args, all)...);
    } else if (detail::writes_data<Args...>(args...)) {
      detail::fail_to_write_from_meta();
    }
    return detail::written_arguments<R>(static_cast<Args&&>(args)...);
  }
};

// The kernel returns its results, since their sizes or their values are not known before: nonzero, item.
template <typename Op, typename Sig>
struct Returning;
template <typename Op, typename R, typename... Args>
struct Returning<Op, R(Args...)> {
  static R call(const KernelBase& self_kernel, DispatchKeySet, Args... args) {
    Plan<0> plan;
    Op::plan(plan, args...);
    auto* kernel = detail::backend_kernel<Op>(self_kernel);
    if (kernel == nullptr) detail::fail_on_meta();
    return Op::run(kernel, plan, args...);
  }
};

namespace detail {
// Writes what a kernel or composite has returned to the tensors of an out= call. All are checked before one is changed;
// one of other sizes gets the result's geometry.
template <typename Results, std::size_t N>
void store_results(TensorBase* const (&given)[N], const char* const (&names)[N], const Results& results, OutDtype which,
                   void (*copy)(TensorBase&, const TensorBase&)) {
  const TensorBase* all[N];
  if constexpr (N == 1) {
    all[0] = &results;
  } else {
    std::apply([&, i = std::size_t{0}](const auto&... each) mutable { ((all[i++] = &each), ...); }, results);
  }
  for (std::size_t i = 0; i < N; ++i) {
    check_out(*given[i], names[i], meta_like(*all[i]), all[i]->dtype(), all[i]->device(), which);
  }
  for (std::size_t i = 0; i < N; ++i) {
    if (given[i]->sizes() != all[i]->sizes()) {
      const OutputMeta meta = meta_like(*all[i]);
      resize_tensor(*given[i], meta.sizes, meta.strides);
    }
    copy(*given[i], *all[i]);
  }
}
}  // namespace detail

template <typename Op, typename Sig>
struct ReturningOut;
template <typename Op, typename R, typename... Args>
struct ReturningOut<Op, R(Args...)> {
  static R call(const KernelBase& self_kernel, DispatchKeySet, Args... args) {
    const std::tuple<Args&...> all(args...);
    detail::split_outputs<Op::kOutputs>(all, [&](auto& given, const auto&... inputs) {
      detail::check_outs<Op>(given);
      Plan<0> plan;
      Op::plan(plan, inputs...);
      auto* kernel = detail::backend_kernel<Op>(self_kernel);
      if (kernel == nullptr) detail::fail_on_meta();
      detail::store_results(given, Op::kOutNames, Op::run(kernel, plan, inputs...), Op::kOutDtype, copy_into);
    });
    return detail::written_arguments<R>(static_cast<Args&&>(args)...);
  }
};

// Another geometry over the storage of the first argument, or several.
template <typename Op, typename Sig>
struct View;
template <typename Op, typename... Args>
struct View<Op, TensorBase(const TensorBase&, Args...)> {
  static TensorBase call(const KernelBase&, DispatchKeySet, const TensorBase& self, Args... args) {
    return view_of(self, Op::geometry(self, args...));
  }

  static TensorBase view_of(const TensorBase& self, const auto& geometry) {
    TensorBase view = make_view(self, geometry.sizes, geometry.strides, geometry.offset);
    if constexpr (requires { geometry.dtype; }) {
      if (geometry.dtype != ScalarType::Undefined) view.impl()->set_dtype(geometry.dtype);
    }
    return view;
  }
};
template <typename Op, typename... Args>
struct View<Op, std::vector<TensorBase>(const TensorBase&, Args...)> {
  static std::vector<TensorBase> call(const KernelBase&, DispatchKeySet, const TensorBase& self, Args... args) {
    const auto geometries = Op::geometry(self, args...);
    std::vector<TensorBase> views;
    views.reserve(geometries.size());
    for (const auto& geometry : geometries) {
      views.push_back(View<Op, TensorBase(const TensorBase&)>::view_of(self, geometry));
    }
    return views;
  }
};

}  // namespace keyway::inline v1
