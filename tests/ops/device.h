// What a backend with devices has to show: calls on its tensors give what they give on the CPU.
#pragma once

#include <keyway/core/device/device.h>

#include <cstddef>
#include <string>
#include <vector>

namespace keyway::inline v1::testing {

struct DeviceFigures {
  std::size_t calls = 0;                // that were compared
  std::size_t operators = 0;            // that they were of
  std::vector<std::string> not_served;  // operators whose calls found no kernel
  std::vector<std::string> problems;    // "keyway::add.Tensor: add([1], [2]): result 0 ..."
};

// Makes every call of the generated suite (samples.h) with its tensors, and what names a device, moved there.
DeviceFigures compare_device(Device device);

}  // namespace keyway::inline v1::testing
