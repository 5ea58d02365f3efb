// Uses the operator of docs/adding_an_op.md in every form that was generated from its entry.
#include <keyway/autograd/engine.h>
#include <keyway/ops/all.h>

#include <cstdio>
#include <cstdlib>

using namespace keyway;

namespace {

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

double at(const Tensor& tensor, std::int64_t i) { return tensor.select(0, i).item().to<double>(); }

}  // namespace

int main() {
  const Tensor x = arange(4, kDouble) - 1;
  const Tensor y = cube(x);
  expect(at(y, 0) == -1 && at(y, 3) == 8, "the function");
  expect(at(x.cube(), 3) == 8, "the method");
  expect(cube(x.to(kMeta)).sizes() == x.sizes(), "Meta");
  expect(at(cube(arange(4)), 3) == 27 && cube(arange(4)).dtype() == kLong, "integers");

  Tensor in_place = x.clone(), out = empty({0}, kDouble);
  in_place.cube_();
  cube_out(out, x);
  expect(at(in_place, 3) == 8 && at(out, 3) == 8, "in place and out=");

  Tensor leaf = x.clone().requires_grad_();
  autograd::backward({cube(leaf).sum()});
  expect(at(leaf.grad(), 3) == 12, "the gradient");
  std::puts("ok");
}
