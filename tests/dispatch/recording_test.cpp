// What dispatch decided, recorded and decided again.
#include <keyway/core/keys/thread_state.h>
#include <keyway/dispatch/inspect/dispatch_recording.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <functional>

using namespace keyway;
using namespace keyway::testing;

namespace {

DispatchRecording record(const std::function<void()>& run) {
  const auto recorder = std::make_shared<DispatchRecorder>();
  const ObserverHandle on = observe_calls(recorder);
  run();
  return recorder->recording();
}

}  // namespace

TEST_CASE("a recording replays without a difference, and shows each that there is") {
  RegistrationHandle a = Block().def("rec::a(Tensor t) -> int").impl("rec::a", DispatchKey::CPU, counts_one).commit();
  RegistrationHandle b = Block()
                             .def("rec::b(Tensor t) -> int")
                             .impl("rec::b", DispatchKey::CompositeImplicitAutograd, counts_one)
                             .commit();
  const DispatchRecording first = record([] {
    for (int i = 0; i < 3; ++i) op("rec::a").typed<std::int64_t(const TensorBase&)>().call(tensor());
    op("rec::b").typed<std::int64_t(const TensorBase&)>().call(tensor(DeviceType::Meta));
    CHECK_THROWS_AS(op("rec::a").typed<std::int64_t(const TensorBase&)>().call(tensor(DeviceType::Meta)), Error);
  });
  CHECK(first.decisions().size() == 3);
  CHECK(first.operators() == std::vector<std::string>{"rec::a", "rec::b"});
  const DispatchRecording recording(first.text());
  CHECK(recording.text() == first.text());
  CHECK(recording.decisions().begin()->second + recording.decisions().rbegin()->second >= 2);
  CHECK(recording.differences().empty());

  const RegistrationHandle meta = Block().impl("rec::b", DispatchKey::Meta, counts_one).commit();
  CHECK(recording.differences() ==
        std::vector<std::string>{"rec::b with {Meta}: Meta, where CompositeImplicitAutograd was"});
  a.undo();
  CHECK(recording.differences().size() == 3);
  CHECK(recording.differences()[0] == "rec::a: there is no such operator");
}

TEST_CASE("what is no recording is refused") {
  for (const std::string text :
       {"", "[]", "{}", R"({"format": 1})", R"({"format": 9, "decisions": []})",
        R"({"format": 1, "decisions": [{"op": 1}]})",
        R"({"format": 1, "decisions": [{"op": "a", "keys": ["NoKey"], "key": "CPU", "kernel": "",
                                     "count": 1}]})"}) {
    INFO(text);
    CHECK(error_of([&] { DispatchRecording{text}; }).starts_with("this is no recording of dispatch: "));
  }
}
