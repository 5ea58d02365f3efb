#include <keyway/backends/common/plan_cache.h>
#include <keyway/backends/cuda/driver/capture.h>
#include <keyway/backends/cuda/driver/cublas_lt.h>
#include <keyway/backends/cuda/driver/cuda_device_guard.h>
#include <keyway/backends/cuda/driver/tf32.h>
#include <keyway/backends/cuda/driver/toolkit_library.h>
#include <keyway/backends/cuda/driver/with_room.h>
#include <keyway/core/base/error.h>
#include <keyway/core/dtype/visit_dtype.h>

#include <cstring>
#include <cublasLt.h>
#include <fmt/format.h>
#include <memory>
#include <mutex>

namespace keyway::inline v1::cuda {

namespace {

// The functions that are used.
#define KEYWAY_CUBLAS_LT_FUNCTIONS(X)       \
  X(cublasLt, Create)                       \
  X(cublasLt, GetStatusName)                \
  X(cublasLt, MatmulDescCreate)             \
  X(cublasLt, MatmulDescDestroy)            \
  X(cublasLt, MatmulDescSetAttribute)       \
  X(cublasLt, MatrixLayoutCreate)           \
  X(cublasLt, MatrixLayoutDestroy)          \
  X(cublasLt, MatrixLayoutSetAttribute)     \
  X(cublasLt, MatmulPreferenceCreate)       \
  X(cublasLt, MatmulPreferenceDestroy)      \
  X(cublasLt, MatmulPreferenceSetAttribute) \
  X(cublasLt, MatmulAlgoGetHeuristic)       \
  X(cublasLt, Matmul)

// Under their own names without the prefix.
KEYWAY_LIBRARY_TABLE(CublasLt, KEYWAY_CUBLAS_LT_FUNCTIONS)

const CublasLt& cublas_lt() {
  // What it is called where the toolkit is that this was built with.
  static const CublasLt& all = *new CublasLt(fmt::format("libcublasLt.so.{}", CUBLAS_VER_MAJOR));
  KEYWAY_CHECK_AS(
      NotImplemented, all.problem.empty(),
      "products of floating and complex matrices on CUDA need cuBLASLt {}: {}; install cuBLAS of CUDA {}, or "
      "name its folder in LD_LIBRARY_PATH",
      CUBLAS_VER_MAJOR, all.problem, CUBLAS_VER_MAJOR);
  return all;
}

[[noreturn]] void fail_call(cublasStatus_t status, const char* call) {
  const char* const name = cublas_lt().GetStatusName(status);
  switch (status) {
    case CUBLAS_STATUS_ALLOC_FAILED: KEYWAY_FAIL(OutOfMemory, "cuBLASLt: {} in {}", name, call);
    case CUBLAS_STATUS_NOT_SUPPORTED:
    case CUBLAS_STATUS_ARCH_MISMATCH: KEYWAY_FAIL(NotImplemented, "cuBLASLt: {} in {}", name, call);
    default: KEYWAY_FAIL(Internal, "cuBLASLt: {} in {}", name, call);
  }
}
void check_call(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) [[unlikely]]
    fail_call(status, call);
}

// A descriptor, as long as it is needed. The library has three kinds, which are made, told and destroyed alike.
template <typename Descriptor, auto CublasLt::*destroy, auto CublasLt::*tell>
class Described {
 public:
  Described() = default;
  ~Described() {
    if (descriptor_ != nullptr) (void)(cublas_lt().*destroy)(descriptor_);
  }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;

  Descriptor* to_make() { return &descriptor_; }
  Descriptor get() const { return descriptor_; }
  template <typename Attribute, typename T>
  void set(Attribute attribute, T value, const char* name) {
    check_call((cublas_lt().*tell)(descriptor_, attribute, &value, sizeof value), name);
  }

 private:
  Descriptor descriptor_ = nullptr;
};

using Operation = Described<cublasLtMatmulDesc_t, &CublasLt::MatmulDescDestroy, &CublasLt::MatmulDescSetAttribute>;
using Layout = Described<cublasLtMatrixLayout_t, &CublasLt::MatrixLayoutDestroy, &CublasLt::MatrixLayoutSetAttribute>;
using Preference =
    Described<cublasLtMatmulPreference_t, &CublasLt::MatmulPreferenceDestroy, &CublasLt::MatmulPreferenceSetAttribute>;

cudaDataType_t data_type(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Half: return CUDA_R_16F;
    case ScalarType::BFloat16: return CUDA_R_16BF;
    case ScalarType::Float: return CUDA_R_32F;
    case ScalarType::Double: return CUDA_R_64F;
    case ScalarType::ComplexFloat: return CUDA_C_32F;
    case ScalarType::ComplexDouble: return CUDA_C_64F;
    default: KEYWAY_FAIL(Internal, "cuBLASLt is not asked for products of {}", dtype);
  }
}

cublasComputeType_t compute_type(ScalarType dtype) {
  if (dtype == ScalarType::Double || dtype == ScalarType::ComplexDouble) return CUBLAS_COMPUTE_64F;
  const bool narrow = dtype == ScalarType::Half || dtype == ScalarType::BFloat16;
  return !narrow && allows_tf32() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

void make_layout(Layout& layout, ScalarType dtype, const ProductOperand& operand, std::int64_t rows,
                 std::int64_t columns, std::int64_t batch) {
  if (operand.transposed) std::swap(rows, columns);
  check_call(cublas_lt().MatrixLayoutCreate(layout.to_make(), data_type(dtype), static_cast<std::uint64_t>(rows),
                                            static_cast<std::uint64_t>(columns), operand.leading),
             "cublasLtMatrixLayoutCreate");
  layout.set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch),
             "CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT");
  layout.set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, operand.batch_stride,
             "CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET");
}

void make_operation(Operation& operation, const ColumnMajorProduct& product) {
  const ProductProblem& problem = product.problem;
  check_call(cublas_lt().MatmulDescCreate(operation.to_make(), compute_type(problem.dtype),
                                          data_type(sum_dtype(problem.dtype))),
             "cublasLtMatmulDescCreate");
  const auto form = [](const ProductOperand& operand) -> std::int32_t {
    return operand.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  operation.set(CUBLASLT_MATMUL_DESC_TRANSA, form(problem.a), "CUBLASLT_MATMUL_DESC_TRANSA");
  operation.set(CUBLASLT_MATMUL_DESC_TRANSB, form(problem.b), "CUBLASLT_MATMUL_DESC_TRANSB");
  if (product.bias == nullptr) return;
  // Its dtype is that of d, unless another one is set; the library reads its alignment off the address.
  operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t{CUBLASLT_EPILOGUE_BIAS}, "CUBLASLT_MATMUL_DESC_EPILOGUE");
  operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, product.bias, "CUBLASLT_MATMUL_DESC_BIAS_POINTER");
}

// A problem in the library's words. With a bias, the operation is that of one call.
struct Description {
  explicit Description(const ColumnMajorProduct& product) {
    const ProductProblem& problem = product.problem;
    make_operation(operation, product);
    make_layout(a, problem.dtype, problem.a, problem.m, problem.k, problem.batch);
    make_layout(b, problem.dtype, problem.b, problem.k, problem.n, problem.batch);
    make_layout(c, problem.result, problem.c, problem.m, problem.n, problem.batch);
    make_layout(d, problem.result, problem.d, problem.m, problem.n, problem.batch);
  }

  Operation operation;
  Layout a, b, c, d;
};

// What the library chose for a problem; nothing if it has no kernel for it. The description is kept, since to make one
// takes a dozen calls.
struct Plan {
  std::shared_ptr<const Description> description;
  cublasLtMatmulAlgo_t algorithm{};
  std::size_t workspace = 0;  // bytes that it needs

  bool exists() const { return description != nullptr; }
};

// What it is known as on a device, and what it has chosen there.
struct CublasOfDevice {
  std::once_flag made;
  cublasLtHandle_t handle = nullptr;
  PlanCache<ProductProblem, Plan> plans{1024};
};
CublasOfDevice& cublas_of(Device device) {
  CublasOfDevice& found = of_device<CublasOfDevice>(device);
  std::call_once(found.made, [&] {
    const OutsideCapture outside;  // it asks for memory of its own
    const auto lacks_memory = [](cublasStatus_t status) {
      return status == CUBLAS_STATUS_ALLOC_FAILED || status == CUBLAS_STATUS_NOT_INITIALIZED;
    };
    check_call(with_room(device, lacks_memory, [&] { return cublas_lt().Create(&found.handle); }), "cublasLtCreate");
  });
  return found;
}

// As many bytes as the largest devices have use for.
constexpr std::uint64_t kMostWorkspace = 32 << 20;

Plan choose(cublasLtHandle_t handle, const ColumnMajorProduct& product) {
  const ProductProblem& problem = product.problem;
  const auto described = std::make_shared<const Description>(product);
  const Description& description = *described;
  Preference wish;
  check_call(cublas_lt().MatmulPreferenceCreate(wish.to_make()), "cublasLtMatmulPreferenceCreate");
  wish.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspace, "CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES");
  // Parts of a sum are kept in what sums are computed in, never in what the result is.
  wish.set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE},
           "CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK");
  const auto align = [&](cublasLtMatmulPreferenceAttributes_t attribute, const ProductOperand& operand) {
    wish.set(attribute, static_cast<std::uint32_t>(operand.alignment), "CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT");
  };
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, problem.a);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, problem.b);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, problem.c);
  align(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, problem.d);
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  const cublasStatus_t status =
      cublas_lt().MatmulAlgoGetHeuristic(handle, description.operation.get(), description.a.get(), description.b.get(),
                                         description.c.get(), description.d.get(), wish.get(), 1, &found, &count);
  // Of a plain product an invalid value would be a fault of this file.
  const bool is_plain = problem.bias == 0 && problem.batch == 1;
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_INVALID_VALUE && !is_plain)) return {};
  check_call(status, "cublasLtMatmulAlgoGetHeuristic");
  if (count == 0 || found.state != CUBLAS_STATUS_SUCCESS) return {};
  return {described, found.algo, found.workspaceSize};
}

// alpha or beta as the library reads it.
struct Factor {
  Factor(const Scalar& scalar, ScalarType dtype) {
    visit_dtype<DtypeSet{kFloat, kDouble, kComplexFloat, kComplexDouble}>(dtype, "a product", [&]<typename T>() {
      const T value = scalar.to<T>();
      std::memcpy(bytes, &value, sizeof value);
    });
  }
  alignas(16) unsigned char bytes[16];
};

Plan product_plan_of(const ColumnMajorProduct& product, CublasOfDevice& here) {
  return here.plans.get(product.problem, [&] {
    const bool captured = current_capture() != nullptr;
    // A first question may load kernels, and ask for memory.
    const OutsideCapture outside;
    try {
      return choose(here.handle, product);
    } catch (const Error& error) {
      KEYWAY_CHECK_AS(NotImplemented, !captured, "{}; a graph is being captured: call it once before that",
                      error.what());
      throw;
    }
  });
}

// As many matrices as any kernel takes. A power of two, so that each part of a batch lies as aligned as the first.
constexpr std::int64_t kMostBatch = 1 << 15;

// Whether it is done: false if the library has no kernel for it after all, which is remembered.
bool run_product(const ColumnMajorProduct& product, const Scalar& alpha, const Scalar& beta, Device device,
                 CublasOfDevice& here) {
  const Plan plan = product_plan_of(product, here);
  if (!plan.exists()) return false;
  const Description& description = *plan.description;
  Operation with_bias;
  if (product.bias != nullptr) make_operation(with_bias, product);
  const Operation& operation = product.bias != nullptr ? with_bias : description.operation;
  const TensorBase memory = workspace(plan.workspace, device);
  const ScalarType sums = sum_dtype(product.problem.dtype);
  const Factor by(alpha, sums), with(beta, sums);
  const cublasStatus_t status = cublas_lt().Matmul(
      here.handle, operation.get(), by.bytes, product.a, description.a.get(), product.b, description.b.get(),
      with.bytes, product.c, description.c.get(), product.d, description.d.get(), &plan.algorithm,
      data_or_null<void>(memory), plan.workspace, runtime_stream(cuda_device_guard().get_stream(device)));
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) {
    here.plans.replace(product.problem, {});
    return false;
  }
  check_call(status, "cublasLtMatmul");
  return true;
}

}  // namespace

bool cublas_lt_takes(ScalarType dtype) {
  return DtypeSet{kHalf, kBFloat16, kFloat, kDouble, kComplexFloat, kComplexDouble}.contains(dtype);
}

bool cublas_lt_takes_bias(ScalarType dtype) { return DtypeSet{kHalf, kBFloat16, kFloat, kDouble}.contains(dtype); }

bool cublas_lt_product(const ColumnMajorProduct& product, const Scalar& alpha, const Scalar& beta, Device device) {
  CublasOfDevice& here = cublas_of(device);
  const std::int64_t batch = product.problem.batch;
  if (batch <= kMostBatch) return run_product(product, alpha, beta, device, here);
  const std::int64_t last = (batch - 1) / kMostBatch * kMostBatch;
  const ColumnMajorProduct rest = part_of_batch(product, last, batch - last);
  if (!product_plan_of(rest, here).exists()) return false;
  for (std::int64_t first = 0; first < last; first += kMostBatch) {
    if (run_product(part_of_batch(product, first, kMostBatch), alpha, beta, device, here)) continue;
    KEYWAY_CHECK_AS(Internal, first == 0, "cuBLASLt has a kernel for the first part of a batch, but not for others");
    return false;
  }
  KEYWAY_CHECK_AS(NotImplemented, run_product(rest, alpha, beta, device, here),
                  "cuBLASLt has no kernel for {} matrices, after it had one for {}: call it again", batch - last,
                  kMostBatch);
  return true;
}

}  // namespace keyway::inline v1::cuda
