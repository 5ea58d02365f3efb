// Marks of lost gradients: calls that ask for Autograd find them until the operator is warned of, and nobody else does.
#include <keyway/core/keys/thread_state.h>
#include <keyway/core/tensor/autograd_meta.h>
#include <keyway/dispatch/inspect/explain.h>
#include <keyway/dispatch/registry/observer.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

using Unary = TensorBase(const TensorBase&);

class AsksForGradient : public AutogradMetaInterface {
 public:
  bool requires_grad() const override { return true; }
  bool is_leaf() const override { return true; }
  const intrusive_ptr<TensorImpl>& grad() const override { return grad_; }

 private:
  intrusive_ptr<TensorImpl> grad_;
};

TensorBase leaf_tensor() {
  const TensorBase made = tensor();
  made.impl()->set_autograd_meta(std::make_unique<AsksForGradient>());
  made.impl()->set_key_set(made.key_set().add(Functionality::Autograd));
  return made;
}

// Warnings as long as it lives.
struct HeardWarnings {
  std::vector<std::string> texts;
  WarningHandler before = set_warning_handler([this](std::string_view text) { texts.emplace_back(text); });
  ~HeardWarnings() { set_warning_handler(before); }
};

DispatchKeySet ran_with;  // the keys of the kernel that ran last
TensorBase gives_new(DispatchKeySet keys, const TensorBase& self) {
  KEYWAY_CHECK(self.defined(), "there is no tensor");
  ran_with = keys;
  return tensor();
}

bool has_mark(const OperatorHandle& op) {
  const Table& table = op.entry().table();
  return table.is_mark(table.slots[static_cast<std::size_t>(DispatchKey::AutogradCPU)]);
}

// An operator of a name of its own, whose results lose gradients.
struct Losing {
  std::string name;
  RegistrationHandle handle =
      Block().def(name + "(Tensor self) -> Tensor").impl(name, DispatchKey::CPU, gives_new).commit();
  TypedOperatorHandle<Unary> op = testing::op(name).typed<Unary>();
};

}  // namespace

TEST_CASE("a call that asks for no gradient finds its kernel, and no mark") {
  Losing losing{"marks::plain"};
  losing.handle.release();
  const Table& table = losing.op.entry().table();
  const Table::Found found = table.find(tensor().key_set());
  CHECK(table.kernel(found.kernel).flags == 0);
  CHECK(table.backend_masks == nullptr);
  CHECK(has_mark(losing.op));
  CHECK(table.is_mark(table.find(leaf_tensor().key_set()).kernel));
  CHECK(table.find_past_mark(leaf_tensor().key_set()).kernel == found.kernel);
  CHECK(explain(losing.op, Stack{leaf_tensor()}).kernel->key == DispatchKey::CPU);
}

TEST_CASE("a mark is passed under no_grad, and goes with the first warning") {
  for (const bool boxed : {false, true}) {
    for (const bool stays : {false, true}) {
      Losing losing{"marks::" + std::string(boxed ? "boxed" : "typed") + (stays ? "_stays" : "")};
      if (stays) losing.handle.release();
      const auto call = [&](const TensorBase& x) {
        if (!boxed) return losing.op.call(x);
        Stack stack{x};
        losing.op.call_boxed(stack);
        return stack.at(0).to_tensor();
      };
      const TensorBase x = leaf_tensor();
      const HeardWarnings heard;
      {
        const NoGradGuard off;
        CHECK(call(x).defined());
        CHECK_FALSE(ran_with.has(Functionality::Autograd));
        CHECK(ran_with.has(Functionality::Dense));
      }
      CHECK(call(tensor()).defined());
      CHECK(heard.texts.empty());
      CHECK(has_mark(losing.op));
      CHECK(call(x).defined());
      CHECK_FALSE(ran_with.has(Functionality::Autograd));
      REQUIRE(heard.texts.size() == 1);
      CHECK(heard.texts[0].starts_with(losing.name + " has no kernel at Autograd"));
      CHECK_FALSE(has_mark(losing.op));
      CHECK(call(x).defined());
      CHECK(heard.texts.size() == 1);
      CHECK(error_of([&] { (void)call(TensorBase()); }).find("marks::") == 0);
    }
  }
}

TEST_CASE("what is claimed and taken back is not said, and what is said stays so") {
  Losing losing{"marks::claimed"};
  const TensorBase x = leaf_tensor();
  const HeardWarnings heard;
  REQUIRE(claim_lost_gradient(losing.op.entry()));
  (void)losing.op.call(x);
  CHECK(heard.texts.empty());
  CHECK(has_mark(losing.op));
  unclaim_lost_gradient(losing.op.entry());
  {
    const RegistrationHandle gradient = Block()
                                            .impl("marks::claimed", DispatchKey::AutogradMeta, gives_new)
                                            .impl("marks::claimed", DispatchKey::Meta, gives_new)
                                            .commit();
    CHECK(has_mark(losing.op));
    CHECK_FALSE(explain_slot(losing.op, DispatchKey::AutogradCPU).kernel);
    (void)losing.op.call(x);
    CHECK(heard.texts.size() == 1);
    CHECK_FALSE(has_mark(losing.op));
  }
  CHECK_FALSE(has_mark(losing.op));
}

TEST_CASE("a mark is not seen by observers, and those who say that nothing is lost have none") {
  Losing losing{"marks::seen"};
  struct Sees : CallObserver {
    std::vector<DispatchKey> keys;
    void call(const ObservedCall& call) override {
      keys.push_back(call.keys.highest_priority_key());
      call.proceed();
    }
  };
  const auto sees = std::make_shared<Sees>();
  const HeardWarnings heard;
  {
    const ObserverHandle observer = observe_calls(sees);
    (void)losing.op.call(leaf_tensor());
    (void)losing.op.call(leaf_tensor());
  }
  CHECK(sees->keys == std::vector{DispatchKey::CPU, DispatchKey::CPU});
  CHECK(heard.texts.size() == 1);
  CHECK_FALSE(has_mark(losing.op));
  Losing meant{"marks::meant"};
  const RegistrationHandle nothing = Block().impl("marks::meant", DispatchKey::Autograd, Fallthrough{}).commit();
  CHECK_FALSE(has_mark(meant.op));
}

TEST_CASE("many threads that lose the same gradient at once warn once, and all get their results") {
  const auto gives = [](const TensorBase&) { return tensor(); };
  const RegistrationHandle handle =
      Block().def("marks::many(Tensor self) -> Tensor").impl("marks::many", DispatchKey::CPU, gives).commit();
  const auto many = testing::op("marks::many").typed<Unary>();
  std::atomic<int> warned{0}, wrong{0};
  const WarningHandler before = set_warning_handler([&](std::string_view) { ++warned; });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const TensorBase x = leaf_tensor();
      for (int n = 0; n < 50; ++n) {
        const Block meta = Block().impl("marks::many", DispatchKey::Meta, gives);
        const RegistrationHandle comes_and_goes = i == 0 ? meta.commit() : RegistrationHandle();
        wrong += many.call(x).defined() ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  set_warning_handler(before);
  CHECK(wrong == 0);
  CHECK(warned == 1);
  CHECK_FALSE(has_mark(many));
}
