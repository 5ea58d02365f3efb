#include <keyway/core/base/error.h>
#include <keyway/graph/effects.h>
#include <keyway/onnx/export/call.h>
#include <keyway/onnx/import/format/element_type.h>
#include <keyway/ops/creation.h>

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace keyway::inline v1::onnx::exporter {

using graph::ValueId;

Call::Call(const Source& source, std::size_t node, const std::vector<Var>& vars, Builder& builder, int opset,
           std::string_view word)
    : source_(source),
      node_(source.graph.nodes[node]),
      number_(node),
      vars_(vars),
      builder_(builder),
      opset_(opset),
      word_(word),
      results_(graph::values_of(node_.op->schema().returns(), node_.results)) {}

void Call::refuse(std::string_view what) const {
  KEYWAY_FAIL(NotImplemented, "ONNX export: {}{}{}: {}", node_.op->short_name(), node_.site.empty() ? "" : ", ",
              node_.site, what);
}

std::size_t Call::place(std::string_view name) const {
  const auto at = node_.op->schema().arguments().find(name);
  if (!at) refuse(fmt::format("there is no argument '{}'", name));
  return *at;
}
const IValue& Call::argument(std::string_view name) const { return node_.arguments[place(name)]; }

bool Call::takes(std::string_view name) const { return node_.op->schema().arguments().find(name).has_value(); }
bool Call::has(std::string_view name) const { return takes(name) && !argument(name).is_none(); }

ValueId Call::value(std::string_view name) const { return argument(name).to_int(); }

Var Call::tensor(std::string_view name) const {
  return argument(name).is_none() ? Var() : vars_[graph::index(value(name))];
}
std::vector<Var> Call::tensors(std::string_view name) const {
  std::vector<Var> list;
  for (const ValueId id : argument(name).to_int_list())
    list.push_back(id == graph::kNoValue ? Var() : vars_[graph::index(id)]);
  return list;
}

Scalar Call::number(std::string_view name) const {
  if (!size(name).is_fixed()) refuse(fmt::format("'{}' follows from a dimension", name));
  return argument(name).to_scalar();
}
bool Call::is_tensor(std::string_view name) const {
  return graph::is_of_tensors(node_.op->schema().arguments()[place(name)].type());
}
ScalarType Call::number_dtype(std::string_view name) const { return argument(name).to_scalar().type(); }
bool Call::flag(std::string_view name) const { return argument(name).to_bool(); }
std::string Call::text(std::string_view name) const { return argument(name).to_string_ref(); }
ScalarType Call::dtype(std::string_view name, ScalarType otherwise) const {
  return has(name) ? argument(name).to_scalar_type() : otherwise;
}

std::vector<double> Call::reals(std::string_view name) const { return argument(name).to_list_of<double>().vec(); }

Size Call::size(std::string_view name) const {
  const auto formula = source_.formulas.find({number_, place(name)});
  const IValue& value = argument(name);
  Size size{value.is(ValueTag::Int) ? value.to_int() : 0};
  if (formula != source_.formulas.end()) size.formula = formula->second.front();
  return size;
}
Sizes Call::sizes(std::string_view name) const {
  const auto formula = source_.formulas.find({number_, place(name)});
  Sizes sizes;
  for (const std::int64_t number : argument(name).to_int_list()) {
    sizes.push_back({number});
    if (formula == source_.formulas.end()) continue;
    const std::string& text = formula->second.at(std::min(sizes.size(), formula->second.size()) - 1);
    if (!names_in(text).empty()) sizes.back().formula = text;
  }
  return sizes;
}

std::int64_t Call::fixed(const Size& size, std::string_view name) const {
  if (!size.is_fixed()) refuse(fmt::format("{} follows from a dimension, and has to be fixed", name));
  return size.number;
}
std::int64_t Call::integer(std::string_view name) const { return fixed(size(name), fmt::format("'{}'", name)); }
std::vector<std::int64_t> Call::integers(std::string_view name) const {
  std::vector<std::int64_t> integers;
  for (const Size& size : sizes(name)) integers.push_back(fixed(size, fmt::format("'{}'", name)));
  return integers;
}

std::int64_t Call::dim(std::string_view name, std::string_view tensor) const {
  const std::int64_t dim = integer(name);
  return dim < 0 ? dim + std::max<std::int64_t>(rank(tensor), 1) : dim;
}
std::vector<std::int64_t> Call::dims(std::string_view name, std::string_view tensor) const {
  std::vector<std::int64_t> dims;
  if (has(name)) {
    dims = argument(name).is(ValueTag::Int) ? std::vector{integer(name)} : integers(name);
  }
  const std::int64_t count = rank(tensor);
  for (std::int64_t& dim : dims) dim += dim < 0 ? std::max<std::int64_t>(count, 1) : 0;
  if (count == 0) return {};
  return dims.empty() ? dims_of(tensor) : dims;
}
std::vector<std::int64_t> Call::dims_of(std::string_view tensor) const {
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank(tensor)));
  std::iota(dims.begin(), dims.end(), std::int64_t{0});
  return dims;
}
std::vector<std::int64_t> Call::spatial(std::string_view name, std::size_t count, std::int64_t otherwise) const {
  std::vector<std::int64_t> integers = this->integers(name);
  if (integers.size() < 2) integers.assign(count, integers.empty() ? otherwise : integers[0]);
  return integers;
}

std::int64_t Call::rank(std::string_view name) const {
  return static_cast<std::int64_t>(source_.sizes[graph::index(value(name))].size());
}
Size Call::size_of_value(ValueId value, std::int64_t dim) const {
  const auto at = static_cast<std::size_t>(dim);
  const std::string& text = source_.sizes[graph::index(value)].at(at);
  Size size{graph::info_of(source_.graph, value).sizes[at]};
  if (text.empty() || !names_in(text).empty()) size.formula = text.empty() ? "?" : text;
  return size;
}
Size Call::size_of(std::string_view name, std::int64_t dim) const { return size_of_value(value(name), dim); }
Var Call::size_var(std::string_view name, std::int64_t dim) const {
  const Size size = size_of(name, dim);
  return size.formula == "?" ? shape(tensor(name), dim) : ints(size);
}
std::int64_t Call::fixed_size_of(std::string_view name, std::int64_t dim) const {
  return fixed(size_of(name, dim), fmt::format("size {} of '{}'", dim, name));
}
std::vector<std::int64_t> Call::ranks(std::string_view name) const {
  std::vector<std::int64_t> ranks;
  for (const ValueId id : argument(name).to_int_list())
    ranks.push_back(id == graph::kNoValue ? 0 : static_cast<std::int64_t>(source_.sizes[graph::index(id)].size()));
  return ranks;
}
std::int64_t Call::fixed_size_of_item(std::string_view name, std::size_t item, std::int64_t dim) const {
  return fixed(size_of_value(argument(name).to_int_list().at(item), dim), fmt::format("a size of '{}'", name));
}
ScalarType Call::dtype_of(std::string_view name) const { return tensor(name).dtype; }

bool Call::is_used(std::size_t result) const {
  return results_.at(result) != graph::kNoValue && source_.is_used[graph::index(results_[result])];
}
ScalarType Call::result_dtype(std::size_t result) const {
  const ValueId id = results_.at(result);
  return id == graph::kNoValue ? ScalarType::Undefined : graph::info_of(source_.graph, id).dtype;
}
std::int64_t Call::result_rank(std::size_t result) const {
  return static_cast<std::int64_t>(source_.sizes[graph::index(results_.at(result))].size());
}
Size Call::result_size(std::int64_t dim, std::size_t result) const { return size_of_value(results_.at(result), dim); }
std::int64_t Call::fixed_result_size(std::int64_t dim, std::size_t result) const {
  return fixed(result_size(dim, result), fmt::format("size {} of the result", dim));
}

Var Call::cast(const Var& var, ScalarType dtype) const {
  if (var.dtype == dtype || var.name.empty()) return var;
  return node("Cast", {var}, dtype, {{"to", element_type_of(dtype)}});
}

Var Call::as(std::string_view name, ScalarType dtype) const {
  if (is_tensor(name)) return cast(tensor(name), dtype);
  const Size its_size = size(name);
  if (its_size.is_fixed()) return number(number(name), dtype);
  return cast(squeeze(ints(its_size), {0}), dtype);
}

Var Call::floats(const std::vector<double>& numbers) const {
  Tensor tensor = empty({static_cast<std::int64_t>(numbers.size())}, kFloat);
  std::ranges::transform(numbers, static_cast<float*>(tensor.mutable_data_ptr()),
                         [](double number) { return static_cast<float>(number); });
  return constant(tensor);
}
Var Call::ints(const Sizes& sizes) const {
  if (std::ranges::all_of(sizes, &Size::is_fixed)) {
    std::vector<std::int64_t> integers;
    for (const Size& size : sizes) integers.push_back(size.number);
    return ints(integers);
  }
  std::vector<Var> parts;
  for (const Size& size : sizes)
    parts.push_back(size.is_fixed() ? ints(std::vector{size.number}) : builder_.formula(size.formula));
  return parts.size() == 1 ? parts[0] : node("Concat", parts, {{"axis", 0}});
}

Var Call::shape(const Var& var, std::int64_t dim) const {
  return node("Shape", {var}, kLong, {{"start", dim}, {"end", dim + 1}});
}
Var Call::reshaped(const Var& var, Sizes sizes) const {
  const auto is_rest = [](const Size& size) { return size.formula == "?" || (size.is_fixed() && size.number == -1); };
  const auto is_zero = [](const Size& size) { return size.is_fixed() && size.number == 0; };
  std::size_t open = 0;
  for (const Size& size : sizes) open += !size.is_fixed() || size.number == -1 ? 1 : 0;
  const bool may_infer = std::ranges::none_of(sizes, is_zero);
  for (Size& size : sizes) {
    if (open == 1 && may_infer && !size.is_fixed()) size = {-1};  // fewer nodes than the formula
    if (size.formula == "?") size = {-1};
  }
  if (std::ranges::count_if(sizes, is_rest) > 1) refuse("several sizes of the result are no dimensions");
  const bool has_rest = std::ranges::any_of(sizes, is_rest);
  if (has_rest && !may_infer) refuse("a size of the result is 0, and another one is left open");
  return has_rest ? node("Reshape", {var, ints(sizes)}) : reshape(var, ints(sizes));
}
Var Call::squeeze(const Var& var, const std::vector<std::int64_t>& dims) const {
  return dims.empty() ? var : node("Squeeze", {var, ints(dims)});
}
Var Call::unsqueeze(const Var& var, const std::vector<std::int64_t>& dims) const {
  return dims.empty() ? var : node("Unsqueeze", {var, ints(dims)});
}
Var Call::slice(const Var& var, std::int64_t dim, const Var& start, const Var& end) const {
  return node("Slice", {var, start, end, ints(std::vector{dim})});
}
Var Call::transpose(const Var& var, const std::vector<std::int64_t>& dims) const {
  return node("Transpose", {var}, {{"perm", dims}});
}

std::vector<std::int64_t> exchanged(std::int64_t rank, std::int64_t a, std::int64_t b) {
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank));
  std::iota(dims.begin(), dims.end(), std::int64_t{0});
  if (rank > 0) std::swap(dims[static_cast<std::size_t>(a)], dims[static_cast<std::size_t>(b)]);
  return dims;
}

}  // namespace keyway::inline v1::onnx::exporter
