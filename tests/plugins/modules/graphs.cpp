// CUDA devices that capture graphs, and do no work.
#include <keyway/dispatch/plugin/plugin.h>
#include <keyway/tests/core/fake_device.h>

namespace {

using namespace keyway;
using namespace keyway::testing;

class EmptyGraph final : public GraphImplInterface {
 public:
  void capture_begin(MempoolId) override {}
  void capture_end() override {}
  void replay() override {}
  MempoolId pool() const override { return 1; }
};

struct Devices {
  FakeDevices fake{kCUDA};
  DeviceGuardRegistration guard = register_device_guard(fake);
  Devices() {
    fake.make_graph = [] { return std::make_unique<EmptyGraph>(); };
  }
};

}  // namespace

KEYWAY_PLUGIN(graphs, plugin) { plugin.keep(std::make_unique<Devices>()); }
