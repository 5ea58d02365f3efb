// shrink: a failing call, made smaller as long as it fails.
#pragma once

#include <keyway/tools/keyway/fuzz/batch.h>
#include <keyway/tools/keyway/fuzz/value.h>

#include <vector>

namespace keyway::inline v1::tools {

struct ShrunkCall {
  std::vector<Value> values;
  Outcome outcome;
};

// Each step tries what is one change simpler: fewer elements, a plainer layout, fewer different numbers, arguments at
// their simplest. Calls are made in child processes, `tries` of them at most. Requires: `call` fails with `outcome`.
ShrunkCall shrink(const Judge& judge, ShrunkCall call, std::size_t tries);

}  // namespace keyway::inline v1::tools
