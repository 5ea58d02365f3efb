#include <keyway/backends/cpu/onednn.h>

// Of the OpenMP run-time library that oneDNN runs on; declared here since the compiler is told nothing of
// OpenMP, and must not be.
extern "C" void omp_set_num_threads(int);
extern "C" int omp_get_max_threads();

namespace keyway::inline v1::onednn {

OneThread::OneThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}
OneThread::~OneThread() {
  if (before_ != 1) omp_set_num_threads(before_);
}

const dnnl::engine& engine() {
  static const dnnl::engine* const cpu = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *cpu;
}

// It only orders what is put into it, and on the processor everything is done at once: one serves all threads.
dnnl::stream& stream() {
  static dnnl::stream* const in_order = new dnnl::stream(engine());
  return *in_order;
}

void fail(dnnl_status_t status, const char* what) {
  if (status == dnnl_out_of_memory) KEYWAY_FAIL(OutOfMemory, "oneDNN has no memory for its {}", what);
  KEYWAY_FAIL(Internal, "oneDNN's {} failed with status {}", what, static_cast<int>(status));
}

}  // namespace keyway::inline v1::onednn
