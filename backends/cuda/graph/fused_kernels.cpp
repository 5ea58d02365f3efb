#include <keyway/backends/cuda/graph/fused_kernels.h>
#include <keyway/backends/cuda/graph/run_time_compiler.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>

namespace keyway::inline v1::cuda {

namespace {

struct Kept {
  std::string image;                           // what NVRTC made, until it is loaded
  std::string problem;                         // why it makes nothing
  std::shared_ptr<const DriverModule> kernel;  // once it is loaded
};

struct Kernels {
  std::mutex mutex;  // held while one is compiled
  std::map<std::pair<Device, std::string>, Kept, decltype([](const auto& a, const auto& b) {
             const auto key = [](const auto& of) { return std::pair(of.first.index(), std::string_view(of.second)); };
             return key(a) < key(b);
           })>
      all;
};

Kernels& kernels() {
  static Kernels& all = *new Kernels;
  return all;
}

void compile(Kept& kept, const std::string& text, const std::string& architecture) {
  try {
    kept.image = compiled(text, architecture);
  } catch (const Error& error) {
    kept.problem = std::string(error.message());
  }
}

// A dimension: its size, and how far each operand's elements are apart there.
struct Dim {
  std::int64_t size;
  std::vector<std::int64_t> strides;
};

}  // namespace

std::shared_ptr<const DriverModule> fused_kernel(const std::string& text, Device device) {
  KEYWAY_CHECK_AS(NotImplemented, run_time_compiler_problem().empty(), "{}", run_time_compiler_problem());
  const std::lock_guard lock(kernels().mutex);
  Kept& kept = kernels().all[{device, text}];
  if (kept.kernel != nullptr) return kept.kernel;
  if (kept.image.empty() && kept.problem.empty()) compile(kept, text, architecture_for(capability_of(device)));
  if (!kept.problem.empty()) KEYWAY_FAIL(Internal, "{}", kept.problem);
  kept.kernel = std::make_shared<DriverModule>(kept.image, "keyway_fused");
  kept.image.clear();
  return kept.kernel;
}

bool set_geometry(FusedArguments& arguments, const std::vector<TensorBase>& operands) {
  const TensorBase& result = operands.back();
  const std::size_t rank = result.sizes().size();
  std::vector<Dim> dims;
  for (std::size_t d = rank; d-- > 0;) {  // the innermost one first
    if (result.sizes()[d] == 1) continue;
    Dim dim{result.sizes()[d], {}};
    for (const TensorBase& operand : operands) {
      const std::size_t missing = rank - operand.sizes().size();
      const bool is_there = d >= missing && operand.sizes()[d - missing] != 1;
      dim.strides.push_back(is_there ? operand.strides()[d - missing] * static_cast<std::int64_t>(operand.itemsize())
                                     : 0);
    }
    dims.push_back(std::move(dim));
  }
  // In the order in which the result lies in memory.
  std::ranges::stable_sort(dims, {}, [](const Dim& dim) { return dim.strides.back(); });
  std::vector<Dim> merged;
  for (Dim& dim : dims) {
    const bool goes_on = !merged.empty() && std::ranges::equal(merged.back().strides, dim.strides,
                                                               [&](std::int64_t inner, std::int64_t outer) {
                                                                 return inner * merged.back().size == outer;
                                                               });
    if (goes_on) {
      merged.back().size *= dim.size;
    } else {
      merged.push_back(std::move(dim));
    }
  }
  if (merged.size() > FusedArguments::kMaxRank) return false;
  arguments.rank = static_cast<int>(merged.size());
  arguments.numel = 1;
  for (std::size_t d = 0; d < merged.size(); ++d) {
    arguments.sizes[d] = Divisor(static_cast<std::uint32_t>(merged[d].size));
    arguments.numel *= arguments.sizes[d].value;
    std::ranges::copy(merged[d].strides, arguments.strides[d]);
  }
  for (std::size_t k = 0; k < operands.size(); ++k) arguments.data[k] = static_cast<char*>(operands[k].data_ptr());
  return true;
}

}  // namespace keyway::inline v1::cuda
