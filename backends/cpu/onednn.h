// oneDNN, for convolutions and for products of bfloat16: what the files that call it share; included by them alone.
// Everything computes on the calling thread alone; who wants threads cuts the work up and calls from each. Its first
// use costs the process some 20 ms.
//
// Nothing is to call its products of float32 (dnnl_sgemm, primitives named gemm): the code that oneDNN 2.6 makes for
// them keeps data in the stack pointer, where a signal's frame is written to.
#pragma once

#include <keyway/core/base/error.h>

#include <dnnl.hpp>

namespace keyway::inline v1::onednn {

// While this lives, oneDNN uses no other thread than this one: after a parallel region of OpenMP a forked
// child hangs in its next, and ThreadSanitizer cannot see into it.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// The processor. Made on first use.
const dnnl::engine& engine();
dnnl::stream& stream();

// Throws what a failed call means to us.
[[noreturn]] KEYWAY_COLD void fail(dnnl_status_t status, const char* what);

// Calls f on one thread; `what` names it in errors.
template <typename F>
decltype(auto) call(const char* what, const F& f) {
  const OneThread one_thread;
  try {
    return f();
  } catch (const dnnl::error& error) {
    fail(error.status, what);
  }
}

}  // namespace keyway::inline v1::onednn
