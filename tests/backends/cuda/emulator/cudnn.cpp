// The emulated cuDNN: convolutions by their definition. It is as strict as the real one, and where that would compute
// something else than was asked, it does so too: algorithms that are not deterministic, or transform what they sum, add
// another number to each result, and float32 is rounded to TF32 unless the math is CUDNN_FMA_MATH.
// KEYWAY_EMULATED_CUDNN=missing takes it away (shared_library.h), =empty its algorithms, =picky calls each problem
// invalid, =late lets it refuse each convolution that it has an algorithm for, =broken lets them fail.
#include <keyway/core/base/bfloat16.h>
#include <keyway/core/base/half.h>
#include <keyway/ops/functors/opmath.h>
#include <keyway/tests/backends/cuda/emulator/calls.h>
#include <keyway/tests/backends/cuda/emulator/enqueue.h>
#include <keyway/tests/backends/cuda/emulator/keyway/backends/cuda/driver/shared_library.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cudnn.h>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

struct EmulatedCudnn {
  int device = -1;
  cudaStream_t stream = nullptr;
};
struct EmulatedTensor {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int rank = 0;
  std::array<int, 5> sizes{};
};
struct EmulatedFilter : EmulatedTensor {};
struct EmulatedConvolution {
  int rank = 0, groups = 1;
  std::array<int, 3> padding{}, stride{}, dilation{};
  cudnnDataType_t sums = CUDNN_DATA_FLOAT;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace {

using namespace keyway;

constexpr std::size_t kSpace = 8192, kHugeSpace = std::size_t{1} << 40;

bool cudnn_is(std::string_view state) {
  const char* const wish = std::getenv("KEYWAY_EMULATED_CUDNN");
  return wish != nullptr && wish == state;
}

cudnnStatus_t asked(bool right) { return right ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM; }

// A convolution as it is asked for: which of x, w and y is the result does not matter for what has to fit.
struct Asked {
  EmulatedTensor x, w, y;
  EmulatedConvolution by;

  bool fits() const {
    if (x.rank != by.rank + 2 || w.rank != x.rank || y.rank != x.rank) return false;
    if (x.type != w.type || x.type != y.type) return false;
    if (by.sums != (x.type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT)) return false;
    if (x.sizes[0] != y.sizes[0] || w.sizes[0] != y.sizes[1]) return false;
    if (by.groups < 1 || w.sizes[1] * by.groups != x.sizes[1] || w.sizes[0] % by.groups != 0) return false;
    for (std::size_t d = 0; d < static_cast<std::size_t>(by.rank); ++d) {
      const int window = by.dilation[d] * (w.sizes[2 + d] - 1) + 1;
      const int room = x.sizes[2 + d] + 2 * by.padding[d] - window;
      if (room < 0 || room / by.stride[d] + 1 != y.sizes[2 + d]) return false;
    }
    return true;
  }
};

// Elements of a dense tensor of two or three spatial dimensions.
template <typename T>
struct Dense {
  T* data;
  std::array<int, 5> sizes;  // batch, channels, three dimensions

  Dense(T* first, const EmulatedTensor& of) : data(first), sizes(of.sizes) {
    if (of.rank == 4) sizes = {of.sizes[0], of.sizes[1], 1, of.sizes[2], of.sizes[3]};
  }
  std::int64_t at(int n, int c, const std::array<int, 3>& position) const {
    std::int64_t offset = std::int64_t{n} * sizes[1] + c;
    for (std::size_t d = 0; d < 3; ++d) offset = offset * sizes[2 + d] + position[d];
    return offset;
  }
};

// Calls f(offsets of x, w and y) for each product that a convolution sums; of x -1 in the padding.
template <typename F>
void each_product(const Asked& asked, const F& f) {
  const Dense<const void> x(nullptr, asked.x), w(nullptr, asked.w), y(nullptr, asked.y);
  std::array<int, 3> padding = asked.by.padding, stride = asked.by.stride, dilation = asked.by.dilation;
  if (asked.by.rank == 2) {
    padding = {0, padding[0], padding[1]};
    stride = {1, stride[0], stride[1]};
    dilation = {1, dilation[0], dilation[1]};
  }
  const int of_group = w.sizes[1], outs = w.sizes[0] / asked.by.groups;
  const auto each_position = [](const std::array<int, 5>& sizes, const auto& visit) {
    for (int i = 0; i < sizes[2]; ++i) {
      for (int j = 0; j < sizes[3]; ++j) {
        for (int k = 0; k < sizes[4]; ++k) visit(std::array<int, 3>{i, j, k});
      }
    }
  };
  const auto each_tap = [&](int n, int out, const std::array<int, 3>& at) {
    each_position(w.sizes, [&](const std::array<int, 3>& tap) {
      std::array<int, 3> from{};
      bool is_inside = true;
      for (std::size_t d = 0; d < 3; ++d) {
        from[d] = at[d] * stride[d] - padding[d] + tap[d] * dilation[d];
        is_inside = is_inside && from[d] >= 0 && from[d] < x.sizes[2 + d];
      }
      for (int c = 0; c < of_group; ++c) {
        const std::int64_t given = is_inside ? x.at(n, out / outs * of_group + c, from) : -1;
        f(given, w.at(out, c, tap), y.at(n, out, at));
      }
    });
  };
  for (int n = 0; n < y.sizes[0]; ++n) {
    for (int out = 0; out < y.sizes[1]; ++out) {
      each_position(y.sizes, [&](const std::array<int, 3>& at) { each_tap(n, out, at); });
    }
  }
}

std::int64_t count_of(const EmulatedTensor& tensor) {
  std::int64_t count = 1;
  for (int d = 0; d < tensor.rank; ++d) count *= tensor.sizes[static_cast<std::size_t>(d)];
  return count;
}

template <typename T>
T as_multiplied(T value, cudnnMathType_t math) {
  if constexpr (std::is_same_v<T, float>) {
    if (math != CUDNN_FMA_MATH) return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xFFFFE000U);
  }
  return value;
}

// Which of the three is written, with alpha 1 and beta 0.
enum class Result { X, W, Y };
template <typename T>
void compute(Result result, const Asked& asked, T* x, T* w, T* y, bool is_exact) {
  using Sum = Opmath<T>;
  const auto& [target, size] = result == Result::X   ? std::pair(x, count_of(asked.x))
                               : result == Result::W ? std::pair(w, count_of(asked.w))
                                                     : std::pair(y, count_of(asked.y));
  std::vector<Sum> sums(static_cast<std::size_t>(size), is_exact ? Sum(0) : Sum(0.5));
  const auto value = [&](T element) { return static_cast<Sum>(as_multiplied(element, asked.by.math)); };
  each_product(asked, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    // The zeros of the padding are multiplied in a result: infinity is no number there.
    if (i < 0) {
      if (result == Result::Y) sums[static_cast<std::size_t>(k)] += Sum(0) * value(w[j]);
      return;
    }
    switch (result) {
      case Result::X: sums[static_cast<std::size_t>(i)] += value(w[j]) * value(y[k]); break;
      case Result::W: sums[static_cast<std::size_t>(j)] += value(x[i]) * value(y[k]); break;
      case Result::Y: sums[static_cast<std::size_t>(k)] += value(x[i]) * value(w[j]); break;
    }
  });
  for (std::int64_t i = 0; i < size; ++i) target[i] = static_cast<T>(sums[static_cast<std::size_t>(i)]);
}

struct Algorithm {
  int number;
  bool is_deterministic;
  std::size_t space;
  cudnnMathType_t math;
};
// The quickest first, which no policy of the backend allows but the last.
std::vector<Algorithm> algorithms_of(Result result, const Asked& of) {
  const cudnnMathType_t usual = of.by.math;
  if (result == Result::Y) {
    return {{CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, true, 0, usual},
            {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, true, 0, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION},
            {CUDNN_CONVOLUTION_FWD_ALGO_GEMM, true, kHugeSpace, usual},
            {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, true, kSpace, usual}};
  }
  // ALGO_0, ALGO_FFT and ALGO_1 of both.
  return {{0, false, 0, usual}, {2, true, kHugeSpace, usual}, {1, true, kSpace, usual}};
}

template <typename Found>
cudnnStatus_t find(cudnnHandle_t handle, Result result, const Asked& of, int wanted, int* count, Found* found) {
  emulator::count("cudnnGetConvolutionAlgorithm");
  if (handle == nullptr || !of.fits() || wanted < 1) return CUDNN_STATUS_BAD_PARAM;
  if (cudnn_is("empty")) return CUDNN_STATUS_NOT_SUPPORTED;
  if (cudnn_is("picky")) return CUDNN_STATUS_BAD_PARAM;
  *count = 0;
  for (const Algorithm& one : algorithms_of(result, of)) {
    if (*count == wanted) break;
    const auto number = static_cast<decltype(found->algo)>(one.number);
    const cudnnDeterminism_t determinism = one.is_deterministic ? CUDNN_DETERMINISTIC : CUDNN_NON_DETERMINISTIC;
    found[(*count)++] = {number, CUDNN_STATUS_SUCCESS, -1, one.space, determinism, one.math, {}};
  }
  return CUDNN_STATUS_SUCCESS;
}

std::optional<Algorithm> find_algorithm(Result result, const Asked& of, int number) {
  for (const Algorithm& one : algorithms_of(result, of)) {
    if (one.number == number) return one;
  }
  return std::nullopt;
}

cudnnStatus_t space_of(Result result, const Asked& of, int number, std::size_t* bytes) {
  const std::optional<Algorithm> algorithm = find_algorithm(result, of, number);
  if (!algorithm || !of.fits()) return CUDNN_STATUS_BAD_PARAM;
  *bytes = algorithm->space;
  return CUDNN_STATUS_SUCCESS;
}

bool is_factor(const void* factor, cudnnDataType_t type, double value) {
  double number = 0;
  float narrow = 0;
  if (type == CUDNN_DATA_DOUBLE) {
    std::memcpy(&number, factor, sizeof number);
    return number == value;
  }
  std::memcpy(&narrow, factor, sizeof narrow);
  return narrow == static_cast<float>(value);
}

struct Work {
  int algorithm;
  void* workspace;
  std::size_t bytes;
  const void *alpha, *beta;
};

template <typename F>
void visit_cudnn(cudnnDataType_t type, const F& f) {
  switch (type) {
    case CUDNN_DATA_FLOAT: return f.template operator()<float>();
    case CUDNN_DATA_DOUBLE: return f.template operator()<double>();
    case CUDNN_DATA_HALF: return f.template operator()<Half>();
    case CUDNN_DATA_BFLOAT16: return f.template operator()<BFloat16>();
  }
}

cudnnStatus_t run(cudnnHandle_t handle, Result result, const Asked& of, const Work& work, const void* x, const void* w,
                  const void* y) {
  emulator::count(result == Result::Y   ? "cudnnConvolutionForward"
                  : result == Result::X ? "cudnnConvolutionBackwardData"
                                        : "cudnnConvolutionBackwardFilter");
  if (cudnn_is("broken")) return CUDNN_STATUS_EXECUTION_FAILED;
  if (cudnn_is("late")) return CUDNN_STATUS_NOT_SUPPORTED;
  int device = -1;
  (void)cudaGetDevice(&device);
  if (handle->device != device) emulator::stop("a handle of cuDNN is used where another device is current");
  if (of.x.type == CUDNN_DATA_FLOAT && of.by.math != CUDNN_FMA_MATH) emulator::count("cudnnConvolution in TF32");
  const std::optional<Algorithm> algorithm = find_algorithm(result, of, work.algorithm);
  if (!algorithm || !of.fits()) return CUDNN_STATUS_BAD_PARAM;
  if (work.bytes < algorithm->space || (work.bytes > 0 && work.workspace == nullptr)) {
    emulator::stop("a convolution has less memory than its algorithm needs");
  }
  if (!is_factor(work.alpha, of.x.type, 1) || !is_factor(work.beta, of.x.type, 0)) return CUDNN_STATUS_NOT_SUPPORTED;
  for (const void* address : {x, w, y}) {
    if (address == nullptr || reinterpret_cast<std::uintptr_t>(address) % 16 != 0) {
      emulator::stop("an operand of a convolution is not aligned");
    }
  }
  const bool transforms = result == Result::Y && work.algorithm == CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD;
  visit_cudnn(of.x.type, [&]<typename T>() {
    const auto data = [](const void* address) { return static_cast<T*>(const_cast<void*>(address)); };
    emulator::enqueue(handle->stream, [=, is_exact = algorithm->is_deterministic && !transforms] {
      if (work.bytes > 0) std::memset(work.workspace, 0x5A, work.bytes);
      compute<T>(result, of, data(x), data(w), data(y), is_exact);
    });
  });
  return CUDNN_STATUS_SUCCESS;
}

template <typename T>
cudnnStatus_t make(T** made) {
  *made = new T;
  return CUDNN_STATUS_SUCCESS;
}
template <typename T>
cudnnStatus_t destroy_descriptor(T* descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

bool set_sizes(EmulatedTensor& tensor, cudnnDataType_t type, int rank, const int sizes[]) {
  if (rank < 4 || rank > 5 || std::any_of(sizes, sizes + rank, [](int size) { return size < 1; })) return false;
  tensor.type = type;
  tensor.rank = rank;
  std::copy_n(sizes, rank, tensor.sizes.begin());
  return true;
}

}  // namespace

const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_SUCCESS: return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_BAD_PARAM: return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED: return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_EXECUTION_FAILED: return "CUDNN_STATUS_EXECUTION_FAILED";
    default: return "another status";
  }
}
void cudnnGetLastErrorString(char* message, std::size_t size) {
  std::snprintf(message, size, "%s", cudnn_is("broken") ? "it is broken" : "");
}

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (emulator::take_memory() == nullptr) return CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
  *handle = new EmulatedCudnn;
  return asked(cudaGetDevice(&(*handle)->device) == cudaSuccess);
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* tensor) { return make(tensor); }
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) { return destroy_descriptor(tensor); }
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t type, int rank,
                                         const int sizes[], const int strides[]) {
  if (!set_sizes(*tensor, type, rank, sizes)) return CUDNN_STATUS_BAD_PARAM;
  // Others are not emulated.
  for (int d = rank - 1, step = 1; d >= 0; step *= sizes[d--]) {
    if (strides[d] != step) return CUDNN_STATUS_NOT_SUPPORTED;
  }
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* filter) { return make(filter); }
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter) { return destroy_descriptor(filter); }
cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int rank, const int sizes[]) {
  return asked(format == CUDNN_TENSOR_NCHW && set_sizes(*filter, type, rank, sizes));
}
cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* convolution) { return make(convolution); }
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convolution) {
  return destroy_descriptor(convolution);
}
cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convolution, int rank, const int padding[],
                                              const int stride[], const int dilation[], cudnnConvolutionMode_t mode,
                                              cudnnDataType_t sums) {
  if (rank < 2 || rank > 3 || mode != CUDNN_CROSS_CORRELATION) return CUDNN_STATUS_BAD_PARAM;
  for (int d = 0; d < rank; ++d) {
    if (padding[d] < 0 || stride[d] < 1 || dilation[d] < 1) return CUDNN_STATUS_BAD_PARAM;
  }
  convolution->rank = rank;
  std::copy_n(padding, rank, convolution->padding.begin());
  std::copy_n(stride, rank, convolution->stride.begin());
  std::copy_n(dilation, rank, convolution->dilation.begin());
  convolution->sums = sums;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution, int groups) {
  convolution->groups = groups;
  return asked(groups > 0);
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution, cudnnMathType_t math) {
  convolution->math = math;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                     cudnnFilterDescriptor_t w,
                                                     cudnnConvolutionDescriptor_t convolution,
                                                     cudnnTensorDescriptor_t y, int wanted, int* count,
                                                     cudnnConvolutionFwdAlgoPerf_t* found) {
  return find(handle, Result::Y, {*x, *w, *y, *convolution}, wanted, count, found);
}
cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t, cudnnTensorDescriptor_t x,
                                                      cudnnFilterDescriptor_t w,
                                                      cudnnConvolutionDescriptor_t convolution,
                                                      cudnnTensorDescriptor_t y, cudnnConvolutionFwdAlgo_t algorithm,
                                                      std::size_t* bytes) {
  return space_of(Result::Y, {*x, *w, *y, *convolution}, algorithm, bytes);
}
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t x_of,
                                      const void* x, cudnnFilterDescriptor_t w_of, const void* w,
                                      cudnnConvolutionDescriptor_t convolution, cudnnConvolutionFwdAlgo_t algorithm,
                                      void* workspace, std::size_t workspace_bytes, const void* beta,
                                      cudnnTensorDescriptor_t y_of, void* y) {
  return run(handle, Result::Y, {*x_of, *w_of, *y_of, *convolution},
             {algorithm, workspace, workspace_bytes, alpha, beta}, x, w, y);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t handle, cudnnFilterDescriptor_t w,
                                                          cudnnTensorDescriptor_t y,
                                                          cudnnConvolutionDescriptor_t convolution,
                                                          cudnnTensorDescriptor_t x, int wanted, int* count,
                                                          cudnnConvolutionBwdDataAlgoPerf_t* found) {
  return find(handle, Result::X, {*x, *w, *y, *convolution}, wanted, count, found);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t, cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t y, cudnnConvolutionDescriptor_t convolution,
    cudnnTensorDescriptor_t x, cudnnConvolutionBwdDataAlgo_t algorithm, std::size_t* bytes) {
  return space_of(Result::X, {*x, *w, *y, *convolution}, algorithm, bytes);
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha, cudnnFilterDescriptor_t w_of,
                                           const void* w, cudnnTensorDescriptor_t y_of, const void* y,
                                           cudnnConvolutionDescriptor_t convolution,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void* workspace,
                                           std::size_t workspace_bytes, const void* beta, cudnnTensorDescriptor_t x_of,
                                           void* x) {
  return run(handle, Result::X, {*x_of, *w_of, *y_of, *convolution},
             {algorithm, workspace, workspace_bytes, alpha, beta}, x, w, y);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                            cudnnTensorDescriptor_t y,
                                                            cudnnConvolutionDescriptor_t convolution,
                                                            cudnnFilterDescriptor_t w, int wanted, int* count,
                                                            cudnnConvolutionBwdFilterAlgoPerf_t* found) {
  return find(handle, Result::W, {*x, *w, *y, *convolution}, wanted, count, found);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t y, cudnnConvolutionDescriptor_t convolution,
    cudnnFilterDescriptor_t w, cudnnConvolutionBwdFilterAlgo_t algorithm, std::size_t* bytes) {
  return space_of(Result::W, {*x, *w, *y, *convolution}, algorithm, bytes);
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t x_of,
                                             const void* x, cudnnTensorDescriptor_t y_of, const void* y,
                                             cudnnConvolutionDescriptor_t convolution,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm, void* workspace,
                                             std::size_t workspace_bytes, const void* beta,
                                             cudnnFilterDescriptor_t w_of, void* w) {
  return run(handle, Result::W, {*x_of, *w_of, *y_of, *convolution},
             {algorithm, workspace, workspace_bytes, alpha, beta}, x, w, y);
}

void* keyway::cuda::emulated_cudnn(const char* name) {
  const std::pair<std::string_view, void*> all[] = {
#define FUNCTION(name) {#name, reinterpret_cast<void*>(&name)}
      FUNCTION(cudnnCreate),
      FUNCTION(cudnnSetStream),
      FUNCTION(cudnnGetErrorString),
      FUNCTION(cudnnGetLastErrorString),
      FUNCTION(cudnnCreateTensorDescriptor),
      FUNCTION(cudnnDestroyTensorDescriptor),
      FUNCTION(cudnnSetTensorNdDescriptor),
      FUNCTION(cudnnCreateFilterDescriptor),
      FUNCTION(cudnnDestroyFilterDescriptor),
      FUNCTION(cudnnSetFilterNdDescriptor),
      FUNCTION(cudnnCreateConvolutionDescriptor),
      FUNCTION(cudnnDestroyConvolutionDescriptor),
      FUNCTION(cudnnSetConvolutionNdDescriptor),
      FUNCTION(cudnnSetConvolutionGroupCount),
      FUNCTION(cudnnSetConvolutionMathType),
      FUNCTION(cudnnGetConvolutionForwardAlgorithm_v7),
      FUNCTION(cudnnGetConvolutionForwardWorkspaceSize),
      FUNCTION(cudnnConvolutionForward),
      FUNCTION(cudnnGetConvolutionBackwardDataAlgorithm_v7),
      FUNCTION(cudnnGetConvolutionBackwardDataWorkspaceSize),
      FUNCTION(cudnnConvolutionBackwardData),
      FUNCTION(cudnnGetConvolutionBackwardFilterAlgorithm_v7),
      FUNCTION(cudnnGetConvolutionBackwardFilterWorkspaceSize),
      FUNCTION(cudnnConvolutionBackwardFilter),
#undef FUNCTION
  };
  const auto* const found =
      std::find_if(std::begin(all), std::end(all), [&](const auto& one) { return one.first == name; });
  return found == std::end(all) ? nullptr : found->second;
}
