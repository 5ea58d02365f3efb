// Deferred: a region whose calls are recorded and made later, together, as graphs.
//
//   graph::Deferred region;
//   for (int i = 0; i < 100; ++i) x = (x * 0.5 + 1).tanh();  // nothing is computed
//   std::printf("%f", x[0].item<double>());                  // all of it, as one graph
//   region.finish();
//
// What is computed is what the calls would give one by one, to the last bit, in the same memory. A flush makes the
// calls that are recorded: at a number that is read, at an access to memory that Keyway sees, at a call that cannot be
// recorded, and at the end. Each flush is a graph; one that has been flushed before runs as it was made ready then
// (executable.h).
//
// Until the flush a result has no memory: data_ptr() is null. flush() comes before what reads or writes memory by
// itself, of results and of any tensor that the region writes to.
#pragma once

#include <keyway/core/base/macros.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace keyway::inline v1::graph {

class DeferredRegion;

// Within another region of its thread, or within a capture, it is a part of that, which its end flushes.
class KEYWAY_API Deferred {
 public:
  Deferred();
  // Ends; an error of a deferred call becomes a warning.
  ~Deferred();
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;

  // Makes the calls that are recorded. Throws what one of them throws, with the place where it was deferred. Those that
  // follow it are not made then, and results that have no elements are errors where they are used.
  void flush();
  // Flushes and ends; calls are made at once from then on.
  void finish();

  struct Statistics {
    std::size_t deferred_calls = 0;
    std::size_t immediate_calls = 0;  // that could not be recorded
    std::size_t flushes = 0;          // of one call or more
    std::size_t known_graphs = 0;     // of these, of a graph that was flushed before
  };
  Statistics statistics() const;
  // How many flushes there were, and why, in lines.
  std::string explain() const;

 private:
  std::shared_ptr<DeferredRegion> region_;
  bool is_open_ = true;
};

// Makes the calls that this thread has deferred, if there are any. `why` is for explain().
KEYWAY_API void flush_deferred(std::string_view why);

}  // namespace keyway::inline v1::graph
