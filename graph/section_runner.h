// SectionRunner: learns which sections of a plan are worth their threads, and runs these.
#pragma once

#include <keyway/graph/run_sections.h>

#include <vector>

namespace keyway::inline v1::graph {

// How many parts a section may have now: as there are threads for tasks, and for loops.
std::size_t most_parts();

// The first runs tell how long each step takes. Sections are found for that, and made with their parts beside each
// other and not in turns, for some runs. Those that were faster beside each other stay.
class SectionRunner {
 public:
  // Refers to the steps, and writes their seconds when it has measured them.
  SectionRunner(std::vector<StepUse>& steps, std::size_t most_parts, bool is_forced);

  const std::vector<Section>& sections() const { return sections_; }
  // Makes all steps, and throws as run_sections() does.
  void run(const MakeStep& make_step);
  // To be called before a run: whether the sections have become others, so that memory has to be laid out anew.
  bool learn();
  // Whether steps run beside each other.
  bool has_parallel() const;
  // Whether from now on steps are made one after the other, as they stand.
  bool is_in_order() const { return phase_ == Phase::Learned && !has_parallel(); }

 private:
  enum class Phase { Timing, Trying, Learned };
  void time_steps(const MakeStep& make_step);
  void choose();

  std::vector<StepUse>& steps_;
  std::vector<Section> sections_;
  std::vector<double> seconds_;           // of each step, the least
  std::vector<double> in_turn_, beside_;  // of each section, in either way
  const std::size_t most_parts_;
  Phase phase_ = Phase::Timing;
  int runs_ = 0;  // in this phase
};

}  // namespace keyway::inline v1::graph
