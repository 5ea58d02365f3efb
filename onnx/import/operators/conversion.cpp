// Constants, and conversions of elements.
#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/one_call.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace keyway::inline v1::onnx {

namespace {

template <typename T>
Slot vector_of(const std::vector<T>& numbers) {
  return tensor(numbers);
}

Results constant(const Call& call) {
  if (call.has_attribute("value")) return {Slot(call.value_attribute("value"))};
  if (call.has_attribute("value_int")) return {scalar_tensor(Scalar(call.attribute("value_int")), kLong)};
  if (call.has_attribute("value_float")) return {scalar_tensor(Scalar(call.single_attribute("value_float")), kFloat)};
  if (call.has_attribute("value_ints")) return {vector_of(call.list_attribute("value_ints"))};
  if (call.has_attribute("value_floats")) return {vector_of(call.singles_attribute("value_floats"))};
  if (call.has_attribute("value_string")) return {Slot(Strings{{}, {call.text_attribute("value_string")}})};
  if (call.has_attribute("value_strings")) {
    std::vector<std::string> texts = call.texts_attribute("value_strings");
    const auto size = static_cast<std::int64_t>(texts.size());
    return {Slot(Strings{{size}, std::move(texts)})};
  }
  call.refuse("a constant needs one of its attributes");
}

// "1.5", "1e-10", as few digits as tell it from its neighbours.
std::string text_of(double number, ScalarType dtype) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "INF" : "-INF";
  std::array<char, 64> digits;
  const auto end = dtype == kDouble
                       ? std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr
                       : std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<float>(number)).ptr;
  return {digits.data(), end};
}

Strings texts_of(const Tensor& x) {
  Strings texts{x.sizes().vec(), {}};
  if (is_integral(x.dtype(), true)) {
    for (const std::int64_t number : integers_in(x)) texts.elements.push_back(std::to_string(number));
    return texts;
  }
  for (const double number : numbers_in(x)) texts.elements.push_back(text_of(number, x.dtype()));
  return texts;
}

double number_of(const Call& call, std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  call.check(error == std::errc() && end == digits.data() + digits.size(), "'{}' is no number", shown(text));
  return number;
}

Tensor numbers_of(const Call& call, const Strings& texts, ScalarType dtype) {
  std::vector<double> numbers;
  for (const std::string& text : texts.elements) numbers.push_back(number_of(call, text));
  return reshape(tensor(numbers), texts.sizes).to(dtype);
}

// Floats that do not fit an integer type are cut off at its ends nowhere: what they become is as with C++.
Results cast_to(const Call& call, std::int64_t type) {
  if (type == kStringType) {
    if (call.is_strings(0)) return {Slot(call.strings(0))};
    if (!call.slot(0).known) Call::refuse_within_capture("texts of a tensor's elements");
    return {Slot(texts_of(call.tensor(0)))};
  }
  const ScalarType dtype = dtype_of_element_type(type);
  if (call.is_strings(0)) return {numbers_of(call, call.strings(0), dtype)};
  if (is_float8(dtype) && call.attribute("saturate", 1) == 0) call.refuse("conversions to {} saturate here", dtype);
  return {call.tensor(0).to(dtype)};
}

Results cast(const Call& call) { return cast_to(call, call.attribute("to")); }

Results cast_like(const Call& call) {
  if (call.is_strings(1)) return cast_to(call, kStringType);
  const ScalarType dtype = call.tensor(1).dtype();
  if (call.is_strings(0)) return {numbers_of(call, call.strings(0), dtype)};
  return {call.tensor(0).to(dtype)};
}

constexpr Operator kConversions[] = {
    {"Cast", 6, cast, 1, "to"},
    {"Cast", 19, cast, 1, "saturate to"},
    {"CastLike", 15, cast_like, 2},
    {"CastLike", 19, cast_like, 2, "saturate"},
    {"Constant", 1, constant, 0, "value"},
    {"Constant", 12, constant, 0, "value value_float value_floats value_int value_ints value_string value_strings"},
};

}  // namespace

Family conversion_family() { return kConversions; }

}  // namespace keyway::inline v1::onnx
