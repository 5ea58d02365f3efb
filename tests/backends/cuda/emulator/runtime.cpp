#include <keyway/tests/backends/cuda/emulator/bound_kernel.h>
#include <keyway/tests/backends/cuda/emulator/context.h>
#include <keyway/tests/backends/cuda/emulator/enqueue.h>
#include <keyway/tests/backends/cuda/emulator/keyway/backends/cuda/driver/kernel_address.h>
#include <keyway/tests/backends/cuda/emulator/run_block.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <nvtx3/nvToolsExt.h>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Work that was captured.
struct EmulatedGraph {
  std::vector<std::function<void()>> work;
};

// All of a stream that nobody has waited for yet.
struct EmulatedStream {
  int device;
  std::deque<std::function<void()>> work;
  std::unique_ptr<EmulatedGraph> captured{};  // where work goes instead, while it is captured
  bool spoiled = false;                       // the capture
};

namespace {

using Clock = std::chrono::steady_clock;

// Where a stream was when an event was recorded: it has come when the stream is there.
struct Mark {
  EmulatedStream* stream = nullptr;
  bool reached = false;
  Clock::time_point when;
};

}  // namespace

struct EmulatedEvent {
  bool timing = false;
  std::shared_ptr<Mark> mark;  // null: never recorded
  bool is_of_a_graph = false;  // the last time that it was recorded
};

namespace {

constexpr int kDevices = 2;
// Of a device, unless KEYWAY_EMULATED_CUDA_BYTES has another number.
std::size_t device_bytes() {
  static const std::size_t bytes = [] {
    const char* const set = std::getenv("KEYWAY_EMULATED_CUDA_BYTES");
    return set == nullptr ? std::size_t{2} << 30 : static_cast<std::size_t>(std::atoll(set));
  }();
  return bytes;
}
constexpr std::size_t kLibraryBytes = std::size_t{2} << 20;  // that a library takes
constexpr std::size_t kAlignment = 256;                      // what cudaMalloc promises

thread_local int current_device = 0;
thread_local bool has_context = false;
thread_local cudaError_t last_error = cudaSuccess;

struct Memory {
  std::size_t bytes;
  int device;  // -1: the host's, pinned
};

// All that there is, under one lock: host code that is to be safe for threads is not made so by this.
struct Machine {
  std::recursive_mutex mutex;
  std::deque<EmulatedStream> streams;    // a default one for each device, then those that were made
  std::map<const char*, Memory> memory;  // by where it begins
  std::size_t used[kDevices] = {};
  std::map<const void*, keyway::cuda::KernelSignature> kernels;
  std::set<std::pair<int, int>> peers;  // devices, and those whose memory they reach

  // The piece that an address lies in; null for the host's own memory.
  const Memory* find(const void* address) const {
    const auto* const at = static_cast<const char*>(address);
    auto after = memory.upper_bound(at);
    if (after == memory.begin()) return nullptr;
    --after;
    return at < after->first + std::max<std::size_t>(after->second.bytes, 1) ? &after->second : nullptr;
  }
};
Machine& machine() {
  static Machine& all = *[] {
    auto* const made = new Machine;
    for (int device = 0; device < kDevices; ++device) made->streams.push_back({device, {}, nullptr});
    return made;
  }();
  return all;
}
using Lock = std::lock_guard<std::recursive_mutex>;

cudaError_t result(cudaError_t status) {
  if (status != cudaSuccess) last_error = status;
  return status;
}

using emulator::check_may_wait;
using emulator::stop;

bool is_device(int device) { return device >= 0 && device < kDevices; }

// What the machine is to be like, as the environment has it.
bool is_wanted(const char* variable, std::string_view value) {
  const char* const set = std::getenv(variable);
  return set != nullptr && set == value;
}
// KEYWAY_EMULATED_CUDA_DRIVER: the version of the driver, 0 where there is none; else the runtime's.
constexpr int kRuntimeVersion = 13000;
int driver_version() {
  const char* const set = std::getenv("KEYWAY_EMULATED_CUDA_DRIVER");
  return set == nullptr ? kRuntimeVersion : std::atoi(set);
}
// KEYWAY_EMULATED_CUDA_ARCHITECTURE=old: devices that no kernel was compiled for.
bool is_old() { return is_wanted("KEYWAY_EMULATED_CUDA_ARCHITECTURE", "old"); }

// KEYWAY_EMULATED_CUDA_DEVICES=unavailable: devices that another process has for itself.
bool are_taken() { return is_wanted("KEYWAY_EMULATED_CUDA_DEVICES", "unavailable"); }

EmulatedStream& stream_of(cudaStream_t stream) {
  EmulatedStream& found = stream != nullptr ? *stream : machine().streams[static_cast<std::size_t>(current_device)];
  if (found.device != current_device) stop("a stream is used where another device is current");
  has_context = true;
  return found;
}

// Whether the thread captures a stream, and so may not wait.
thread_local bool is_capturing = false;

// What cannot be asked of a stream that is captured.
cudaError_t spoil(EmulatedStream& stream) {
  stream.spoiled = true;
  return result(cudaErrorStreamCaptureUnsupported);
}

void put(EmulatedStream& stream, std::function<void()> work) {
  if (stream.captured != nullptr) {
    stream.captured->work.push_back(std::move(work));
  } else {
    stream.work.push_back(std::move(work));
  }
}

void run_one(EmulatedStream& stream) {
  if (stream.work.empty()) stop("it waits for an event that will never come");
  const std::function<void()> work = std::move(stream.work.front());
  stream.work.pop_front();
  work();
}

void run_all(EmulatedStream& stream) {
  while (!stream.work.empty()) run_one(stream);
}

void run_device(int device) {
  for (EmulatedStream& stream : machine().streams) {
    if (stream.device == device) run_all(stream);
  }
}

void reach(const std::shared_ptr<Mark>& mark) {
  while (!mark->reached) run_one(*mark->stream);
}

void copy(void* to, const void* from, std::size_t bytes, EmulatedStream& stream) {
  const Memory* const source = machine().find(from);
  const Memory* const target = machine().find(to);
  for (const auto& [piece, address] : {std::pair(source, from), std::pair(target, static_cast<const void*>(to))}) {
    if (piece == nullptr) continue;
    if (machine().find(static_cast<const char*>(address) + bytes - 1) != piece) stop("a copy leaves its memory");
  }
  if (stream.captured != nullptr && (source == nullptr || target == nullptr))
    stop("a graph has a copy of memory that is not pinned");
  if (source == nullptr) {
    // Pageable memory has been read when the call returns.
    put(stream, [to, held = std::vector<char>(static_cast<const char*>(from), static_cast<const char*>(from) + bytes)] {
      std::memcpy(to, held.data(), held.size());
    });
  } else {
    put(stream, [=] { std::memmove(to, from, bytes); });
  }
  if (target == nullptr) run_all(stream);  // and written
}

}  // namespace

void keyway::cuda::remember_kernel(const void* kernel, const KernelSignature& signature) {
  const Lock lock(machine().mutex);
  machine().kernels.emplace(kernel, signature);
}

void emulator::stop(const std::string& what) {
  std::fprintf(stderr, "the emulated device: %s\n", what.c_str());
  std::abort();
}

void emulator::check_may_wait(const char* call) {
  if (is_capturing) stop(std::string(call) + " while the thread captures a graph");
}

void* emulator::take_memory() {
  void* memory = nullptr;
  return cudaMalloc(&memory, kLibraryBytes) == cudaSuccess ? memory : nullptr;
}

void emulator::enqueue(cudaStream_t stream, std::function<void()> work) {
  const Lock lock(machine().mutex);
  put(stream_of(stream), std::move(work));
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorNoKernelImageForDevice: return "cudaErrorNoKernelImageForDevice";
    case cudaErrorNotReady: return "cudaErrorNotReady";
    case cudaErrorDevicesUnavailable: return "cudaErrorDevicesUnavailable";
    case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated: return "cudaErrorStreamCaptureInvalidated";
    case cudaErrorCapturedEvent: return "cudaErrorCapturedEvent";
    default: return "another error";
  }
}
const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

cudaError_t cudaDriverGetVersion(int* version) {
  *version = driver_version();
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = kRuntimeVersion;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  if (driver_version() < kRuntimeVersion) return result(cudaErrorInsufficientDriver);
  *count = kDevices;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!is_device(device)) return result(cudaErrorInvalidDevice);
  *properties = {"the host", is_old() ? 7 : 9, 0, 4};
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (!is_device(device)) return result(cudaErrorInvalidDevice);
  current_device = device;
  has_context = true;
  return cudaSuccess;
}
bool emulated_context() { return has_context; }
cudaError_t cudaDeviceSynchronize() {
  check_may_wait("cudaDeviceSynchronize");
  has_context = true;
  const Lock lock(machine().mutex);
  for (EmulatedStream& stream : machine().streams) {
    if (stream.device == current_device && stream.captured != nullptr) return spoil(stream);
  }
  run_device(current_device);
  return cudaSuccess;
}

// KEYWAY_EMULATED_CUDA_PEERS=apart: no device reaches the other one's memory.
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!is_device(device) || !is_device(peer)) return result(cudaErrorInvalidDevice);
  *can = device != peer && !is_wanted("KEYWAY_EMULATED_CUDA_PEERS", "apart");
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned) {
  int can = 0;
  if (const cudaError_t status = cudaDeviceCanAccessPeer(&can, current_device, peer); status != cudaSuccess)
    return status;
  if (can == 0) stop("access is enabled to a device that cannot be reached");
  const Lock lock(machine().mutex);
  const bool is_new = machine().peers.emplace(current_device, peer).second;
  return is_new ? cudaSuccess : result(cudaErrorPeerAccessAlreadyEnabled);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int priority) {
  if (priority > 0 || priority < -5) return result(cudaErrorInvalidValue);
  const Lock lock(machine().mutex);
  machine().streams.push_back({current_device, {}, nullptr});
  *stream = &machine().streams.back();
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  check_may_wait("cudaStreamQuery");
  const Lock lock(machine().mutex);
  EmulatedStream& asked = stream_of(stream);
  if (asked.captured != nullptr) return spoil(asked);
  if (asked.work.empty()) return cudaSuccess;
  run_one(asked);  // time passes
  return result(cudaErrorNotReady);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  check_may_wait("cudaStreamSynchronize");
  const Lock lock(machine().mutex);
  EmulatedStream& asked = stream_of(stream);
  if (asked.captured != nullptr) return spoil(asked);
  run_all(asked);
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  const bool was_strict = is_capturing;
  is_capturing = *mode != cudaStreamCaptureModeRelaxed;
  *mode = was_strict ? cudaStreamCaptureModeThreadLocal : cudaStreamCaptureModeRelaxed;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  const Lock lock(machine().mutex);
  if (stream == nullptr || stream->captured != nullptr) return result(cudaErrorInvalidValue);
  stream->captured = std::make_unique<EmulatedGraph>();
  is_capturing = true;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const Lock lock(machine().mutex);
  if (stream == nullptr || stream->captured == nullptr) return result(cudaErrorInvalidValue);
  const std::unique_ptr<EmulatedGraph> captured = std::move(stream->captured);
  is_capturing = false;
  *graph = nullptr;
  if (std::exchange(stream->spoiled, false)) return result(cudaErrorStreamCaptureInvalidated);
  *graph = new EmulatedGraph(*captured);
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const Lock lock(machine().mutex);
  const bool captured = stream != nullptr && stream->captured != nullptr;
  *status = captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* work, cudaGraph_t graph, unsigned long long) {
  *work = new EmulatedGraph(*graph);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t work) {
  delete work;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t work, cudaStream_t stream) {
  const Lock lock(machine().mutex);
  for (const std::function<void()>& piece : work->work) put(stream_of(stream), piece);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new EmulatedEvent{(flags & cudaEventDisableTiming) == 0, nullptr};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  check_may_wait("cudaEventRecord");
  const Lock lock(machine().mutex);
  EmulatedStream& in = stream_of(stream);
  event->is_of_a_graph = in.captured != nullptr;
  event->mark = std::make_shared<Mark>(Mark{&in, false, {}});
  put(in, [mark = event->mark] {
    mark->reached = true;
    mark->when = Clock::now();
  });
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  check_may_wait("cudaEventQuery");
  const Lock lock(machine().mutex);
  if (event->is_of_a_graph) return result(cudaErrorCapturedEvent);
  if (event->mark == nullptr || event->mark->reached) return cudaSuccess;
  run_one(*event->mark->stream);
  return result(cudaErrorNotReady);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  check_may_wait("cudaEventSynchronize");
  const Lock lock(machine().mutex);
  if (event->is_of_a_graph) return result(cudaErrorCapturedEvent);
  if (event->mark != nullptr) reach(event->mark);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const Lock lock(machine().mutex);
  for (const cudaEvent_t event : {start, end}) {
    if (!event->timing || event->mark == nullptr) return result(cudaErrorInvalidValue);
    if (!event->mark->reached) return result(cudaErrorNotReady);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(end->mark->when - start->mark->when).count();
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  check_may_wait("cudaStreamWaitEvent");
  const Lock lock(machine().mutex);
  if (event->mark != nullptr) put(stream_of(stream), [mark = event->mark] { reach(mark); });
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  check_may_wait("cudaMalloc");
  if (are_taken()) return result(cudaErrorDevicesUnavailable);
  has_context = true;
  const Lock lock(machine().mutex);
  std::size_t& used = machine().used[current_device];
  if (bytes > device_bytes() - used) return result(cudaErrorMemoryAllocation);
  void* made = nullptr;
  if (posix_memalign(&made, kAlignment, bytes) != 0) return result(cudaErrorMemoryAllocation);
  std::memset(made, 0xA5, bytes);  // nobody may count on zeros
  machine().memory.emplace(static_cast<const char*>(made), Memory{bytes, current_device});
  used += bytes;
  *memory = made;
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  check_may_wait("cudaFree");
  if (memory == nullptr) return cudaSuccess;
  const Lock lock(machine().mutex);
  const auto found = machine().memory.find(static_cast<const char*>(memory));
  if (found == machine().memory.end() || found->second.device < 0) return result(cudaErrorInvalidValue);
  run_device(found->second.device);
  machine().used[found->second.device] -= found->second.bytes;
  machine().memory.erase(found);
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  if (are_taken()) return result(cudaErrorDevicesUnavailable);
  const Lock lock(machine().mutex);
  *total = device_bytes();
  *free = device_bytes() - machine().used[current_device];
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  check_may_wait("cudaHostAlloc");
  const Lock lock(machine().mutex);
  if (posix_memalign(memory, kAlignment, bytes) != 0) return result(cudaErrorMemoryAllocation);
  machine().memory.emplace(static_cast<const char*>(*memory), Memory{bytes, -1});
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
  check_may_wait("cudaFreeHost");
  if (memory == nullptr) return cudaSuccess;
  const Lock lock(machine().mutex);
  for (int device = 0; device < kDevices; ++device) run_device(device);
  if (machine().memory.erase(static_cast<const char*>(memory)) == 0) return result(cudaErrorInvalidValue);
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  const Lock lock(machine().mutex);
  const Memory* const found = machine().find(pointer);
  *attributes = found == nullptr      ? cudaPointerAttributes{cudaMemoryTypeUnregistered, -1}
                : found->device == -1 ? cudaPointerAttributes{cudaMemoryTypeHost, 0}
                                      : cudaPointerAttributes{cudaMemoryTypeDevice, found->device};
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  const Lock lock(machine().mutex);
  if (bytes > 0) copy(to, from, bytes, stream_of(stream));
  return cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t bytes,
                                cudaStream_t stream) {
  const Lock lock(machine().mutex);
  const Memory* const target = machine().find(to);
  const Memory* const source = machine().find(from);
  if (target == nullptr || source == nullptr || target->device != to_device || source->device != from_device) {
    return result(cudaErrorInvalidValue);
  }
  if (bytes > 0) copy(to, from, bytes, stream_of(stream));
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  const Lock lock(machine().mutex);
  put(stream_of(stream), [=] { std::memset(memory, value, bytes); });
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* kernel, dim3 blocks, dim3 threads, void** arguments, std::size_t,
                             cudaStream_t stream) {
  if (is_old()) return result(cudaErrorNoKernelImageForDevice);
  const Lock lock(machine().mutex);
  const auto known = machine().kernels.find(kernel);
  if (known == machine().kernels.end()) stop("kernel_address was not asked for the kernel that is launched");
  const bool can_be = blocks.x > 0 && blocks.x < 1U << 31 && blocks.y > 0 && blocks.y < 1U << 16 && blocks.z > 0 &&
                      blocks.z < 1U << 16 && threads.x * threads.y * threads.z > 0 &&
                      threads.x * threads.y * threads.z <= 1024;
  if (!can_be) return result(cudaErrorInvalidConfiguration);
  const auto bound = std::make_shared<const emulator::BoundKernel>(kernel, known->second, arguments);
  put(stream_of(stream), [blocks, threads, bound] { emulator::run_grid(blocks, threads, [&] { (*bound)(); }); });
  return cudaSuccess;
}

namespace {
thread_local int open_ranges = 0;
}  // namespace

int nvtxRangePushA(const char* name) {
  if (name == nullptr || *name == 0) stop("a range has no name");
  return open_ranges++;
}
int nvtxRangePop() {
  if (open_ranges == 0) stop("a range ends that has not begun");
  return --open_ranges;
}
