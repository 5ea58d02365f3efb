#include <keyway/core/base/error.h>
#include <keyway/core/base/shared_library.h>
#include <keyway/dispatch/plugin/library_folder.h>
#include <keyway/onnx/entry_point.h>

namespace keyway::inline v1::onnx {

namespace {

EntryPoint open_library() {
  const std::filesystem::path folder = library_folder();
  KEYWAY_CHECK_AS(NotImplemented, !folder.empty(),
                  "ONNX models need libkeyway_onnx.so, which a program that links the archive cannot open: link "
                  "libkeyway.so");
  const std::string file = (folder / "libkeyway_onnx.so").string();
  const SharedLibrary library(file.c_str());
  KEYWAY_CHECK_AS(NotImplemented, library.problem().empty(), "ONNX models need {}, which cannot be opened: {}", file,
                  library.problem());
  const auto entry_point = reinterpret_cast<const EntryPoint* (*)()>(library.find(kEntryPoint));
  KEYWAY_CHECK_AS(NotImplemented, entry_point != nullptr, "{} is of another version of Keyway: it has no {}", file,
                  kEntryPoint);
  return *entry_point();
}

// Opened once; if that fails, the next call tries again.
const EntryPoint& library() {
  static const EntryPoint entry_point = open_library();
  return entry_point;
}

}  // namespace

Model::~Model() = default;

std::shared_ptr<const Model> load(const std::string& path) { return library().load(path); }
std::shared_ptr<const Model> load_bytes(std::string_view bytes) { return library().load_bytes(bytes, nullptr); }
std::vector<OperatorInfo> operators() { return library().operators(); }

void export_program(const graph::Program& program, const std::string& path, const ExportOptions& options) {
  library().export_program(program, &path, options);
}
std::string export_bytes(const graph::Program& program, const ExportOptions& options) {
  return library().export_program(program, nullptr, options);
}
std::vector<std::string> exportable_operators() { return library().exportable_operators(); }

}  // namespace keyway::inline v1::onnx
