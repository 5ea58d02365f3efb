// Elements by their places.
#include <keyway/onnx/export/operators/common.h>

#include <algorithm>
#include <limits>

namespace keyway::inline v1::onnx::exporter {

namespace {

Vars embedded(const Call& call) { return call.node("Gather", {call.tensor("weight"), call.tensor("indices")}); }

Vars gathered(const Call& call) {
  if (call.rank("self") == 0) call.refuse("a tensor without dimensions");
  return call.node("GatherElements", {call.tensor("self"), call.tensor("index")}, {{"axis", call.dim("dim")}});
}
Vars index_selected(const Call& call) {
  if (call.rank("index") == 0 || call.rank("self") == 0) call.refuse("a tensor without dimensions");
  return call.node("Gather", {call.tensor("self"), call.tensor("index")}, {{"axis", call.dim("dim")}});
}
Vars taken(const Call& call) {
  const Var flat = call.node("Reshape", {call.tensor("self"), call.ints(std::vector<std::int64_t>{-1})});
  return call.node("Gather", {flat, call.tensor("index")});
}

// The part of a source that lies where there are indices.
Var cut_to_index(const Call& call, const Var& source) {
  bool is_alike = true;
  for (std::int64_t dim = 0; dim < call.rank("index"); ++dim) {
    const Size a = call.size_of("index", dim), b = call.size_of("src", dim);
    is_alike = is_alike && a.formula == b.formula && a.formula != "?" && (!a.is_fixed() || a.number == b.number);
  }
  if (is_alike) return source;
  const std::vector<std::int64_t> zeros(static_cast<std::size_t>(call.rank("index")), 0);
  return call.node("Slice", {source, call.ints(zeros), call.shape(call.tensor("index"))});
}
Vars scattered(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  if (call.rank("self") == 0) call.refuse("a tensor without dimensions");
  if (call.has("include_self") && !call.flag("include_self")) call.refuse("'include_self' is false");
  std::string reduce = call.word() == "" ? call.text("reduce") : std::string(call.word());
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"sum", "add"}, {"prod", "mul"}, {"amax", "max"}, {"amin", "min"}, {"multiply", "mul"}};
  for (const auto& [from, to] : kNames) reduce = reduce == from ? to : reduce;
  if (reduce == "mean") call.refuse("a 'reduce' of mean");
  const Var source = call.takes("src")
                         ? cut_to_index(call, call.as("src", dtype))
                         : call.node("Expand", {call.as("value", dtype), call.shape(call.tensor("index"))});
  return call.node("ScatterElements", {call.tensor("self"), call.tensor("index"), source},
                   {{"axis", call.dim("dim")}, {"reduction", std::string_view(reduce)}});
}

// Tensors of indices for some dimensions: these dimensions first, and the places as vectors in the last dimension.
struct Places {
  std::vector<std::int64_t> dims;
  Var indices;
  std::int64_t rank = 0;                 // of the tensors of indices
  std::vector<std::int64_t> perm, back;  // of the tensor, and of the result
  bool moves = false;
};
Places places_of(const Call& call) {
  Places places;
  const std::vector<Var> indices = call.tensors("indices");
  const std::vector<std::int64_t> ranks = call.ranks("indices");
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].name.empty()) continue;
    if (indices[i].dtype == kBool || indices[i].dtype == kByte)
      call.refuse("a mask, which gives as many elements as it has");
    places.dims.push_back(static_cast<std::int64_t>(i));
    places.rank = std::max(places.rank, ranks[i]);
  }
  if (places.dims.empty()) call.refuse("no indices");
  // Sums with zeros let them have one shape.
  Var zeros;
  for (const std::int64_t dim : places.dims) {
    const Var index = call.cast(indices[static_cast<std::size_t>(dim)], kLong);
    const Var its_zeros = call.node("Mul", {index, call.number(0, kLong)});
    zeros = zeros.name.empty() ? its_zeros : call.node("Add", {zeros, its_zeros});
  }
  std::vector<Var> columns;
  for (const std::int64_t dim : places.dims) {
    const Var index = call.cast(indices[static_cast<std::size_t>(dim)], kLong);
    columns.push_back(
        call.unsqueeze(places.dims.size() == 1 ? index : call.node("Add", {index, zeros}), {places.rank}));
  }
  places.indices = columns.size() == 1 ? columns[0] : call.node("Concat", columns, {{"axis", places.rank}});
  places.perm = places.dims;
  for (std::int64_t dim = 0; dim < call.rank("self"); ++dim) {
    if (std::ranges::find(places.dims, dim) == places.dims.end()) places.perm.push_back(dim);
  }
  places.moves = places.perm != call.dims_of("self");
  const std::int64_t first = places.dims.front();
  const bool is_block = places.dims.back() - first == static_cast<std::int64_t>(places.dims.size()) - 1;
  const std::int64_t result_rank = call.rank("self") - static_cast<std::int64_t>(places.dims.size()) + places.rank;
  for (std::int64_t dim = 0; dim < result_rank; ++dim) {  // the dimensions of the indices stand where the first one was
    const std::int64_t front = is_block ? first : 0;
    places.back.push_back(dim < front ? places.rank + dim : dim < front + places.rank ? dim - front : dim);
  }
  return places;
}

Vars indexed(const Call& call) {
  const Places places = places_of(call);
  const Var x = call.tensor("self");
  if (places.dims.size() == 1) {
    const Var index = call.tensors("indices")[static_cast<std::size_t>(places.dims[0])];
    return call.node("Gather", {x, index}, {{"axis", places.dims[0]}});
  }
  const Var y = call.node("GatherND", {places.moves ? call.transpose(x, places.perm) : x, places.indices});
  return places.moves ? call.transpose(y, places.back) : y;
}

std::vector<std::int64_t> inverse(const std::vector<std::int64_t>& perm) {
  std::vector<std::int64_t> inverse(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return inverse;
}

Vars index_written(const Call& call) {
  const Places places = places_of(call);
  Var x = call.tensor("self");
  if (places.moves) x = call.transpose(x, places.perm);
  // The values in the shape that reading at these places gives.
  Var read = call.node("GatherND", {x, places.indices});
  if (places.moves) read = call.transpose(read, places.back);
  Var values = call.node("Expand", {call.as("values", call.result_dtype()), call.shape(read)});
  if (places.moves) values = call.transpose(values, inverse(places.back));
  const char* const reduction = call.flag("accumulate") ? "add" : "none";
  const Var y = call.node("ScatterND", {x, places.indices, values}, {{"reduction", reduction}});
  return places.moves ? call.transpose(y, inverse(places.perm)) : y;
}

Vars largest(const Call& call) {
  if (call.rank("self") == 0) call.refuse("a tensor without dimensions");
  return call.nodes("TopK", {call.tensor("self"), call.ints(call.size("k"))}, {call.result_dtype(), kLong},
                    {{"axis", call.dim("dim")}, {"largest", call.flag("largest")}, {"sorted", call.flag("sorted")}});
}
// Equal elements stay in their order.
Vars sorted(const Call& call) {
  if (call.rank("self") == 0) call.refuse("a tensor without dimensions");
  const Var x = call.tensor("self");
  const std::int64_t dim = call.dim("dim");
  std::vector<Var> results = call.nodes("TopK", {x, call.shape(x, dim)}, {x.dtype, kLong},
                                        {{"axis", dim}, {"largest", call.flag("descending")}, {"sorted", true}});
  if (call.word() == "places") return results[1];
  return results;
}

// A tensor with another part of a dimension: what lies before it, the part, and what lies behind.
Var with_part(const Call& call, const Var& start, const Var& end, const Var& part) {
  const Var x = call.tensor("self");
  const std::int64_t dim = call.dim("dim");
  const Var first = call.ints(std::vector<std::int64_t>{0});
  const Var last = call.ints(std::vector{std::numeric_limits<std::int64_t>::max()});
  const std::vector<Var> parts{call.slice(x, dim, first, start), call.cast(part, x.dtype),
                               call.slice(x, dim, end, last)};
  return call.node("Concat", parts, {{"axis", dim}});
}
Vars with_selected(const Call& call) {
  const std::int64_t index = call.integer("index");
  const std::int64_t end = index == -1 ? std::numeric_limits<std::int64_t>::max() : index + 1;
  const Var part = call.unsqueeze(call.tensor("src"), {call.dim("dim")});
  return with_part(call, call.ints(std::vector{index}), call.ints(std::vector{end}), part);
}
Vars with_slice(const Call& call) {
  if (call.integer("step") != 1) call.refuse("a 'step' other than 1");
  if (call.has("start") && call.has("end") && call.integer("start") > call.integer("end"))
    call.refuse("an empty slice");
  const Var start = call.has("start") ? call.ints(call.size("start")) : call.ints(std::vector<std::int64_t>{0});
  const std::int64_t last = std::numeric_limits<std::int64_t>::max();
  const Var end = call.has("end") ? call.ints(call.size("end")) : call.ints(std::vector{last});
  return with_part(call, start, end, call.tensor("src"));
}

constexpr Mapping kIndexing[] = {
    {"_index", indexed},
    {"_index_put", index_written},
    {"argsort", sorted, "places"},
    {"argsort.stable", sorted, "places"},
    {"embedding", embedded},
    {"gather", gathered},
    {"index_put", index_written},
    {"index_select", index_selected},
    {"scatter.reduce", scattered},
    {"scatter.src", scattered, "none"},
    {"scatter.value", scattered, "none"},
    {"scatter.value_reduce", scattered},
    {"scatter_add", scattered, "add"},
    {"scatter_reduce.two", scattered},
    {"select_scatter", with_selected},
    {"slice_scatter", with_slice},
    {"sort", sorted},
    {"sort.stable", sorted},
    {"take", taken},
    {"topk", largest},
};

}  // namespace

Family indexing_family() { return kIndexing; }

}  // namespace keyway::inline v1::onnx::exporter
