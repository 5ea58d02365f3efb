// Kernels from functions that users write: any callable whose parameters have a counterpart in the schema
// language becomes a kernel of the canonical signature. Besides the canonical types it may have Tensor, std::vector,
// std::string, std::complex<double>, intrusive_ptr of a registered class, std::optional of any of them (but for
// elements of lists, of tensors and integers only), and const references to all; results may be optional, and stand in
// a std::tuple.
#pragma once

#include <keyway/dispatch/call/kernel_adapter.h>
#include <keyway/dispatch/call/signature.h>

#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace keyway::inline v1 {

// The one downcast: Tensor adds methods to TensorBase and nothing else, so a reference to one serves as the
// other.
template <typename T>
requires std::derived_from<T, TensorBase>
const T& as_tensor(const TensorBase& base) {
  static_assert(sizeof(T) == sizeof(TensorBase) && alignof(T) == alignof(TensorBase));
  return static_cast<const T&>(base);
}
template <typename T>
requires std::derived_from<T, TensorBase> T& as_tensor(TensorBase& base) {
  static_assert(sizeof(T) == sizeof(TensorBase) && alignof(T) == alignof(TensorBase));
  return static_cast<T&>(base);
}

namespace detail {

template <typename T>
concept TensorType = std::derived_from<T, TensorBase>;

// How a user's parameter type is written canonically, and made from that.
template <typename T>
struct Param {
  static_assert(!std::is_same_v<T, int> && !std::is_same_v<T, std::int32_t>, "a kernel takes std::int64_t, not int");
  static_assert(!std::is_same_v<T, float>, "a kernel takes double, not float");
  static_assert(!std::is_same_v<T, const char*>, "a kernel takes std::string_view, not const char*");
  using Canonical = T;
  static T from(T v) { return v; }
};
template <TensorType T>
struct Param<const T&> {
  using Canonical = const TensorBase&;
  static const T& from(const TensorBase& v) { return as_tensor<T>(v); }
};
template <TensorType T>
struct Param<T> : Param<const T&> {};
template <TensorType T>
struct Param<T&> {
  using Canonical = TensorBase&;
  static T& from(TensorBase& v) { return as_tensor<T>(v); }
};
// Of what is undefined where it is absent.
template <typename T>
requires TensorType<T> || std::is_same_v<T, Generator>
struct Param<std::optional<T>> {
  using Canonical = typename Param<T>::Canonical;
  static std::optional<T> from(Canonical v) { return v.defined() ? std::optional<T>(Param<T>::from(v)) : std::nullopt; }
};
template <TensorType T>
requires(!std::is_same_v<T, TensorBase>) struct Param<ArrayRef<T>> {
  using Canonical = ArrayRef<TensorBase>;
  static ArrayRef<T> from(ArrayRef<TensorBase> v) { return {static_cast<const T*>(v.data()), v.size()}; }
};
template <TensorType T>
struct Param<ArrayRef<std::optional<T>>> {
  using Canonical = ArrayRef<TensorBase>;
  static std::vector<std::optional<T>> from(ArrayRef<TensorBase> v) {
    std::vector<std::optional<T>> out;
    out.reserve(v.size());
    for (const TensorBase& tensor : v) out.push_back(Param<std::optional<T>>::from(tensor));
    return out;
  }
};
template <TensorType T>
struct Param<std::vector<std::optional<T>>> : Param<ArrayRef<std::optional<T>>> {};
template <TensorType T>
struct Param<std::vector<T>> {
  using Canonical = ArrayRef<TensorBase>;
  static std::vector<T> from(ArrayRef<TensorBase> v) {
    const T* first = static_cast<const T*>(v.data());
    return {first, first + v.size()};
  }
};
// A list of lists of tensors that have methods: vectors of these are another type than vectors of those that have none.
template <TensorType T>
requires(!std::is_same_v<T, TensorBase>) struct Param<ArrayRef<std::vector<T>>> {
  using Canonical = ArrayRef<std::vector<TensorBase>>;
  static std::vector<std::vector<T>> from(ArrayRef<std::vector<TensorBase>> v) {
    std::vector<std::vector<T>> out;
    out.reserve(v.size());
    for (const std::vector<TensorBase>& list : v) out.push_back(Param<std::vector<T>>::from(list));
    return out;
  }
};
template <TensorType T>
requires(!std::is_same_v<T, TensorBase>) struct Param<std::vector<std::vector<T>>> : Param<ArrayRef<std::vector<T>>> {
};
template <typename T>
requires(!TensorType<T>) struct Param<std::vector<T>> {
  using Canonical = ArrayRef<T>;
  static std::vector<T> from(ArrayRef<T> v) { return v.vec(); }
};
// A tuple of elements of one type is a list of them.
template <typename T, std::same_as<T>... More>
struct Param<std::vector<std::tuple<T, More...>>> {
  using Canonical = ArrayRef<std::vector<T>>;
  static std::vector<std::tuple<T, More...>> from(Canonical v) {
    std::vector<std::tuple<T, More...>> out;
    out.reserve(v.size());
    for (const std::vector<T>& list : v) out.push_back(tuple_of(list, std::index_sequence_for<T, More...>()));
    return out;
  }

 private:
  template <std::size_t... I>
  static std::tuple<T, More...> tuple_of(const std::vector<T>& list, std::index_sequence<I...>) {
    KEYWAY_CHECK_AS(Type, list.size() == sizeof...(I), "a kernel takes tuples of {} elements, but one of {} is given",
                    sizeof...(I), list.size());
    return {list[I]...};
  }
};
template <>
struct Param<std::string> {
  using Canonical = std::string_view;
  static std::string from(std::string_view v) { return std::string(v); }
};
template <ForeignComplex T>
struct Param<T> {
  using Canonical = complex<typename T::value_type>;
  static T from(Canonical v) { return v; }
};
template <typename T>
requires std::is_same_v<T, Scalar> || std::is_same_v<T, Generator> || std::is_same_v<T, CustomObject>
struct Param<T> {
  using Canonical = const T&;
  static const T& from(const T& v) { return v; }
};
// An object of a registered class. One that is absent is an error, but where it is optional.
template <CustomClassType T>
struct Param<intrusive_ptr<T>> {
  using Canonical = const CustomObject&;
  static intrusive_ptr<T> from(const CustomObject& v) {
    KEYWAY_CHECK_AS(Type, v.defined(), "expected an object of class {}, but got None", class_name_of(typeid(T)));
    return v.to<T>();
  }
};
template <CustomClassType T>
struct Param<std::vector<intrusive_ptr<T>>> {
  using Canonical = ArrayRef<CustomObject>;
  static std::vector<intrusive_ptr<T>> from(Canonical v) {
    std::vector<intrusive_ptr<T>> out;
    out.reserve(v.size());
    for (const CustomObject& object : v) out.push_back(Param<intrusive_ptr<T>>::from(object));
    return out;
  }
};
template <CustomClassType T>
struct Param<ArrayRef<intrusive_ptr<T>>> : Param<std::vector<intrusive_ptr<T>>> {};
// Of what is written otherwise than canonically: std::optional<std::vector<double>>, std::optional<std::string>.
template <typename T>
requires(!TensorType<T> && !std::is_same_v<T, Generator>) struct Param<std::optional<T>> {
  using Value = std::remove_cvref_t<typename Param<T>::Canonical>;
  using Canonical = std::optional<Value>;
  // An ArrayRef of what has to be made refers to a vector.
  using Made = std::remove_cvref_t<decltype(Param<T>::from(std::declval<const Value&>()))>;
  static std::optional<Made> from(const Canonical& v) {
    return v ? std::optional<Made>(Param<T>::from(*v)) : std::nullopt;
  }
};
// A const reference to anything is taken as its value is.
template <typename T>
requires(!TensorType<T>) struct Param<const T&> : Param<T> {
};

// The same for results.
template <typename T>
struct Result {
  static_assert(!std::is_same_v<T, int>, "a kernel returns std::int64_t, not int");
  static_assert(!std::is_same_v<T, float>, "a kernel returns double, not float");
  static_assert(!std::is_same_v<T, std::string_view>, "a kernel returns std::string: what it refers to would be gone");
  using Canonical = T;
};
template <TensorType T>
struct Result<T> {
  using Canonical = TensorBase;
};
template <TensorType T>
struct Result<T&> {
  using Canonical = TensorBase&;
};
template <TensorType T>
struct Result<const T&> {
  using Canonical = TensorBase;
};
template <typename T>
struct Result<std::vector<T>> {
  using Canonical = std::vector<typename Result<T>::Canonical>;
};
template <ForeignComplex T>
struct Result<T> {
  using Canonical = complex<typename T::value_type>;
};
template <CustomClassType T>
struct Result<intrusive_ptr<T>> {
  using Canonical = CustomObject;
};
// An undefined tensor is none.
template <TensorType T>
struct Result<std::optional<T>> {
  using Canonical = TensorBase;
};
template <typename T>
requires(!TensorType<T>) struct Result<std::optional<T>> {
  using Canonical = std::optional<typename Result<T>::Canonical>;
};
template <typename... T>
struct Result<std::tuple<T...>> {
  using Canonical = std::tuple<typename Result<T>::Canonical...>;
};
// One result is itself, and none is none.
template <typename T>
struct Result<std::tuple<T>> : Result<T> {};
template <>
struct Result<std::tuple<>> : Result<void> {};

// An argument that a caller gives as a T, as one that converts to the canonical To. A tensor or generator that is
// absent becomes an undefined one. Lists in which tensors with methods are optional, or stand in lists, are made anew.
template <typename To, typename T>
decltype(auto) as_kernel_arg(std::remove_reference_t<T>& v) {
  using Given = std::remove_cvref_t<T>;
  if constexpr (std::is_convertible_v<T&&, To>) {
    return static_cast<T&&>(v);
  } else if constexpr (kIsOptional<Given> && std::is_same_v<To, const TensorBase&>) {
    return v ? TensorBase(*v) : TensorBase();
  } else if constexpr (kIsOptional<Given> && std::is_same_v<To, const Generator&>) {
    return v ? Generator(*v) : Generator(nullptr);
  } else if constexpr (kIsOptional<Given> && kIsOptional<To>) {
    using Item = const typename Given::value_type&;
    using Made = std::remove_cvref_t<decltype(as_kernel_arg<typename To::value_type, Item>(*v))>;
    return v ? std::optional<Made>(as_kernel_arg<typename To::value_type, Item>(*v)) : std::nullopt;
  } else if constexpr (std::is_same_v<To, ArrayRef<std::vector<TensorBase>>>) {
    std::vector<std::vector<TensorBase>> lists;
    for (const auto& list : v) lists.emplace_back(list.begin(), list.end());
    return lists;
  } else if constexpr (kIsDict<std::remove_cvref_t<To>>) {
    return std::remove_cvref_t<To>(v);  // the same entries
  } else if constexpr (std::is_same_v<To, ArrayRef<CustomObject>>) {
    return std::vector<CustomObject>(v.begin(), v.end());
  } else if constexpr (std::is_same_v<To, ArrayRef<TensorBase>>) {
    std::vector<TensorBase> tensors;
    for (const auto& tensor : v) tensors.push_back(tensor ? TensorBase(*tensor) : TensorBase());
    return tensors;
  } else {
    return static_cast<T&&>(v);
  }
}

template <typename To, typename From>
To convert_result(From&& from) {
  using Given = std::remove_cvref_t<From>;
  if constexpr (kIsTuple<Given> && !kIsTuple<To>) {
    return convert_result<To>(std::get<0>(std::forward<From>(from)));
  } else if constexpr (kIsTuple<To>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return To(convert_result<std::tuple_element_t<I, To>>(std::get<I>(std::forward<From>(from)))...);
    }
    (std::make_index_sequence<std::tuple_size_v<To>>());
  } else if constexpr (kIsOptional<Given> && kIsOptional<To>) {
    return from ? To(convert_result<typename To::value_type>(*std::forward<From>(from))) : std::nullopt;
  } else if constexpr (kIsOptional<Given>) {
    return from ? To(*std::forward<From>(from)) : To();
  } else if constexpr (std::is_constructible_v<To, From&&>) {
    return To(std::forward<From>(from));
  } else {  // std::vector of Tensor, or of vectors of them
    To out;
    out.reserve(from.size());
    for (auto& element : from) out.push_back(convert_result<typename To::value_type>(std::move(element)));
    return out;
  }
}

// The C++ classes of the objects in what a function takes or returns, in the order of the letters 'o' in its code; null
// for one that takes any.
template <typename T>
struct ObjectTypes {
  static constexpr std::size_t kCount = 0;
  static constexpr const std::type_info** put(const std::type_info** at) { return at; }
};
template <typename T>
struct ObjectTypes<const T&> : ObjectTypes<T> {};
template <typename T>
struct ObjectTypes<std::optional<T>> : ObjectTypes<T> {};
template <typename T>
struct ObjectTypes<std::vector<T>> : ObjectTypes<T> {};
template <typename T>
struct ObjectTypes<ArrayRef<T>> : ObjectTypes<T> {};
template <typename K, typename V>
struct ObjectTypes<Dict<K, V>> : ObjectTypes<V> {};
template <>
struct ObjectTypes<CustomObject> {
  static constexpr std::size_t kCount = 1;
  static constexpr const std::type_info** put(const std::type_info** at) { return *at = nullptr, at + 1; }
};
template <typename T>
struct ObjectTypes<intrusive_ptr<T>> {
  static constexpr std::size_t kCount = 1;
  static constexpr const std::type_info** put(const std::type_info** at) { return *at = &typeid(T), at + 1; }
};
template <typename... T>
struct ObjectTypes<std::tuple<T...>> {
  static constexpr std::size_t kCount = (ObjectTypes<T>::kCount + ... + 0);
  static constexpr const std::type_info** put(const std::type_info** at) {
    ((at = ObjectTypes<T>::put(at)), ...);
    return at;
  }
};

// Those of the arguments of a signature R(A...) and, behind them, of its results.
template <typename Sig>
struct ObjectTypesOf;
template <typename R, typename... A>
struct ObjectTypesOf<R(A...)> {
  using All = ObjectTypes<std::tuple<A..., R>>;
  static constexpr auto kTypes = [] {
    std::array<const std::type_info*, All::kCount> types{};
    All::put(types.data());
    return types;
  }();
};

// The signature of a callable, and whether calling it leaves it as it was.
template <typename T>
struct CallableSignature : CallableSignature<decltype(&T::operator())> {};
template <typename R, typename... A>
struct CallableSignature<R(A...)> {
  using type = R(A...);
  static constexpr bool kConst = true;
};
template <typename R, typename... A>
struct CallableSignature<R (*)(A...)> : CallableSignature<R(A...)> {};
template <typename R, typename... A>
struct CallableSignature<R (*)(A...) noexcept> : CallableSignature<R(A...)> {};
template <typename C, typename R, typename... A>
struct CallableSignature<R (C::*)(A...) const> : CallableSignature<R(A...)> {};
template <typename C, typename R, typename... A>
struct CallableSignature<R (C::*)(A...) const noexcept> : CallableSignature<R(A...)> {};
template <typename C, typename R, typename... A>
struct CallableSignature<R (C::*)(A...)> {
  using type = R(A...);
  static constexpr bool kConst = false;
};
template <typename C, typename R, typename... A>
struct CallableSignature<R (C::*)(A...) noexcept> : CallableSignature<R (C::*)(A...)> {};

// A callable of at most a word (a function pointer, a lambda that captures nothing) stands in its kernel's context:
// nothing is allocated, and the same one registered again gives an equal table.
template <typename F>
inline constexpr bool kFitsInContext = std::is_trivially_copyable_v<F> &&
                                       sizeof(F) <= sizeof(void*) && CallableSignature<F>::kConst;

template <typename F>
decltype(auto) callable_of(const KernelBase& kernel) {
  if constexpr (kFitsInContext<F>) {
    std::array<unsigned char, sizeof(F)> bytes;
    std::memcpy(bytes.data(), &kernel.context, sizeof(F));
    return std::bit_cast<F>(bytes);
  } else {
    return *static_cast<F*>(kernel.context);
  }
}

// A callable of signature R(A...), which may take the key set first, as a kernel.
template <typename F, typename Sig>
struct UserKernel;
template <typename F, typename R, typename... A>
struct UserKernel<F, R(A...)> {
  using Canonical = typename Result<R>::Canonical(typename Param<A>::Canonical...);
  static typename Result<R>::Canonical call(const KernelBase& kernel, DispatchKeySet,
                                            typename Param<A>::Canonical... args) {
    if constexpr (std::is_void_v<typename Result<R>::Canonical>) {
      callable_of<F>(kernel)(Param<A>::from(args)...);
    } else {
      return convert_result<typename Result<R>::Canonical>(callable_of<F>(kernel)(Param<A>::from(args)...));
    }
  }
};
template <typename F, typename R, typename... A>
struct UserKernel<F, R(DispatchKeySet, A...)> {
  using Canonical = typename Result<R>::Canonical(typename Param<A>::Canonical...);
  static typename Result<R>::Canonical call(const KernelBase& kernel, DispatchKeySet keys,
                                            typename Param<A>::Canonical... args) {
    if constexpr (std::is_void_v<typename Result<R>::Canonical>) {
      callable_of<F>(kernel)(keys, Param<A>::from(args)...);
    } else {
      return convert_result<typename Result<R>::Canonical>(callable_of<F>(kernel)(keys, Param<A>::from(args)...));
    }
  }
};

}  // namespace detail

// A kernel to register, with its signature forgotten and remembered by its letters.
struct AnyKernel {
  ErasedKernel kernel{};
  const char* code = "";                         // signature_code; empty for a boxed kernel, which serves any
  std::shared_ptr<void> callable;                // what `kernel.context` points to, if it is counted
  ArrayRef<const std::type_info*> objects = {};  // ObjectTypesOf its signature
};

template <typename F>
AnyKernel make_kernel(F fn) {
  using U = detail::UserKernel<F, typename detail::CallableSignature<F>::type>;
  using Sig = typename U::Canonical;
  const typename Kernel<Sig>::Fn call = &U::call;
  AnyKernel made{{{BoxedAdapter<Sig>::call, nullptr, 0, 0}, reinterpret_cast<void (*)()>(call)},
                 signature_code<Sig>,
                 {},
                 detail::ObjectTypesOf<typename detail::CallableSignature<F>::type>::kTypes};
  if constexpr (detail::kFitsInContext<F>) {
    if constexpr (!std::is_empty_v<F>) std::memcpy(&made.kernel.context, &fn, sizeof(F));
  } else {
    made.callable = std::make_shared<F>(std::move(fn));
    made.kernel.context = made.callable.get();
  }
  return made;
}

// A boxed function as a kernel: for fallbacks, and for operators whose types are not known when it is compiled.
inline AnyKernel make_boxed_kernel(BoxedFn fn, void* context = nullptr) {
  return {{{fn, context, 0, kBoxedOnly}, nullptr}, "", {}};
}

// No kernel: calls go on to the next key. m.impl("op", Fallthrough{}) for one operator, m.fallback(Fallthrough{}) for
// all that have none of their own.
struct Fallthrough {};
inline AnyKernel make_kernel(Fallthrough) { return {{{nullptr, nullptr, 0, kFallthrough}, nullptr}, "", {}}; }

}  // namespace keyway::inline v1
