#include <keyway/dispatch/call/direct_call.h>

namespace keyway::inline v1 {
namespace {

constinit thread_local DirectCallRecording* recording = nullptr;

}  // namespace

DirectCall::~DirectCall() = default;

DirectCallRecording::DirectCallRecording(void (*called)()) : function_(called), outer_(recording) { recording = this; }
DirectCallRecording::~DirectCallRecording() { recording = outer_; }
DirectCallRecording& DirectCallRecording::current() { return *recording; }

}  // namespace keyway::inline v1
