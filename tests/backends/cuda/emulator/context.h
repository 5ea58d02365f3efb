// What the emulated driver asks the emulated runtime.
#pragma once

// Whether the thread has a context of a device. cudaSetDevice makes it, and so does all that works with the device; to
// ask which device is current does not.
__attribute__((visibility("default"))) bool emulated_context();
