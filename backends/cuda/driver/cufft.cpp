#include <keyway/backends/common/plan_cache.h>
#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/cufft.h>
#include <keyway/backends/cuda/driver/toolkit_library.h>
#include <keyway/backends/cuda/driver/with_room.h>
#include <keyway/core/base/error.h>

#include <array>
#include <cufft.h>
#include <fmt/format.h>
#include <memory>
#include <mutex>

namespace keyway::inline v1::cuda {

namespace {

// The functions that are used.
#define KEYWAY_CUFFT_FUNCTIONS(X) \
  X(cufft, Create)                \
  X(cufft, Destroy)               \
  X(cufft, SetAutoAllocation)     \
  X(cufft, MakePlanMany64)        \
  X(cufft, SetWorkArea)           \
  X(cufft, SetStream)             \
  X(cufft, ExecC2C)               \
  X(cufft, ExecZ2Z)

// Under their own names without the prefix.
KEYWAY_LIBRARY_TABLE(Cufft, KEYWAY_CUFFT_FUNCTIONS)

const Cufft& cufft() {
  static const Cufft& all = *new Cufft(fmt::format("libcufft.so.{}", CUFFT_VER_MAJOR));
  KEYWAY_CHECK_AS(NotImplemented, all.problem.empty(),
                  "Fourier transforms on CUDA need cuFFT {}: {}; install it, or name its folder in LD_LIBRARY_PATH",
                  CUFFT_VER_MAJOR, all.problem);
  return all;
}

ErrorKind kind_of(cufftResult status) {
  switch (status) {
    case CUFFT_ALLOC_FAILED: return ErrorKind::OutOfMemory;
    case CUFFT_INVALID_SIZE:
    case CUFFT_NOT_IMPLEMENTED:
    case CUFFT_NOT_SUPPORTED: return ErrorKind::NotImplemented;
    default: return ErrorKind::Internal;
  }
}

void check_cufft(cufftResult status, const char* call) {
  if (status == CUFFT_SUCCESS) [[likely]]
    return;
  throw Error(kind_of(status), fmt::format("cuFFT: status {} in {}", static_cast<int>(status), call), __FILE__,
              __LINE__);
}
#define KEYWAY_CUFFT_CALL(name, ...) check_cufft(cufft().name(__VA_ARGS__), "cufft" #name)

// A plan of the library, with what it has on the device that is current.
class CufftPlan {
 public:
  CufftPlan(const FourierProblem& problem, Device device) : is_double_(problem.dtype == ScalarType::ComplexDouble) {
    const OutsideCapture outside;  // it asks for memory of its own
    const auto lacks_memory = [](cufftResult status) { return status == CUFFT_ALLOC_FAILED; };
    check_cufft(with_room(device, lacks_memory, [&] { return make(problem); }), "cufftMakePlanMany64");
  }
  ~CufftPlan() {
    if (is_of_a_graph_) return;
    const OutsideCapture outside;
    (void)cufft().Destroy(handle_);
  }
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;

  void run(void* from, void* to, bool forward, Device device) {
    const TensorBase memory = workspace(workspace_, device);
    const Stream stream = cuda_device_guard().get_stream(device);
    const int direction = forward ? CUFFT_FORWARD : CUFFT_INVERSE;
    const std::lock_guard lock(mutex_);
    is_of_a_graph_ = is_of_a_graph_ || is_captured(stream);
    KEYWAY_CUFFT_CALL(SetStream, handle_, runtime_stream(stream));
    if (memory.defined()) KEYWAY_CUFFT_CALL(SetWorkArea, handle_, memory.data_ptr());
    if (is_double_) {
      KEYWAY_CUFFT_CALL(ExecZ2Z, handle_, static_cast<cufftDoubleComplex*>(from), static_cast<cufftDoubleComplex*>(to),
                        direction);
    } else {
      KEYWAY_CUFFT_CALL(ExecC2C, handle_, static_cast<cufftComplex*>(from), static_cast<cufftComplex*>(to), direction);
    }
  }

 private:
  // A handle is good for one attempt.
  cufftResult make(const FourierProblem& problem) {
    cufftResult status = cufft().Create(&handle_);
    if (status != CUFFT_SUCCESS) return status;
    status = cufft().SetAutoAllocation(handle_, 0);
    std::array<long long, kMostFourierDims> sizes{};
    for (std::size_t d = 0; d < problem.rank; ++d) sizes[d] = problem.sizes[d];
    if (status == CUFFT_SUCCESS) {
      status = cufft().MakePlanMany64(handle_, static_cast<int>(problem.rank), sizes.data(), nullptr, 1, 0, nullptr, 1,
                                      0, is_double_ ? CUFFT_Z2Z : CUFFT_C2C, problem.batch, &workspace_);
    }
    if (status != CUFFT_SUCCESS) (void)cufft().Destroy(handle_);
    return status;
  }

  const bool is_double_;
  cufftHandle handle_ = 0;
  std::size_t workspace_ = 0;   // bytes that it needs
  std::mutex mutex_;            // its stream and its memory are those of one call
  bool is_of_a_graph_ = false;  // which may run it as long as the process lives
};

// As many as there is memory of devices for: each has tables of its own there.
struct FourierOfDevice {
  PlanCache<FourierProblem, std::shared_ptr<CufftPlan>> plans{128};
};

}  // namespace

void cufft_transform(const FourierProblem& problem, void* from, void* to, bool forward, Device device) {
  const auto plan = of_device<FourierOfDevice>(device).plans.get(
      problem, [&] { return std::make_shared<CufftPlan>(problem, device); });
  plan->run(from, to, forward, device);
}

}  // namespace keyway::inline v1::cuda
