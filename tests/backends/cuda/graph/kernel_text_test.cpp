// Which calls of a graph become one kernel, the text of that, and that NVRTC takes it. Nothing here needs a device.
#include <keyway/backends/cuda/graph/fused_kernels.h>
#include <keyway/backends/cuda/graph/kernel_text.h>
#include <keyway/backends/cuda/graph/run_time_compiler.h>
#include <keyway/keyway.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/error_texts.h>

#include <cstdio>
#include <set>
#include <string>

using namespace keyway;
using namespace keyway::cuda;
using testing::error_of;

namespace {

graph::Graph parsed(const std::string& body) {
  return graph::parse("graph executed(%0: float32[3, 4] on 'cuda:0', %1: float32[4] on 'cuda:0') {\n" + body + "}\n");
}

// The numbers of the nodes of each group.
std::vector<std::vector<std::size_t>> groups_of(const graph::Graph& graph) {
  std::vector<std::vector<std::size_t>> all;
  for (const PointwiseGroup& group : pointwise_groups(graph)) {
    all.emplace_back();
    for (std::size_t i = 0; i < group.calls.size(); ++i) all.back().push_back(group.first + i);
  }
  return all;
}
using Groups = std::vector<std::vector<std::size_t>>;

bool is_of_integers(std::string_view functor) {
  return functor.starts_with("Bitwise") || functor == "Gcd" || functor == "Lcm";
}

bool lacks_nvrtc() {
#if defined(KEYWAY_SANITIZED)
  std::puts("skipped: a sanitizer would look into NVRTC");
  return true;
#endif
  if (run_time_compiler_problem().empty()) return false;
  std::printf("skipped: %s\n", run_time_compiler_problem().c_str());
  return true;
}

const std::string kWave = R"(  %2: float32[3, 4] on 'cuda:0' = keyway::add.Tensor(%0, %1, alpha=2)
  %3: float32[3, 4] on 'cuda:0' = keyway::gelu(%2, approximate='tanh')
  %4: bool[3, 4] on 'cuda:0' = keyway::gt.Tensor(%3, %0)
  %5: float32[3, 4] on 'cuda:0' = keyway::clamp(%3, None, 0.5)
  %6: float32[3, 4] on 'cuda:0' = keyway::where.self(%4, %5, %0)
  %0 = keyway::mul_.Scalar(%0, 3.0)
  return (%6, %3)
)";

}  // namespace

TEST_CASE("pointwise calls that follow one another are one group") {
  CHECK(groups_of(parsed(kWave)) == Groups{{0, 1, 2, 3, 4, 5}});
  // Not across another call, nor another size.
  CHECK(groups_of(parsed(R"(  %2: float32[3, 4] on 'cuda:0' = keyway::sin(%0)
  %3: float32[3, 4] on 'cuda:0' = keyway::exp(%2)
  %4: float32[4] on 'cuda:0' = keyway::sum.dim_IntList(%3, [0])
  %5: float32[4] on 'cuda:0' = keyway::tanh(%4)
  %6: float32[4] on 'cuda:0' = keyway::relu(%5)
  %7: float32[3, 4] on 'cuda:0' = keyway::mul.Tensor(%6, %0)
  return (%7)
)")) == Groups{{0, 1}, {3, 4}});
}

TEST_CASE("a group writes what is needed behind it, and reads what it does not make") {
  const graph::Graph graph = parsed(kWave);
  const PointwiseGroup group = pointwise_groups(graph).front();
  CHECK(group.read == std::vector<graph::ValueId>{0, 1});
  CHECK(group.written == std::vector<graph::ValueId>{3, 6, 0});
}

TEST_CASE("an element that another value of the same memory may change is not read in the same kernel") {
  // %3 is a view of what %0 is written to.
  CHECK(groups_of(parsed(R"(  %2: float32[4, 3] stride [1, 4] on 'cuda:0' in %0 = keyway::t(%0)
  %0 = keyway::mul_.Scalar(%0, 3.0)
  %3: float32[4, 3] on 'cuda:0' = keyway::sin(%2)
  %4: float32[4, 3] on 'cuda:0' = keyway::exp(%3)
  return (%4)
)")) == Groups{{2, 3}});
}

TEST_CASE("calls that convert an operand, or compute in integers, are no part of a kernel") {
  const graph::Graph graph =
      graph::parse(R"(graph executed(%0: float32[4] on 'cuda:0', %1: float64[4] on 'cuda:0', %2: int64[4] on 'cuda:0') {
  %3: float64[4] on 'cuda:0' = keyway::add.Tensor(%0, %1)
  %4: int64[4] on 'cuda:0' = keyway::mul.Tensor(%2, %2)
  %5: float32[4] on 'cuda:0' = keyway::exp(%0)
  return (%3, %4, %5)
}
)");
  CHECK(groups_of(graph).empty());
}

TEST_CASE("a call whose operands do not broadcast to the sizes of its result is no part of a kernel") {
  for (const std::string sizes : {"2", "4", "1, 3", "3"}) {
    INFO(sizes);
    const std::string type = "float32[" + sizes + "] on 'cuda:0'";
    const graph::Graph graph = graph::parse(
        "graph executed(%0: float32[3] on 'cuda:0', %1: float32[1] on 'cuda:0', %2: " + type + ", %3: " + type +
        ") {\n  %2 = keyway::add.out(%0, %1, out=%2)\n  %3 = keyway::mul.out(%0, %1, out=%3)\n  return (%2, %3)\n}\n");
    CHECK(groups_of(graph) == (sizes == "3" ? Groups{{0, 1}} : Groups{}));
  }
}

TEST_CASE("the text of a kernel calls the functors of its calls, one after the other") {
  const graph::Graph graph = parsed(kWave);
  CHECK(kernel_text(graph, pointwise_groups(graph).front()) ==
        R"(#include <keyway/backends/cuda/graph/device/fused_kernel.h>
#include <keyway/ops/functors/activation.h>
#include <keyway/ops/functors/binary.h>
#include <keyway/ops/functors/comparison.h>
#include <keyway/ops/functors/indexing.h>
#include <keyway/ops/functors/pointwise.h>

using namespace keyway;
using namespace keyway::cuda;

extern "C" __global__ void __launch_bounds__(256) keyway_fused(const __grid_constant__ FusedArguments arguments) {
  const std::uint32_t element = blockIdx.x * 256u + threadIdx.x;
  if (element >= arguments.numel) return;
  std::int64_t at[5];
  arguments.locate(element, at);
  const FusedNumber* const number = arguments.numbers;
  const auto x0 = fused::load<float>(arguments.data[0] + at[0]);
  const auto x1 = fused::load<float>(arguments.data[1] + at[1]);
  const auto x2 = fused::call<float>(Add<float>{argument<float>(number[0])}, x0, x1);  // add.Tensor
  const auto x3 = fused::call<float>(Gelu<float>{argument(std::string_view("tanh"))}, x2);  // gelu
  const auto x4 = fused::call<bool>(Gt<float>{}, x3, x0);  // gt.Tensor
  const auto x5 = fused::call<float>(Clamp<float>{argument<float>(fused::none()), argument<float>(number[1])}, x3);  // clamp
  const auto x6 = fused::call<float>(Where<float>{}, x4, x5, x0);  // where.self
  const auto x7 = fused::call<float>(MulScalar<float>{operand<float>(number[2])}, x0);  // mul.Scalar
  fused::store<float>(arguments.data[2] + at[2], x3);
  fused::store<float>(arguments.data[3] + at[3], x6);
  fused::store<float>(arguments.data[4] + at[4], x7);
}
)");
}

TEST_CASE("a device that NVRTC does not know gets the PTX of the newest one below it that it knows") {
  const int known[] = {75, 80, 90, 120};
  CHECK(best_architecture(known, 90) == "sm_90");
  CHECK(best_architecture(known, 89) == "compute_80");
  CHECK(best_architecture(known, 130) == "compute_120");
  CHECK(error_of([&] { best_architecture(known, 61); }) == "NVRTC makes no code for devices of compute capability 6.1");
  if (lacks_nvrtc()) return;
  CHECK(architecture_for(90) == "sm_90");
  CHECK(architecture_for(999).starts_with("compute_1"));
}

TEST_CASE("NVRTC makes machine code of a kernel's text, for each dtype") {
  if (lacks_nvrtc()) return;
  for (const std::string dtype : {"float32", "float64", "float16", "bfloat16"}) {
    INFO(dtype);
    std::string body = "graph executed(%0: float32[3, 4] on 'cuda:0', %1: float32[4] on 'cuda:0') {\n" + kWave + "}\n";
    for (std::size_t at = 0; (at = body.find("float32", at)) != std::string::npos; at += dtype.size())
      body.replace(at, 7, dtype);
    const graph::Graph graph = graph::parse(body);
    const std::string text = kernel_text(graph, pointwise_groups(graph).front());
    const std::string ptx = compiled(text, "compute_90");
    CHECK(ptx.find(".entry keyway_fused(") != std::string::npos);
    CHECK(compiled(text, "sm_90").substr(1, 3) == "ELF");
  }
}

TEST_CASE("a product and a sum of a kernel are rounded one after the other") {
  if (lacks_nvrtc()) return;
  const graph::Graph graph = parsed(R"(  %2: float32[3, 4] on 'cuda:0' = keyway::mul.Tensor(%0, %1)
  %3: float32[3, 4] on 'cuda:0' = keyway::add.Tensor(%2, %1)
  return (%3)
)");
  const std::string ptx = compiled(kernel_text(graph, pointwise_groups(graph).front()), "compute_90");
  CHECK(ptx.find("mul.") != std::string::npos);
  CHECK(ptx.find("fma.") == std::string::npos);
}

TEST_CASE("NVRTC takes every functor that a kernel may call") {
  if (lacks_nvrtc()) return;
  std::set<std::string_view> families;
  for (std::size_t i = 0; i < kFunctorCount; ++i) families.insert(kFunctors[i].family);
  CHECK(kFunctorCount > 100);
  std::string text = "#include <keyway/backends/cuda/graph/device/fused_kernel.h>\n";
  for (const std::string_view family : families)
    text += "#include <keyway/ops/functors/" + std::string(family) + ".h>\n";
  // The body of each call is compiled, for float32 or an integer.
  text += "using namespace keyway;\ntemplate <typename T> __device__ bool takes_all() {\n  bool takes = true;\n";
  for (std::size_t i = 0; i < kFunctorCount; ++i) {
    const std::string name(kFunctors[i].name), dtype = is_of_integers(name) ? "int" : "T";
    const std::string call = "&" + name + "<" + dtype + ">::operator()";
    text += "  if constexpr (requires { " + call + "; }) { const auto of = " + call +
            "; takes = takes && of != nullptr; }\n";
  }
  text += "  return takes;\n}\nextern \"C\" __global__ void all(bool* to) { *to = takes_all<float>();\n";
  CHECK(compiled(text + "}\n", "compute_80").find(".entry all(") != std::string::npos);
}

TEST_CASE("a text that NVRTC does not compile is an error with its log") {
  if (lacks_nvrtc()) return;
  try {
    compiled("extern \"C\" __global__ void f() { nonsense; }", "compute_90");
    FAIL("it is compiled");
  } catch (const Error& error) {
    CHECK(std::string(error.message()).find("\"nonsense\" is undefined") != std::string::npos);
  }
}

TEST_CASE("dimensions that are contiguous for all operands become one, and broadcast ones have no stride") {
  const Tensor x = empty({2, 3, 4}), row = empty({4}), column = empty({3, 1});
  FusedArguments arguments;
  REQUIRE(set_geometry(arguments, {x, x}));
  CHECK((arguments.rank == 1 && arguments.numel == 24 && arguments.strides[0][0] == 4));
  REQUIRE(set_geometry(arguments, {row, column, x}));
  CHECK((arguments.rank == 3 && arguments.sizes[0].value == 4 && arguments.sizes[1].value == 3));
  CHECK((arguments.strides[0][0] == 4 && arguments.strides[1][0] == 0 && arguments.strides[0][1] == 0 &&
         arguments.strides[1][1] == 4 && arguments.strides[2][1] == 0 && arguments.strides[2][2] == 48));
  std::int64_t at[3];
  arguments.locate(17, at);  // [1, 1, 1]
  CHECK((at[0] == 4 && at[1] == 4 && at[2] == 17 * 4));
  // In the order of the result's memory.
  REQUIRE(set_geometry(arguments, {x.transpose(0, 2), x.transpose(0, 2)}));
  CHECK((arguments.rank == 1 && arguments.numel == 24));
  const Tensor deep = empty({2, 2, 2, 2, 2, 2, 2, 2}).transpose(0, 7).transpose(1, 6);
  CHECK_FALSE(set_geometry(arguments, {empty({2, 1, 2, 1, 2, 1, 2, 1}), deep}));
}
