#include <keyway/dispatch/call/call_declined.h>

#include <utility>

namespace keyway::inline v1 {

CallDeclined::CallDeclined(std::string why, const char* file, int line)
    : Error(ErrorKind::NotImplemented, std::move(why), file, line) {}
CallDeclined::~CallDeclined() = default;

}  // namespace keyway::inline v1
