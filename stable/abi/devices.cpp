// Threads, devices and streams. The ABI names devices by an index alone: they are CUDA's.
#include <keyway/backends/cpu/parallel.h>
#include <keyway/core/base/fork_safe_mutex.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/stable/abi/errors.h>
#include <keyway/stable/abi/handles.h>
#include <keyway/stable/abi/slots.h>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>

using namespace keyway;
using namespace keyway::abi;

namespace {

Device cuda_device(std::int32_t index) { return device_of(static_cast<int>(DeviceType::CUDA), index); }

// The streams that were given out as native handles, which libraries give back.
class NativeStreams {
 public:
  static NativeStreams& get() {
    static NativeStreams& streams = *new NativeStreams;
    return streams;
  }
  void* handle_of(const Stream& stream) {
    void* const handle = stream.native_handle();
    const std::lock_guard lock(mutex_);
    streams_.insert_or_assign({handle, stream.device().index()}, stream);
    return handle;
  }
  Stream stream_of(void* handle, std::int32_t device_index) {
    const Device device = current_stream(cuda_device(device_index)).device();
    if (handle == nullptr) return default_stream(device);
    const std::lock_guard lock(mutex_);
    const auto at = streams_.find({handle, device.index()});
    KEYWAY_CHECK(at != streams_.end(), "the stream is none that Keyway gave out for {}", device);
    return at->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<void*, int>, Stream> streams_;
};

void set_current_stream(const Stream& stream) { device_guard_impl(stream.device_type()).exchange_stream(stream); }

}  // namespace

AOTITorchError torch_parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain,
                                  void (*function)(std::int64_t begin, std::int64_t end, void* context),
                                  void* context) {
  return guarded(__func__, [&] {
    checked(function, "the function");
    parallel_for(begin, end, grain < 1 ? 1 : grain,
                 [&](std::int64_t first, std::int64_t last) { function(first, last, context); });
  });
}
AOTITorchError torch_get_num_threads(std::uint32_t* result) {
  return guarded(__func__, [&] { checked(result, "the result") = static_cast<std::uint32_t>(get_num_threads()); });
}

AOTITorchError aoti_torch_create_device_guard(std::int32_t device_index, DeviceGuardHandle* result) {
  return guarded(__func__, [&] { give_handle(result, cuda_device(device_index)); });
}
AOTITorchError aoti_torch_device_guard_set_index(DeviceGuardHandle guard, std::int32_t device_index) {
  return guarded(__func__, [&] { held(guard).reset_device(cuda_device(device_index)); });
}
AOTITorchError aoti_torch_delete_device_guard(DeviceGuardHandle guard) {
  return guarded(__func__, [&] { delete_handle(guard); });
}
AOTITorchError aoti_torch_get_current_device_index(std::int32_t* result) {
  return guarded(__func__, [&] { checked(result, "the result") = current_device(DeviceType::CUDA).index(); });
}

AOTITorchError aoti_torch_get_current_stream(std::int32_t device_index, StreamHandle* result) {
  return guarded(__func__, [&] { give_handle(result, current_stream(cuda_device(device_index))); });
}
AOTITorchError aoti_torch_stream_id(StreamHandle stream, std::int64_t* result) {
  return guarded(__func__, [&] { checked(result, "the result") = held(stream).id(); });
}
AOTITorchError torch_stream_native_handle(StreamHandle stream, void** result) {
  return guarded(__func__, [&] { checked(result, "the result") = NativeStreams::get().handle_of(held(stream)); });
}
AOTITorchError aoti_torch_delete_stream(StreamHandle stream) {
  return guarded(__func__, [&] { delete_handle(stream); });
}

AOTITorchError aoti_torch_get_current_cuda_stream(std::int32_t device_index, void** result) {
  return guarded(__func__, [&] {
    checked(result, "the result") = NativeStreams::get().handle_of(current_stream(cuda_device(device_index)));
  });
}
AOTITorchError torch_set_current_cuda_stream(void* stream, std::int32_t device_index) {
  return guarded(__func__, [&] { set_current_stream(NativeStreams::get().stream_of(stream, device_index)); });
}
AOTITorchError torch_get_cuda_stream_from_pool(bool high_priority, std::int32_t device_index, void** result) {
  return guarded(__func__, [&] {
    const Stream stream = new_stream(cuda_device(device_index), high_priority ? -1 : 0);
    checked(result, "the result") = NativeStreams::get().handle_of(stream);
  });
}
AOTITorchError torch_cuda_stream_synchronize(void* stream, std::int32_t device_index) {
  return guarded(__func__, [&] { NativeStreams::get().stream_of(stream, device_index).synchronize(); });
}

// The caller has the CUDA runtime whose error it is.
AOTITorchError torch_c10_cuda_check_msg(std::int32_t error, const char* file, const char* function, std::uint32_t line,
                                        bool, char** message) {
  return guarded(__func__, [&] {
    checked(message, "the result") = nullptr;
    if (error == 0) return;
    const auto text_of = reinterpret_cast<const char* (*)(int)>(dlsym(RTLD_DEFAULT, "cudaGetErrorString"));
    const char* const known = text_of == nullptr ? nullptr : text_of(error);
    const std::string text = "CUDA error " + std::to_string(error) + (known == nullptr ? "" : ": ") +
                             (known == nullptr ? "" : known) + " (" + (function == nullptr ? "?" : function) + " at " +
                             (file == nullptr ? "?" : file) + ":" + std::to_string(line) + ")";
    *message = static_cast<char*>(std::malloc(text.size() + 1));
    if (*message == nullptr) KEYWAY_FAIL(OutOfMemory, "there is no memory for a message of {} bytes", text.size());
    std::memcpy(*message, text.c_str(), text.size() + 1);
  });
}
void torch_c10_cuda_free_error_msg(char* message) { std::free(message); }
