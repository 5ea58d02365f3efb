// CUDAGraph: work of a CUDA device that is written down once and then done again and again by one call, so that the
// host does not have to say it all each time.
//
//   train_step();                      // a few times in new_stream(kCUDA): states are made, libraries loaded
//   CUDAGraph graph;
//   {
//     CUDAGraphCapture capture(graph);
//     train_step();
//     capture.end();
//   }
//   input.copy_(batch);
//   graph.replay();
//
// A replay reads and writes the memory that the captured calls did: tensors that are to be read are filled before, and
// results are read from the tensors that were made in the capture. Random operators take new numbers at each replay,
// those that eager calls would take. What the host decided meanwhile, such as a learning rate, stays as it was.
//
// What the host would have to wait for cannot be captured, and is refused: item(), copies between host and device,
// synchronize(), events, results whose sizes depend on data. A capture in which anything was refused cannot be ended.
#pragma once

#include <keyway/core/base/library_resources.h>
#include <keyway/core/device/capture_lock.h>
#include <keyway/core/device/graph_impl.h>
#include <keyway/core/device/stream_guard.h>

#include <memory>
#include <optional>
#include <thread>

namespace keyway::inline v1 {

// Whether this thread is capturing a graph, and so must not wait for a device.
KEYWAY_API bool is_capturing_graph();

// Movable only. Not for several threads at a time; what is captured ends, or goes, in the thread that began.
class CUDAGraph {
 public:
  KEYWAY_API CUDAGraph();
  KEYWAY_API CUDAGraph(CUDAGraph&&) noexcept;
  KEYWAY_API CUDAGraph& operator=(CUDAGraph&&) noexcept;
  KEYWAY_API ~CUDAGraph();

  // Captures what is queued in the current stream of the current CUDA device from now on. `pool` is that of another
  // graph that is never replayed at the same time, and whose results are not read after a replay of this one. Errors:
  // the default stream; a stream that is captured already; a graph that holds something; there is no CUDA device.
  KEYWAY_API void capture_begin(MempoolId pool = 0);
  // Errors: nothing is being captured, or by another thread; something was refused, which the error names. Then the
  // graph is empty.
  KEYWAY_API void capture_end();
  // Queues the work in the current stream. Errors: nothing was captured; another device is current; the stream is being
  // captured.
  KEYWAY_API void replay();
  // Forgets the work, and lets its memory go as soon as no tensor has it. Errors: another thread is capturing it.
  KEYWAY_API void reset();
  // Errors: nothing was captured.
  KEYWAY_API MempoolId pool() const;

 private:
  friend class CUDAGraphCapture;

  GraphImplInterface& captured() const;
  bool is_captured_elsewhere() const;
  // reset(), but what another thread is capturing is left to it.
  void drop() noexcept;

  LibraryResource hold_;                      // as long as there is something
  std::unique_ptr<GraphImplInterface> impl_;  // null: nothing was captured
  std::thread::id captures_;                  // the thread that is capturing
};

// A capture as long as it lives, in a stream that is current meanwhile. Without end() it is given up: that is what an
// exception does.
class CUDAGraphCapture {
 public:
  // Waits for those of other threads on the device, and then for the device. Throws as capture_begin() does, and if
  // this thread is capturing something. `stream`: if it is absent, one that is there for captures alone, so that
  // nothing of other threads is captured with it; what is given must be nobody else's meanwhile.
  KEYWAY_API explicit CUDAGraphCapture(CUDAGraph& graph, MempoolId pool = 0,
                                       std::optional<Stream> stream = std::nullopt);
  KEYWAY_API ~CUDAGraphCapture();
  CUDAGraphCapture(const CUDAGraphCapture&) = delete;
  CUDAGraphCapture& operator=(const CUDAGraphCapture&) = delete;
  // Throws as capture_end() does.
  KEYWAY_API void end();

 private:
  CUDAGraph& graph_;
  CaptureLock lock_;  // until the stream is no longer current
  StreamGuard stream_;
  bool ended_ = false;
};

}  // namespace keyway::inline v1
