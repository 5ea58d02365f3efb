// The options of a case, by name: what its JSON has, in the types that options classes have.
#pragma once

#include <keyway/core/tensor/reduction.h>
#include <keyway/nn/expanding_array.h>
#include <keyway/nn/modules/conv_padding.h>
#include <keyway/nn/optim/lr_scheduler.h>
#include <keyway/nn/state_dict.h>
#include <keyway/tests/nn/languages/json.h>

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace keyway::inline v1::testing {

// Remembers which names were asked for: the options that C++ has.
class Given {
 public:
  // Requires: `tensors` outlives this. Those that are options stand in it as "<prefix>.<name>".
  Given(Json options, const nn::StateDict& tensors, std::string prefix, Json call = {})
      : options_(std::move(options)), tensors_(tensors), prefix_(std::move(prefix)), call_(std::move(call)) {}

  // Leaves `value` as it is where the case does not have the option.
  template <typename T>
  void read(const std::string& name, T& value) {
    asked_.insert(name);
    if (const Tensor* tensor = tensors_.find(prefix_ + "." + name)) {
      set(value, *tensor);
    } else if (options_.has(name)) {
      set(value, options_[name]);
    }
  }
  // An option that every case has.
  template <typename T>
  T get(const std::string& name) {
    T value = made<T>();
    read(name, value);
    return value;
  }
  std::int64_t integer(const std::string& name) { return get<std::int64_t>(name); }
  double number(const std::string& name) { return get<double>(name); }
  // "none", "mean" or "sum".
  void read_reduction(std::int64_t& value) {
    std::string name;
    read("reduction", name);
    if (name == "none") value = Reduction::None;
    if (name == "sum") value = Reduction::Sum;
  }

  // What the case gives to a module when it is called.
  Given call() const { return Given(call_, tensors_, "call"); }

  const std::set<std::string>& asked() const { return asked_; }
  // What the case has and nobody asked for.
  std::vector<std::string> unknown() const {
    std::vector<std::string> names;
    for (const std::string& name : options_.names()) {
      if (!asked_.contains(name)) names.push_back(name);
    }
    return names;
  }

 private:
  template <typename T>
  static T made() {
    if constexpr (std::is_default_constructible_v<T>) {
      return T();
    } else {
      return T(0);
    }
  }
  static void set(Tensor& value, const Tensor& tensor) { value = tensor; }
  template <typename T>
  static void set(T&, const Tensor&) {
    KEYWAY_CHECK(false, "a tensor is given for an option that is none");
  }
  static void set(Tensor&, const Json&) { KEYWAY_CHECK(false, "an option is a tensor, but something else is given"); }
  static void set(Json& value, const Json& json) { value = json; }
  static void set(double& value, const Json& json) { value = json.number(); }
  static void set(std::int64_t& value, const Json& json) { value = json.integer(); }
  static void set(bool& value, const Json& json) { value = json.flag(); }
  static void set(std::string& value, const Json& json) { value = json.text(); }
  static void set(std::tuple<double, double>& value, const Json& json) { value = {json[0].number(), json[1].number()}; }
  static void set(optim::PerGroup& value, const Json& json) {
    if (!json.is_array()) return void(value = json.number());
    std::vector<double> numbers;
    set(numbers, json);
    value = numbers;
  }
  template <typename T>
  static void set(std::optional<T>& value, const Json& json) {
    if (json.is_null()) return value.reset();
    T present = made<T>();
    set(present, json);
    value = std::move(present);
  }
  // Of several numbers, or of one for all.
  template <typename T, std::size_t N>
  static void set(std::array<T, N>& values, const Json& json) {
    for (std::size_t i = 0; i < N; ++i) set(values[i], json.is_array() ? json[i] : json);
  }
  template <std::size_t N>
  static void set(nn::ExpandingArray<N>& value, const Json& json) {
    std::array<std::int64_t, N> numbers{};
    set(numbers, json);
    value = numbers;
  }
  template <std::size_t N>
  static void set(nn::ExpandingArrayWithOptionalElem<N>& value, const Json& json) {
    std::array<std::optional<std::int64_t>, N> numbers;
    set(numbers, json);
    value = numbers;
  }
  template <std::size_t N>
  static void set(nn::ConvPadding<N>& value, const Json& json) {
    if (json.is_string()) return void(value = json.text());
    nn::ExpandingArray<N> numbers(0);
    set(numbers, json);
    value = numbers;
  }
  template <typename T>
  static void set(std::vector<T>& values, const Json& json) {
    values.resize(json.is_array() ? json.size() : 1);
    for (std::size_t i = 0; i < values.size(); ++i) set(values[i], json.is_array() ? json[i] : json);
  }

  Json options_;
  const nn::StateDict& tensors_;
  std::string prefix_;
  Json call_;
  std::set<std::string> asked_;
};

// Reads one field of an options object under its own name.
#define READ(field) given.read(#field, options.field())

}  // namespace keyway::inline v1::testing
