#include <keyway/onnx/entry_point.h>
#include <keyway/onnx/import/model.h>
#include <keyway/onnx/import/operators/table.h>

#include <filesystem>

namespace keyway::inline v1::onnx {

namespace {

std::shared_ptr<const Model> model_of_bytes(std::string_view bytes, const std::string* folder) {
  return make_model(bytes, ExternalData(folder == nullptr ? std::nullopt : std::optional(*folder)));
}

std::shared_ptr<const Model> model_of_file(const std::string& path) {
  const std::string bytes = ExternalData::read_file(path);
  return make_model(bytes, ExternalData(std::filesystem::path(path).parent_path().string()));
}

std::vector<OperatorInfo> list_operators() {
  std::vector<OperatorInfo> list;
  for (const Operator* const op : all_operators()) {
    list.push_back({std::string(op->domain), std::string(op->name), op->since});
  }
  return list;
}

constexpr EntryPoint kFunctions = {model_of_bytes, model_of_file, list_operators};

}  // namespace

}  // namespace keyway::inline v1::onnx

extern "C" __attribute__((visibility("default"))) const keyway::onnx::EntryPoint* keyway_onnx_entry_point() {
  return &keyway::onnx::kFunctions;
}
