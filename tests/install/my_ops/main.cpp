// Calls the operators of the library in every form, and prints what is wrong.
#include <keyway/dispatch/inspect/explain.h>
#include <keyway/keyway.h>

#include <cmath>
#include <cstdio>
#include <myops/ops/all.h>
#include <string>
#include <string_view>
#include <vector>

using namespace keyway;

namespace {

int failures = 0;
void check(bool holds, const char* claim) {
  if (holds) return;
  std::printf("not so: %s\n", claim);
  ++failures;
}
#define CHECK(...) check(__VA_ARGS__, #__VA_ARGS__)

std::vector<double> values(const Tensor& t) {
  std::vector<double> out;
  const Tensor flat = t.detach().reshape({-1});
  for (std::int64_t i = 0; i < flat.numel(); ++i) out.push_back(flat[i].item().to<double>());
  return out;
}
using Values = std::vector<double>;

template <typename F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// 2, -3.
Tensor input() { return arange(2, -8, -5).to(kDouble); }

// The gradient of sum(f(input)).
template <typename F>
Values slopes(F&& f) {
  const Tensor x = input().requires_grad_();
  f(x).sum().backward();
  return values(x.grad());
}

void pointwise() {
  CHECK(values(myops::cube(input())) == Values{8, -27});
  CHECK(slopes([](const Tensor& x) { return myops::cube(x); }) == Values{12, 27});  // 3 x^2
  CHECK(slopes([](const Tensor& x) {
          Tensor y = x * 1;
          return myops::cube_(y);
        }) == Values{12, 27});
  Tensor x = input();
  myops::cube_(x);
  CHECK(values(x) == Values{8, -27});
  Tensor out = empty({0}, TensorOptions(kDouble));
  myops::cube_out(out, input());
  CHECK(values(out) == Values{8, -27});
  const Tensor strided = arange(6).to(kFloat).reshape({2, 3}).t();
  CHECK(values(myops::cube(strided)) == Values{0, 27, 1, 64, 8, 125});
  CHECK(myops::cube(empty({2, 3}, TensorOptions().device(kMeta))).sizes() == IntArrayRef({2, 3}));
  const Tensor twice = input().requires_grad_();
  const Tensor first =
      autograd::grad({myops::cube(twice).sum()}, {twice}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
  first.sum().backward();
  CHECK(values(twice.grad()) == Values{12, -18});  // 6 x
  CHECK(error_of([] { myops::cube(arange(3)); }).starts_with("myops::cube: "));
  CHECK(error_of([] {
          Tensor whole = arange(3);
          myops::cube_(whole);
        }).starts_with("myops::cube_: "));
}

void other_recipes() {
  CHECK(values(myops::product(input())) == Values{-6});
  // Of arguments that have the names of what generated code has.
  CHECK(values(myops::named(input(), 2)) == Values{80, -120});
  CHECK(slopes([](const Tensor& x) { return myops::named(x, 2); }) == Values{40, 40});
  CHECK(error_of([] { myops::named(input(), 3); }).starts_with("myops::named: requires self.dim() + text == 3"));
  CHECK(error_of([] { myops::named(input(), 2, 1); }).starts_with("myops::named: requires is_dim(plan, self.dim())"));
  CHECK(slopes([](const Tensor& x) { return myops::product(x); }) == Values{-3, 2});
  CHECK(values(myops::quartic(input(), 2)) == Values{32, 162});
  CHECK(slopes([](const Tensor& x) { return myops::quartic(x); }) == Values{32, -108});  // 4 x^3
  const Tensor rows = arange(6).to(kFloat).reshape({3, 2}).requires_grad_();
  CHECK(values(myops::flip_rows(rows)) == Values{4, 5, 2, 3, 0, 1});
  {
    const AutocastMode autocast(DeviceType::CPU);
    CHECK(values(myops::flip_rows(rows.to(kBFloat16))) == Values{4, 5, 2, 3, 0, 1});
  }
  (myops::flip_rows(rows) * arange(6).reshape({3, 2})).sum().backward();
  CHECK(values(rows.grad()) == Values{4, 5, 2, 3, 0, 1});
  CHECK(error_of([] { myops::flip_rows(arange(3).to(kFloat)); }).starts_with("myops::flip_rows: requires self.dim()"));
}

void views() {
  const Tensor base = arange(1, 7).to(kDouble).reshape({2, 3});
  Tensor columns = myops::every_second(base, -1);
  CHECK(values(columns) == Values{1, 3, 4, 6});
  CHECK(columns.data_ptr() == base.data_ptr());
  columns.mul_(10);
  CHECK(values(base) == Values{10, 2, 30, 40, 5, 60});
  CHECK(myops::every_second(empty({5, 3}, TensorOptions().device(kMeta))).sizes() == IntArrayRef({3, 3}));
  CHECK(error_of([&] { myops::every_second(base, 2); }).starts_with("myops::every_second: requires is_dim(dim, "));
  // The gradient of a view, of what is written to one, and of what is written to its base behind it.
  const Tensor x = arange(1, 6).to(kDouble).requires_grad_();
  myops::every_second(x).square().sum().backward();
  CHECK(values(x.grad()) == Values{2, 0, 6, 0, 10});
  const Tensor y = arange(1, 6).to(kDouble).requires_grad_();
  Tensor written = y * 1;
  Tensor view = myops::every_second(written);
  myops::cube_(view);
  CHECK(values(written) == Values{1, 2, 27, 4, 125});
  written.sum().backward();
  CHECK(values(y.grad()) == Values{3, 1, 27, 1, 75});
  const Tensor z = arange(1, 6).to(kDouble).requires_grad_();
  Tensor behind = z * 1;
  const Tensor seen = myops::every_second(behind);
  behind.mul_(2);
  seen.square().sum().backward();
  CHECK(values(z.grad()) == Values{8, 0, 24, 0, 40});  // (2 z)^2
  Tensor leaf = arange(1, 6).to(kDouble).requires_grad_();
  CHECK(error_of([&] { myops::every_second(leaf).mul_(2); }).find("leaf") != std::string::npos);
}

void registry() {
  const auto cube = Dispatcher::singleton().op("myops::cube").typed<Tensor(const Tensor&)>();
  CHECK(values(cube.call(input())) == Values{8, -27});
  CHECK(cube.schema().arguments().size() == 1);
  CHECK(std::string_view(cube.entry().info().file).ends_with("my_ops.json"));
  CHECK(cube.entry().info().doc == "self * self * self.");
  const SlotContent of_cuda = explain_slot(cube, DispatchKey::CUDA);
  CHECK((of_cuda.kernel && of_cuda.kernel->name == "cuda::cube") == (MY_OPS_CUDA != 0));
  // A kernel from elsewhere serves, and goes again.
  {
    Library block(Library::Kind::Impl, "myops", DispatchKey::CPU);
    block.impl("cube", [](const Tensor& self) { return self.neg(); });
    const RegistrationHandle handle = block.commit();
    CHECK(values(myops::cube(input())) == Values{-2, 3});
  }
  CHECK(values(myops::cube(input())) == Values{8, -27});
  Library again(Library::Kind::Fragment, "myops");
  again.def("cube(Tensor self) -> Tensor");
  CHECK(error_of([&] { (void)again.commit(); }).find("myops::cube is defined at ") != std::string::npos);
}

}  // namespace

int main() {
  pointwise();
  other_recipes();
  views();
  registry();
  if (failures == 0) std::puts("ok");
  return failures == 0 ? 0 : 1;
}
