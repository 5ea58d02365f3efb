// SectionRunner: makes the steps of a plan in sections, and learns which sections are worth their threads.
#pragma once

#include <keyway/graph/sections.h>

#include <functional>
#include <vector>

namespace keyway::inline v1::graph {

// While it lives, plans that are made ready run all beside each other that can be, however short it is, and do not
// learn: for tests.
class KEYWAY_API ForcedSections {
 public:
  ForcedSections();
  ~ForcedSections();
  ForcedSections(const ForcedSections&) = delete;
  ForcedSections& operator=(const ForcedSections&) = delete;

  static bool are_asked_for();
};

// How many parts a section may have now: as there are threads for tasks, and for loops.
std::size_t most_parts();

// The first runs tell how long each step takes. Sections are found for that, and made with their parts beside each
// other and not in turns, for some runs. Those that were faster beside each other stay.
class SectionRunner {
 public:
  using MakeStep = std::function<void(std::size_t step)>;

  // Refers to the steps, and writes their seconds when it has measured them.
  SectionRunner(std::vector<StepUse>& steps, std::size_t most_parts, bool is_forced);

  const std::vector<Section>& sections() const { return sections_; }
  // Makes all steps. Of those that throw the first one's exception is thrown; of later ones some may have been made
  // then that are movable.
  void run(const MakeStep& make_step);
  // To be called before a run: whether the sections have become others, so that memory has to be laid out anew.
  bool learn();
  // Whether steps run beside each other.
  bool has_parallel() const;
  // Whether from now on steps are made one after the other, as they stand.
  bool is_in_order() const { return phase_ == Phase::Learned && !has_parallel(); }

 private:
  enum class Phase { Timing, Trying, Learned };
  // The least seconds of a section, in either way.
  struct Tried {
    double in_turn, beside;
  };

  void time_steps(const MakeStep& make_step);
  void choose();

  std::vector<StepUse>& steps_;
  std::vector<Section> sections_;
  std::vector<double> seconds_;  // of each step
  std::vector<Tried> tried_;     // of each section
  const std::size_t most_parts_;
  Phase phase_ = Phase::Timing;
  int runs_ = 0;  // in this phase
};

}  // namespace keyway::inline v1::graph
