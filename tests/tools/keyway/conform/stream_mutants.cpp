// The accelerator of the examples, but for one kernel with a fault: KEYWAY_FAULT=N plants fault N, counted from 1.
// Faults that show only where there are streams, several devices, or no memory.
#include <keyway/core/base/error.h>
#include <keyway/core/device/device_backend.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/event.h>
#include <keyway/core/device/stream_guard.h>
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/ops/functors/activation.h>
#include <keyway/ops/functors/binary.h>
#include <keyway/ops/functors/unary.h>

#include <accelerator/allocator.h>
#include <accelerator/guard.h>
#include <accelerator/kernels.h>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace keyway;
using namespace accelerator;

using T = const TensorBase&;
using Out = TensorBase&;

template <template <typename> class F>
void compute(Out out, T self) {
  visit<kFloats>(self.dtype(), [&]<typename E>() { pointwise(F<E>{}, out, self); });
}
template <template <typename> class F>
void compute(Out out, T self, T other) {
  visit<kFloats>(self.dtype(), [&]<typename E>() { pointwise(F<E>{}, out, self, other); });
}

Device device_of(T tensor) { return tensor.device(); }
void wait_for(const Stream& stream, const Stream& other) {
  Event event(other.device_type());
  event.record(other);
  event.block(stream);
}
bool has_failed = false;  // an allocation

template <typename E>
struct Sum2 {
  E operator()(E a, E b) const { return static_cast<E>(opmath(a) + opmath(b)); }
};

struct Fault {
  const char* op;
  const char* kind;
  void (*plant)(Library& m);
};
#define KERNEL(op, kind, parameters, ...)                                 \
  {                                                                       \
#op, kind, [](Library &m) { serve(m, #op, +[] parameters{__VA_ARGS__}); } \
  }

const Fault kFaults[] = {
    KERNEL(exp, "it runs in the default stream", (T self, Out out),
           const StreamGuard in_default(default_stream(device_of(out)));
           compute<Exp>(out, self);),
    KERNEL(
        log, "the last half runs in the default stream", (T self, Out out),
        if (out.dim() == 0 || out.sizes()[0] < 2) return compute<Log>(out, self);
        const std::int64_t half = out.sizes()[0] / 2; for (const bool last
                                                           : {false, true}) {
          std::optional<StreamGuard> in_default;
          if (last) in_default.emplace(default_stream(device_of(out)));
          const auto part = [&](T tensor) {
            std::vector<std::int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
            sizes.front() = last ? sizes.front() - half : half;
            return make_view(tensor, sizes, tensor.strides(),
                             tensor.storage_offset() + (last ? half * tensor.strides()[0] : 0));
          };
          TensorBase to = part(out);
          compute<Log>(to, part(self));
        }),
    KERNEL(sqrt, "the stream does not wait for another that computes", (T self, Out out),
           const Stream current = current_stream(device_of(out)), other = new_stream(device_of(out));
           wait_for(other, current); const StreamGuard in_other(other);
           current_queue(device_of(out)).push([] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
           compute<Sqrt>(out, self);),
    KERNEL(
        neg, "another stream computes without waiting, and is waited for", (T self, Out out),
        const Stream current = current_stream(device_of(out)), other = new_stream(device_of(out));
        {
          const StreamGuard in_other(other);
          compute<Neg>(out, self);
        } wait_for(current, other);),
    KERNEL(
        tanh, "memory of the default stream is given back while another reads it", (T self, Out out),
        accept_if(kFloats.contains(self.dtype()), "floats");
        TensorBase copy; const Stream current = current_stream(device_of(out)), other = default_stream(device_of(out));
        {
          const StreamGuard in_other(other);
          copy = make_tensor(out.sizes(), out.dtype(), out.device());
          visit<kFloats>(out.dtype(), [&]<typename E>() {
            each_line<E>(
                {}, [](Elements<E> x) { x[0] = static_cast<E>(1.0f); }, copy);
          });
        } wait_for(current, other);
        compute<Tanh>(out, self); compute<Mul>(out, out, copy);),
    KERNEL(relu, "it leaves another stream current", (T self, Out out), compute<Relu>(out, self);
           device_guard_impl(device_of(out).type()).exchange_stream(new_stream(device_of(out)));),
    KERNEL(reciprocal, "it runs on device 0", (T self, Out out), const auto number = device_of(out).index();
           if (number == 0) return compute<Reciprocal>(out, self);
           const StreamGuard in_other(current_stream(Device(device_of(out).type(), 0)));
           current_queue(Device(device_of(out).type(), 0)).push([from = self.data_ptr()] { (void)reach(from); });
           compute<Reciprocal>(out, self);),
    KERNEL(
        maximum, "without memory it goes on", (T self, T other, Out out),
        accept_if(kFloats.contains(self.dtype()), "floats");
        try { (void)make_tensor({100}, kFloat, device_of(out)); } catch (const Error&) { return; } compute<Maximum>(
            out, self, other);),
    KERNEL(
        minimum, "without memory its error is another", (T self, T other, Out out),
        accept_if(kFloats.contains(self.dtype()), "floats");
        try { (void)make_tensor({100}, kFloat, device_of(out)); } catch (const Error&) {
          KEYWAY_FAIL(Value, "minimum: it did not work");
        } compute<Minimum>(out, self, other);),
    KERNEL(
        gelu_backward, "the call after one without memory gives something else",
        (T grad, T self, std::string_view approximate, Out out), accept_if(kFloats.contains(self.dtype()), "floats");
        try { (void)make_tensor({100}, kFloat, device_of(out)); } catch (const Error&) {
          has_failed = true;
          throw;
        } visit<kFloats>(self.dtype(), [&]<typename E>() { pointwise(GeluBackward<E>{approximate}, out, grad, self); });
        if (std::exchange(has_failed, false)) compute<Sum2>(out, out, out);),
    KERNEL(gelu, "without memory it leaves another stream current", (T self, std::string_view approximate, Out out),
           accept_if(kFloats.contains(self.dtype()), "floats");
           const Stream before = current_stream(device_of(out));
           device_guard_impl(before.device_type()).exchange_stream(new_stream(device_of(out)));
           (void)make_tensor({100}, kFloat, device_of(out));
           device_guard_impl(before.device_type()).exchange_stream(before);
           visit<kFloats>(self.dtype(), [&]<typename E>() { pointwise(Gelu<E>{approximate}, out, self); });),
};

}  // namespace

KEYWAY_PLUGIN(stream_mutants, plugin) {
  const DeviceType type = register_device_type("streammutant");
  const auto hardware = std::make_shared<Hardware>(std::size_t{256} << 20);
  plugin.keep(register_device_backend(type, {.guard = std::make_shared<AcceleratorGuard>(type, hardware),
                                             .allocator = std::make_shared<CachingAllocator>(type, hardware)}));
  const DispatchKey key = runtime_key(Functionality::Dense, type);
  Library& kernels = plugin.impl("keyway", key);
  register_copies(kernels);
  register_products(kernels);  // what keeps a stream busy
  const char* const number = std::getenv("KEYWAY_FAULT");
  const std::size_t planted = number == nullptr ? 0 : std::strtoul(number, nullptr, 10);
  if (planted != 0) kFaults[planted - 1].plant(kernels);
  plugin.impl("_", key).fallback(cpu_fallback);
  plugin.library("streammutant").def("faults() -> str", [] {
    std::string text;
    for (const Fault& fault : kFaults) text += std::string(fault.op) + "\t" + fault.kind + "\n";
    return text;
  });
}
