// Kernels of several pointwise calls, kept by their texts. Internal to backends/cuda/graph.
#pragma once

#include <keyway/backends/cuda/graph/device/fused_arguments.h>
#include <keyway/backends/cuda/graph/driver_module.h>
#include <keyway/core/tensor/tensor_base.h>

#include <memory>
#include <string>
#include <vector>

namespace keyway::inline v1::cuda {

// The kernel of a text on a device, compiled and loaded if nobody asked for it before; it stays for good. Throws
// keyway::Error; a text that NVRTC refuses is not compiled again, but what could not be loaded is loaded anew.
// Requires: the thread has made the device current by set_device(), and no stream of it is being captured.
std::shared_ptr<const DriverModule> fused_kernel(const std::string& text, Device device);

// Fills in where elements of operands lie. The last `results` operands have all dimensions; the others broadcast to
// them. Dimensions that are contiguous for all operands become one. False if more than kMaxRank are left.
bool set_geometry(FusedArguments& arguments, const std::vector<TensorBase>& operands);

}  // namespace keyway::inline v1::cuda
