// What mm is measured by: the fastest of all the algorithms that cuBLASLt names for a product of square matrices, each
// of which is tried, with the room that NVIDIA recommends for it.
#include <keyway/bench/cuda/device.h>
#include <keyway/core/base/error.h>
#include <keyway/core/base/shared_library.h>

#include <chrono>
#include <cublasLt.h>
#include <limits>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

#define KEYWAY_BENCH_FUNCTIONS(X) \
  X(Create)                       \
  X(MatmulDescCreate)             \
  X(MatrixLayoutCreate) X(MatmulPreferenceCreate) X(MatmulPreferenceSetAttribute) X(MatmulAlgoGetHeuristic) X(Matmul)

struct CublasLt {
#define X(name) decltype(&cublasLt##name) name = nullptr;
  KEYWAY_BENCH_FUNCTIONS(X)
#undef X

  CublasLt() {
    keyway::LibraryFunctions<> library("libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR));
#define X(name) library.find("cublasLt" #name, name);
    KEYWAY_BENCH_FUNCTIONS(X)
#undef X
    KEYWAY_CHECK(library.problem().empty(), "cuBLASLt: {}", library.problem());
  }
};

void check(cublasStatus_t status) { KEYWAY_CHECK(status == CUBLAS_STATUS_SUCCESS, "cuBLASLt: status {}", int{status}); }

// Of N by N matrices, once. Descriptors live as long as the program.
class Product {
 public:
  Product(std::int64_t n, lib::ScalarType dtype, cudaDataType_t type)
      : a_(bench::drawn(n, n).to(dtype)),
        b_(bench::drawn(n, n).to(dtype)),
        c_(lib::empty_like(a_)),
        room_(lib::empty({kRoom}, bench::on_device().dtype(lib::kByte))) {
    const auto side = static_cast<std::uint64_t>(n);
    check(lt_.Create(&handle_));
    check(lt_.MatmulDescCreate(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    check(lt_.MatrixLayoutCreate(&layout_, type, side, side, n));
  }

  std::vector<cublasLtMatmulAlgo_t> algorithms() const {
    constexpr int kMost = 64;
    cublasLtMatmulPreference_t preference = nullptr;
    check(lt_.MatmulPreferenceCreate(&preference));
    const std::uint64_t room = kRoom;
    check(lt_.MatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room));
    std::vector<cublasLtMatmulHeuristicResult_t> found(kMost);
    int count = 0;
    check(lt_.MatmulAlgoGetHeuristic(handle_, product_, layout_, layout_, layout_, layout_, preference, kMost,
                                     found.data(), &count));
    std::vector<cublasLtMatmulAlgo_t> all;
    for (int i = 0; i < count; ++i) all.push_back(found[static_cast<std::size_t>(i)].algo);
    return all;
  }

  cublasStatus_t queue(const cublasLtMatmulAlgo_t& algorithm) const {
    const float one = 1, zero = 0;
    return lt_.Matmul(handle_, product_, &one, a_.data_ptr(), layout_, b_.data_ptr(), layout_, &zero, c_.data_ptr(),
                      layout_, c_.data_ptr(), layout_, &algorithm, room_.data_ptr(), kRoom, nullptr);
  }

 private:
  static constexpr std::int64_t kRoom = std::int64_t{32} << 20;

  const CublasLt lt_;
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t layout_ = nullptr;
  lib::Tensor a_, b_, c_, room_;
};

// How long some calls take; for ever, if the algorithm does not serve.
double seconds_of(const Product& product, const cublasLtMatmulAlgo_t& algorithm) {
  if (product.queue(algorithm) != CUBLAS_STATUS_SUCCESS) return std::numeric_limits<double>::infinity();
  bench::wait();
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < bench::kQueued; ++i) check(product.queue(algorithm));
  bench::wait();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

cublasLtMatmulAlgo_t fastest_of(const Product& product) {
  const std::vector<cublasLtMatmulAlgo_t> algorithms = product.algorithms();
  KEYWAY_CHECK(!algorithms.empty(), "cuBLASLt names no algorithm");
  cublasLtMatmulAlgo_t fastest = algorithms.front();
  double least = seconds_of(product, fastest);
  for (const cublasLtMatmulAlgo_t& algorithm : algorithms) {
    const double seconds = seconds_of(product, algorithm);
    if (seconds >= least) continue;
    fastest = algorithm;
    least = seconds;
  }
  return fastest;
}

// The search is made once, whatever how often a row runs.
template <std::int64_t N, lib::ScalarType dtype, cudaDataType_t type>
void best(bench::State& state) {
  static const Product& product = *new Product(N, dtype, type);
  static const cublasLtMatmulAlgo_t fastest = fastest_of(product);
  bench::queue(state, [] { check(product.queue(fastest)); });
  bench::computes(state, 2.0 * N * N * N);
}

const bench::Row rows[] = {
    {"mm/4096/best", best<4096, lib::kFloat, CUDA_R_32F>},
    {"mm/4096/bfloat16/best", best<4096, lib::kBFloat16, CUDA_R_16BF>},
    {"mm/512/bfloat16/best", best<512, lib::kBFloat16, CUDA_R_16BF>},
};

}  // namespace
