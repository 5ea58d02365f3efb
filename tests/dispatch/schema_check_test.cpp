// Kernels that break their schemas' contracts are caught, each with its rule; those that keep them are not.
#include <keyway/dispatch/inspect/schema_check.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <algorithm>

using namespace keyway;
using namespace keyway::testing;

namespace {

void write(const TensorBase& t) { *static_cast<float*>(t.data_ptr()) += 1; }

TensorBase same_memory(const TensorBase& t) { return make_view(t, t.sizes(), t.strides(), 0); }

TensorBase zeros() {
  const TensorBase t = tensor();
  std::fill_n(static_cast<float*>(t.data_ptr()), t.numel(), 0.0F);
  return t;
}

// What a checked call of a kernel throws, after what all such errors begin with; empty if nothing.
template <typename F>
std::string checked(const std::string& schema, F kernel, Stack stack) {
  const RegistrationHandle handle =
      Block().def("kept::op" + schema).impl("kept::op", DispatchKey::CPU, kernel, 9).commit();
  const ObserverHandle checks = observe_calls(schema_checker());
  try {
    op("kept::op").call_boxed(stack);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Internal);
    const std::string text = error.what();
    const std::string head = "kept::op: the kernel for CPU (test.cpp:9) broke the contract kept::op" + schema + ": ";
    CHECK(text.substr(0, head.size()) == head);
    return text.substr(head.size());
  }
  return {};
}

}  // namespace

TEST_CASE("a kernel that keeps its contract passes") {
  const TensorBase t = zeros();
  CHECK(checked("(Tensor self) -> Tensor", [](const TensorBase&) { return zeros(); }, {t}) == "");
  CHECK(checked("(Tensor(a) self) -> Tensor(a)", [](const TensorBase& self) { return same_memory(self); }, {t}) == "");
  CHECK(checked("(Tensor(a) self) -> Tensor(a)", [](const TensorBase&) { return zeros(); }, {t}) == "");
  CHECK(checked("(Tensor(a!) self) -> Tensor(a!)",
                [](TensorBase& self) -> TensorBase& {
                  write(self);
                  return self;
                },
                {t}) == "");
  // An argument that shares memory with one that is written to changes with it.
  CHECK(checked("(Tensor(a!) self, Tensor other) -> ()", [](TensorBase& self, const TensorBase&) { write(self); },
                {t, same_memory(t)}) == "");
  CHECK(checked("(Tensor[] list, Tensor? none) -> Tensor[]",
                [](ArrayRef<TensorBase> list, const TensorBase&) {
                  return list.size() == 2 ? std::vector{zeros(), zeros()} : std::vector<TensorBase>();
                },
                {IValue(std::vector<TensorBase>{t, zeros()}), IValue(TensorBase())}) == "");
}

TEST_CASE("a kernel that writes to an argument that is not written to is caught") {
  const std::string told = "it changed the elements of argument 'self', which the schema does not write to";
  CHECK(checked("(Tensor self) -> Tensor",
                [](const TensorBase& self) {
                  write(self);
                  return zeros();
                },
                {zeros()}) == told);
  CHECK(checked("(Tensor self, Tensor(a!) out) -> ()",
                [](const TensorBase& self, TensorBase& out) {
                  write(out);
                  write(self);
                },
                {zeros(), zeros()}) == told);
  CHECK(checked("(Tensor[] list) -> ()", [](ArrayRef<TensorBase> list) { write(list[1]); },
                {IValue(std::vector<TensorBase>{zeros(), zeros()})}) ==
        "it changed the elements of argument 'list', which the schema does not write to");
  CHECK(checked("(Tensor self) -> ()",
                [](const TensorBase& self) {
                  const std::int64_t sizes[] = {6}, strides[] = {1};
                  self.impl()->set_geometry(sizes, strides, 0, 6);
                },
                {zeros()}) == "it changed the sizes of argument 'self', which the schema does not write to");
}

TEST_CASE("a kernel that gives memory back that its schema does not say is caught") {
  CHECK(checked("(Tensor self) -> Tensor", [](const TensorBase& self) { return self; }, {zeros()}) ==
        "result 1 shares memory with argument 'self', which the schema does not say");
  CHECK(checked("(Tensor self) -> Tensor", [](const TensorBase& self) { return same_memory(self); }, {zeros()}) ==
        "result 1 shares memory with argument 'self', which the schema does not say");
  CHECK(checked("(Tensor(a) self, Tensor(b) other) -> Tensor(a)",
                [](const TensorBase&, const TensorBase& other) { return same_memory(other); },
                {zeros(), zeros()}) == "result 1 shares memory with argument 'other', which the schema does not say");
  CHECK(checked("(Tensor self) -> (Tensor, Tensor)",
                [](const TensorBase& self) { return std::tuple(zeros(), same_memory(self)); },
                {zeros()}) == "result 2 shares memory with argument 'self', which the schema does not say");
}

TEST_CASE("a kernel that returns another tensor than the one it writes to is caught") {
  static TensorBase another;
  another = zeros();
  CHECK(checked("(Tensor(a!) self) -> Tensor(a!)", [](TensorBase&) -> TensorBase& { return another; }, {zeros()}) ==
        "result 1 is not the argument that the schema says is returned");
  another.reset();
}

TEST_CASE("results of one call that share memory are found, parts of one block are not") {
  const std::string pair = "(Tensor a) -> (Tensor, Tensor)";
  const std::string shared = "results 1 and 2 share memory, which the schema does not say";
  CHECK(checked(pair,
                [](const TensorBase&) {
                  const TensorBase made = zeros();
                  return std::tuple(made, made);
                },
                {zeros()}) == shared);
  CHECK(checked(pair,
                [](const TensorBase&) {
                  const TensorBase made = zeros();
                  return std::tuple(made, same_memory(made));
                },
                {zeros()}) == shared);
  CHECK(checked("(Tensor a) -> Tensor[]",
                [](const TensorBase&) {
                  const TensorBase made = zeros();
                  return std::vector<TensorBase>{made, zeros(), same_memory(made)};
                },
                {zeros()}) == "results 1 and 1 share memory, which the schema does not say");
  CHECK(checked(pair,
                [](const TensorBase&) {
                  const TensorBase made = zeros();  // [2, 3]
                  const std::int64_t row[] = {3}, stride[] = {1};
                  return std::tuple(make_view(made, row, stride, 0), make_view(made, row, stride, 3));
                },
                {zeros()}) == "");
  CHECK(checked("(Tensor(a) a) -> (Tensor(a), Tensor(a))",
                [](const TensorBase& a) { return std::tuple(same_memory(a), same_memory(a)); }, {zeros()}) == "");
}
