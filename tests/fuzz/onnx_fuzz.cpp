// A fuzzer (fuzzing.h): any bytes either are an ONNX model, which says what it takes and gives, or give an error of
// kind Parse or NotImplemented. What is read is not run. Run: onnx_fuzz -max_len=4096 tests/fuzz/corpus/onnx
#include <keyway/core/base/error.h>
#include <keyway/onnx/import/format/external_data.h>
#include <keyway/onnx/import/model.h>
#include <keyway/tests/fuzz/fuzzing.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace {

using namespace keyway;
using fuzzing::require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  try {
    const std::shared_ptr<const onnx::Model> model = onnx::make_model(file, onnx::ExternalData(std::nullopt));
    require(model->required_inputs() <= model->inputs().size(), "the inputs that it needs are inputs");
    for (const onnx::Model::Argument& argument : model->outputs()) require(!argument.type.empty(), "a type has a text");
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::Parse || error.kind() == ErrorKind::NotImplemented,
            "a bad file is an error of kind Parse or NotImplemented");
    require(error.message().size() < 2000, "a message is short");
  }
  return 0;
}
