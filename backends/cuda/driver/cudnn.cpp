#include <keyway/backends/common/plan_cache.h>
#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/cudnn.h>
#include <keyway/backends/cuda/driver/tf32.h>
#include <keyway/backends/cuda/driver/toolkit_library.h>
#include <keyway/backends/cuda/driver/with_room.h>
#include <keyway/core/base/error.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cudnn.h>
#include <fmt/format.h>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>

namespace keyway::inline v1::cuda {

namespace {

// The functions that are used.
#define KEYWAY_CUDNN_FUNCTIONS(X)                     \
  X(cudnn, Create)                                    \
  X(cudnn, SetStream)                                 \
  X(cudnn, GetErrorString)                            \
  X(cudnn, GetLastErrorString)                        \
  X(cudnn, CreateTensorDescriptor)                    \
  X(cudnn, DestroyTensorDescriptor)                   \
  X(cudnn, SetTensorNdDescriptor)                     \
  X(cudnn, CreateFilterDescriptor)                    \
  X(cudnn, DestroyFilterDescriptor)                   \
  X(cudnn, SetFilterNdDescriptor)                     \
  X(cudnn, CreateConvolutionDescriptor)               \
  X(cudnn, DestroyConvolutionDescriptor)              \
  X(cudnn, SetConvolutionNdDescriptor)                \
  X(cudnn, SetConvolutionGroupCount)                  \
  X(cudnn, SetConvolutionMathType)                    \
  X(cudnn, GetConvolutionForwardAlgorithm_v7)         \
  X(cudnn, GetConvolutionForwardWorkspaceSize)        \
  X(cudnn, ConvolutionForward)                        \
  X(cudnn, GetConvolutionBackwardDataAlgorithm_v7)    \
  X(cudnn, GetConvolutionBackwardDataWorkspaceSize)   \
  X(cudnn, ConvolutionBackwardData)                   \
  X(cudnn, GetConvolutionBackwardFilterAlgorithm_v7)  \
  X(cudnn, GetConvolutionBackwardFilterWorkspaceSize) \
  X(cudnn, ConvolutionBackwardFilter)

// Under their own names without the prefix.
KEYWAY_LIBRARY_TABLE(Cudnn, KEYWAY_CUDNN_FUNCTIONS)

bool is_wanted() {
  const char* const wanted = std::getenv("KEYWAY_CUDA_CUDNN");
  return wanted == nullptr || std::string_view(wanted) != "0";
}

Cudnn open_cudnn() {
  if (!is_wanted()) return {};
  Cudnn all(fmt::format("libcudnn.so.{}", CUDNN_MAJOR));
  KEYWAY_CHECK_AS(NotImplemented, !all.is_open || all.problem.empty(),
                  "cuDNN cannot be used: {}; KEYWAY_CUDA_CUDNN=0 does without it", all.problem);
  return all;
}
const Cudnn& cudnn() {
  static const Cudnn& all = *new Cudnn(open_cudnn());
  return all;
}

// Of the statuses' thousands.
bool is_unsupported(cudnnStatus_t status) { return static_cast<int>(status) / 1000 == 3; }
// It may say so of a problem that it has nothing for, before it is asked to do it.
bool is_refused(cudnnStatus_t status) { return is_unsupported(status) || static_cast<int>(status) / 1000 == 2; }
bool lacks_memory(cudnnStatus_t status) {
  return status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
         status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED || status == CUDNN_STATUS_NOT_INITIALIZED;
}

ErrorKind kind_of(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED:
    case CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED: return ErrorKind::OutOfMemory;
    case CUDNN_STATUS_NOT_INITIALIZED:
    case CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH:
    case CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED: return ErrorKind::NotImplemented;
    default: return is_unsupported(status) ? ErrorKind::NotImplemented : ErrorKind::Internal;
  }
}

// What the library has to say of the call, where it says more than its status.
void check_cudnn(cudnnStatus_t status, const char* call) {
  if (status == CUDNN_STATUS_SUCCESS) [[likely]]
    return;
  std::array<char, 512> more{};
  cudnn().GetLastErrorString(more.data(), more.size() - 1);
  std::string text = fmt::format("cuDNN: {} in {}", cudnn().GetErrorString(status), call);
  if (more[0] != 0) text += fmt::format(": {}", more.data());
  throw Error(kind_of(status), text + "; KEYWAY_CUDA_CUDNN=0 does without cuDNN", __FILE__, __LINE__);
}
#define KEYWAY_CUDNN_CALL(name, ...) check_cudnn(cudnn().name(__VA_ARGS__), "cudnn" #name)

// A descriptor, as long as it is needed.
template <typename Descriptor, auto Cudnn::*make, auto Cudnn::*destroy>
class CudnnDescriptor {
 public:
  CudnnDescriptor() { check_cudnn((cudnn().*make)(&descriptor_), "cudnnCreate...Descriptor"); }
  ~CudnnDescriptor() { (void)(cudnn().*destroy)(descriptor_); }
  CudnnDescriptor(const CudnnDescriptor&) = delete;
  CudnnDescriptor& operator=(const CudnnDescriptor&) = delete;

  Descriptor get() const { return descriptor_; }

 private:
  Descriptor descriptor_ = nullptr;
};
using TensorOfCudnn =
    CudnnDescriptor<cudnnTensorDescriptor_t, &Cudnn::CreateTensorDescriptor, &Cudnn::DestroyTensorDescriptor>;
using FilterOfCudnn =
    CudnnDescriptor<cudnnFilterDescriptor_t, &Cudnn::CreateFilterDescriptor, &Cudnn::DestroyFilterDescriptor>;
using ConvolutionOfCudnn = CudnnDescriptor<cudnnConvolutionDescriptor_t, &Cudnn::CreateConvolutionDescriptor,
                                           &Cudnn::DestroyConvolutionDescriptor>;

cudnnDataType_t cudnn_type(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Half: return CUDNN_DATA_HALF;
    case ScalarType::BFloat16: return CUDNN_DATA_BFLOAT16;
    case ScalarType::Float: return CUDNN_DATA_FLOAT;
    case ScalarType::Double: return CUDNN_DATA_DOUBLE;
    default: KEYWAY_FAIL(Internal, "cuDNN is not asked for convolutions of {}", dtype);
  }
}

// What algorithms are looked for with. CUDNN_DEFAULT_MATH would let float32 be rounded to TF32, and keep 16-bit floats
// from the tensor cores.
cudnnMathType_t wanted_math(ScalarType dtype) {
  if (dtype == ScalarType::Half || dtype == ScalarType::BFloat16) return CUDNN_TENSOR_OP_MATH;
  return dtype == ScalarType::Float && !allows_tf32() ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
}

cudnnStatus_t set_tensor(const TensorOfCudnn& tensor, const ConvProblem& problem, const std::array<int, 5>& sizes) {
  const int rank = problem.rank + 2;
  std::array<int, 5> strides{};
  for (int d = rank - 1, step = 1; d >= 0; --d) {
    const auto i = static_cast<std::size_t>(d);
    strides[i] = step;
    step *= sizes[i];
  }
  return cudnn().SetTensorNdDescriptor(tensor.get(), cudnn_type(problem.dtype), rank, sizes.data(), strides.data());
}

// A problem in the library's words.
struct ConvDescription {
  explicit ConvDescription(const ConvProblem& problem) {
    describe(set_tensor(x, problem, problem.x), "cudnnSetTensorNdDescriptor");
    describe(set_tensor(y, problem, problem.y), "cudnnSetTensorNdDescriptor");
    const cudnnDataType_t type = cudnn_type(problem.dtype);
    describe(cudnn().SetFilterNdDescriptor(w.get(), type, CUDNN_TENSOR_NCHW, problem.rank + 2, problem.w.data()),
             "cudnnSetFilterNdDescriptor");
    const cudnnDataType_t sums = problem.dtype == ScalarType::Double ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    describe(cudnn().SetConvolutionNdDescriptor(convolution.get(), problem.rank, problem.padding.data(),
                                                problem.stride.data(), problem.dilation.data(), CUDNN_CROSS_CORRELATION,
                                                sums),
             "cudnnSetConvolutionNdDescriptor");
    KEYWAY_CUDNN_CALL(SetConvolutionGroupCount, convolution.get(), problem.groups);
  }
  void set_math(cudnnMathType_t math) const { KEYWAY_CUDNN_CALL(SetConvolutionMathType, convolution.get(), math); }

  bool is_known = true;  // the library has such tensors: those of 2^31 elements it has not
  TensorOfCudnn x, y;
  FilterOfCudnn w;
  ConvolutionOfCudnn convolution;

 private:
  void describe(cudnnStatus_t status, const char* call) {
    if (is_refused(status)) {
      is_known = false;
    } else {
      check_cudnn(status, call);
    }
  }
};

// What the library chose for a problem.
struct ConvPlan {
  bool exists = false;
  int algorithm = 0;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  std::size_t workspace = 0;  // bytes that it needs
};

struct CudnnOfDevice {
  std::mutex mutex;  // one thread at a time may use the handle
  cudnnHandle_t handle = nullptr;
  PlanCache<ConvProblem, ConvPlan> plans{1024};
};
// Requires: the mutex is held; `device` is current.
cudnnHandle_t handle_of(CudnnOfDevice& here, Device device) {
  if (here.handle == nullptr) {
    check_cudnn(with_room(device, lacks_memory, [&] { return cudnn().Create(&here.handle); }), "cudnnCreate");
  }
  return here.handle;
}

constexpr std::size_t kMostConvWorkspace = std::size_t{256} << 20;

// The first algorithm of the library's list, which has the quickest first, that the policy allows. `find` fills the
// list, `workspace` says what an algorithm needs with the math that is set.
template <typename Found, typename Find, typename Workspace>
ConvPlan choose_algorithm(const ConvProblem& problem, const ConvDescription& description, const char* call,
                          std::initializer_list<int> allowed, const Find& find, const Workspace& workspace) {
  std::array<Found, 16> found{};
  int count = 0;
  description.set_math(wanted_math(problem.dtype));
  const cudnnStatus_t status = find(static_cast<int>(found.size()), &count, found.data());
  if (is_refused(status)) return {};
  check_cudnn(status, call);
  const bool is_strict = wanted_math(problem.dtype) == CUDNN_FMA_MATH;
  for (int i = 0; i < count; ++i) {
    const Found& one = found[static_cast<std::size_t>(i)];
    const bool allows = std::find(allowed.begin(), allowed.end(), static_cast<int>(one.algo)) != allowed.end();
    const bool converts =
        one.mathType == CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION || (is_strict && one.mathType == CUDNN_TENSOR_OP_MATH);
    if (one.status != CUDNN_STATUS_SUCCESS || one.determinism != CUDNN_DETERMINISTIC || !allows || converts) continue;
    ConvPlan plan{true, static_cast<int>(one.algo), is_strict ? CUDNN_FMA_MATH : one.mathType};
    description.set_math(plan.math);
    if (workspace(one.algo, &plan.workspace) != CUDNN_STATUS_SUCCESS) continue;
    if (plan.workspace <= kMostConvWorkspace) return plan;
  }
  return {};
}

ConvPlan choose_plan(cudnnHandle_t handle, const ConvProblem& problem) {
  const ConvDescription of(problem);
  if (!of.is_known) return {};
  const auto x = of.x.get(), y = of.y.get();
  const auto w = of.w.get();
  const auto conv = of.convolution.get();
  switch (problem.result) {
    case ConvResult::Outputs:
      return choose_algorithm<cudnnConvolutionFwdAlgoPerf_t>(
          problem, of, "cudnnGetConvolutionForwardAlgorithm_v7",
          {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
           CUDNN_CONVOLUTION_FWD_ALGO_GEMM},
          [&](auto... out) { return cudnn().GetConvolutionForwardAlgorithm_v7(handle, x, w, conv, y, out...); },
          [&](auto... out) { return cudnn().GetConvolutionForwardWorkspaceSize(handle, x, w, conv, y, out...); });
    case ConvResult::Images:
      return choose_algorithm<cudnnConvolutionBwdDataAlgoPerf_t>(
          problem, of, "cudnnGetConvolutionBackwardDataAlgorithm_v7", {CUDNN_CONVOLUTION_BWD_DATA_ALGO_1},
          [&](auto... out) { return cudnn().GetConvolutionBackwardDataAlgorithm_v7(handle, w, y, conv, x, out...); },
          [&](auto... out) { return cudnn().GetConvolutionBackwardDataWorkspaceSize(handle, w, y, conv, x, out...); });
    default:
      return choose_algorithm<cudnnConvolutionBwdFilterAlgoPerf_t>(
          problem, of, "cudnnGetConvolutionBackwardFilterAlgorithm_v7", {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1},
          [&](auto... out) { return cudnn().GetConvolutionBackwardFilterAlgorithm_v7(handle, x, y, conv, w, out...); },
          [&](auto... out) {
            return cudnn().GetConvolutionBackwardFilterWorkspaceSize(handle, x, y, conv, w, out...);
          });
  }
}

ConvPlan plan_of(const ConvProblem& problem, CudnnOfDevice& here, Device device) {
  return here.plans.get(problem, [&] {
    // The library asks for memory of its own when it begins.
    const OutsideCapture outside;
    const std::lock_guard lock(here.mutex);
    return choose_plan(handle_of(here, device), problem);
  });
}

const char* call_of(ConvResult result) {
  switch (result) {
    case ConvResult::Outputs: return "cudnnConvolutionForward";
    case ConvResult::Images: return "cudnnConvolutionBackwardData";
    default: return "cudnnConvolutionBackwardFilter";
  }
}

cudnnStatus_t run_convolution(cudnnHandle_t handle, const ConvProblem& problem, const ConvDescription& of,
                              const ConvPlan& plan, void* space, void* x, void* w, void* y) {
  // Read as what sums are kept in.
  const double one = 1, zero = 0;
  const float narrow_one = 1, narrow_zero = 0;
  const bool is_double = problem.dtype == ScalarType::Double;
  const void* const by = is_double ? static_cast<const void*>(&one) : &narrow_one;
  const void* const keep = is_double ? static_cast<const void*>(&zero) : &narrow_zero;
  const auto conv = of.convolution.get();
  switch (problem.result) {
    case ConvResult::Outputs:
      return cudnn().ConvolutionForward(handle, by, of.x.get(), x, of.w.get(), w, conv,
                                        static_cast<cudnnConvolutionFwdAlgo_t>(plan.algorithm), space, plan.workspace,
                                        keep, of.y.get(), y);
    case ConvResult::Images:
      return cudnn().ConvolutionBackwardData(handle, by, of.w.get(), w, of.y.get(), y, conv,
                                             static_cast<cudnnConvolutionBwdDataAlgo_t>(plan.algorithm), space,
                                             plan.workspace, keep, of.x.get(), x);
    default:
      return cudnn().ConvolutionBackwardFilter(handle, by, of.x.get(), x, of.y.get(), y, conv,
                                               static_cast<cudnnConvolutionBwdFilterAlgo_t>(plan.algorithm), space,
                                               plan.workspace, keep, of.w.get(), w);
  }
}

}  // namespace

bool cudnn_has(const ConvProblem& problem, Device device) {
  const DtypeSet known{kHalf, kBFloat16, kFloat, kDouble};
  return known.contains(problem.dtype) && cudnn().is_open &&
         plan_of(problem, of_device<CudnnOfDevice>(device), device).exists;
}

bool cudnn_convolution(const ConvProblem& problem, void* x, void* w, void* y, Device device) {
  CudnnOfDevice& here = of_device<CudnnOfDevice>(device);
  const ConvPlan plan = plan_of(problem, here, device);
  if (!plan.exists) return false;  // another thread found out
  const ConvDescription of(problem);
  of.set_math(plan.math);
  const TensorBase memory = workspace(plan.workspace, device);
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  {
    const std::lock_guard lock(here.mutex);
    const cudnnHandle_t handle = handle_of(here, device);
    KEYWAY_CUDNN_CALL(SetStream, handle, runtime_stream(cuda_device_guard().get_stream(device)));
    status = run_convolution(handle, problem, of, plan, data_or_null<void>(memory), x, w, y);
  }
  if (is_unsupported(status)) {
    here.plans.replace(problem, {});
    return false;
  }
  check_cudnn(status, call_of(problem.result));
  return true;
}

}  // namespace keyway::inline v1::cuda
