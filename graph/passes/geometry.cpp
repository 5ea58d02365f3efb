#include <keyway/core/tensor/geometry.h>
#include <keyway/graph/add_call.h>
#include <keyway/graph/node_values.h>
#include <keyway/graph/passes/geometry.h>

#include <algorithm>
#include <numeric>

namespace keyway::inline v1::graph {
namespace {

bool is_contiguous(const TensorInfo& info) {
  return keyway::is_contiguous(IntArrayRef(info.sizes), IntArrayRef(info.strides));
}

ValueId add_contiguous(Graph& graph, ValueId value, const std::string& site) {
  return add_call(graph, "clone", {IValue(value), IValue(MemoryFormat::Contiguous)}, site);
}

// Adds the inverse of one call.
class Inverse {
 public:
  Inverse(Graph& graph, const Node& view, std::size_t number, ValueId base, ValueId part)
      : graph_(graph), view_(view), number_(number), base_(base), part_(part) {}

  std::optional<ValueId> add() {
    const std::string name = view_.op->full_name();
    if (name == "keyway::alias" || name == "keyway::detach") return part_;
    if (name == "keyway::select.int") return add_scatter("select_scatter");
    if (name == "keyway::slice.Tensor") return add_scatter("slice_scatter");
    if (name == "keyway::diagonal") return add_scatter("diagonal_scatter");
    if (name == "keyway::transpose.int") return call("transpose.int", {IValue(part_), argument(1), argument(2)});
    if (name == "keyway::t") return call("t", {IValue(part_)});
    if (name == "keyway::permute") return call("permute", {IValue(part_), IValue(inverse_permutation())});
    if (name == "keyway::view" || name == "keyway::unsqueeze" || name.starts_with("keyway::squeeze"))
      return call("view", {IValue(contiguous()), IValue(info_of(graph_, base_).sizes)});
    if (name == "keyway::unbind.int")
      return call("select_scatter", {IValue(base_), IValue(part_), argument(1), IValue(number())});
    if (name == "keyway::split.Tensor" || name == "keyway::split_with_sizes") return add_split();
    return std::nullopt;
  }

 private:
  std::int64_t number() const { return static_cast<std::int64_t>(number_); }
  const IValue& argument(std::size_t i) const { return view_.arguments[i]; }
  ValueId call(std::string_view op, Stack arguments) { return add_call(graph_, op, std::move(arguments), view_.site); }
  // The view's own arguments, behind the part.
  ValueId add_scatter(std::string_view op) {
    Stack arguments = view_.arguments;
    arguments[0] = IValue(part_);
    arguments.insert(arguments.begin(), IValue(base_));
    return call(op, std::move(arguments));
  }
  ValueId contiguous() {
    return is_contiguous(info_of(graph_, part_)) ? part_ : add_contiguous(graph_, part_, view_.site);
  }
  std::vector<std::int64_t> inverse_permutation() const {
    const std::vector<std::int64_t>& dims = argument(1).to_int_list();
    std::vector<std::int64_t> inverse(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i)
      inverse[dim_index(dims[i], static_cast<std::int64_t>(dims.size()))] = static_cast<std::int64_t>(i);
    return inverse;
  }
  std::optional<ValueId> add_split() {
    std::int64_t begin = 0, end = 0;
    bool exceeds = false;  // in a text, numbers may be any
    if (argument(1).is(ValueTag::Int)) {
      exceeds = __builtin_mul_overflow(number(), argument(1).to_int(), &begin);
    } else {
      const std::vector<std::int64_t>& lengths = argument(1).to_int_list();
      if (number_ >= lengths.size()) return std::nullopt;
      for (std::size_t i = 0; i < number_; ++i) exceeds = __builtin_add_overflow(begin, lengths[i], &begin) || exceeds;
    }
    const std::int64_t dim = argument(2).to_int();
    const std::vector<std::int64_t>& sizes = info_of(graph_, part_).sizes;
    const std::int64_t size = sizes[dim_index(dim, static_cast<std::int64_t>(sizes.size()))];
    exceeds = __builtin_add_overflow(begin, size, &end) || exceeds;
    if (exceeds) return std::nullopt;
    return call("slice_scatter", {IValue(base_), IValue(part_), IValue(dim), IValue(begin), IValue(end)});
  }

  Graph& graph_;
  const Node& view_;
  std::size_t number_;
  ValueId base_, part_;
};

}  // namespace

bool same_geometry(const TensorInfo& a, const TensorInfo& b) {
  return a.sizes == b.sizes && a.strides == b.strides && a.offset == b.offset;
}

std::int64_t reach_of(const TensorInfo& info) {
  return static_cast<std::int64_t>(checked_nbytes(info.sizes, info.strides, info.offset, /*itemsize=*/1));
}

ValueId add_copy(Graph& graph, ValueId value, const TensorInfo& geometry, const std::string& site) {
  if (is_contiguous(geometry)) {
    value = add_contiguous(graph, value, site);
  } else {
    std::vector<std::int64_t> order(geometry.sizes.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::int64_t dim) { return geometry.strides[static_cast<std::size_t>(dim)]; });
    value = add_contiguous(graph, add_call(graph, "permute", {IValue(value), IValue(order)}, site), site);
  }
  return same_geometry(info_of(graph, value), geometry) ? value : add_view(graph, value, geometry, site);
}

ValueId add_row(Graph& graph, ValueId value, const std::string& site) {
  if (!is_contiguous(info_of(graph, value))) value = add_contiguous(graph, value, site);
  if (info_of(graph, value).sizes.size() == 1) return value;
  return add_call(graph, "view", {IValue(value), IValue(std::vector<std::int64_t>{-1})}, site);
}

ValueId add_scattered(Graph& graph, ValueId row, ValueId part, const TensorInfo& geometry, const std::string& site) {
  const ValueId elements = add_row(graph, part, site);
  if (is_contiguous(geometry))
    return add_call(graph, "slice_scatter",
                    {IValue(row), IValue(elements), IValue(0), IValue(geometry.offset), IValue(reach_of(geometry))},
                    site);
  const TensorInfo& all = info_of(graph, row);
  const ValueId numbers = add_call(
      graph, "arange.start_step",
      {IValue(0), IValue(all.sizes[0]), IValue(1), IValue(ScalarType::Long), IValue(), IValue(all.device)}, site);
  const ValueId places = add_row(graph, add_view(graph, numbers, geometry, site), site);
  return add_call(graph, "scatter.src", {IValue(row), IValue(0), IValue(places), IValue(elements)}, site);
}

std::optional<ValueId> add_inverse(Graph& graph, const Node& view, std::size_t number, ValueId base, ValueId part) {
  return Inverse(graph, view, number, base, part).add();
}

}  // namespace keyway::inline v1::graph
