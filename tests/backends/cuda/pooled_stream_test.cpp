#include <keyway/backends/cuda/pooled_stream.h>
#include <keyway/tests/catch.h>

#include <limits>
#include <set>

using namespace keyway;
using namespace keyway::cuda;

TEST_CASE("a stream of the pool has a number of its own, and the number says which it is") {
  std::set<StreamId> ids{0};  // the default stream's
  for (int level = 0; level < kStreamLevels; ++level) {
    for (int number = 0; number < kStreamsPerLevel; ++number) {
      const PooledStream stream{level, number};
      CHECK(ids.insert(stream.id()).second);
      CHECK(PooledStream::of(stream.id()) == stream);
    }
  }
  CHECK(ids.insert(kCaptureStream).second);
  for (const StreamId id : {StreamId{0}, StreamId{-1}, kCaptureStream, std::numeric_limits<StreamId>::max(),
                            std::numeric_limits<StreamId>::min()}) {
    CHECK(!PooledStream::of(id));
  }
}

TEST_CASE("a priority is served by a level that the device has") {
  CHECK(level_of_priority(0, kStreamLevels) == 0);
  CHECK(level_of_priority(-1, kStreamLevels) == 1);
  CHECK(level_of_priority(5, kStreamLevels) == 0);
  CHECK(level_of_priority(-100, kStreamLevels) == kStreamLevels - 1);
  CHECK(level_of_priority(-2, 2) == 1);
  CHECK(level_of_priority(-2, 1) == 0);
  CHECK(level_of_priority(std::numeric_limits<int>::min(), kStreamLevels) == kStreamLevels - 1);
}
