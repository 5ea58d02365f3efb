#include <keyway/autograd/variable.h>
#include <keyway/core/dtype/visit_dtype.h>
#include <keyway/ops/all.h>
#include <keyway/tools/keyway/fuzz/value.h>

#include <cstring>
#include <fmt/format.h>

namespace keyway::inline v1::tools {

namespace {

// A number as an element of any type: what a type cannot hold becomes its nearest end.
template <typename T>
T element_of(const Scalar& number) {
  T result{};
  if (number.try_to(result)) return result;
  const bool negative = !number.is_complex() && number.to<double>() < 0;
  if constexpr (std::integral<T>) return negative ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  Scalar(negative ? -1.0 : 1.0).try_to(result);
  return result;
}

void fill(const TensorBase& storage, const std::vector<Scalar>& elements) {
  if (storage.nbytes() == 0) return;
  std::memset(storage.data_ptr(), 0, storage.nbytes());
  if (elements.empty() || !kCppTypes.contains(storage.dtype())) return;
  visit_dtype<kCppTypes>(storage.dtype(), "fill", [&]<typename T>() {
    if constexpr (kCastTypes.contains(cpp_type_to_scalar_type<T>)) {
      auto* to = static_cast<T*>(storage.data_ptr());
      for (std::int64_t i = 0; i < storage.numel(); ++i) {
        to[i] = element_of<T>(elements[static_cast<std::size_t>(i) % elements.size()]);
      }
    }
  });
}

// Elements that the storage of a tensor of this recipe has.
std::int64_t storage_elements(const TensorRecipe& recipe) {
  std::int64_t last = recipe.offset;
  const DimVector row = contiguous_strides(recipe.sizes);
  for (std::size_t i = 0; i < recipe.sizes.size(); ++i) {
    if (recipe.sizes[i] == 0) return recipe.offset;
    last += (recipe.sizes[i] - 1) * (recipe.strides.empty() ? row[i] : recipe.strides[i]);
  }
  return last + 1;
}

TensorBase make(const TensorRecipe& recipe, DeviceType device) {
  if (!recipe.defined) return {};
  const std::int64_t total = storage_elements(recipe);
  const bool plain = recipe.strides.empty() && recipe.offset == 0;
  const std::int64_t row[] = {total};
  TensorBase tensor = make_tensor(plain ? IntArrayRef(recipe.sizes) : IntArrayRef(row), recipe.dtype, Device(device));
  if (device == DeviceType::CPU) {
    fill(tensor, recipe.elements);
  } else if (device != DeviceType::Meta && kCastTypes.contains(recipe.dtype)) {
    const TensorBase here = make_tensor(tensor.sizes(), recipe.dtype, Device(DeviceType::CPU));
    fill(here, recipe.elements);
    Tensor(tensor).copy_(Tensor(here));
  }
  if (!plain) {
    const DimVector strides = recipe.strides.empty() ? contiguous_strides(recipe.sizes)
                                                     : DimVector(recipe.strides.begin(), recipe.strides.end());
    tensor = make_view(tensor, recipe.sizes, strides, recipe.offset);
  }
  if (recipe.requires_grad && (tensor.is_floating_point() || tensor.is_complex())) {
    autograd::set_requires_grad(tensor, true);
  }
  return tensor;
}

// A tensor that shares memory with `first`.
TensorBase share(const TensorBase& first, Sharing how) {
  if (how == Sharing::Same) return first;
  std::vector<std::int64_t> sizes(first.sizes().begin(), first.sizes().end());
  std::int64_t offset = first.storage_offset();
  if (how == Sharing::Shifted && !sizes.empty() && sizes[0] > 1) {
    --sizes[0];
    offset += first.strides()[0];
  }
  return make_view(first, sizes, first.strides(), offset);
}

std::string list_text(IntArrayRef list) {
  if (list.size() <= 16) return fmt::format("[{}]", fmt::join(list, ", "));
  return fmt::format("[{}, ... {} in all]", fmt::join(list.begin(), list.begin() + 8, ", "), list.size());
}

std::string recipe_text(const TensorRecipe& recipe) {
  if (!recipe.defined) return "undefined";
  switch (recipe.sharing) {
    case Sharing::Same: return "the first tensor";
    case Sharing::View: return "a view of the first tensor";
    case Sharing::Shifted: return "the first tensor, shifted";
    default: break;
  }
  std::string text = fmt::format("{}{}", to_string(recipe.dtype), list_text(recipe.sizes));
  if (!recipe.strides.empty()) text += " strides " + list_text(recipe.strides);
  if (recipe.offset != 0) text += fmt::format(" offset {}", recipe.offset);
  if (recipe.device != DeviceType::CPU) text += fmt::format(" on {}", to_string(recipe.device));
  if (recipe.requires_grad) text += " requires_grad";
  if (recipe.elements.empty()) return text;
  text += " of [";
  for (std::size_t i = 0; i < recipe.elements.size(); ++i) {
    if (i == 8) return text + ", ...]";
    text += (i > 0 ? ", " : "") + to_string(recipe.elements[i]);
  }
  return text + "]";
}

// Printable: other bytes as \x00.
std::string string_text(const std::string& string) {
  std::string text = "'";
  for (const char c : string.substr(0, 40)) {
    text += c >= ' ' && c <= '~' ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text + (string.size() > 40 ? fmt::format("...' ({} bytes)", string.size()) : "'");
}

TensorRecipe recipe_of(const TensorBase& tensor) {
  TensorRecipe recipe;
  recipe.defined = tensor.defined();
  if (!recipe.defined) return recipe;
  recipe.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  recipe.dtype = tensor.dtype();
  visit_dtype<kCppTypes>(tensor.dtype(), "recipe", [&]<typename T>() {
    if constexpr (NumberElement<T>) {
      const auto* from = static_cast<const T*>(tensor.data_ptr());
      for (std::int64_t i = 0; i < tensor.numel(); ++i) recipe.elements.emplace_back(from[i]);
    }
  });
  return recipe;
}

}  // namespace

Value value_of(const IValue& argument) {
  Value value;
  if (argument.is_tensor()) {
    value.kind = Value::Kind::Tensor;
    value.tensors.push_back(recipe_of(argument.to_tensor()));
  } else if (argument.is(ValueTag::TensorList)) {
    value.kind = Value::Kind::Tensors;
    for (const TensorBase& tensor : argument.to_tensor_list()) value.tensors.push_back(recipe_of(tensor));
  } else if (argument.is(ValueTag::TensorListList)) {
    value.kind = Value::Kind::TensorLists;
    for (const std::vector<TensorBase>& list : argument.to_tensor_lists()) {
      value.lengths.push_back(list.size());
      for (const TensorBase& tensor : list) value.tensors.push_back(recipe_of(tensor));
    }
  } else {
    value.plain = argument;
  }
  return value;
}

void add_wrong_tags(std::vector<Value>& values) {
  for (IValue wrong :
       {IValue(), IValue("text"), IValue(1.5), IValue(std::int64_t{3}), IValue(std::vector<std::int64_t>{1, 2})}) {
    values.push_back({.plain = std::move(wrong)});
  }
}

Stack make_stack(const std::vector<Value>& values, DeviceType device) {
  Stack stack;
  TensorBase first;
  const auto tensor_of = [&](const TensorRecipe& recipe) {
    if (recipe.sharing != Sharing::None && first.defined()) return share(first, recipe.sharing);
    const bool moves = device == DeviceType::Meta || recipe.device == DeviceType::CPU;
    TensorBase tensor = make(recipe, moves ? device : recipe.device);
    if (!first.defined()) first = tensor;
    return tensor;
  };
  for (const Value& value : values) {
    switch (value.kind) {
      case Value::Kind::Plain: stack.push_back(value.plain); break;
      case Value::Kind::Tensor: stack.emplace_back(tensor_of(value.tensors[0])); break;
      case Value::Kind::Tensors: {
        std::vector<TensorBase> tensors;
        for (const TensorRecipe& recipe : value.tensors) tensors.push_back(tensor_of(recipe));
        stack.emplace_back(std::move(tensors));
        break;
      }
      case Value::Kind::TensorLists: {
        std::vector<std::vector<TensorBase>> lists;
        auto recipe = value.tensors.begin();
        for (const std::size_t length : value.lengths) {
          std::vector<TensorBase>& list = lists.emplace_back();
          while (list.size() < length) list.push_back(tensor_of(*recipe++));
        }
        stack.emplace_back(std::move(lists));
      }
    }
  }
  return stack;
}

std::string to_text(const Value& value) {
  if (value.kind == Value::Kind::Tensor) return recipe_text(value.tensors[0]);
  if (value.kind == Value::Kind::Tensors || value.kind == Value::Kind::TensorLists) {
    std::vector<std::string> texts;
    for (const TensorRecipe& recipe : value.tensors) texts.push_back(recipe_text(recipe));
    const std::string text = fmt::format("[{}]", fmt::join(texts, "; "));
    if (value.kind == Value::Kind::Tensors) return text;
    return fmt::format("{} in lists of {}", text, fmt::join(value.lengths, ", "));
  }
  if (value.plain.is(ValueTag::IntList)) return list_text(value.plain.to_int_list());
  if (value.plain.is(ValueTag::String)) return string_text(value.plain.to_string_ref());
  const std::string text = to_string(value.plain);
  return text.size() <= 200 ? text : text.substr(0, 200) + "...";
}

std::string to_text(const std::string& op, const std::vector<std::string>& names, const std::vector<Value>& values) {
  std::string text = op + "(";
  for (std::size_t i = 0; i < values.size(); ++i) {
    text += (i > 0 ? ", " : "") + names[i] + "=" + to_text(values[i]);
  }
  return text + ")";
}

}  // namespace keyway::inline v1::tools
