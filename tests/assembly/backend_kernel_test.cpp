// A backend that serves generated operators by functions in out style. Its devices are made up, its memory the host's.
#include <keyway/core/device/device_guard.h>
#include <keyway/core/tensor/iteration_space.h>
#include <keyway/tests/assembly/values.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/core/fake_device.h>
#include <keyway/tests/dispatch/block.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

using Values = std::vector<double>;

std::vector<Device> ran_on;  // what was current in each run of a kernel

// Of contiguous floats of equal shape.
void npu_add(const TensorBase& self, const TensorBase& other, const Scalar& alpha, TensorBase& out) {
  ran_on.push_back(current_device(out.device().type()));
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    out.data_ptr<float>()[i] = self.data_ptr<float>()[i] + alpha.to<float>() * other.data_ptr<float>()[i];
  }
}
void npu_copy(TensorBase& self, const TensorBase& src, bool) {
  std::copy_n(src.data_ptr<float>(), self.numel(), self.data_ptr<float>());
}
void npu_fill(const TensorBase&, const Scalar& value, TensorBase& out) {
  std::fill_n(out.data_ptr<float>(), out.numel(), value.to<float>());
}

struct Npu {
  FakeDevices devices;
  DeviceGuardRegistration guard = register_device_guard(devices);
  FakeAllocator allocator{devices};
  DispatchKey key = runtime_key(Functionality::Dense, devices.type());

  Npu() {
    ran_on.clear();
    set_allocator(devices.type(), &allocator);
  }
  ~Npu() { set_allocator(devices.type(), nullptr); }
  Library block(SourceLocation where = SourceLocation::current()) const {
    return Library(Library::Kind::Impl, "keyway", key, where);
  }
  RegistrationHandle add_and_copy() const {
    Library m = block();
    m.kernel("add.Tensor", npu_add).debug("npu::add");
    m.kernel("copy_", npu_copy);
    return m.commit();
  }
  Tensor tensor(const Values& values, int device = 0) const {
    Tensor made(make_tensor({static_cast<std::int64_t>(values.size())}, kFloat, devices.device(device)));
    std::copy(values.begin(), values.end(), made.data_ptr<float>());
    return made;
  }
};

std::string reason(Library& m) {
  return error_of([&] { m.commit().undo(); });
}

}  // namespace

TEST_CASE("one function in out style serves all overloads of an entry") {
  const Npu npu;
  const RegistrationHandle kernels = npu.add_and_copy();
  Tensor a = npu.tensor({1, 2}, 1);
  const Tensor b = npu.tensor({10, 20}, 1);
  const Tensor sum = add(a, b, 2);
  CHECK(sum.device() == npu.devices.device(1));
  CHECK(values_of(sum) == Values{21, 42});
  Tensor out = npu.tensor({}, 1);
  CHECK(&add_out(out, a, b) == &out);
  CHECK(values_of(out) == Values{11, 22});
  CHECK(&a.add_(b) == &a);
  CHECK(values_of(a) == Values{11, 22});
  CHECK(a._version() == 1);
  CHECK(ran_on == std::vector<Device>(3, npu.devices.device(1)));
}

TEST_CASE("its arguments have kept the contracts, as the CPU's") {
  const Npu npu;
  const RegistrationHandle kernels = npu.add_and_copy();
  const Tensor a = npu.tensor({1, 2}), b = npu.tensor({1, 2, 3});
  CHECK(error_of([&] { add(a, b); }).find("add.Tensor: shapes [2] and [3] do not broadcast") == 0);
  CHECK(error_of([&] { add(a, npu.tensor({1, 2}, 1)); }).find("npu:1") != std::string::npos);
  CHECK(ran_on.empty());
}

TEST_CASE("numbers of the CPU come to it on its device") {
  const Npu npu;
  const RegistrationHandle kernels = npu.add_and_copy();
  const Tensor sum = add(npu.tensor({1}, 1), Tensor(make_tensor({}, kFloat, kCPU)).fill_(5));
  CHECK(values_of(sum) == Values{6});
}

TEST_CASE("gradients are recorded without another word of the backend") {
  const Npu npu;
  const RegistrationHandle kernels = npu.add_and_copy();
  Tensor a = npu.tensor({1, 2});
  a.requires_grad_();
  const Tensor sum = add(a, npu.tensor({3, 4}));
  CHECK(sum.requires_grad());
  CHECK(values_of(sum) == Values{4, 6});
}

TEST_CASE("a factory makes its tensor on the device that is asked for") {
  const Npu npu;
  Library m = npu.block();
  m.kernel("fill.Scalar", npu_fill);
  const RegistrationHandle kernels = m.commit();
  const Tensor made = full({2}, 7.0, TensorOptions().device(npu.devices.device(1)));
  CHECK(made.device() == npu.devices.device(1));
  CHECK(values_of(made) == Values{7, 7});
}

TEST_CASE("the kernels of all overloads have the name that debug() gives, and go together") {
  const Npu npu;
  const Tensor a = npu.tensor({1, 2});
  {
    const RegistrationHandle kernels = npu.add_and_copy();
    for (const char* name : {"add.Tensor", "add_.Tensor", "add.out"}) {
      const Table& table = op(name).entry().table();
      const std::uint8_t kernel = table.slots[static_cast<std::size_t>(npu.key)];
      CHECK(std::string(table.info[kernel].name) == "npu::add");
    }
  }
  const std::string gone = error_of([&] { add(a, a); });
  CHECK(gone.find("add.Tensor") == 0);
  INFO(gone);
  CHECK(gone.find("it has no kernel for NPU") != std::string::npos);
}

namespace {

std::vector<std::int64_t> dims_seen;
std::vector<DimVector> sizes_seen;

void npu_cat(ArrayRef<TensorBase>, std::int64_t dim, TensorBase&) { dims_seen = {dim}; }
void npu_flip(const TensorBase&, IntArrayRef dims, TensorBase&) { dims_seen = dims.vec(); }
void npu_softmax(const TensorBase&, std::int64_t dim, bool, TensorBase&) { dims_seen = {dim}; }
void npu_index_select(const TensorBase&, std::int64_t dim, const TensorBase&, TensorBase&) { dims_seen = {dim}; }

// Of broadcast operands, by views of the result's sizes.
void npu_sub(const TensorBase& self, const TensorBase& other, const Scalar& alpha, TensorBase& out) {
  sizes_seen = {DimVector(self.sizes()), DimVector(other.sizes()), DimVector(out.sizes())};
  const TensorBase a = expanded_to(self, out.sizes()), b = expanded_to(other, out.sizes());
  const auto at = [](const TensorBase& t, std::int64_t i, std::int64_t j) -> float& {
    return t.data_ptr<float>()[i * t.strides()[0] + j * t.strides()[1]];
  };
  for (std::int64_t i = 0; i < out.sizes()[0]; ++i) {
    for (std::int64_t j = 0; j < out.sizes()[1]; ++j) at(out, i, j) = at(a, i, j) - alpha.to<float>() * at(b, i, j);
  }
}

}  // namespace

TEST_CASE("dimensions come counted from the front") {
  const Npu npu;
  Library m = npu.block();
  m.kernel("cat", npu_cat);
  m.kernel("flip", npu_flip);
  m.kernel("_softmax", npu_softmax);
  m.kernel("index_select", npu_index_select);
  const RegistrationHandle kernels = m.commit();
  const Tensor cube(make_tensor({2, 3, 4}, kFloat, npu.devices.device(0)));
  const Tensor index(make_tensor({1}, kLong, npu.devices.device(0)));
  using Dims = std::vector<std::int64_t>;
  cat({cube, cube}, -1);
  CHECK(dims_seen == Dims{2});
  const Tensor empty(make_tensor({0}, kFloat, npu.devices.device(0)));  // goes with all, and has another rank
  cat({empty, cube}, -3);
  CHECK(dims_seen == Dims{0});
  Tensor out(make_tensor({0}, kFloat, npu.devices.device(0)));
  cat_out(out, {cube, cube}, -2);
  CHECK(dims_seen == Dims{1});
  flip(cube, {-1, 0});
  CHECK(dims_seen == Dims{2, 0});
  _softmax(cube, -1, false);
  CHECK(dims_seen == Dims{2});
  index_select(cube, -2, index);
  CHECK(dims_seen == Dims{1});
}

TEST_CASE("operands that broadcast come as they are, and expanded_to gives them the result's sizes") {
  const Npu npu;
  Library m = npu.block();
  m.kernel("sub.Tensor", npu_sub);
  const RegistrationHandle kernels = m.commit();
  const Tensor square(make_view(npu.tensor({1, 2, 3, 4, 5, 6}), {2, 3}, {3, 1}, 0));
  CHECK(values_of(sub(square, npu.tensor({10, 20, 30}))) == Values{-9, -18, -27, -6, -15, -24});
  CHECK(sizes_seen == std::vector<DimVector>{{2, 3}, {3}, {2, 3}});
  const Tensor column(make_view(npu.tensor({100, 200}), {2, 1}, {1, 1}, 0));
  CHECK(values_of(sub(square, column)) == Values{-99, -98, -97, -196, -195, -194});
  CHECK(error_of([&] { expanded_to(square, {3, 3}); }) == "a tensor of shape [2, 3] does not broadcast to [3, 3]");
  CHECK(error_of([&] { expanded_to(square, {3}); }) == "a tensor of shape [2, 3] does not broadcast to [3]");
  CHECK(expanded_to(npu.tensor({1}), {0}).numel() == 0);
}

TEST_CASE("what cannot be served so is refused with its reason, and nothing is registered") {
  const Npu npu;
  const auto of_two = [](const TensorBase&, TensorBase&) {};
  void (*const wrong)(const TensorBase&, TensorBase&) = of_two;
  Library m = npu.block({"npu.cpp", 1});
  m.kernel("add.Tensor", npu_add);
  m.kernel("mm", wrong, {"npu.cpp", 2});
  m.kernel("transpose.int", wrong, {"npu.cpp", 3});
  m.kernel("nothing", wrong, {"npu.cpp", 4});
  const std::string text = reason(m);
  CHECK(text.find("kernel of keyway::mm at npu.cpp:2: the function is void(const TensorBase&, TensorBase&), but one of "
                  "this operator's is void(const TensorBase&, const TensorBase&, TensorBase&)") != std::string::npos);
  CHECK(text.find("kernel of keyway::transpose.int at npu.cpp:3: no function in out style can serve it: it is defined "
                  "by hand, a view or a composite; use impl()") != std::string::npos);
  CHECK(text.find("kernel of keyway::nothing at npu.cpp:4: there is no operator keyway::nothing, or its library is not "
                  "loaded yet") != std::string::npos);
  CHECK(error_of([&] { add(npu.tensor({1}), npu.tensor({1})); }).find("add.Tensor") == 0);

  Library autograd(Library::Kind::Impl, "keyway", DispatchKey::Autograd, {"npu.cpp", 5});
  autograd.kernel("add.Tensor", npu_add, {"npu.cpp", 6});
  CHECK(reason(autograd).find("kernel of keyway::add.Tensor at npu.cpp:6: a function in out style serves the key of a "
                              "backend, not Autograd") != std::string::npos);
  Library fragment(Library::Kind::Fragment, "keyway", std::nullopt, {"npu.cpp", 7});
  fragment.kernel("add.Tensor", npu_add, {"npu.cpp", 8});
  CHECK(reason(fragment).find("serves the key of a backend") != std::string::npos);
}
