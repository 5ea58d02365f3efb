#include <keyway/core/dtype/default_dtype.h>
#include <keyway/onnx/export/operators/common.h>

#include <map>

namespace keyway::inline v1::onnx::exporter {

namespace {

constexpr Family (*kFamilies[])() = {
    activation_family, comparison_family, convolution_family, creation_family, indexing_family,
    joining_family,    layer_family,      math_family,        matrix_family,   pooling_family,
    reduction_family,  unary_family,      view_family,
};

int kind_of(ScalarType dtype) { return dtype == kBool ? 0 : is_complex(dtype) ? 3 : is_floating_point(dtype) ? 2 : 1; }

struct Part {
  ScalarType dtype;
  int weight;  // 2: of a tensor with dimensions; 1: without; 0: of a number
};
Part part_of(const Call& call, std::string_view name) {
  if (!call.is_tensor(name)) {
    const ScalarType dtype = call.number_dtype(name);
    return {dtype == kDouble ? get_default_dtype() : dtype, 0};
  }
  return {call.dtype_of(name), call.rank(name) > 0 ? 2 : 1};
}

}  // namespace

ScalarType common_dtype(const Call& call, std::string_view a, std::string_view b) {
  Part heavy = part_of(call, a), light = part_of(call, b);
  if (heavy.weight < light.weight) std::swap(heavy, light);
  if (heavy.weight == light.weight) return promote_types(heavy.dtype, light.dtype);
  return kind_of(light.dtype) > kind_of(heavy.dtype) ? light.dtype : heavy.dtype;
}

std::vector<const Mapping*> all_mappings() {
  std::vector<const Mapping*> all;
  for (const auto family : kFamilies) {
    for (const Mapping& mapping : family()) all.push_back(&mapping);
  }
  return all;
}

const Mapping* find_mapping(const OperatorEntry& op) {
  static const std::map<std::string_view, const Mapping*> by_name = [] {
    std::map<std::string_view, const Mapping*> names;
    for (const Mapping* const mapping : all_mappings()) names.emplace(mapping->op, mapping);
    return names;
  }();
  const std::string name = op.full_name();
  constexpr std::string_view kNamespace = "keyway::";
  if (!name.starts_with(kNamespace)) return nullptr;
  const auto found = by_name.find(std::string_view(name).substr(kNamespace.size()));
  return found == by_name.end() ? nullptr : found->second;
}

}  // namespace keyway::inline v1::onnx::exporter
