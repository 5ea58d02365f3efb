// The emulated cuFFT: transforms by their definition, one dimension after the other. Where the real one would write to
// memory that nobody gave it, or work on another device, it stops the program. KEYWAY_EMULATED_CUFFT=missing takes it
// away (shared_library.h), =broken lets each transform fail.
#include <keyway/core/base/complex.h>
#include <keyway/tests/backends/cuda/emulator/calls.h>
#include <keyway/tests/backends/cuda/emulator/enqueue.h>
#include <keyway/tests/backends/cuda/emulator/keyway/backends/cuda/driver/shared_library.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cufft.h>
#include <functional>
#include <map>
#include <mutex>
#include <numbers>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace keyway;

constexpr std::size_t kPlanSpace = 4096;  // bytes that a plan asks for

struct Plan {
  int device = -1;
  bool allocates = true;
  bool is_locked = false;  // somebody has tried to make it
  cufftType type = CUFFT_C2C;
  std::vector<std::int64_t> sizes;  // empty until it is made
  std::int64_t batch = 0;
  void* workspace = nullptr;
  void* tables = nullptr;  // the plan's own memory
  cudaStream_t stream = nullptr;
};

struct AllPlans {
  std::mutex mutex;
  std::map<cufftHandle, Plan> plans;
  cufftHandle last = 0;
};
AllPlans& all_plans() {
  static AllPlans& all = *new AllPlans;
  return all;
}

cufftResult with_plan(cufftHandle handle, const std::function<cufftResult(Plan&)>& work) {
  const std::lock_guard lock(all_plans().mutex);
  const auto found = all_plans().plans.find(handle);
  return found == all_plans().plans.end() ? CUFFT_INVALID_PLAN : work(found->second);
}

// In place, along the dimension of size n whose neighbours are `inner` apart.
template <typename T>
void transform(complex<T>* data, std::int64_t count, std::int64_t n, std::int64_t inner, int direction) {
  std::vector<complex<double>> line(static_cast<std::size_t>(n));
  for (std::int64_t first = 0; first < count; ++first) {
    if (first / inner % n != 0) continue;
    for (std::int64_t k = 0; k < n; ++k) {
      complex<double> sum;
      for (std::int64_t j = 0; j < n; ++j) {
        const double angle = direction * 2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
        sum += complex<double>(data[first + j * inner]) * complex<double>(std::cos(angle), std::sin(angle));
      }
      line[static_cast<std::size_t>(k)] = sum;
    }
    for (std::int64_t k = 0; k < n; ++k) {
      const complex<double> value = line[static_cast<std::size_t>(k)];
      data[first + k * inner] = {static_cast<T>(value.real()), static_cast<T>(value.imag())};
    }
  }
}

template <typename T>
cufftResult execute(cufftHandle handle, cufftType type, const void* from, void* to, int direction) {
  emulator::count("cufftExec");
  const char* const wish = std::getenv("KEYWAY_EMULATED_CUFFT");
  if (wish != nullptr && std::string_view(wish) == "broken") return CUFFT_EXEC_FAILED;
  return with_plan(handle, [&](const Plan& plan) {
    int device = -1;
    (void)cudaGetDevice(&device);
    if (plan.device != device) emulator::stop("a plan of cuFFT is used where another device is current");
    if (plan.sizes.empty() || plan.type != type || std::abs(direction) != 1) return CUFFT_INVALID_PLAN;
    if (plan.workspace == nullptr) emulator::stop("a transform has no memory to work in");
    for (const void* const address : {from, static_cast<const void*>(to)}) {
      if (address == nullptr || reinterpret_cast<std::uintptr_t>(address) % sizeof(complex<T>) != 0) {
        emulator::stop("an operand of a transform is not aligned");
      }
    }
    emulator::enqueue(plan.stream, [=] {
      std::memset(plan.workspace, 0x5A, kPlanSpace);
      const auto count = std::accumulate(plan.sizes.begin(), plan.sizes.end(), plan.batch, std::multiplies<>());
      auto* const data = static_cast<complex<T>*>(to);
      if (from != to) std::copy_n(static_cast<const complex<T>*>(from), count, data);
      std::int64_t inner = 1;
      for (auto size = plan.sizes.rbegin(); size != plan.sizes.rend(); inner *= *size++) {
        transform(data, count, *size, inner, direction);
      }
    });
    return CUFFT_SUCCESS;
  });
}

}  // namespace

cufftResult cufftCreate(cufftHandle* handle) {
  const std::lock_guard lock(all_plans().mutex);
  *handle = ++all_plans().last;
  (void)cudaGetDevice(&all_plans().plans[*handle].device);
  return CUFFT_SUCCESS;
}
cufftResult cufftDestroy(cufftHandle handle) {
  emulator::count("cufftDestroy");
  const cufftResult known = with_plan(handle, [](const Plan& plan) {
    return cudaFree(plan.tables) == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
  });
  const std::lock_guard lock(all_plans().mutex);
  all_plans().plans.erase(handle);
  return known;
}
cufftResult cufftSetAutoAllocation(cufftHandle handle, int allocates) {
  return with_plan(handle, [&](Plan& plan) {
    plan.allocates = allocates != 0;
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftMakePlanMany64(cufftHandle handle, int rank, long long* sizes, long long* in_sizes, long long,
                                long long, long long* out_sizes, long long, long long, cufftType type, long long batch,
                                std::size_t* workspace) {
  emulator::count("cufftMakePlanMany64");
  return with_plan(handle, [&](Plan& plan) {
    if (plan.allocates) emulator::stop("a plan of cuFFT takes memory of its own");
    if (rank < 1 || rank > 3 || batch < 1 || in_sizes != nullptr || out_sizes != nullptr) return CUFFT_INVALID_VALUE;
    if (std::any_of(sizes, sizes + rank, [](long long size) { return size < 1; })) return CUFFT_INVALID_SIZE;
    if (plan.is_locked) return CUFFT_INVALID_PLAN;
    plan.is_locked = true;
    plan.tables = emulator::take_memory();
    if (plan.tables == nullptr) return CUFFT_ALLOC_FAILED;
    plan.sizes.assign(sizes, sizes + rank);
    plan.type = type;
    plan.batch = batch;
    *workspace = kPlanSpace;
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftSetWorkArea(cufftHandle handle, void* workspace) {
  return with_plan(handle, [&](Plan& plan) {
    plan.workspace = workspace;
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  return with_plan(handle, [&](Plan& plan) {
    plan.stream = stream;
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftExecC2C(cufftHandle handle, cufftComplex* from, cufftComplex* to, int direction) {
  return execute<float>(handle, CUFFT_C2C, from, to, direction);
}
cufftResult cufftExecZ2Z(cufftHandle handle, cufftDoubleComplex* from, cufftDoubleComplex* to, int direction) {
  return execute<double>(handle, CUFFT_Z2Z, from, to, direction);
}

void* keyway::cuda::emulated_cufft(const char* name) {
  const std::pair<std::string_view, void*> all[] = {
#define FUNCTION(name) {#name, reinterpret_cast<void*>(&name)}
      FUNCTION(cufftCreate),         FUNCTION(cufftDestroy),     FUNCTION(cufftSetAutoAllocation),
      FUNCTION(cufftMakePlanMany64), FUNCTION(cufftSetWorkArea), FUNCTION(cufftSetStream),
      FUNCTION(cufftExecC2C),        FUNCTION(cufftExecZ2Z),
#undef FUNCTION
  };
  const auto* const found =
      std::find_if(std::begin(all), std::end(all), [&](const auto& one) { return one.first == name; });
  return found == std::end(all) ? nullptr : found->second;
}
