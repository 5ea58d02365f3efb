// Emitters: pure functions from the model to the text of a file.
#pragma once

#include <keyway/codegen/model/model.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1 {

struct Emitter {
  std::string_view path;  // below the output folder; {} stands for the family's name
  std::string (*emit)(const Family& family);
};

// All of them. A new emitter is a file here and a line in emitter.cpp.
std::span<const Emitter> emitters();

struct OutputFile {
  std::string path;
  std::string text;
};

// Everything that is generated from the families, sorted by path.
std::vector<OutputFile> emit_all(const std::vector<Family>& families);

// emit_docs.cpp: the reference of a family in Markdown.
std::string emit_docs(const Family& family);

}  // namespace keyway::inline v1
