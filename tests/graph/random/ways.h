// The ways in which a program can be run: each gives what the program gives when its calls are made at once, to the
// last bit and in the same memory.
#pragma once

#include <keyway/tests/graph/random/full_program.h>

#include <map>
#include <string>

namespace keyway::inline v1::testing {

// What was refused, by reason, and how often each way was taken.
struct WayCounts {
  std::map<std::string, int> taken, refused;
};

// Captures the program at both levels and runs it in all ways, for several inputs: calls one by one, a plan, what
// passes make of the graph, its text read back, its file read back, and deferred calls. Says where a way gives
// something else, with the graph; empty if none does.
std::string difference_of_ways(const FullProgram& program, WayCounts& counts);

// The program with as few steps as it takes for difference_of_ways to say something.
FullProgram shrunk(FullProgram program);

}  // namespace keyway::inline v1::testing
