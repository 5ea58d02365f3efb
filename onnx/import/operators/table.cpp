#include <keyway/onnx/import/operators/families.h>
#include <keyway/onnx/import/operators/table.h>

#include <map>
#include <utility>

namespace keyway::inline v1::onnx {

namespace {

using Name = std::pair<std::string_view, std::string_view>;

std::multimap<Name, const Operator*> by_name() {
  std::multimap<Name, const Operator*> operators;
  for (const Operator* const op : all_operators()) operators.emplace(Name(op->domain, op->name), op);
  return operators;
}

}  // namespace

int newest_version(std::string_view domain) {
  if (domain.empty()) return 28;
  return domain == "ai.onnx.preview.training" ? 1 : 0;
}

std::vector<const Operator*> all_operators() {
  std::vector<const Operator*> operators;
  for (const Family family :
       {activation_family(), control_family(), conversion_family(), convolution_family(), image_family(),
        indexing_family(), math_family(), matrix_family(), normalization_family(), pooling_family(),
        quantization_family(), random_family(), recurrent_family(), reduction_family(), resize_family(), shape_family(),
        signal_family(), text_family(), training_family()}) {
    for (const Operator& op : family) operators.push_back(&op);
  }
  return operators;
}

const Operator* find_operator(std::string_view domain, std::string_view name, int version) {
  static const std::multimap<Name, const Operator*> operators = by_name();
  const Operator* newest = nullptr;
  const auto [begin, end] = operators.equal_range({domain, name});
  for (auto at = begin; at != end; ++at) {
    const Operator* const op = at->second;
    if (op->since <= version && (newest == nullptr || op->since > newest->since)) newest = op;
  }
  return newest;
}

}  // namespace keyway::inline v1::onnx
