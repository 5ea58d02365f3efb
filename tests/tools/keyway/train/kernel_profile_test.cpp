#include <keyway/ops/all.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/nn/values.h>
#include <keyway/tools/keyway/train/kernel_profile.h>

#include <algorithm>
#include <optional>

using namespace keyway;
using keyway::testing::error_of;
using keyway::testing::values_of;

namespace {

std::optional<tools::KernelProfile::Row> row_of(const tools::KernelProfile& profile, const std::string& op) {
  for (const auto& row : profile.rows()) {
    if (row.op == op) return row;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("a profile counts what is called while it records, and nothing else") {
  tools::KernelProfile profile;
  const Tensor a = keyway::ones({3}), b = keyway::ones({3});
  a.add(b);
  CHECK(profile.rows().empty());
  {
    const tools::KernelProfile::Recording recording(profile);
    for (int i = 0; i < 4; ++i) CHECK(values_of(a.mul(b)) == std::vector<double>{1, 1, 1});
    Tensor c = a.clone();
    c.add_(b);
    CHECK(c.data_ptr<float>()[0] == 2);
  }
  a.mul(b);
  const auto mul = row_of(profile, "mul.Tensor");
  REQUIRE(mul);
  CHECK(mul->calls == 4);
  CHECK(mul->keys == "CPU");
  CHECK(!mul->kernel.empty());
  CHECK(mul->seconds > 0);
  CHECK(row_of(profile, "add_.Tensor")->keys == "ADInplaceOrView, CPU");
  CHECK(!row_of(profile, "add.Tensor"));
}

TEST_CASE("a recorded call that is differentiated shows both of its kernels, and backward is seen") {
  tools::KernelProfile profile;
  const Tensor x = keyway::ones({3}).requires_grad_();
  {
    const tools::KernelProfile::Recording recording(profile);
    x.mul(x).sum().backward();
  }
  CHECK(values_of(x.grad()) == std::vector<double>{2, 2, 2});
  bool differentiated = false;
  for (const auto& row : profile.rows()) differentiated = differentiated || row.keys.starts_with("AutogradCPU, ");
  CHECK(differentiated);
  CHECK(row_of(profile, "sum")->calls == 1);
  // One product forward, and two for its gradients.
  std::uint64_t products = 0;
  for (const auto& row : profile.rows()) products += row.op == "mul.Tensor" ? row.calls : 0;
  CHECK(products == 3);
}

TEST_CASE("the time of a composite is without that of what it calls") {
  tools::KernelProfile profile;
  const Tensor a = keyway::ones({200, 200}), b = keyway::ones({200, 200});
  {
    const tools::KernelProfile::Recording recording(profile);
    a.matmul(b);
  }
  const auto matmul = row_of(profile, "matmul"), mm = row_of(profile, "mm");
  REQUIRE(matmul);
  REQUIRE(mm);
  CHECK(matmul->keys == "CompositeImplicitAutograd");
  CHECK(mm->calls == 1);
}

TEST_CASE("a second profile at a time is refused, and after the first there can be another") {
  std::optional<tools::KernelProfile> profile(std::in_place);
  CHECK(error_of([] { tools::KernelProfile second; }).find("second fallback for Profiler") != std::string::npos);
  profile.reset();
  tools::KernelProfile another;
}

TEST_CASE("a printed profile has the costliest rows and one for the others") {
  const std::vector<tools::KernelProfile::Row> rows = {
      {"mm", "CPU", "cpu::mm", 10, 0.3}, {"add.Tensor", "CPU", "cpu::add", 4, 0.2}, {"neg", "CPU", "cpu::neg", 2, 0.5}};
  const std::string text = tools::print_profile(rows, 1, 2);
  CHECK(std::ranges::count(text, '\n') == 3);
  CHECK(text.find("mm ") != std::string::npos);
  CHECK(text.find("150.00  30.0 %") != std::string::npos);
  CHECK(text.find("2 others") != std::string::npos);
}
