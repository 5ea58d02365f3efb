#include <keyway/codegen/emit/emitter.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

constexpr Emitter kEmitters[] = {
    {"docs/ops/{}.md", emit_docs},
};

}  // namespace

std::span<const Emitter> emitters() { return kEmitters; }

std::vector<OutputFile> emit_all(const std::vector<Family>& families) {
  std::vector<OutputFile> files;
  for (const Family& family : families)
    for (const Emitter& emitter : kEmitters)
      files.push_back({fmt::format(fmt::runtime(emitter.path), family.name), emitter.emit(family)});
  std::ranges::sort(files, {}, &OutputFile::path);
  return files;
}

}  // namespace keyway::inline v1
