#include <keyway/autograd/formulas/add_term.h>
#include <keyway/ops/all.h>

namespace keyway::inline v1::autograd {

void add_term(Tensor& sum, const Tensor& term) { sum = sum.defined() ? sum + term : term; }

}  // namespace keyway::inline v1::autograd
