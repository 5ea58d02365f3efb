// Judges of calls under other conditions than usual: each makes a call on the device twice, once as usual, and wants
// the same bits. A call that the devices have no means for, another stream or a second device, is not served.
#pragma once

#include <keyway/tools/keyway/conform/conform_call.h>
#include <keyway/tools/keyway/fuzz/judge.h>

#include <memory>

namespace keyway::inline v1::tools {

// In a stream beside others. The arguments are written by one stream, which has work to do before, and the call is made
// in another, which waits for an event of the first. A kernel that uses another stream than the current one reads what
// was there before. When the call has returned, memory that it gave back is allocated and overwritten in other streams,
// and results are read when its stream, and no other, is done.
std::unique_ptr<Judge> make_stream_judge(const OperatorHandle& op, DeviceType device);
// With arguments on device 1 while device 0 is current, which stays so; and with arguments on both, which is refused.
std::unique_ptr<Judge> make_other_device_judge(const OperatorHandle& op, DeviceType device);
// With memory that runs out in the first allocation of the call, in the second, and so on: an error that leaves the
// arguments as they were, and the next call is right.
std::unique_ptr<Judge> make_memory_judge(const OperatorHandle& op, DeviceType device);

}  // namespace keyway::inline v1::tools
