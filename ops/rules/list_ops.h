// Lists in contracts: they compute element by element, and a single value or a list of one stands for all.
// What is absent in a list (None among the tensors of a Tensor?[]) stays absent. Up to six items need no
// allocation.
#pragma once

#include <keyway/core/base/class_kinds.h>
#include <keyway/core/base/small_vector.h>
#include <keyway/core/tensor/tensor_base.h>
#include <keyway/ops/rules/contracts.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace keyway::inline v1 {

namespace detail {
template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<ArrayRef<T>> = true;
template <typename T, std::size_t N>
inline constexpr bool kIsList<SmallVector<T, N>> = true;

[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_lengths(std::size_t a, std::size_t b);
[[noreturn]] KEYWAY_API KEYWAY_COLD void fail_item(std::int64_t index, std::size_t length);
}  // namespace detail

// A list of a contract, for error texts: "[float32, None]".
template <typename T, std::size_t N>
requires(!std::is_same_v<T, std::int64_t>) std::string to_string(const SmallVector<T, N>& list) {
  std::string text = "[";
  for (const T& item : list) {
    if (text.size() > 1) text += ", ";
    if constexpr (detail::kIsOptional<T>) {
      text += item ? FormatArg(*item).str() : std::string("None");
    } else {
      text += FormatArg(item).str();
    }
  }
  return text + "]";
}

namespace lists {

template <typename T>
concept List = keyway::detail::kIsList<T>;

// Length that lists are combined at. Throws keyway::Error if they differ, and none of them is one long.
inline std::size_t common_length(std::size_t a, std::size_t b) {
  if (a != b && a != 1 && b != 1) [[unlikely]]
    keyway::detail::fail_lengths(a, b);
  return a == 1 ? b : a;
}

namespace detail {
template <typename T>
std::size_t length(const T& value) {
  if constexpr (List<T>) {
    return value.size();
  } else {
    return 1;
  }
}
template <typename T>
const auto& item(const T& value, std::size_t i) {
  if constexpr (List<T>) {
    return value[value.size() == 1 ? 0 : i];
  } else {
    return value;
  }
}
template <typename T>
const auto& present(const T& value) {
  if constexpr (keyway::detail::kIsOptional<T>) {
    return *value;
  } else {
    return value;
  }
}
template <typename T>
bool is_present(const T& value) {
  if constexpr (keyway::detail::kIsOptional<T>) {
    return value.has_value();
  } else {
    return true;
  }
}
template <typename... Args>
std::size_t length_of_all(const Args&... args) {
  std::size_t length = 1;
  ((length = common_length(length, detail::length(args))), ...);
  return length;
}
}  // namespace detail

// f of the items of the lists, side by side.
template <typename F, typename... Args>
auto map(F&& f, const Args&... args) {
  constexpr bool optional = (keyway::detail::kIsOptional<std::remove_cvref_t<decltype(detail::item(args, 0))>> || ...);
  using Value = std::remove_cvref_t<decltype(f(detail::present(detail::item(args, 0))...))>;
  SmallVector<std::conditional_t<optional, std::optional<Value>, Value>, 6> out;
  const std::size_t length = detail::length_of_all(args...);
  out.reserve(length);
  for (std::size_t i = 0; i < length; ++i) {
    if ((detail::is_present(detail::item(args, i)) && ...)) {
      out.push_back(f(detail::present(detail::item(args, i))...));
    } else if constexpr (optional) {
      out.push_back(std::nullopt);
    }
  }
  return out;
}

// Whether f is true of all items, side by side: what map and contract::all say, without a list between them.
template <typename F, typename... Args>
bool all(F&& f, const Args&... args) {
  const std::size_t length = detail::length_of_all(args...);
  for (std::size_t i = 0; i < length; ++i) {
    const bool counts = (detail::is_present(detail::item(args, i)) && ...);
    if (counts && !f(detail::present(detail::item(args, i))...)) return false;
  }
  return true;
}

// A method of each tensor of a Tensor[]; of a Tensor?[] the result is absent where the tensor is.
template <typename F>
auto each(ArrayRef<TensorBase> tensors, F&& f) {
  SmallVector<std::remove_cvref_t<decltype(f(tensors[0]))>, 6> out;
  out.reserve(tensors.size());
  for (const TensorBase& tensor : tensors) out.push_back(f(tensor));
  return out;
}
template <typename F>
auto each_defined(ArrayRef<TensorBase> tensors, F&& f) {
  using Value = std::remove_cvref_t<decltype(f(tensors[0]))>;
  SmallVector<std::optional<Value>, 6> out;
  out.reserve(tensors.size());
  for (const TensorBase& tensor : tensors) {
    out.push_back(tensor.defined() ? std::optional<Value>(f(tensor)) : std::nullopt);
  }
  return out;
}

// list[i], and list[begin:end] as Python has them: negative numbers count from the end, a slice is cut to
// what is there.
template <List L>
const auto& at(const L& list, std::int64_t index) {
  const auto length = static_cast<std::int64_t>(list.size());
  if (index < -length || index >= length) [[unlikely]]
    keyway::detail::fail_item(index, list.size());
  return list[static_cast<std::size_t>(index < 0 ? index + length : index)];
}
template <List L>
ArrayRef<typename L::value_type> slice(const L& list, std::int64_t begin, std::int64_t end = INT64_MAX) {
  const auto length = static_cast<std::int64_t>(list.size());
  const auto bound = [length](std::int64_t i) {
    if (i < 0) i = i < -length ? 0 : i + length;
    return i > length ? length : i;
  };
  begin = bound(begin);
  end = bound(end);
  return {list.data() + begin, static_cast<std::size_t>(end > begin ? end - begin : 0)};
}

namespace detail {
// Of integers the checked operation, of others the plain one.
template <auto checked, typename Plain>
struct Arithmetic {
  std::string_view text;
  template <typename X, typename Y>
  auto operator()(const X& x, const Y& y) const {
    if constexpr (std::is_integral_v<X> && std::is_integral_v<Y>) {
      return checked(x, y, text);
    } else {
      return Plain()(x, y);
    }
  }
};
}  // namespace detail

// Operators, element by element. Integers are checked as contract::add and so on are.
template <typename A, typename B>
auto add(const A& a, const B& b, std::string_view text) {
  return map(detail::Arithmetic<contract::add, std::plus<>>{text}, a, b);
}
template <typename A, typename B>
auto sub(const A& a, const B& b, std::string_view text) {
  return map(detail::Arithmetic<contract::sub, std::minus<>>{text}, a, b);
}
template <typename A, typename B>
auto mul(const A& a, const B& b, std::string_view text) {
  return map(detail::Arithmetic<contract::mul, std::multiplies<>>{text}, a, b);
}
template <typename A, typename B>
auto mod(const A& a, const B& b, std::string_view text) {
  return map([&](std::int64_t x, std::int64_t y) { return contract::mod(x, y, text); }, a, b);
}
template <typename A, typename B>
auto div(const A& a, const B& b) {
  return map([](auto x, auto y) { return static_cast<double>(x) / static_cast<double>(y); }, a, b);
}
template <typename A, typename B>
auto equal(const A& a, const B& b) {
  return map(std::equal_to<>(), a, b);
}
template <typename A, typename B>
auto not_equal(const A& a, const B& b) {
  return map(std::not_equal_to<>(), a, b);
}
template <typename A, typename B>
auto less(const A& a, const B& b) {
  return map(std::less<>(), a, b);
}
template <typename A, typename B>
auto less_equal(const A& a, const B& b) {
  return map(std::less_equal<>(), a, b);
}
template <typename A, typename B>
auto greater(const A& a, const B& b) {
  return map(std::greater<>(), a, b);
}
template <typename A, typename B>
auto greater_equal(const A& a, const B& b) {
  return map(std::greater_equal<>(), a, b);
}

}  // namespace lists

}  // namespace keyway::inline v1
