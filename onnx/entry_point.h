// What libkeyway finds in libkeyway_onnx.so. Internal to onnx/.
#pragma once

#include <keyway/onnx/export.h>
#include <keyway/onnx/onnx.h>

namespace keyway::inline v1::onnx {

// The functions of the library.
struct EntryPoint {
  // The bytes of a model; external data is looked for in `folder`, and refused if that is null.
  std::shared_ptr<const Model> (*load_bytes)(std::string_view bytes, const std::string* folder);
  std::shared_ptr<const Model> (*load)(const std::string& path);
  std::vector<OperatorInfo> (*operators)();
  // Without a path the bytes are given, else written.
  std::string (*export_program)(const graph::Program& program, const std::string* path, const ExportOptions& options);
  std::vector<std::string> (*exportable_operators)();
};

// The name of the function that gives it, of type `const EntryPoint* ()`, with C linkage.
inline constexpr const char* kEntryPoint = "keyway_onnx_entry_point";

}  // namespace keyway::inline v1::onnx
