// The typed value of every kind of default; what cannot be one is an error where the operator is defined.
#include <keyway/core/schema/named_values.h>
#include <keyway/core/schema/owned.h>
#include <keyway/core/tensor/layout.h>
#include <keyway/core/tensor/memory_format.h>
#include <keyway/core/tensor/reduction.h>
#include <keyway/dispatch/call/default_argument.h>
#include <keyway/tests/catch.h>
#include <keyway/tests/dispatch/block.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace keyway;
using namespace keyway::testing;

namespace {

// Of the argument written so: "Device d='cpu'".
IValue value_of(const std::string& argument) {
  const OwnedSchema schema("f(" + argument + ") -> ()");
  return default_argument(schema->arguments()[0]);
}

// What is wrong with an operator that has the argument, where it is defined; empty if nothing is.
std::string definition_error(const std::string& argument) {
  std::string text;
  try {
    const RegistrationHandle handle = Block().def("defaults::f(" + argument + ") -> ()").commit();
  } catch (const Error& error) {
    text = error.what();
  }
  return text;
}

}  // namespace

TEST_CASE("a default has its argument's type, however it is written") {
  for (const char* device : {"Device d='cpu'", "Device d=\"cpu\"", "Device d=cpu", "Device? d=cpu"}) {
    INFO(device);
    CHECK(value_of(device).to_device() == Device(kCPU));
  }
  CHECK(value_of("Device d='cuda:1'").to_device() == Device(kCUDA, 1));
  CHECK(value_of("Device d='meta:127'").to_device() == Device(kMeta, 127));
  CHECK(value_of("Layout l=0").to_layout() == Layout::Strided);
  CHECK(value_of("Layout l=sparse_bsc").to_layout() == Layout::SparseBsc);
  CHECK(value_of("MemoryFormat m=2").to_memory_format() == MemoryFormat::ChannelsLast);
  CHECK(value_of("MemoryFormat m=preserve_format").to_memory_format() == MemoryFormat::Preserve);
  CHECK(value_of("ScalarType t=6").to_scalar_type() == kFloat);
  CHECK(value_of("ScalarType? t=15").to_scalar_type() == kBFloat16);
  for (const auto& [name, dtype] : {std::pair("complex", kComplexFloat),
                                    {"cdouble", kComplexDouble},
                                    {"long", kLong},
                                    {"float", kFloat},
                                    {"half", kHalf},
                                    {"int", kInt},
                                    {"short", kShort}}) {
    INFO(name);
    CHECK(value_of(std::string("ScalarType t=") + name).to_scalar_type() == dtype);
  }
  CHECK(value_of("int n=Mean").to_int() == 1);
  CHECK(value_of("int n=Sum").to_int() == 2);
  CHECK(value_of("int n=-9223372036854775808").to_int() == std::numeric_limits<std::int64_t>::min());
  CHECK(value_of("bool b=True").to_bool());
  CHECK(value_of("Tensor? t=None").is_none());
}

TEST_CASE("numbers are those of the argument's type") {
  const auto complex_of = [](const char* text) { return value_of(text).to_complex(); };
  CHECK(complex_of("complex z=1") == complex<double>(1, 0));
  CHECK(complex_of("complex z=2.5") == complex<double>(2.5, 0));
  CHECK(complex_of("complex z=-3j") == complex<double>(0, -3));
  for (const char* text : {"float x=3", "SymFloat x=3", "float? x=3"}) {
    INFO(text);
    CHECK(value_of(text).is(ValueTag::Double));
    CHECK(value_of(text).to_double() == 3);
  }
  CHECK(value_of("float x=100000000000000000000").to_double() == 1e20);
  CHECK(value_of("float x=1.7976931348623157e308").to_double() == std::numeric_limits<double>::max());
  CHECK(value_of("float x=-inf").to_double() == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(value_of("float x=nan").to_double()));
  CHECK(value_of("float x=-1e-400").to_double() == 0);
  CHECK(std::signbit(value_of("float x=-1e-400").to_double()));
  CHECK(value_of("float x=5e-324").to_double() == std::numeric_limits<double>::denorm_min());
  CHECK(value_of("Scalar s=1").to_scalar().is_integral(false));
  CHECK(value_of("Scalar s=1.").to_scalar().is_floating_point());
  CHECK(value_of("Scalar s=True").to_scalar().is_bool());
  CHECK(value_of("Scalar s=2j").to_scalar().is_complex());
}

TEST_CASE("escapes in strings stand for characters") {
  CHECK(value_of(R"(str s="a\nb\t\"'\\")").to_string_ref() == "a\nb\t\"'\\");
  CHECK(value_of(R"(str s='it\'s \x41\x7a\a\b\f\r\v')").to_string_ref() == "it's Az\a\b\f\r\v");
  CHECK(value_of(R"(str? s='')").to_string_ref().empty());
  CHECK(definition_error(R"(str s='\q')").find("has an escape that is none of") != std::string::npos);
  CHECK(definition_error(R"(str s='\x4')").find("has an escape that is none of") != std::string::npos);
}

TEST_CASE("one value stands for all of a list, and a list of a size has that many, or none") {
  using Ints = std::vector<std::int64_t>;
  CHECK(value_of("int[2] i=7").to_int_list() == Ints{7, 7});
  CHECK(value_of("int[2]? i=[3,4]").to_int_list() == Ints{3, 4});
  CHECK(value_of("int[2] i=[]").to_int_list().empty());
  CHECK(value_of("int[1] i=[-2,-1]").to_int_list() == Ints{-2, -1});  // as PyTorch's fft2 has it
  CHECK(value_of("float[] x=[1,.5]").to_list_of<double>() == std::vector<double>{1, 0.5});
  CHECK(value_of("bool[3] b=True").to_list_of<bool>().size() == 3);
  CHECK(value_of("Scalar[] s=[1,2j]").to_list_of<Scalar>()[1].is_complex());
  CHECK(value_of("Tensor[] t=[]").to_tensor_list().empty());
  CHECK(value_of("Tensor?[] t=[None]").to_tensor_list().size() == 1);
  CHECK(definition_error("int[2] i=[3,4,5]").find("the default '[3,4,5]' does not fit") != std::string::npos);
  CHECK(definition_error("int[3] i=[3]").find("the default '[3]' does not fit") != std::string::npos);
}

TEST_CASE("what is no value of the type is an error where the operator is defined") {
  for (const char* argument :
       {"float f=1e400", "float f=-1e309", "float f=1.7976931348623159e308", "Scalar s=1e400", "complex z=1e400j",
        "Scalar s=9223372036854775808", "ScalarType t=99", "ScalarType t=-1", "Layout l=3", "MemoryFormat m=4",
        "Device d=npu", "Device d='Cpu'", "Device d='cpu:'", "Device d='cpu:128'", "Device d='cpu:x'",
        "Device d='nobodys'", "ScalarType t='float'", "bool b=1", "int n=1.0"}) {
    INFO(argument);
    CHECK_FALSE(definition_error(argument).empty());
  }
  CHECK(definition_error("Device d='nobodys'").find("'nobodys' is of a type that is not known") != std::string::npos);
  CHECK(definition_error("Device d='cuda:1', float f=1e308, ScalarType t=complex, str s='\\n'").empty());
}

TEST_CASE("the table of named values has the enumerators' numbers") {
  for (const NamedValue& value : kNamedValues) {
    INFO(value.names);
    const std::string_view enumerator = value.cpp.substr(value.cpp.find("::") + 2);
    switch (value.type) {
      case TypeKind::ScalarType: {
        const auto dtype = static_cast<ScalarType>(value.number);
        CHECK(to_string(dtype) == value.python());
        CHECK(enum_name(dtype) == enumerator);
        break;
      }
      case TypeKind::Layout:
        CHECK(to_string(static_cast<Layout>(value.number)) == value.python());
        CHECK(try_parse_layout(enumerator) == static_cast<Layout>(value.number));
        break;
      case TypeKind::MemoryFormat:
        CHECK(to_string(static_cast<MemoryFormat>(value.number)) == value.python());
        CHECK(try_parse_memory_format(enumerator) == static_cast<MemoryFormat>(value.number));
        break;
      case TypeKind::Device: CHECK(to_string(static_cast<DeviceType>(value.number)) == value.python()); break;
      default: CHECK(value.number == (value.python() == "Mean" ? Reduction::Mean : Reduction::Sum));
    }
  }
}
