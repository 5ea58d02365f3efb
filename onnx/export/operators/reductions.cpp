// Reductions.
#include <keyway/onnx/export/operators/common.h>

#include <limits>

namespace keyway::inline v1::onnx::exporter {

namespace {

// The dimensions that a call reduces, all of them if it names none, and whether they stay, with the size 1.
struct Reduced {
  std::vector<std::int64_t> dims;
  bool keeps = false;
};
Reduced reduced(const Call& call) {
  const bool keeps = call.has("keepdim") && call.flag("keepdim");
  return {call.has("dim") ? call.dims("dim") : std::vector<std::int64_t>{}, keeps};
}

Var reduce(const Call& call, std::string_view op, const Var& x, const Reduced& how, bool keeps) {
  if (call.rank("self") == 0) return x;
  const Var axes = how.dims.empty() ? Var() : call.ints(how.dims);
  return call.node(op, {x, axes}, {{"keepdims", keeps}});
}
Var reduce(const Call& call, std::string_view op, const Var& x) {
  const Reduced how = reduced(call);
  return reduce(call, op, x, how, how.keeps);
}

// In the dtype of the result.
Vars plain(const Call& call) { return reduce(call, call.word(), call.as("self", call.result_dtype())); }

// How many elements are reduced to one.
Var count_of(const Call& call, ScalarType dtype) {
  std::vector<std::int64_t> dims = reduced(call).dims;
  if (dims.empty()) {
    for (std::int64_t dim = 0; dim < call.rank("self"); ++dim) dims.push_back(dim);
  }
  std::int64_t fixed = 1;
  std::vector<Var> open;
  for (const std::int64_t dim : dims) {
    const Size size = call.size_of("self", dim);
    if (size.is_fixed())
      fixed *= size.number;
    else
      open.push_back(call.squeeze(call.shape(call.tensor("self"), dim), {0}));
  }
  Var count = call.number(fixed, kLong);
  for (const Var& size : open) count = call.node("Mul", {count, size});
  return call.cast(count, dtype);
}

bool has_nothing(const Var& x) { return x.dtype == kBool || !is_floating_point(x.dtype); }

Vars without_nan(const Call& call) {
  const Var x = call.as("self", call.result_dtype());
  if (has_nothing(x)) return reduce(call, "ReduceSum", x);
  const Var is_nan = call.node("IsNaN", {x}, kBool);
  const Var numbers = call.node("Where", {is_nan, call.number(0, x.dtype), x}, x.dtype);
  const Var sum = reduce(call, "ReduceSum", numbers);
  if (call.word() == "sum") return sum;
  return call.node("Div", {sum, reduce(call, "ReduceSum", call.cast(call.node("Not", {is_nan}), x.dtype))});
}

Vars all_or_any(const Call& call) {
  return call.cast(reduce(call, call.word(), call.cast(call.as("self", kBool), kInt)), kBool);
}
Vars count_nonzero_of(const Call& call) { return reduce(call, "ReduceSum", call.cast(call.as("self", kBool), kLong)); }

Var place_of(const Call& call, std::string_view op, const Var& x, bool keeps) {
  const bool is_bool = x.dtype == kBool;
  const Var numbers = is_bool ? call.cast(x, kInt) : x;
  if (call.rank("self") == 0) return call.number(0, kLong);
  if (call.has("dim")) return call.node(op, {numbers}, kLong, {{"axis", call.dim("dim")}, {"keepdims", keeps}});
  const Var flat = call.node("Reshape", {numbers, call.ints(std::vector<std::int64_t>{-1})});
  const Var place = call.node(op, {flat}, kLong, {{"axis", 0}, {"keepdims", false}});
  if (!keeps) return place;
  return call.reshape(place, call.ints(std::vector<std::int64_t>(static_cast<std::size_t>(call.rank("self")), 1)));
}
Vars place(const Call& call) { return place_of(call, call.word(), call.tensor("self"), reduced(call).keeps); }

// The largest or the smallest one, and where it is.
Vars extreme_with_place(const Call& call) {
  const Var x = call.tensor("self");
  const Reduced how = reduced(call);
  const bool is_max = call.word() == "Max";
  return Vars{reduce(call, is_max ? "ReduceMax" : "ReduceMin", x),
              place_of(call, is_max ? "ArgMax" : "ArgMin", x, how.keeps)};
}
Vars both_extremes(const Call& call) {
  const Var x = call.tensor("self");
  return Vars{reduce(call, "ReduceMin", x), reduce(call, "ReduceMax", x)};
}

double correction_of(const Call& call) {
  if (call.has("unbiased")) return call.flag("unbiased") ? 1 : 0;
  return call.has("correction") ? call.real("correction") : 1;
}
Vars spread(const Call& call) {
  const Var x = call.tensor("self");
  const Reduced how = reduced(call);
  if (call.rank("self") == 0) call.refuse("a tensor without dimensions");
  const Var mean = reduce(call, "ReduceMean", x, how, true);
  const Var distance = call.node("Sub", {x, mean});
  const Var sum = reduce(call, "ReduceSum", call.node("Mul", {distance, distance}), how, how.keeps);
  const Var zero = call.number(0, x.dtype);
  Var count = call.node("Sub", {count_of(call, x.dtype), call.number(correction_of(call), x.dtype)});
  count = call.node("Max", {count, zero});
  Var result = call.node("Div", {sum, count});
  if (call.word().starts_with("std")) result = call.node("Sqrt", {result});
  if (!call.word().ends_with("mean")) return result;
  return Vars{result, reduce(call, "ReduceMean", x, how, how.keeps)};
}

Vars norm(const Call& call) {
  const Var x = call.as("self", call.result_dtype());
  const double order = call.has("ord") ? call.real("ord") : 2;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (call.rank("self") == 0) return call.node("Abs", {x});
  if (order == 2) return reduce(call, "ReduceL2", x);
  if (order == 1) return reduce(call, "ReduceL1", x);
  const Var size = call.node("Abs", {x});
  if (order == kInfinity) return reduce(call, "ReduceMax", size);
  if (order == -kInfinity) return reduce(call, "ReduceMin", size);
  if (order == 0) return reduce(call, "ReduceSum", call.cast(call.cast(x, kBool), x.dtype));
  const Var sum = reduce(call, "ReduceSum", call.node("Pow", {size, call.number(order, x.dtype)}));
  return call.node("Pow", {sum, call.number(1 / order, x.dtype)});
}

Vars cumulative_sum(const Call& call) {
  const Var x = call.as("self", call.result_dtype());
  if (call.rank("self") == 0) return x;
  return call.node("CumSum", {x, call.number(call.dim("dim"), kLong)});
}

constexpr Mapping kReductions[] = {
    {"_euclidean_norm", norm},
    {"all", all_or_any, "ReduceMin"},
    {"all.dim", all_or_any, "ReduceMin"},
    {"all.dims", all_or_any, "ReduceMin"},
    {"amax", plain, "ReduceMax"},
    {"amin", plain, "ReduceMin"},
    {"aminmax", both_extremes},
    {"any", all_or_any, "ReduceMax"},
    {"any.dim", all_or_any, "ReduceMax"},
    {"any.dims", all_or_any, "ReduceMax"},
    {"argmax", place, "ArgMax"},
    {"argmin", place, "ArgMin"},
    {"count_nonzero", count_nonzero_of},
    {"count_nonzero.dim_IntList", count_nonzero_of},
    {"cumsum", cumulative_sum},
    {"linalg_vector_norm", norm},
    {"logsumexp", plain, "ReduceLogSumExp"},
    {"max", plain, "ReduceMax"},
    {"max.dim", extreme_with_place, "Max"},
    {"mean", plain, "ReduceMean"},
    {"mean.dim", plain, "ReduceMean"},
    {"min", plain, "ReduceMin"},
    {"min.dim", extreme_with_place, "Min"},
    {"nanmean", without_nan, "mean"},
    {"nansum", without_nan, "sum"},
    {"prod", plain, "ReduceProd"},
    {"prod.dim_int", plain, "ReduceProd"},
    {"std", spread, "std"},
    {"std.correction", spread, "std"},
    {"std.dim", spread, "std"},
    {"std_mean", spread, "std_mean"},
    {"std_mean.correction", spread, "std_mean"},
    {"std_mean.dim", spread, "std_mean"},
    {"sum", plain, "ReduceSum"},
    {"sum.dim_IntList", plain, "ReduceSum"},
    {"var", spread, "var"},
    {"var.correction", spread, "var"},
    {"var.dim", spread, "var"},
    {"var_mean", spread, "var_mean"},
    {"var_mean.correction", spread, "var_mean"},
    {"var_mean.dim", spread, "var_mean"},
};

}  // namespace

Family reduction_family() { return kReductions; }

}  // namespace keyway::inline v1::onnx::exporter
