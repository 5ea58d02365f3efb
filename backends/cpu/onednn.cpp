#include <keyway/backends/cpu/onednn.h>
#include <keyway/core/base/error.h>

#include <dnnl.h>

// Of the OpenMP run-time library that oneDNN runs on; declared here since the compiler is told nothing of
// OpenMP, and must not be.
extern "C" void omp_set_num_threads(int);
extern "C" int omp_get_max_threads();

namespace keyway::inline v1::onednn {

namespace {

// While this lives, oneDNN uses no other thread than this one: after a parallel region of OpenMP a forked
// child hangs in its next, and ThreadSanitizer cannot see into it.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

void check(dnnl_status_t status, const char* what) {
  if (status == dnnl_success) [[likely]] return;
  if (status == dnnl_out_of_memory) KEYWAY_FAIL(OutOfMemory, "oneDNN has no memory for its {}", what);
  KEYWAY_FAIL(Internal, "oneDNN's {} failed with status {}", what, static_cast<int>(status));
}

}  // namespace

void sgemm(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
           const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
           std::int64_t ldc) {
  const OneThread one_thread;
  check(dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, alpha, a, lda, b, ldb, beta, c,
                   ldc),
        "matrix product");
}

}  // namespace keyway::inline v1::onednn
