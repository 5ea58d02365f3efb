#include <keyway/backends/common/plan_cache.h>
#include <keyway/backends/cuda/conv_problem.h>

#include <algorithm>
#include <limits>

namespace keyway::inline v1::cuda {

namespace {

constexpr std::int64_t kMostOfLibraries = std::numeric_limits<std::int32_t>::max();

bool are_small(IntArrayRef numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n <= kMostOfLibraries; });
}

// A first spatial dimension of size 1 where there is only one.
std::array<int, 5> library_sizes(IntArrayRef sizes) {
  std::array<int, 5> all{};
  const std::size_t lead = sizes.size() == 3 ? 1 : 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) all[d < 2 ? d : d + lead] = static_cast<int>(sizes[d]);
  if (lead == 1) all[2] = 1;
  return all;
}
std::array<int, 3> library_list(IntArrayRef list, std::size_t rank, int neutral) {
  std::array<int, 3> all{};
  const std::size_t lead = rank == 1 ? 1 : 0;
  if (lead == 1) all[0] = neutral;
  for (std::size_t d = 0; d < rank; ++d) all[d + lead] = static_cast<int>(list[list.size() == 1 ? 0 : d]);
  return all;
}

bool has_outputs_size(const ConvProblem& problem) {
  for (std::size_t d = 0; d < static_cast<std::size_t>(problem.rank); ++d) {
    const std::int64_t window = std::int64_t{problem.dilation[d]} * (problem.w[2 + d] - 1) + 1;
    const std::int64_t steps = (problem.x[2 + d] + 2 * std::int64_t{problem.padding[d]} - window) / problem.stride[d];
    if (steps + 1 != problem.y[2 + d]) return false;
  }
  return true;
}

}  // namespace

std::size_t ConvProblem::hash() const {
  PlanHash all;
  all.add_all(std::array{static_cast<int>(result), static_cast<int>(dtype), rank, groups});
  for (const auto* sizes : {&x, &w, &y}) all.add_all(*sizes);
  for (const auto* list : {&padding, &stride, &dilation}) all.add_all(*list);
  return all.value();
}

std::optional<ConvProblem> conv_problem(ConvResult result, const TensorBase& x, const TensorBase& w,
                                        const TensorBase& y, IntArrayRef stride, IntArrayRef padding,
                                        IntArrayRef dilation, std::int64_t groups) {
  for (const TensorBase* tensor : {&x, &w, &y}) {
    if (tensor->numel() == 0 || tensor->numel() > kMostOfLibraries) return std::nullopt;
  }
  if (groups > kMostOfLibraries || !are_small(stride) || !are_small(padding) || !are_small(dilation)) {
    return std::nullopt;
  }
  const std::size_t rank = x.sizes().size() - 2;
  ConvProblem problem{result,
                      x.dtype(),
                      static_cast<int>(std::max<std::size_t>(rank, 2)),
                      static_cast<int>(groups),
                      library_sizes(x.sizes()),
                      library_sizes(w.sizes()),
                      library_sizes(y.sizes()),
                      library_list(padding, rank, 0),
                      library_list(stride, rank, 1),
                      library_list(dilation, rank, 1)};
  if (!has_outputs_size(problem)) return std::nullopt;
  return problem;
}

}  // namespace keyway::inline v1::cuda
