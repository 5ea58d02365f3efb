#include <keyway/graph/sections.h>

#include <algorithm>
#include <map>
#include <set>

namespace keyway::inline v1::graph {
namespace {

constexpr std::size_t kNoStep = ~std::size_t{0};
constexpr std::size_t kSeveral = kNoStep - 1;
// Of the longest part: what a section is to gain at least. Less is what a processor waits.
constexpr double kShareOfLongest = 0.25;
// So many steps are taken on trial that gain nothing.
constexpr int kPatience = 24;

// Sections of steps [begin, end) that are movable.
class Search {
 public:
  Search(const std::vector<StepUse>& steps, std::size_t begin, std::size_t end, std::size_t most, double least_gain)
      : steps_(steps), begin_(begin), most_(most), least_gain_(least_gain), needed_by_(end - begin) {
    unmet_.resize(end - begin);
    part_.assign(end - begin, kNoStep);
    find_needs(end);
    for (std::size_t step = begin; step < end; ++step) {
      if (unmet(step) == 0) ready_.insert(step);
    }
  }

  std::vector<Section> sections() {
    std::vector<Section> sections;
    while (!ready_.empty()) {
      Section section = next();
      if (!section.is_parallel() && !sections.empty() && !sections.back().is_parallel()) {
        sections.back().parts[0].push_back(section.parts[0][0]);
      } else {
        sections.push_back(std::move(section));
      }
    }
    for (Section& section : sections) {
      for (std::vector<std::size_t>& part : section.parts) std::ranges::sort(part);
    }
    return sections;
  }

 private:
  // A step that a part has taken on trial.
  struct Taken {
    std::size_t step, part;
  };

  std::size_t& unmet(std::size_t step) { return unmet_[step - begin_]; }
  std::size_t& part(std::size_t step) { return part_[step - begin_]; }
  const std::vector<std::size_t>& needed_by(std::size_t step) const { return needed_by_[step - begin_]; }

  void find_needs(std::size_t end) {
    struct Access {
      std::size_t writer = kNoStep;
      std::vector<std::size_t> readers = {};  // since then
    };
    std::map<std::size_t, Access> accesses;
    for (std::size_t step = begin_; step < end; ++step) {
      std::set<std::size_t> needs;
      for (const std::size_t memory : steps_[step].reads) needs.insert(accesses[memory].writer);
      for (const std::size_t memory : steps_[step].writes) {
        const Access& access = accesses[memory];
        needs.insert(access.writer);
        needs.insert(access.readers.begin(), access.readers.end());
      }
      needs.erase(kNoStep);
      unmet(step) = needs.size();
      for (const std::size_t need : needs) needed_by_[need - begin_].push_back(step);
      for (const std::size_t memory : steps_[step].reads) accesses[memory].readers.push_back(step);
      for (const std::size_t memory : steps_[step].writes) accesses[memory] = {step};
    }
  }

  Section next() {
    const auto [taken, gain] = best_trial();
    Section section;
    if (gain < least_gain_ || taken.empty()) {
      section.parts = {{*ready_.begin()}};
    } else {
      section.parts.resize(1 + std::ranges::max(taken, {}, &Taken::part).part);
      for (const Taken& each : taken) section.parts[each.part].push_back(each.step);
    }
    for (const std::vector<std::size_t>& its : section.parts) std::ranges::for_each(its, [&](auto s) { finish(s); });
    return section;
  }

  void finish(std::size_t step) {
    ready_.erase(step);
    for (const std::size_t other : needed_by(step)) {
      if (--unmet(other) == 0) ready_.insert(other);
    }
  }

  // Lets parts take steps, and gives those up to where that gains most, with what it gains.
  std::pair<std::vector<Taken>, double> best_trial() {
    std::vector<Taken> taken;
    std::vector<std::set<std::size_t>> own(most_);  // of each part: what nothing but this part's steps is needed for
    std::vector<double> seconds(most_);
    auto free = ready_.begin();
    double sum = 0, best = 0, best_gain = 0;
    std::size_t best_count = 0;
    for (int without_gain = 0; without_gain < kPatience; ++without_gain) {
      const std::size_t shortest = shortest_part(own, seconds, free != ready_.end());
      if (shortest == kNoStep) break;
      std::set<std::size_t>& its = own[shortest];
      const bool takes_own = !its.empty() && (free == ready_.end() || *its.begin() < *free);
      const std::size_t step = takes_own ? *its.begin() : *free++;
      if (takes_own) its.erase(its.begin());
      taken.push_back({step, shortest});
      follow(taken.back(), own);
      sum += steps_[step].seconds;
      seconds[shortest] += steps_[step].seconds;
      const double longest = std::ranges::max(seconds);
      if (sum - longest - kShareOfLongest * longest <= best) continue;
      best = sum - longest - kShareOfLongest * longest;
      best_gain = sum - longest;
      best_count = taken.size();
      without_gain = 0;
    }
    for (const Taken& each : taken) {
      for (const std::size_t other : needed_by(each.step)) {
        ++unmet(other);
        part(other) = kNoStep;
      }
    }
    taken.resize(best_count, Taken{kNoStep, kNoStep});
    return {std::move(taken), best_gain};
  }

  // Of those that can take a step.
  std::size_t shortest_part(const std::vector<std::set<std::size_t>>& own, const std::vector<double>& seconds,
                            bool is_any_free) const {
    std::size_t shortest = kNoStep;
    for (std::size_t i = 0; i < most_; ++i) {
      if (own[i].empty() && !is_any_free) continue;
      if (shortest == kNoStep || seconds[i] < seconds[shortest]) shortest = i;
    }
    return shortest;
  }

  // What needs the step is now its part's, unless it needs another part's, too.
  void follow(const Taken& taken, std::vector<std::set<std::size_t>>& own) {
    for (const std::size_t other : needed_by(taken.step)) {
      part(other) = part(other) == kNoStep || part(other) == taken.part ? taken.part : kSeveral;
      if (--unmet(other) == 0 && part(other) == taken.part) own[taken.part].insert(other);
    }
  }

  const std::vector<StepUse>& steps_;
  const std::size_t begin_, most_;
  const double least_gain_;
  std::vector<std::vector<std::size_t>> needed_by_;  // of each step, later ones
  std::vector<std::size_t> unmet_;                   // of each step: how many it needs that have not been made
  std::vector<std::size_t> part_;  // of each step: that of what it needs among the steps taken on trial
  std::set<std::size_t> ready_;
};

}  // namespace

std::vector<std::size_t> Section::steps() const {
  std::vector<std::size_t> all;
  for (const std::vector<std::size_t>& part : parts) all.insert(all.end(), part.begin(), part.end());
  std::ranges::sort(all);
  return all;
}

std::vector<Section> find_sections(const std::vector<StepUse>& steps, std::size_t most, double least_gain) {
  std::vector<Section> sections;
  const auto add = [&](Section section) {
    const bool joins = !sections.empty() && !sections.back().is_parallel() && !section.is_parallel();
    if (!joins) return sections.push_back(std::move(section));
    std::vector<std::size_t>& before = sections.back().parts[0];
    before.insert(before.end(), section.parts[0].begin(), section.parts[0].end());
  };
  for (std::size_t begin = 0; begin < steps.size();) {
    if (!steps[begin].is_movable) {
      add({{{begin++}}});
      continue;
    }
    std::size_t end = begin;
    while (end < steps.size() && steps[end].is_movable) ++end;
    for (Section& section : Search(steps, begin, end, most, least_gain).sections()) add(std::move(section));
    begin = end;
  }
  return sections;
}

std::vector<Section> in_order(std::size_t steps) {
  std::vector<std::size_t> all(steps);
  for (std::size_t step = 0; step < steps; ++step) all[step] = step;
  return {{{std::move(all)}}};
}

}  // namespace keyway::inline v1::graph
