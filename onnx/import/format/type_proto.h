// Type: what a model says of a value: an input, an output, or what an attribute names.
#pragma once

#include <keyway/core/dtype/scalar_type.h>
#include <keyway/onnx/onnx.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keyway::inline v1::onnx {

struct Type {
  enum class Kind : std::uint8_t { Any, Numbers, Texts, List, Maybe };
  struct Dim {
    std::int64_t size = -1;  // -1: not fixed
    std::string name;        // of one that is not
  };

  Kind kind = Kind::Any;
  ScalarType dtype = ScalarType::Undefined;
  bool has_sizes = false;
  std::vector<Dim> sizes;
  std::vector<Type> of;  // the type of elements, of List and Maybe

  // Whether it is a value of this type. Sizes that have names may have any value.
  bool accepts(const Value& value) const;
};

// "float32[batch, 3]".
std::string to_string(const Type& type);
// Of a value: "float32[2, 3]".
std::string describe(const Value& value);

// Of the bytes of a TypeProto. Throws keyway::Error: Parse for what is none, NotImplemented for maps, sparse tensors
// and elements that Keyway does not have.
Type read_type(std::string_view proto);

}  // namespace keyway::inline v1::onnx
