#include <keyway/onnx/entry_point.h>
#include <keyway/onnx/export/export.h>
#include <keyway/onnx/export/operators/table.h>
#include <keyway/onnx/import/model.h>
#include <keyway/onnx/import/operators/table.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

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

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
  if (!file.good()) throw std::system_error(errno, std::generic_category(), path);
}

std::string export_to(const graph::Program& program, const std::string* path, const ExportOptions& options) {
  const std::string data_path = path == nullptr ? "" : *path + ".data";
  exporter::Exported exported =
      exporter::export_model(program, options, std::filesystem::path(data_path).filename().string());
  if (path == nullptr) return std::move(exported.model);
  if (!exported.data.empty()) write_file(data_path, exported.data);
  write_file(*path, exported.model);
  return {};
}

std::vector<std::string> list_exportable() {
  std::vector<std::string> names;
  for (const exporter::Mapping* const mapping : exporter::all_mappings()) names.emplace_back(mapping->op);
  return names;
}

constexpr EntryPoint kFunctions = {model_of_bytes, model_of_file, list_operators, export_to, list_exportable};

}  // namespace

}  // namespace keyway::inline v1::onnx

extern "C" __attribute__((visibility("default"))) const keyway::onnx::EntryPoint* keyway_onnx_entry_point() {
  return &keyway::onnx::kFunctions;
}
