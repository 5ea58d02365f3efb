// The emulated cuBLASLt: column-major products by three loops. It is as strict as the real one: what that may refuse,
// or compute wrongly, is an error or stops the program. That means other sizes than the heuristic was asked for,
// addresses less aligned than it was told, a workspace too small, leading dimensions that overlap,
// a bias of complex numbers. KEYWAY_EMULATED_CUBLAS_LT=plain takes the epilogues away, =picky calls them invalid, and
// batches too, =late lets it refuse each product that it chose an algorithm for.
#include <keyway/core/base/bfloat16.h>
#include <keyway/core/base/complex.h>
#include <keyway/core/base/half.h>
#include <keyway/ops/functors/opmath.h>
#include <keyway/tests/backends/cuda/emulator/calls.h>
#include <keyway/tests/backends/cuda/emulator/enqueue.h>
#include <keyway/tests/backends/cuda/emulator/keyway/backends/cuda/driver/shared_library.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <cublasLt.h>
#include <string_view>
#include <utility>

struct EmulatedCublasLt {
  int device;
};
struct EmulatedOperation {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  std::int32_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};
struct EmulatedLayout {
  cudaDataType_t type;
  std::int64_t rows, columns, leading;
  std::int32_t batch = 1;
  std::int64_t batch_stride = 0;
};
struct EmulatedPreference {
  std::uint64_t workspace = 0;
  std::uint32_t schemes = 7;
  std::uint32_t alignment[4] = {256, 256, 256, 256};
};

namespace {

using namespace keyway;

// What is held in an algorithm: what it was chosen for.
struct Chosen {
  std::uint64_t problem;
  std::uint32_t alignment[5];  // of the matrices, and the bias
};
constexpr std::size_t kWorkspace = 4096;  // bytes that an algorithm asks for, if it may

std::size_t bytes_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    case CUDA_R_32F: return 4;
    case CUDA_C_64F: return 16;
    default: return 8;
  }
}

std::uint64_t fingerprint(const EmulatedOperation& operation, const std::array<const EmulatedLayout*, 4>& layouts) {
  std::uint64_t sum = 17;
  const auto add = [&](std::int64_t number) { sum = (sum ^ static_cast<std::uint64_t>(number)) * 0x100000001B3U; };
  for (const std::int64_t number : {int{operation.compute}, int{operation.scale}, operation.a, operation.b,
                                    static_cast<std::int32_t>(operation.epilogue)}) {
    add(number);
  }
  for (const EmulatedLayout* layout : layouts) {
    for (const std::int64_t number : {std::int64_t{layout->type}, layout->rows, layout->columns, layout->leading,
                                      std::int64_t{layout->batch}, layout->batch_stride}) {
      add(number);
    }
  }
  return sum;
}

// As far as it matters.
std::uint32_t alignment_of(const void* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  return bits == 0 ? 256 : static_cast<std::uint32_t>(std::min<std::uintptr_t>(256, bits & (~bits + 1)));
}

bool cublas_lt_is(std::string_view state) {
  const char* const wish = std::getenv("KEYWAY_EMULATED_CUBLAS_LT");
  return wish != nullptr && wish == state;
}

// Whether it has such an epilogue, for such products.
bool has_epilogue(const EmulatedOperation& operation, cudaDataType_t type) {
  if (operation.epilogue == CUBLASLT_EPILOGUE_DEFAULT) return true;
  if (cublas_lt_is("plain")) return false;
  return operation.epilogue == CUBLASLT_EPILOGUE_BIAS && type != CUDA_C_32F && type != CUDA_C_64F;
}

// Whether the real library has such products: of one type, with that type for the result or what it is summed in.
bool has_types(const EmulatedOperation& operation, const std::array<const EmulatedLayout*, 4>& layouts) {
  const cudaDataType_t type = layouts[0]->type, result = layouts[3]->type;
  const bool narrow = type == CUDA_R_16F || type == CUDA_R_16BF;
  const cudaDataType_t scale = narrow ? CUDA_R_32F : type;
  const bool wide = type == CUDA_R_64F || type == CUDA_C_64F;
  const bool computes =
      wide ? operation.compute == CUBLAS_COMPUTE_64F
           : operation.compute == CUBLAS_COMPUTE_32F || (!narrow && operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32);
  return computes && operation.scale == scale && layouts[1]->type == type && layouts[2]->type == result &&
         (result == type || result == scale);
}

bool fits(const EmulatedOperation& operation, const std::array<const EmulatedLayout*, 4>& layouts) {
  const auto sizes = [&](std::size_t i) {
    const bool turned = (i == 0 && operation.a == CUBLAS_OP_T) || (i == 1 && operation.b == CUBLAS_OP_T);
    return turned ? std::pair(layouts[i]->columns, layouts[i]->rows) : std::pair(layouts[i]->rows, layouts[i]->columns);
  };
  const auto [m, k] = sizes(0);
  const auto [k_too, n] = sizes(1);
  const std::pair result(m, n);
  return k == k_too && sizes(2) == result && sizes(3) == result && m > 0 && n > 0 && k > 0 &&
         std::all_of(layouts.begin(), layouts.end(), [&](const EmulatedLayout* layout) {
           return layout->leading >= layout->rows && layout->batch == layouts[3]->batch && layout->batch > 0;
         });
}

template <typename T>
struct Columns {
  Columns(T* first, const EmulatedLayout& layout, bool transposed)
      : first_(first),
        row_(transposed ? layout.leading : 1),
        column_(transposed ? 1 : layout.leading),
        matrix_(layout.batch_stride) {}
  T& at(std::int64_t matrix, std::int64_t i, std::int64_t j) const {
    return first_[matrix * matrix_ + i * row_ + j * column_];
  }

 private:
  T* first_;
  std::int64_t row_, column_, matrix_;
};

// What a product is summed in. The real library cuts sums up, and so loses less than one after the other would.
template <typename T>
struct ExactSum {
  using type = T;
};
template <>
struct ExactSum<float> {
  using type = double;
};
template <>
struct ExactSum<complex<float>> {
  using type = complex<double>;
};

template <typename T, typename R>
void multiply(const EmulatedOperation& operation, Opmath<T> alpha, Columns<const T> a, Columns<const T> b,
              Opmath<T> beta, Columns<const R> c, Columns<R> d, const EmulatedLayout& a_layout,
              const EmulatedLayout& result) {
  const std::int64_t k = operation.a == CUBLAS_OP_T ? a_layout.rows : a_layout.columns;
  for (std::int64_t x = 0; x < result.batch; ++x) {
    for (std::int64_t j = 0; j < result.columns; ++j) {
      for (std::int64_t i = 0; i < result.rows; ++i) {
        using Sum = typename ExactSum<Opmath<T>>::type;
        Sum all = Sum(0);
        for (std::int64_t p = 0; alpha != Opmath<T>(0) && p < k; ++p) {
          all = all + static_cast<Sum>(static_cast<Opmath<T>>(a.at(x, i, p))) *
                          static_cast<Sum>(static_cast<Opmath<T>>(b.at(x, p, j)));
        }
        Opmath<T> sum = alpha * static_cast<Opmath<T>>(all);
        if (beta != Opmath<T>(0)) sum = sum + beta * static_cast<Opmath<T>>(c.at(x, i, j));
        if (operation.epilogue == CUBLASLT_EPILOGUE_BIAS) {
          sum = sum + static_cast<Opmath<T>>(static_cast<const R*>(operation.bias)[i]);
        }
        d.at(x, i, j) = static_cast<R>(sum);
      }
    }
  }
}

// Calls f.operator()<elements, results>().
template <typename F>
void visit_types(cudaDataType_t type, cudaDataType_t result, const F& f) {
  const bool same = type == result;
  switch (type) {
    case CUDA_R_16F: return same ? f.template operator()<Half, Half>() : f.template operator()<Half, float>();
    case CUDA_R_16BF:
      return same ? f.template operator()<BFloat16, BFloat16>() : f.template operator()<BFloat16, float>();
    case CUDA_R_32F: return f.template operator()<float, float>();
    case CUDA_R_64F: return f.template operator()<double, double>();
    case CUDA_C_32F: return f.template operator()<complex<float>, complex<float>>();
    case CUDA_C_64F: return f.template operator()<complex<double>, complex<double>>();
  }
}

template <typename T>
bool take(T& to, const void* value, std::size_t bytes) {
  if (bytes != sizeof(T)) return false;
  std::memcpy(&to, value, bytes);
  return true;
}
cublasStatus_t status_of(bool done) { return done ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE; }

template <typename T>
cublasStatus_t destroy(T* descriptor) {
  delete descriptor;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    default: return "another status";
  }
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (emulator::take_memory() == nullptr) return CUBLAS_STATUS_ALLOC_FAILED;
  *handle = new EmulatedCublasLt{};
  return status_of(cudaGetDevice(&(*handle)->device) == cudaSuccess);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* operation, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  *operation = new EmulatedOperation{compute, scale};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) { return destroy(operation); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA: return status_of(take(operation->a, value, bytes));
    case CUBLASLT_MATMUL_DESC_TRANSB: return status_of(take(operation->b, value, bytes));
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return status_of(take(operation->epilogue, value, bytes));
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return status_of(take(operation->bias, value, bytes));
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t leading) {
  *layout = new EmulatedLayout{type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), leading};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return destroy(layout); }
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                std::size_t bytes) {
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return status_of(take(layout->batch, value, bytes));
  return status_of(take(layout->batch_stride, value, bytes));
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new EmulatedPreference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) { return destroy(preference); }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    std::size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return status_of(take(preference->workspace, value, bytes));
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK: return status_of(take(preference->schemes, value, bytes));
    default:
      return status_of(
          take(preference->alignment[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value, bytes));
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  emulator::count("cublasLtMatmulAlgoGetHeuristic");
  emulator::check_may_wait("cublasLtMatmulAlgoGetHeuristic");
  const std::array<const EmulatedLayout*, 4> layouts{a, b, c, d};
  if (handle == nullptr || wanted < 1 || !fits(*operation, layouts)) return CUBLAS_STATUS_INVALID_VALUE;
  const bool is_batch = d->batch > (cublas_lt_is("picky") ? 1 : 65535);
  if (is_batch || (cublas_lt_is("picky") && operation->bias != nullptr)) return CUBLAS_STATUS_INVALID_VALUE;
  const bool is_misaligned =
      bytes_of(a->type) == 2 && *std::min_element(preference->alignment, preference->alignment + 4) < 4;
  const bool has_all = has_types(*operation, layouts) && has_epilogue(*operation, a->type);
  if (!has_all || is_misaligned) return CUBLAS_STATUS_NOT_SUPPORTED;
  Chosen chosen{fingerprint(*operation, layouts), {}};
  std::copy_n(preference->alignment, 4, chosen.alignment);
  chosen.alignment[4] = alignment_of(operation->bias);
  results[0] = {};
  std::memcpy(&results[0].algo, &chosen, sizeof chosen);
  // Of products with a long sum, as the real one does that cuts them up.
  results[0].workspaceSize = a->rows + a->columns > 64 && preference->workspace >= kWorkspace ? kWorkspace : 0;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  const std::array<const EmulatedLayout*, 4> layouts{a_layout, b_layout, c_layout, d_layout};
  const std::array<const void*, 4> data{a, b, c, d};
  int device = -1;
  (void)cudaGetDevice(&device);
  if (handle->device != device) emulator::stop("a handle of cuBLASLt is used where another device is current");
  Chosen chosen;
  std::memcpy(&chosen, algorithm, sizeof chosen);
  if (chosen.problem != fingerprint(*operation, layouts)) emulator::stop("an algorithm is used for another problem");
  if ((operation->epilogue == CUBLASLT_EPILOGUE_BIAS) != (operation->bias != nullptr)) {
    emulator::stop("a bias and its epilogue are not set together");
  }
  if (alignment_of(operation->bias) < chosen.alignment[4]) {
    emulator::stop("a bias is less aligned than the one that its algorithm was chosen for");
  }
  emulator::count(operation->bias == nullptr ? "cublasLtMatmul" : "cublasLtMatmul with a bias");
  if (cublas_lt_is("late")) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(data[i]);
    const std::size_t least = std::min<std::size_t>(bytes_of(layouts[i]->type), 256);
    if (address % chosen.alignment[i] != 0 || address % least != 0) {
      emulator::stop("an operand is less aligned than its algorithm was told");
    }
  }
  visit_types(a_layout->type, d_layout->type, [&]<typename T, typename R>() {
    Opmath<T> by, with;
    std::memcpy(static_cast<void*>(&by), alpha, sizeof by);
    std::memcpy(static_cast<void*>(&with), beta, sizeof with);
    emulator::enqueue(
        stream, [=, operation = *operation, a_of = *a_layout, b_of = *b_layout, c_of = *c_layout, d_of = *d_layout] {
          if (workspace_bytes > 0) std::memset(workspace, 0x5A, workspace_bytes);
          multiply<T, R>(operation, by, Columns<const T>(static_cast<const T*>(a), a_of, operation.a == CUBLAS_OP_T),
                         Columns<const T>(static_cast<const T*>(b), b_of, operation.b == CUBLAS_OP_T), with,
                         Columns<const R>(static_cast<const R*>(c), c_of, false),
                         Columns<R>(static_cast<R*>(d), d_of, false), a_of, d_of);
        });
  });
  return CUBLAS_STATUS_SUCCESS;
}

void* keyway::cuda::emulated_cublas_lt(const char* name) {
  const std::pair<std::string_view, void*> all[] = {
#define FUNCTION(name) {#name, reinterpret_cast<void*>(&name)}
      FUNCTION(cublasLtCreate),
      FUNCTION(cublasLtGetStatusName),
      FUNCTION(cublasLtMatmulDescCreate),
      FUNCTION(cublasLtMatmulDescDestroy),
      FUNCTION(cublasLtMatmulDescSetAttribute),
      FUNCTION(cublasLtMatrixLayoutCreate),
      FUNCTION(cublasLtMatrixLayoutDestroy),
      FUNCTION(cublasLtMatrixLayoutSetAttribute),
      FUNCTION(cublasLtMatmulPreferenceCreate),
      FUNCTION(cublasLtMatmulPreferenceDestroy),
      FUNCTION(cublasLtMatmulPreferenceSetAttribute),
      FUNCTION(cublasLtMatmulAlgoGetHeuristic),
      FUNCTION(cublasLtMatmul),
#undef FUNCTION
  };
  const auto* const found =
      std::find_if(std::begin(all), std::end(all), [&](const auto& one) { return one.first == name; });
  return found == std::end(all) ? nullptr : found->second;
}
