// Programs as ONNX models.
//
//   const graph::Program program = graph::Program::load("model.safetensors");
//   onnx::export_program(program, "model.onnx");
//
// What writes models lies in libkeyway_onnx.so, as what reads them (onnx.h).
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/graph/program.h>

#include <optional>
#include <string>
#include <vector>

namespace keyway::inline v1::onnx {

inline constexpr int kLowestExportedOpset = 18, kHighestExportedOpset = 23;

struct ExportOptions {
  int opset_version = kLowestExportedOpset;
  // Whether the state lies in a file beside the model, of its name with ".data" behind it. By itself: where the state
  // has more than a gigabyte, since a message of protobuf is shorter than two.
  std::optional<bool> external_data = std::nullopt;
  // Of the arguments and results, in their order; those of the program, and "output.0" and so on, if there are none.
  std::vector<std::string> input_names = {}, output_names = {};
};

// Writes the model. Its opset is the one that the options name, its producer "keyway"; the program's dimensions are
// names of sizes, and its state are initializers. Throws keyway::Error: NotImplemented for calls that have no nodes of
// ONNX, which it names with their lines; Value for programs that write to their arguments or their state, and for
// options that do not fit. Throws std::system_error for a file that cannot be written.
KEYWAY_API void export_program(const graph::Program& program, const std::string& path,
                               const ExportOptions& options = {});
// The bytes of the model. Throws also where the options ask for external data.
KEYWAY_API std::string export_bytes(const graph::Program& program, const ExportOptions& options = {});

// The operators that have nodes of ONNX: "add.Tensor". What others call is exported if all of that has.
KEYWAY_API std::vector<std::string> exportable_operators();

}  // namespace keyway::inline v1::onnx
