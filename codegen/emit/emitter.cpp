#include <keyway/codegen/emit/emitter.h>

#include <algorithm>
#include <fmt/format.h>

namespace keyway::inline v1 {
namespace {

// Writes the file at the path, where {} stands for the family's name.
template <typename Texts, typename Model>
struct Emitter {
  std::string_view path;
  Texts (*emit)(const Model& model);
};
using WholeEmitter = Emitter<std::string, std::vector<Family>>;  // one file for all families

constexpr Emitter<std::string, Family> kFamilyEmitters[] = {
    {"assembly/wrappers_{}.cpp", emit_wrappers},
    {"backends/cpu/kernels_{}.h", emit_cpu_kernels},
    {"backends/cuda/kernels/kernels_{}.h", emit_cuda_kernels},
    {"autograd/{}.cpp", emit_autograd},
    {"autograd/helpers_{}.h", emit_helpers},
    {"autograd/kernels_{}.h", emit_autograd_kernels},
    {"docs/ops/{}.md", emit_docs},
    {"ops/{}.h", emit_functions},
    {"ops/{}_composites.h", emit_composites},
    {"ops/{}_entries.h", emit_entries},
};

// Several files a family, for what takes long to compile; the second {} of the path is the file's number.
constexpr Emitter<std::vector<std::string>, Family> kShardEmitters[] = {
    {"backends/cpu/loops_{}_{}.cpp", emit_cpu_loops},
    {"backends/cuda/kernels/loops_{}_{}.cu", emit_cuda_loops},
};

constexpr WholeEmitter kWholeEmitters[] = {
    {"assembly/op_list.cpp", emit_op_list},
    {"autograd/helpers.h", emit_all_helpers},
    {"backends/cuda/kernels/register_kernels.cpp", emit_cuda_registrations},
    {"ops/all.h", emit_umbrella},
    {"tests/ops/op_cases.cpp", emit_op_cases},
};

// What libraries out of tree do not have: the methods of Tensor, what contracts need that call operators, functors for
// kernels that are made at run time, and Python's.
constexpr WholeEmitter kKeywayEmitters[] = {
    {"assembly/plans.h", emit_plans},
    {"backends/cuda/graph/functors.cpp", emit_functors},
    {"ops/methods.h", emit_methods},
    {"ops/tensor_operators.h", emit_tensor_operators},
    {"tensor.h", emit_tensor},
    {"python/api_names.cpp", emit_python_names},
    {"python/_C/_nn.pyi", emit_python_nn},
    {"python/_C/_operators.pyi", emit_python_functions},
    {"python/return_types.pyi", emit_python_return_types},
};

// All paths and texts, also the empty ones.
std::vector<OutputFile> emit_each(const std::vector<Family>& families) {
  std::vector<OutputFile> files;
  for (const Family& family : families)
    for (const auto& emitter : kFamilyEmitters)
      files.push_back({fmt::format(fmt::runtime(emitter.path), family.name), emitter.emit(family)});
  for (const Family& family : families)
    for (const auto& emitter : kShardEmitters) {
      const std::vector<std::string> shards = emitter.emit(family);
      for (std::size_t i = 0; i < shards.size(); ++i)
        files.push_back({fmt::format(fmt::runtime(emitter.path), family.name, i), shards[i]});
    }
  const bool of_library = !families.front().library.empty();
  for (const WholeEmitter& emitter : kWholeEmitters)
    files.push_back({std::string(emitter.path), emitter.emit(families)});
  for (const WholeEmitter& emitter : kKeywayEmitters)
    if (!of_library) files.push_back({std::string(emitter.path), emitter.emit(families)});
  for (OutputFile& file : files)
    if (of_library) file.path = fmt::format("{}/{}", families.front().library, file.path);
  return files;
}

}  // namespace

std::vector<OutputFile> emit_all(const std::vector<Family>& families) {
  std::vector<OutputFile> files = emit_each(families);
  std::erase_if(files, [](const OutputFile& file) { return file.text.empty(); });
  std::ranges::sort(files, {}, &OutputFile::path);
  return files;
}

}  // namespace keyway::inline v1
