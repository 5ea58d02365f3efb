#include <keyway/backends/cuda/graph/kernel_text.h>
#include <keyway/graph/effects.h>

#include <fmt/format.h>
#include <map>
#include <set>

namespace keyway::inline v1::cuda {

using graph::Graph;
using graph::ValueId;

namespace {

std::string_view cpp_type(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Float: return "float";
    case ScalarType::Double: return "double";
    case ScalarType::Half: return "Half";
    case ScalarType::BFloat16: return "BFloat16";
    default: return "bool";
  }
}

// As C++ has it between quotes. Texts are names of modes.
std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += c;
  }
  return all + "\"";
}

// Numbers of the calls as they are written down, one after the other.
class Members {
 public:
  // What the functor of a call is initialised with, between the braces.
  std::string of(const PointwiseCall& call) {
    std::string all;
    for (const PointwiseCall::Member& member : call.members) {
      if (!all.empty()) all += ", ";
      all += one(member, cpp_type(call.dtype));
    }
    return all;
  }

 private:
  std::string one(const PointwiseCall::Member& member, std::string_view type) {
    using Kind = PointwiseCall::Member::Kind;
    if (member.kind == Kind::Text) return fmt::format("argument(std::string_view({}))", quoted(member.text));
    if (member.kind == Kind::None) return fmt::format("argument<{}>(fused::none())", type);
    return fmt::format("{}<{}>(number[{}])", member.is_operand ? "operand" : "argument", type, next_++);
  }

  int next_ = 0;
};

}  // namespace

std::string kernel_text(const Graph& graph, const PointwiseGroup& group) {
  const auto type_of = [&](ValueId id) { return cpp_type(graph.values[graph::index(id)].info.dtype); };
  std::set<std::string_view> families;
  for (const PointwiseCall& call : group.calls) families.insert(call.functor->family);
  std::string text = "#include <keyway/backends/cuda/graph/device/fused_kernel.h>\n";
  for (const std::string_view family : families) text += fmt::format("#include <keyway/ops/functors/{}.h>\n", family);
  text += fmt::format(R"(
using namespace keyway;
using namespace keyway::cuda;

extern "C" __global__ void __launch_bounds__({}) keyway_fused(const __grid_constant__ FusedArguments arguments) {{
  const std::uint32_t element = blockIdx.x * {}u + threadIdx.x;
  if (element >= arguments.numel) return;
  std::int64_t at[{}];
  arguments.locate(element, at);
  const FusedNumber* const number = arguments.numbers;
)",
                      kFusedThreads, kFusedThreads, group.read.size() + group.written.size());
  std::map<ValueId, std::string> names;
  std::size_t operand = 0;
  int variable = 0;
  for (const ValueId id : group.read) {
    const std::string& name = names[id] = fmt::format("x{}", variable++);
    text += fmt::format("  const auto {0} = fused::load<{1}>(arguments.data[{2}] + at[{2}]);\n", name, type_of(id),
                        operand++);
  }
  Members members;
  for (const PointwiseCall& call : group.calls) {
    std::string inputs;
    for (const ValueId id : call.operands) inputs += ", " + names[id];
    const std::string name = fmt::format("x{}", variable++);
    text += fmt::format("  const auto {} = fused::call<{}>({}<{}>{{{}}}{});  // {}\n", name, type_of(call.result),
                        call.functor->name, cpp_type(call.dtype), members.of(call), inputs,
                        call.functor->op.substr(call.functor->op.find("::") + 2));
    names[call.result] = name;
  }
  for (const ValueId id : group.written) {
    text +=
        fmt::format("  fused::store<{1}>(arguments.data[{2}] + at[{2}], {0});\n", names[id], type_of(id), operand++);
  }
  return text + "}\n";
}

}  // namespace keyway::inline v1::cuda
