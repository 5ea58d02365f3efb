#include <keyway/nn/serialize/safetensors_header.h>
#include <keyway/tests/catch.h>

#include <chrono>

using namespace keyway;
using keyway::testing::error_of;

namespace {

std::string length_bytes(std::uint64_t n) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(n >> (8 * i) & 0xff);
  return bytes;
}

std::string file_of(const std::string& json, std::size_t data_bytes) {
  return length_bytes(json.size()) + json + std::string(data_bytes, '\0');
}

nn::SafetensorsHeader parse(const std::string& file) { return nn::parse_safetensors_header(file, file.size()); }

// A tensor as the header says it.
std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"t":)" + entry(dtype, shape, offsets) + "}";
}

// The error of a file; it must be of kind Parse.
std::string refusal(const std::string& file) {
  try {
    parse(file);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Parse);
    return std::string(error.message());
  }
  return "accepted";
}
std::string refusal(const std::string& json, std::size_t data_bytes) { return refusal(file_of(json, data_bytes)); }

}  // namespace

TEST_CASE("a header gives its tensors in its order, and its metadata") {
  const auto header =
      parse(file_of(R"({"b":)" + entry("F32", "[2, 3]", "[4,28]") + R"(, "__metadata__":{"k":"v\u00e9\n"}, "a":)" +
                        entry("I32", "[]", "[0,4]") + "}  ",
                    28));
  REQUIRE(header.tensors.size() == 2);
  CHECK(header.tensors[0].name == "b");
  CHECK(header.tensors[0].dtype == kFloat);
  CHECK(header.tensors[0].shape == std::vector<std::int64_t>{2, 3});
  CHECK(header.tensors[0].begin == 4);
  CHECK(header.tensors[0].end == 28);
  CHECK(header.tensors[1].name == "a");
  CHECK(header.tensors[1].shape.empty());
  CHECK(header.metadata == std::map<std::string, std::string>{{"k", "v\u00e9\n"}});
}

TEST_CASE("files without tensors, with empty tensors and with padding are read") {
  CHECK(parse(file_of("{}", 0)).tensors.empty());
  CHECK(parse(file_of("{}      \n\t", 0)).tensors.empty());
  CHECK(parse(file_of(one("F32", "[2,0]", "[0,0]"), 0)).tensors.size() == 1);
  const std::string two = R"({"t":)" + entry("U8", "[2]", "[0,2]") + R"(,"e":)" + entry("F64", "[0]", "[2,2]") + "}";
  CHECK(parse(file_of(two, 2)).tensors.size() == 2);
}

TEST_CASE("every dtype of the format that Keyway has is read under its name") {
  const std::pair<const char*, ScalarType> dtypes[] = {{"BOOL", kBool},
                                                       {"U8", kByte},
                                                       {"I8", kChar},
                                                       {"I16", kShort},
                                                       {"I32", kInt},
                                                       {"I64", kLong},
                                                       {"F16", kHalf},
                                                       {"BF16", kBFloat16},
                                                       {"F32", kFloat},
                                                       {"F64", kDouble},
                                                       {"C64", kComplexFloat},
                                                       {"U16", ScalarType::UInt16},
                                                       {"U32", ScalarType::UInt32},
                                                       {"U64", ScalarType::UInt64},
                                                       {"F8_E5M2", kFloat8_e5m2},
                                                       {"F8_E4M3", kFloat8_e4m3fn},
                                                       {"F8_E8M0", kFloat8_e8m0fnu}};
  for (const auto& [name, dtype] : dtypes) {
    const std::size_t bytes = 3 * element_size(dtype);
    const auto header = parse(file_of(one(name, "[3]", "[0," + std::to_string(bytes) + "]"), bytes));
    CHECK(header.tensors[0].dtype == dtype);
  }
  const auto packed = parse(file_of(one("F4", "[3,4]", "[0,6]"), 6));
  CHECK(packed.tensors[0].dtype == ScalarType::Float4_e2m1fn_x2);
  CHECK(packed.tensors[0].shape == std::vector<std::int64_t>{3, 2});
}

TEST_CASE("a wrong length is refused") {
  CHECK(refusal("") == "the file has 0 bytes, but begins with 8 bytes of length");
  CHECK(refusal("1234567") == "the file has 7 bytes, but begins with 8 bytes of length");
  CHECK(refusal(length_bytes(100'000'001)) ==
        "the header is said to have 100000001 bytes; at most 100000000 are allowed");
  CHECK(refusal(length_bytes(~std::uint64_t{0})) ==
        "the header is said to have 18446744073709551615 bytes; at most 100000000 are allowed");
  CHECK(refusal(length_bytes(3) + "{}") == "the header is said to have 3 bytes, but 2 follow in the file");
  CHECK(refusal(length_bytes(0)) == "the header does not begin with '{'");
}

TEST_CASE("text that is not UTF-8 is refused with its offset") {
  for (const char* bad : {"\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x8f\xbf\xbf",
                          "\xff", "\xc3", "\xf5\x80\x80\x80"}) {
    CHECK(refusal(std::string("{\"") + bad + "\":1}", 0) == "byte 10: the header is not valid UTF-8");
  }
}

TEST_CASE("text that is not the format's JSON is refused with its offset") {
  CHECK(refusal(" {}", 0) == "the header does not begin with '{'");
  CHECK(refusal("[]", 0) == "the header does not begin with '{'");
  CHECK(refusal("{", 0) == "byte 9: expected a string but found the end");
  CHECK(refusal("{} x", 0) == "byte 11: expected the end of the JSON text but found 'x'");
  CHECK(refusal("{}{}", 0) == "byte 10: expected the end of the JSON text but found '{'");
  CHECK(refusal("{\"a\"}", 0) == "byte 12: expected ':' but found '}'");
  CHECK(refusal("{\"a\":1}", 0) == "byte 13: expected '{' but found '1'");
  CHECK(refusal("{\"a\":{},}", 0) == "tensor \"a\": it has no dtype");
  CHECK(refusal("{\"a", 0) == "byte 11: the string has no closing quote");
  CHECK(refusal("{\"a\\", 0) == "byte 12: the string has no closing quote");
  CHECK(refusal("{\"\n\":1}", 0) == "byte 10: a control character stands in a string");
  CHECK(refusal("{\"\\x\":1}", 0) == "byte 11: '\\x' is no escape sequence");
  CHECK(refusal("{\"\\u12g4\":1}", 0) == "byte 14: \\u needs four hexadecimal digits");
  CHECK(refusal("{\"\\ud800\":1}", 0) == "byte 16: half of a surrogate pair stands alone");
  CHECK(refusal("{\"\\udc00\":1}", 0) == "byte 16: half of a surrogate pair stands alone");
  CHECK(refusal("{\"\\ud800\\u0041\":1}", 0) == "byte 22: half of a surrogate pair stands alone");
  CHECK(refusal(one("U8", "[01]", "[0,1]"), 1).find("a number begins with 0") != std::string::npos);
  CHECK(refusal(one("U8", "[-1]", "[0,1]"), 1).find("expected an integer of at least 0 but found '-'") !=
        std::string::npos);
  CHECK(refusal(one("U8", "[1.0]", "[0,1]"), 1).find("a fraction or an exponent") != std::string::npos);
  CHECK(refusal(one("U8", "[1e0]", "[0,1]"), 1).find("a fraction or an exponent") != std::string::npos);
  CHECK(refusal(one("U8", "[1,]", "[0,1]"), 1).find("expected an integer of at least 0 but found ']'") !=
        std::string::npos);
  CHECK(refusal(one("U8", "[18446744073709551616]", "[0,1]"), 1).find("an integer is above 2^64 - 1") !=
        std::string::npos);
}

TEST_CASE("nesting a million levels deep is an error like any other") {
  CHECK(refusal("{\"a\":" + std::string(1'000'000, '['), 0) == "byte 13: expected '{' but found '['");
  CHECK(refusal(one("U8", std::string(1'000'000, '['), "[0,1]"), 1).find("expected an integer") != std::string::npos);
}

TEST_CASE("keys that stand twice, lack or do not belong there are refused") {
  const std::string tensor = entry("U8", "[1]", "[0,1]");
  CHECK(refusal("{\"t\":" + tensor + ",\"\\u0074\":" + tensor + "}", 1).find("the name \"t\" stands twice") !=
        std::string::npos);
  CHECK(refusal(R"({"__metadata__":{},"__metadata__":{}})", 0).find("the name \"__metadata__\" stands twice") !=
        std::string::npos);
  CHECK(refusal(R"({"__metadata__":{"a":"","a":""}})", 0).find("the metadata has the key \"a\" twice") !=
        std::string::npos);
  CHECK(refusal(R"({"__metadata__":{"a":1}})", 0) == "byte 29: expected a string but found '1'");
  CHECK(refusal(R"({"__metadata__":{"a":{"b":"c"}}})", 0) == "byte 29: expected a string but found '{'");
  CHECK(refusal(R"({"t":{"dtype":"U8","dtype":"U8"}})", 0).find("\"dtype\" stands twice in one tensor") !=
        std::string::npos);
  CHECK(refusal(R"({"t":{"strides":[1]}})", 0).find("a tensor has no key \"strides\"") != std::string::npos);
  CHECK(refusal(R"({"t":{"dtype":"U8","data_offsets":[0,0]}})", 0) == "tensor \"t\": it has no shape");
  CHECK(refusal(R"({"t":{"dtype":"U8","shape":[0]}})", 0) == "tensor \"t\": it has no data_offsets");
  CHECK(refusal(one("U8", "[1]", "[0]"), 1) == "tensor \"t\": it has 1 data_offsets, not 2");
  CHECK(refusal(one("U8", "[1]", "[0,1,2]"), 1) == "tensor \"t\": it has 3 data_offsets, not 2");
}

TEST_CASE("tensors whose dtype, shape and bytes do not fit are refused") {
  CHECK(refusal(one("F31", "[1]", "[0,4]"), 4) == "tensor \"t\": \"F31\" is no dtype of the format");
  CHECK(refusal(one("f32", "[1]", "[0,4]"), 4) == "tensor \"t\": \"f32\" is no dtype of the format");
  CHECK(refusal(one("F6_E2M3", "[4]", "[0,3]"), 3) == "tensor \"t\": Keyway has no dtype for F6_E2M3");
  CHECK(refusal(one("F32", "[2,2]", "[0,12]"), 12) ==
        "tensor \"t\": shape [2, 2] of F32 is 16 bytes, but its data_offsets hold 12");
  CHECK(refusal(one("F32", "[1]", "[4,0]"), 4) == "tensor \"t\": it ends at 0, before it begins at 4");
  CHECK(refusal(one("F32", "[9223372036854775808]", "[0,4]"), 4) ==
        "tensor \"t\": its size 9223372036854775808 is above 2^63 - 1");
  CHECK(refusal(one("F32", "[4294967296,4294967296]", "[0,4]"), 4) ==
        "tensor \"t\": the product of its sizes [4294967296, 4294967296] exceeds 2^64 - 1");
  CHECK(refusal(one("F32", "[0,4294967296,4294967296]", "[0,0]"), 0) ==
        "tensor \"t\": the product of its sizes [0, 4294967296, 4294967296] exceeds 2^64 - 1");
  CHECK(refusal(one("F64", "[4611686018427387904]", "[0,4]"), 4) ==
        "tensor \"t\": 4611686018427387904 elements of 64 bits exceed 2^64 - 1 bits");
  CHECK(refusal(one("F4", "[3]", "[0,1]"), 1) == "tensor \"t\": 3 elements of 4 bits do not fill whole bytes");
  CHECK(refusal(one("F4", "[2,3]", "[0,3]"), 3) ==
        "tensor \"t\": the last of its sizes [2, 3] does not fill whole bytes");
  std::string ones = "[1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  CHECK(refusal(one("U8", ones + "]", "[0,1]"), 1).find("the list has more than 64 numbers") != std::string::npos);
}

TEST_CASE("tensors that overlap, leave holes or do not fill the file are refused") {
  const auto two = [](const std::string& a, const std::string& b) {
    return R"({"a":)" + entry("U8", "[4]", a) + R"(,"b":)" + entry("U8", "[4]", b) + "}";
  };
  CHECK(refusal(two("[0,4]", "[2,6]"), 6) == "tensor \"b\": it begins at 2 and overlaps the one before, up to 4");
  CHECK(refusal(two("[0,4]", "[0,4]"), 4) == "tensor \"b\": it begins at 0 and overlaps the one before, up to 4");
  CHECK(refusal(two("[0,4]", "[6,10]"), 10) == "tensor \"b\": bytes 4 to 6 before it belong to no tensor");
  CHECK(refusal(two("[1,5]", "[5,9]"), 9) == "tensor \"a\": bytes 0 to 1 before it belong to no tensor");
  CHECK(refusal(two("[0,4]", "[4,8]"), 9) == "1 bytes follow the last tensor");
  CHECK(refusal(two("[0,4]", "[4,8]"), 7) == "tensor \"b\": it ends at 8, but the data has 7 bytes");
  CHECK(refusal("{}", 5) == "5 bytes follow the last tensor");
  CHECK(refusal(two("[4,8]", "[0,4]"), 8) == "accepted");
}

TEST_CASE("a file cut anywhere is refused") {
  const std::string whole = file_of(one("F32", "[2]", "[0,8]"), 8);
  CHECK(refusal(whole) == "accepted");
  for (std::size_t size = 0; size < whole.size(); ++size) CHECK(refusal(whole.substr(0, size)) != "accepted");
}

TEST_CASE("a hundred thousand overlapping tensors are refused at once") {
  std::string json = "{";
  for (int i = 0; i < 100'000; ++i) {
    json += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":" + entry("U8", "[1]", "[0,1]");
  }
  const std::string file = file_of(json + "}", 1);
  [[maybe_unused]] const auto begin = std::chrono::steady_clock::now();
  CHECK(refusal(file).find("overlaps the one before") != std::string::npos);
#if !defined(KEYWAY_SANITIZED)
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));  // 100 ms on an idle machine
#endif
}

TEST_CASE("long names and control characters do not get into errors") {
  const std::string json = "{\"" + std::string(100'000, 'x') + "\\u0007\":{}}";
  CHECK(refusal(json, 0).size() < 200);
  CHECK(refusal("{\"\\u001b[31m\":{}}", 0) == "tensor \"\\u001b[31m\": it has no dtype");
}

TEST_CASE("a printed header parses to what it was printed from") {
  nn::SafetensorsHeader header;
  header.metadata = {{"a \"quoted\" key", "\x01\\\u00e9"}, {"", ""}};
  header.tensors = {{"w", kDouble, {3}, 0, 24}, {"\u4e2d\"\n", ScalarType::Float4_e2m1fn_x2, {2, 2}, 24, 28}};
  const std::string text = nn::print_safetensors_header(header);
  CHECK(text.size() % 8 == 0);
  CHECK(text.size() == header.data_start);
  const auto again = parse(text + std::string(28, '\0'));
  CHECK(again.metadata == header.metadata);
  REQUIRE(again.tensors.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(again.tensors[i].name == header.tensors[i].name);
    CHECK(again.tensors[i].dtype == header.tensors[i].dtype);
    CHECK(again.tensors[i].shape == header.tensors[i].shape);
    CHECK(again.tensors[i].end == header.tensors[i].end);
  }
}

TEST_CASE("a header that the format has no words for is not printed") {
  const auto print = [](std::string name, ScalarType dtype) {
    nn::SafetensorsHeader header;
    header.tensors = {{std::move(name), dtype, {0}, 0, 0}};
    nn::print_safetensors_header(header);
  };
  CHECK(error_of([&] { print("t", kComplexDouble); }) ==
        "tensor \"t\": the safetensors format has no dtype for complex128");
  CHECK(error_of([&] { print("\xff", kFloat); }) == "the name of a tensor or of metadata is not valid UTF-8");
  CHECK(error_of([&] { print("__metadata__", kFloat); }).find("the format keeps it for metadata") != std::string::npos);
}
