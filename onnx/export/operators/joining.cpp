// Tensors put together, repeated, turned round and padded.
#include <keyway/onnx/export/operators/common.h>

#include <algorithm>
#include <limits>

namespace keyway::inline v1::onnx::exporter {

namespace {

std::vector<Var> same_dtype(const Call& call) {
  std::vector<Var> parts = call.tensors("tensors");
  for (Var& part : parts) part = call.cast(part, call.result_dtype());
  return parts;
}
std::int64_t result_dim(const Call& call) {
  const std::int64_t dim = call.integer("dim");
  return dim < 0 ? dim + call.result_rank() : dim;
}
Vars concatenated(const Call& call) { return call.node("Concat", same_dtype(call), {{"axis", result_dim(call)}}); }
Vars stacked(const Call& call) {
  std::vector<Var> parts = same_dtype(call);
  for (Var& part : parts) part = call.unsqueeze(part, {result_dim(call)});
  return call.node("Concat", parts, {{"axis", result_dim(call)}});
}

Vars repeated(const Call& call) {
  Sizes times = call.sizes(call.word());
  const std::int64_t rank = call.rank("self");
  while (static_cast<std::int64_t>(times.size()) < rank) times.insert(times.begin(), Size{1});
  std::vector<std::int64_t> front;
  for (std::int64_t dim = rank; dim < static_cast<std::int64_t>(times.size()); ++dim) front.push_back(dim - rank);
  return call.node("Tile", {call.unsqueeze(call.tensor("self"), front), call.ints(times)});
}

// Each element some times, one behind the other.
Vars each_repeated(const Call& call) {
  Var x = call.tensor("self");
  std::int64_t rank = call.rank("self"), dim = 0;
  if (call.has("dim")) {
    dim = call.dim("dim");
  } else {
    x = call.node("Reshape", {x, call.ints(std::vector<std::int64_t>{-1})});
    rank = 1;
  }
  Sizes times(static_cast<std::size_t>(rank) + 1, Size{1});
  times[static_cast<std::size_t>(dim) + 1] = call.size("repeats");
  const Var tiled = call.node("Tile", {call.unsqueeze(x, {dim + 1}), call.ints(times)});
  std::vector<Var> sizes;
  for (std::int64_t i = 0; i < rank; ++i)
    sizes.push_back(i == dim ? call.ints(std::vector<std::int64_t>{-1}) : call.size_var("self", i));
  return call.node("Reshape", {tiled, sizes.size() == 1 ? sizes[0] : call.node("Concat", sizes, {{"axis", 0}})});
}

Var reversed(const Call& call, const Var& x, const std::vector<std::int64_t>& dims) {
  if (dims.empty()) return x;
  const std::vector<std::int64_t> last(dims.size(), -1);
  const std::vector<std::int64_t> before(dims.size(), std::numeric_limits<std::int64_t>::min());
  return call.node("Slice", {x, call.ints(last), call.ints(before), call.ints(dims), call.ints(last)});
}
Vars flipped(const Call& call) {
  if (call.word() == "0") return reversed(call, call.tensor("self"), {0});
  if (call.word() == "1") return reversed(call, call.tensor("self"), {1});
  return call.integers("dims").empty() ? Vars(call.tensor("self"))
                                       : reversed(call, call.tensor("self"), call.dims("dims"));
}

Vars rolled(const Call& call) {
  const std::vector<std::int64_t> shifts = call.integers("shifts");
  if (call.integers("dims").empty() && call.rank("self") != 1) call.refuse("no 'dims'");
  const std::vector<std::int64_t> dims = call.dims("dims");
  Var x = call.tensor("self");
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const Size size = call.size_of("self", dims[i]);
    std::int64_t shift = shifts[i];
    if (size.is_fixed()) {
      if (size.number == 0) continue;
      shift = (shift % size.number + size.number) % size.number;
    }
    if (shift == 0) continue;
    const Var cut = call.ints(std::vector{-shift});
    const Var zero = call.ints(std::vector<std::int64_t>{0});
    const Var end = call.ints(std::vector{std::numeric_limits<std::int64_t>::max()});
    x = call.node("Concat", {call.slice(x, dims[i], cut, end), call.slice(x, dims[i], zero, cut)}, {{"axis", dims[i]}});
  }
  return x;
}

// From pairs for dimensions, the last one first, to all begins and then all ends.
Vars padded(const Call& call, std::string_view mode, std::string_view name, const Var& value) {
  const Sizes pairs = call.sizes(name);
  const std::size_t count = pairs.size() / 2;
  if (count == 0) return call.tensor("self");
  Sizes pads(pairs.size());
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < count; ++i) {
    pads[count - 1 - i] = pairs[2 * i];
    pads[2 * count - 1 - i] = pairs[2 * i + 1];
    axes.insert(axes.begin(), call.rank("self") - 1 - static_cast<std::int64_t>(i));
  }
  return call.node("Pad", {call.tensor("self"), call.ints(pads), value, call.ints(axes)}, {{"mode", mode}});
}
Vars padded_by_number(const Call& call) {
  return padded(call, "constant", "pad", call.as("value", call.result_dtype()));
}
Vars padded_by_itself(const Call& call) { return padded(call, call.word(), "padding", {}); }
Vars padded_somehow(const Call& call) {
  const std::string mode = call.text("mode");
  if (mode == "constant") {
    return padded(call, mode, "pad", call.has("value") ? call.as("value", call.result_dtype()) : Var());
  }
  if (mode == "circular" && call.opset() < 19) call.refuse("mode 'circular' needs opset 19");
  return padded(call, mode == "replicate" ? "edge" : mode == "circular" ? "wrap" : "reflect", "pad", {});
}

Vars shuffled(const Call& call) {
  if (call.rank("self") != 4) call.refuse("an input that has not 4 dimensions");
  return call.node("DepthToSpace", {call.tensor("self")},
                   {{"blocksize", call.integer("upscale_factor")}, {"mode", "CRD"}});
}

Vars images_of_columns(const Call& call) {
  if (call.rank("self") != 3) call.refuse("an input that has not 3 dimensions");
  std::vector<std::int64_t> pads = call.pair("padding");
  pads.insert(pads.end(), {pads[0], pads[1]});
  return call.node("Col2Im",
                   {call.tensor("self"), call.ints(call.sizes("output_size")), call.ints(call.pair("kernel_size"))},
                   {{"dilations", call.pair("dilation")}, {"pads", pads}, {"strides", call.pair("stride")}});
}

constexpr Mapping kJoining[] = {
    {"cat", concatenated},
    {"col2im", images_of_columns},
    {"constant_pad_nd", padded_by_number},
    {"flip", flipped},
    {"fliplr", flipped, "1"},
    {"flipud", flipped, "0"},
    {"pad", padded_somehow},
    {"pixel_shuffle", shuffled},
    {"reflection_pad1d", padded_by_itself, "reflect"},
    {"reflection_pad2d", padded_by_itself, "reflect"},
    {"reflection_pad3d", padded_by_itself, "reflect"},
    {"repeat", repeated, "repeats"},
    {"repeat_interleave.self_int", each_repeated},
    {"replication_pad1d", padded_by_itself, "edge"},
    {"replication_pad2d", padded_by_itself, "edge"},
    {"replication_pad3d", padded_by_itself, "edge"},
    {"roll", rolled},
    {"stack", stacked},
    {"tile", repeated, "dims"},
};

}  // namespace

Family joining_family() { return kJoining; }

}  // namespace keyway::inline v1::onnx::exporter
