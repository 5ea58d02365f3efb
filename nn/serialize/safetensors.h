// safetensors: named tensors in a file, in the format that the whole field reads. Loading executes nothing.
//
//   nn::save_safetensors(model->state_dict(), "model.safetensors");
//   model->load_state_dict(nn::load_safetensors("model.safetensors"));
#pragma once

#include <keyway/core/base/macros.h>
#include <keyway/nn/state_dict.h>

#include <map>
#include <string>
#include <string_view>

namespace keyway::inline v1::nn {

using Metadata = std::map<std::string, std::string>;

// Whoever reads `path`, at any time, sees the old file or the whole new one. Tensors of other devices are copied to the
// CPU, one at a time. Throws keyway::Error: a dtype that the format does not have, undefined tensors, errors of the
// system; then the old file is as it was.
KEYWAY_API void save_safetensors(const StateDict& tensors, const std::string& path, const Metadata& metadata = {});

// The bytes of such a file. Throws as save_safetensors does.
KEYWAY_API std::string serialize_safetensors(const StateDict& tensors, const Metadata& metadata = {});

struct SafetensorsOptions {
  // The elements stay in the file until they are read, and what is written to them stays in this process. Whoever
  // makes the file shorter meanwhile ends the process.
  bool map = false;
};

struct SafetensorsFile {
  StateDict tensors;  // on the CPU, in the order of the header
  Metadata metadata;
};

// Throws keyway::Error(Parse) for a file that is not what shared readers agree on: nothing is repaired or skipped.
KEYWAY_API SafetensorsFile read_safetensors(const std::string& path, SafetensorsOptions options = {});
// The same of the bytes of a file; the tensors have copies of theirs.
KEYWAY_API SafetensorsFile deserialize_safetensors(std::string_view bytes);
// Its tensors only.
KEYWAY_API StateDict load_safetensors(const std::string& path, SafetensorsOptions options = {});

}  // namespace keyway::inline v1::nn
