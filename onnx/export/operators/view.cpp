// What gives a tensor other sizes, or a part of it.
#include <keyway/onnx/export/operators/common.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace keyway::inline v1::onnx::exporter {

namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

Var x_of(const Call& call) { return call.tensor("self"); }

Vars with_sizes(const Call& call) { return call.reshaped(x_of(call), call.sizes(call.word())); }

// To the sizes of another tensor.
Vars as_other(const Call& call) { return call.reshape(x_of(call), call.shape(call.tensor("other"))); }

// Some dimensions become those of `middle`.
Var with_middle(const Call& call, std::int64_t begin, std::int64_t end, const std::vector<Var>& middle) {
  std::vector<Var> sizes;
  for (std::int64_t dim = 0; dim < begin; ++dim) sizes.push_back(call.size_var("self", dim));
  sizes.insert(sizes.end(), middle.begin(), middle.end());
  for (std::int64_t dim = end; dim < call.rank("self"); ++dim) sizes.push_back(call.size_var("self", dim));
  const Var all = sizes.size() == 1 ? sizes[0] : call.node("Concat", sizes, {{"axis", 0}});
  return call.node("Reshape", {x_of(call), all});
}

Vars flattened(const Call& call) {
  const std::int64_t rank = call.rank("self");
  const Var rest = call.ints(std::vector<std::int64_t>{-1});
  if (rank == 0 || call.word() == "all") return call.node("Reshape", {x_of(call), rest});
  const std::int64_t begin = call.dim("start_dim"), end = call.dim("end_dim");
  if (begin == end) return x_of(call);
  if (begin <= 1 && end == rank - 1 && !(begin == 0 && end == rank - 1) && call.size_of("self", 0).is_fixed() == false)
    return call.node("Flatten", {x_of(call)}, {{"axis", begin}});
  return with_middle(call, begin, end + 1, {rest});
}
Vars unflattened(const Call& call) {
  const std::int64_t dim = call.dim("dim");
  return with_middle(call, dim, dim + 1, {call.ints(call.sizes("sizes"))});
}

Vars permuted(const Call& call) { return call.transpose(x_of(call), call.dims("dims")); }
Vars exchanged_dims(const Call& call) {
  if (call.rank("self") == 0) return x_of(call);
  return call.transpose(x_of(call), exchanged(call.rank("self"), call.dim("dim0"), call.dim("dim1")));
}
Vars turned(const Call& call) { return call.rank("self") < 2 ? x_of(call) : call.transpose(x_of(call), {1, 0}); }
Vars moved(const Call& call) {
  const std::int64_t rank = call.rank("self");
  const std::vector<std::int64_t> from = call.dims("source"), to = call.dims("destination");
  if (rank == 0) return x_of(call);
  std::vector<std::int64_t> perm(static_cast<std::size_t>(rank), -1);
  for (std::size_t i = 0; i < from.size(); ++i) perm[static_cast<std::size_t>(to[i])] = from[i];
  std::int64_t next = 0;
  for (std::int64_t& dim : perm) {
    if (dim >= 0) continue;
    while (std::ranges::find(from, next) != from.end()) ++next;
    dim = next++;
  }
  return call.transpose(x_of(call), perm);
}

Vars unsqueezed(const Call& call) {
  const std::int64_t dim = call.integer("dim");
  return call.unsqueeze(x_of(call), {dim < 0 ? dim + call.rank("self") + 1 : dim});
}
// Those whose size is 1, which has to be fixed.
Vars squeezed(const Call& call) {
  const std::int64_t rank = call.rank("self");
  std::vector<std::int64_t> dims;
  const std::vector<std::int64_t> asked = call.has("dim") ? call.dims("dim") : call.dims_of("self");
  for (const std::int64_t dim : rank == 0 ? std::vector<std::int64_t>{} : asked) {
    const Size size = call.size_of("self", dim);
    if (size.is_fixed() && size.number == 1) dims.push_back(dim);
  }
  return call.squeeze(x_of(call), dims);
}

Vars expanded_to(const Call& call) {
  Sizes sizes = call.sizes("size");
  for (Size& size : sizes) {
    if (size.is_fixed() && size.number == -1) size.number = 1;
  }
  return call.node("Expand", {x_of(call), call.ints(sizes)});
}
Vars expanded_as(const Call& call) { return call.node("Expand", {x_of(call), call.shape(call.tensor("other"))}); }

Var one_of(const Call& call, const Size& index, std::int64_t dim) {
  return call.node("Gather", {x_of(call), call.squeeze(call.ints(index), {0})}, {{"axis", dim}});
}
Vars selected(const Call& call) { return one_of(call, call.size("index"), call.dim("dim")); }

Vars sliced(const Call& call) {
  const std::int64_t dim = call.dim("dim");
  const Var start = call.has("start") ? call.ints(call.size("start")) : call.ints(std::vector<std::int64_t>{0});
  const Var end = call.has("end") ? call.ints(call.size("end")) : call.ints(std::vector<std::int64_t>{kEnd});
  return call.node("Slice", {x_of(call), start, end, call.ints(std::vector{dim}), call.ints(call.size("step"))});
}
Vars narrowed(const Call& call) {
  const Var start = call.ints(call.size("start"));
  const Size first = call.size("start"), length = call.size("length");
  const Var end = first.is_fixed() && length.is_fixed() && first.number >= 0
                      ? call.ints(std::vector{first.number + length.number})
                      : call.node("Add", {start, call.ints(length)});
  if (first.is_fixed() && first.number < 0) call.refuse("a negative 'start'");
  return call.slice(x_of(call), call.dim("dim"), start, end);
}

// Parts one behind the other.
Vars parts(const Call& call) {
  const std::int64_t dim = call.dim("dim");
  Sizes sizes;
  for (std::size_t i = 0; i < call.results(); ++i) sizes.push_back(call.result_size(dim, i));
  if (std::ranges::any_of(sizes, [](const Size& size) { return size.formula == "?"; }))
    call.refuse("the sizes of the parts are no dimensions");
  return call.nodes("Split", {x_of(call), call.ints(sizes)},
                    std::vector<ScalarType>(call.results(), call.dtype_of("self")), {{"axis", dim}});
}
Vars unbound(const Call& call) {
  Vars results;
  for (std::size_t i = 0; i < call.results(); ++i)
    results.push_back(one_of(call, {static_cast<std::int64_t>(i)}, call.dim("dim")));
  return results;
}

Vars diagonal_kept(const Call& call) {
  return call.node("Trilu", {x_of(call), call.number(call.integer("diagonal"), kLong)},
                   {{"upper", call.word() == "upper"}});
}

Vars real_part(const Call& call) {
  if (is_complex(call.dtype_of("self"))) call.refuse("complex numbers");
  return x_of(call);
}

constexpr Mapping kViews[] = {
    {"_lazy_clone", same},
    {"_to_copy", same},
    {"alias", same},
    {"broadcast_to", expanded_to},
    {"chunk", parts},
    {"clone", same},
    {"contiguous", same},
    {"data", same},
    {"detach", same},
    {"expand", expanded_to},
    {"expand_as", expanded_as},
    {"flatten.using_ints", flattened},
    {"movedim.int", moved},
    {"movedim.intlist", moved},
    {"narrow", narrowed},
    {"permute", permuted},
    {"pin_memory", same},
    {"ravel", flattened, "all"},
    {"real", real_part},
    {"reshape", with_sizes, "shape"},
    {"select.int", selected},
    {"slice.Tensor", sliced},
    {"split.Tensor", parts},
    {"split.sizes", parts},
    {"split_with_sizes", parts},
    {"squeeze", squeezed},
    {"squeeze.dim", squeezed},
    {"squeeze.dims", squeezed},
    {"t", turned},
    {"tensor_split.indices", parts},
    {"tensor_split.sections", parts},
    {"to.device", same},
    {"to.dtype", same},
    {"to.dtype_layout", same},
    {"to.other", same},
    {"transpose.int", exchanged_dims},
    {"tril", diagonal_kept},
    {"triu", diagonal_kept, "upper"},
    {"type_as", same},
    {"unbind.int", unbound},
    {"unflatten.int", unflattened},
    {"unsqueeze", unsqueezed},
    {"view", with_sizes, "size"},
    {"view_as", as_other},
};

}  // namespace

Family view_family() { return kViews; }

}  // namespace keyway::inline v1::onnx::exporter
