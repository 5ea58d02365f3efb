#include <keyway/core/keys/thread_state.h>
#include <keyway/tests/catch.h>

#include <memory>
#include <thread>
#include <type_traits>

using namespace keyway;

namespace {
using F = Functionality;

bool is_normal() {
  return included_keys().empty() && excluded_keys().empty() && grad_enabled() && !InferenceMode::is_enabled();
}
}  // namespace

static_assert(std::is_trivially_destructible_v<ThreadState> && sizeof(ThreadState) <= 24);

TEST_CASE("guards nest, and leave everything as it was, also by an exception") {
  CHECK(is_normal());
  try {
    const IncludeDispatchKeyGuard include{DispatchKeySet(F::Tracer)};
    const ExcludeDispatchKeyGuard exclude{DispatchKeySet{DispatchKey::AutogradCUDA}};
    CHECK(included_keys() == DispatchKeySet(F::Tracer));
    CHECK(excluded_keys() == DispatchKeySet(F::Autograd));  // no backend
    {
      const AutoDispatchBelowADInplaceOrView below;
      const IncludeDispatchKeyGuard more{DispatchKeySet(F::Batched)};
      CHECK(excluded_keys() == kAutogradRelated);
      CHECK(included_keys().has(F::Batched));
    }
    CHECK(excluded_keys() == DispatchKeySet(F::Autograd));
    CHECK(!included_keys().has(F::Batched));
    throw 1;
  } catch (int) {
  }
  CHECK(is_normal());
}

TEST_CASE("a guard takes back its own keys and no other's, in whatever order guards go") {
  const DispatchKeySet tracer(F::Tracer), batched(F::Batched);
  auto first = std::make_unique<IncludeDispatchKeyGuard>(tracer);
  auto second = std::make_unique<IncludeDispatchKeyGuard>(tracer | batched);
  const NoGradGuard off;
  first.reset();
  CHECK(included_keys() == batched);
  auto excluded = std::make_unique<ExcludeDispatchKeyGuard>(tracer);
  second.reset();
  CHECK(included_keys().empty());
  CHECK(excluded_keys() == tracer);
  CHECK(!grad_enabled());
}

TEST_CASE("inference mode takes back its own exclusion and no other's, in whatever order guards go") {
  auto excluded = std::make_unique<ExcludeDispatchKeyGuard>(kAutogradKeys);
  auto on = std::make_unique<InferenceMode>();
  excluded.reset();
  on.reset();
  CHECK(is_normal());

  on = std::make_unique<InferenceMode>();
  excluded = std::make_unique<ExcludeDispatchKeyGuard>(DispatchKeySet(F::Tracer));
  on.reset();
  CHECK(excluded_keys() == DispatchKeySet(F::Tracer));
}

TEST_CASE("no guard changes the backend of calls") {
  const IncludeDispatchKeyGuard include{DispatchKeySet(DispatchKey::AutogradCUDA)};
  CHECK(included_keys() == DispatchKeySet(F::Autograd));
}

TEST_CASE("gradient mode is switched off and on again inside") {
  {
    const NoGradGuard off;
    CHECK(!grad_enabled());
    {
      const AutoGradMode on;
      CHECK(grad_enabled());
    }
    CHECK(!grad_enabled());
  }
  CHECK(is_normal());
}

TEST_CASE("inference mode excludes Autograd and lets tensors be born without keys") {
  CHECK(keys_of_new_tensors() == DispatchKeySet(F::ADInplaceOrView));
  {
    const InferenceMode on;
    CHECK(InferenceMode::is_enabled());
    CHECK(!grad_enabled());
    CHECK(excluded_keys().has(F::Autograd));
    CHECK(keys_of_new_tensors().empty());
    {
      const InferenceMode off(false);
      CHECK(is_normal());
    }
    CHECK(keys_of_new_tensors().empty());
  }
  CHECK(is_normal());
}

TEST_CASE("each thread begins with the normal state") {
  const InferenceMode here;
  bool normal = false;
  std::thread([&] { normal = is_normal(); }).join();
  CHECK(normal);
}
