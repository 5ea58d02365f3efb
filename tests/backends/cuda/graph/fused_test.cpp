// Pointwise calls that are one kernel give what the calls give, to the last bit.
#include <keyway/tests/backends/cuda/graph/graph_runs.h>
#include <keyway/tests/catch.h>

#include <string>
#include <string_view>
#include <thread>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Runs the program as calls, and as a graph so often that it is replayed; which it says, with its kernels.
void check_fused(const Program& program, const std::function<std::vector<Tensor>(std::int64_t)>& arguments,
                 const std::string& kernels) {
  graph::Executable executable(captured(program, arguments(0)));
  for (std::int64_t seed = 0; seed < 4; ++seed) {
    const std::vector<Tensor> in = arguments(seed), same = arguments(seed);
    const std::vector<Tensor> given = executable.run(in);
    CHECK(are_same(given, program(same)));
    CHECK(are_same(in, same));  // and what was written to
  }
  const std::string how = executable.how();
  INFO(how);
  CHECK(how.starts_with("by the graph backend of cuda, as a CUDA graph of "));
  CHECK(how.ends_with(kernels));
}

bool is_set(const char* variable, std::string_view value) {
  const char* const set = std::getenv(variable);
  return set != nullptr && set == value;
}
bool has_nvrtc() { return !is_set("KEYWAY_EMULATED_NVRTC", "broken") && !is_set("KEYWAY_EMULATED_DRIVER", "11"); }
bool is_fusing() { return has_nvrtc() && !is_set("KEYWAY_CUDA_FUSION", "0"); }

std::vector<Tensor> wave(const std::vector<Tensor>& in) { return {(in[0] * 2 + in[1]).exp()}; }
std::vector<Tensor> two_rows(std::int64_t seed) { return {numbers({40}, seed), numbers({40}, seed + 7)}; }

}  // namespace

TEST_CASE("calls of one kernel round as calls do: functions, modes, numbers, comparisons") {
  if (!has_graphs() || !is_fusing()) return;
  const Program program = [](const std::vector<Tensor>& in) {
    const Tensor x = in[0].mul(3.3).sub(in[1], 0.7), y = gelu(x.tanh(), "tanh").exp().div(in[1].add(2));
    return std::vector<Tensor>{where(y.gt(x), y, gelu(x)), y.sin()};
  };
  check_fused(
      program,
      [](std::int64_t seed) {
        return std::vector<Tensor>{numbers({3, 40}, seed), numbers({3, 40}, seed + 7)};
      },
      ", 11 of them in 1 fused kernels");
}

TEST_CASE("operands of one kernel broadcast, and lie in memory as they do") {
  if (!has_graphs() || !is_fusing()) return;
  const Program program = [](const std::vector<Tensor>& in) {
    const Tensor sum = (in[0] + in[1]) * in[2];
    return std::vector<Tensor>{sum.tanh(), sum.relu()};
  };
  check_fused(
      program,
      [](std::int64_t seed) {
        return std::vector<Tensor>{numbers({4, 3, 5}, seed).transpose(0, 2), numbers({4}, seed + 1),
                                   numbers({5, 1, 1}, seed + 2)};
      },
      ", 4 of them in 1 fused kernels");
}

TEST_CASE("a kernel writes in place, and to a part of a tensor") {
  if (!has_graphs() || !is_fusing()) return;
  const Program program = [](const std::vector<Tensor>& in) {
    Tensor row = in[0].select(0, 1);
    row.mul_(2).add_(in[1]).tanh_();
    return std::vector<Tensor>{row.exp()};
  };
  check_fused(
      program,
      [](std::int64_t seed) {
        return std::vector<Tensor>{numbers({3, 40}, seed), numbers({40}, seed + 7)};
      },
      ", 4 of them in 1 fused kernels");
}

TEST_CASE("a kernel rounds to float16 after each call") {
  if (!has_graphs() || !is_fusing()) return;
  const Program program = [](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{((in[0] * 1.3 + in[1]).exp() * in[0]).tanh()};
  };
  const auto halves = [](std::int64_t seed) {
    return on_cuda(scattered({70}, -9, 9, seed).to(kFloat).div(7.0).to(kHalf));
  };
  check_fused(
      program,
      [&](std::int64_t seed) {
        return std::vector<Tensor>{halves(seed), halves(seed + 5)};
      },
      ", 5 of them in 1 fused kernels");
}

TEST_CASE("a call that resizes its out= tensor is no part of a kernel, nor is one of what it has resized") {
  if (!has_graphs() || !is_fusing()) return;
  for (const std::int64_t elements : {2, 4}) {
    INFO(elements);
    check_fused(
        [elements](const std::vector<Tensor>& in) {
          Tensor sum = empty({elements}, in[0].options()), product = empty({elements}, in[0].options());
          add_out(sum, in[0], in[1]);
          mul_out(product, in[0], in[1]);
          const Tensor all = (sum * product).sin();  // of the size that the graph does not know
          return std::vector<Tensor>{all.sum() + all.amax(), in[0].cos().sum()};
        },
        [](std::int64_t seed) {
          return std::vector<Tensor>{numbers({3}, seed), numbers({3}, seed + 7)};
        },
        " calls");
  }
}

TEST_CASE("a kernel is not launched for a tensor that has other sizes by then than it was made for") {
  if (!has_graphs() || !is_fusing()) return;
  check_fused(
      [](const std::vector<Tensor>& in) {
        Tensor sum = empty({9}, in[0].options()), product = empty({9}, in[0].options());
        add_out(sum, in[0], in[0]);  // which has three elements
        const Tensor first = sum.sum();
        add_out(sum, in[1], in[1]);
        mul_out(product, in[1], in[1]);
        return std::vector<Tensor>{first + sum.sum() + product.sum()};
      },
      [](std::int64_t seed) {
        return std::vector<Tensor>{numbers({3}, seed), numbers({9}, seed + 7)};
      },
      "");
}

TEST_CASE("a thread that has not worked with the device before has kernels made") {
  if (!has_graphs() || !is_fusing()) return;
  const std::vector<Tensor> in = two_rows(1);
  const Program program = [](const std::vector<Tensor>& of) {
    return std::vector<Tensor>{(of[0] * 2 + of[1]).exp().atan()};
  };
  graph::Executable executable(captured(program, in));
  executable.run(in);
  // One that is not ready for modules does not end the making of kernels for all others either.
  std::thread([&] { executable.run(in); }).join();
  CHECK(executable.how().ends_with(", 4 of them in 1 fused kernels"));
  CHECK(are_same(executable.run(in), program(in)));
}

TEST_CASE("calls stay calls where NVRTC makes no kernel of them, and the graph says why") {
  if (!has_graphs() || has_nvrtc()) return;
  check_fused(wave, two_rows,
              is_set("KEYWAY_EMULATED_NVRTC", "broken")
                  ? "; 1 fused kernels are missing: nvrtcCreateProgram failed: NVRTC_ERROR_COMPILATION"
                  : "; 1 fused kernels are missing: the driver is of CUDA 11, which loads no code of NVRTC 12 or 13");
}

TEST_CASE("calls stay calls where fusion is not wanted") {
  if (!has_graphs() || !is_set("KEYWAY_CUDA_FUSION", "0")) return;
  check_fused(wave, two_rows, "as a CUDA graph of 3 calls");
}
