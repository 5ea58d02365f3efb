// PooledStream: what the number of a stream of the backend's pool says. Number 0 is the default stream.
#pragma once

#include <keyway/core/device/stream.h>

#include <algorithm>
#include <optional>

namespace keyway::inline v1::cuda {

// A device has as many streams of each level; a request beyond them gets one that others have too.
inline constexpr int kStreamsPerLevel = 32;
// Level 0 is the usual priority, each further one more urgent. Devices with fewer priorities have fewer levels.
inline constexpr int kStreamLevels = 4;

// The stream that is there for captures alone, which is none of the pool. It has the highest number.
inline constexpr StreamId kCaptureStream = 1 + kStreamLevels * kStreamsPerLevel;

struct PooledStream {
  int level;
  int number;  // in its level

  constexpr StreamId id() const { return 1 + level * kStreamsPerLevel + number; }
  // Nothing for the default stream, and for numbers that no stream of the pool has.
  static constexpr std::optional<PooledStream> of(StreamId id) {
    if (id < 1 || id >= kCaptureStream) return std::nullopt;
    return PooledStream{static_cast<int>((id - 1) / kStreamsPerLevel), static_cast<int>((id - 1) % kStreamsPerLevel)};
  }

  friend constexpr bool operator==(PooledStream, PooledStream) = default;
};

// The level that serves a priority, of which a lower one is more urgent, on a device of `levels` levels.
constexpr int level_of_priority(int priority, int levels) {
  return std::clamp(priority >= 0 ? 0 : priority < -kStreamLevels ? kStreamLevels : -priority, 0, levels - 1);
}

}  // namespace keyway::inline v1::cuda
