// A line search for a step that lowers a function enough and flattens its slope: the strong Wolfe conditions (Nocedal
// and Wright, Numerical Optimization, algorithms 3.5 and 3.6). Internal to nn/optim.
#pragma once

#include <keyway/tensor.h>

#include <functional>
#include <vector>

namespace keyway::inline v1::optim {

// What is known of one length of the step.
struct LinePoint {
  double t;
  double loss;
  Tensor grad;   // flat
  double slope;  // along the direction
};

// One search from `start`, whose slope is negative. After 25 rounds the best point so far is taken.
class StrongWolfe {
 public:
  using Evaluate = std::function<LinePoint(double t)>;

  // `direction_max`: the greatest magnitude in the direction; a bracket in which nothing changes by more than
  // `tolerance_change` ends the search.
  StrongWolfe(Evaluate evaluate, LinePoint start, double direction_max, double tolerance_change);

  // The point that is found, beginning with a step of length `t`.
  LinePoint search(double t);

 private:
  bool is_too_high(const LinePoint& point) const;
  bool is_flat(const LinePoint& point) const;
  // Two points with a good one between them, or a good one.
  std::vector<LinePoint> bracket(double t);
  // Makes the bracket smaller until its lower end is good.
  LinePoint zoom(std::vector<LinePoint> ends);

  Evaluate evaluate_;
  LinePoint start_;
  double direction_max_, tolerance_change_;
  int rounds_ = 0;
};

}  // namespace keyway::inline v1::optim
