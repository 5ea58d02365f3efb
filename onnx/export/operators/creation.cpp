// Tensors that are made of numbers.
#include <keyway/onnx/export/operators/common.h>
#include <keyway/ops/creation.h>

namespace keyway::inline v1::onnx::exporter {

namespace {

Var value_of(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  if (call.word() == "0" || call.word() == "1") return call.number(call.word() == "1" ? 1 : 0, dtype);
  return call.as(call.word(), dtype);
}
Vars filled(const Call& call) { return call.node("Expand", {value_of(call), call.ints(call.sizes("size"))}); }
Vars filled_like(const Call& call) { return call.node("Expand", {value_of(call), call.shape(call.tensor("self"))}); }
Vars copied(const Call& call) {
  return call.node("Expand", {call.as("src", call.result_dtype()), call.shape(call.tensor("self"))});
}
Vars one_number(const Call& call) { return call.as("s", call.result_dtype()); }

Vars counted(const Call& call) {
  const ScalarType dtype = call.result_dtype();
  const Var start = call.takes("start") ? call.as("start", dtype) : call.number(0, dtype);
  const Var step = call.takes("step") ? call.as("step", dtype) : call.number(1, dtype);
  return call.node("Range", {start, call.as("end", dtype), step});
}
Vars spaced(const Call& call) {
  return call.constant(linspace(call.number("start"), call.number("end"), call.integer("steps"), call.result_dtype()));
}

Vars identity(const Call& call) {
  const Sizes sizes{call.size("n"), call.takes("m") ? call.size("m") : call.size("n")};
  const Var zeros = call.node("Expand", {call.number(0, call.result_dtype()), call.ints(sizes)});
  return call.node("EyeLike", {zeros});
}

constexpr Mapping kCreation[] = {
    {"arange", counted},
    {"arange.start", counted},
    {"arange.start_step", counted},
    {"copy", copied},
    {"empty.memory_format", filled, "0"},
    {"empty_like", filled_like, "0"},
    {"eye", identity},
    {"eye.m", identity},
    {"fill.Scalar", filled_like, "value"},
    {"fill.Tensor", filled_like, "value"},
    {"full", filled, "fill_value"},
    {"full_like", filled_like, "fill_value"},
    {"linspace", spaced},
    {"new_empty", filled, "0"},
    {"new_full", filled, "fill_value"},
    {"new_ones", filled, "1"},
    {"new_zeros", filled, "0"},
    {"ones", filled, "1"},
    {"ones_like", filled_like, "1"},
    {"scalar_tensor", one_number},
    {"zeros", filled, "0"},
    {"zeros_like", filled_like, "0"},
};

}  // namespace

Family creation_family() { return kCreation; }

}  // namespace keyway::inline v1::onnx::exporter
