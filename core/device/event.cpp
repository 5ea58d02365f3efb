#include <keyway/core/base/error.h>
#include <keyway/core/device/device_guard.h>
#include <keyway/core/device/event.h>
#include <keyway/core/device/held.h>
#include <keyway/core/device/pending_calls.h>

#include <utility>

namespace keyway::inline v1 {

Event::Event(DeviceType type, bool enable_timing) : type_(type), timing_(enable_timing) { device_guard_impl(type); }

Event::Event(Event&& other) noexcept
    : hold_(std::move(other.hold_)),
      impl_(std::exchange(other.impl_, nullptr)),
      handle_(std::exchange(other.handle_, nullptr)),
      device_(std::exchange(other.device_, std::nullopt)),
      type_(other.type_),
      timing_(other.timing_),
      recorded_(std::exchange(other.recorded_, false)) {}

Event& Event::operator=(Event&& other) noexcept {
  Event taken(std::move(other));
  std::swap(hold_, taken.hold_);
  std::swap(impl_, taken.impl_);
  std::swap(handle_, taken.handle_);
  std::swap(device_, taken.device_);
  std::swap(type_, taken.type_);
  std::swap(timing_, taken.timing_);
  std::swap(recorded_, taken.recorded_);
  return *this;
}

Event::~Event() {
  if (handle_ != nullptr && find_device_guard_impl(type_) == impl_) impl_->destroy_event(handle_, *device_);
}

DeviceGuardImplInterface& Event::impl() const {
  KEYWAY_CHECK_AS(NotImplemented, find_device_guard_impl(type_) == impl_,
                  "the event was made by a device guard of {} that is no longer registered", type_);
  return *impl_;
}

void Event::check_type(const Stream& stream) const {
  KEYWAY_CHECK(stream.device_type() == type_, "an event of device type {} has nothing to do with the {}", type_,
               stream);
}

void Event::record(const Stream& stream) {
  check_type(stream);
  if (handle_ == nullptr) {
    auto [maker, hold] = hold_device_guard(type_, ResourceKind::Event);
    detail::checked_device(maker, stream.device());
    handle_ = maker.create_event(stream.device(), timing_);
    device_ = stream.device();
    impl_ = &maker;
    hold_ = std::move(hold);
  }
  KEYWAY_CHECK(stream.device() == *device_, "an event of {} cannot be recorded in the {}: an event stays on its device",
               *device_, stream);
  make_pending_calls("an event is recorded");
  impl().record(handle_, stream);
  recorded_ = true;
}

void Event::block(const Stream& stream) const {
  check_type(stream);
  if (!recorded_) return;
  DeviceGuardImplInterface& maker = impl();
  detail::checked_device(maker, stream.device());
  make_pending_calls("a stream waits for an event");
  maker.block(handle_, stream);
}

bool Event::query() const { return !recorded_ || impl().query_event(handle_); }

void Event::synchronize() const {
  if (recorded_) impl().synchronize_event(handle_);
}

void Event::check_timed(const char* which) const {
  KEYWAY_CHECK(timing_, "elapsed_time: the {} event was made without enable_timing", which);
  KEYWAY_CHECK(recorded_, "elapsed_time: the {} event was not recorded", which);
  KEYWAY_CHECK(query(), "elapsed_time: the {} event is not done: call synchronize() first", which);
}

double Event::elapsed_time(const Event& end) const {
  KEYWAY_CHECK(type_ == end.type_, "elapsed_time: one event is of device type {}, the other of {}", type_, end.type_);
  check_timed("first");
  end.check_timed("second");
  return impl().elapsed_time(handle_, end.handle_);
}

}  // namespace keyway::inline v1
