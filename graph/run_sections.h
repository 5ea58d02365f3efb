// run_sections: makes the steps of sections, the parts of one beside each other.
#pragma once

#include <keyway/graph/sections.h>

#include <chrono>
#include <functional>
#include <vector>

namespace keyway::inline v1::graph {

using MakeStep = std::function<void(std::size_t step)>;

// Makes all steps: parts beside each other, as tasks, or in turns, as the steps stand. Of those that throw the first
// one's exception is thrown; of later ones some may have been made then that are movable. `seconds`, unless it is null,
// has a time for each section, and gets that of this run where it is less.
void run_sections(const std::vector<Section>& sections, bool is_beside, const MakeStep& make_step,
                  std::vector<double>* seconds);

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace keyway::inline v1::graph
