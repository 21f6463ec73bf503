#include "files/safetensors_header.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/expect_error.h"

namespace fanin {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string length_of(std::uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xff);
  return bytes;
}

std::string file_with(const std::string& json) { return length_of(json.size()) + json; }

SafetensorsHeader parse(const std::string& file) {
  return parse_safetensors_header(bytes_of(file));
}

void expect_refused(const std::string& file, const std::string& message) {
  expect_error(ErrorKind::kBadFile, message, [&] { parse(file); });
}

void expect_damaged(const std::string& json, const std::string& message) {
  expect_refused(file_with(json), "has a damaged header: " + message);
}

/// The header of one tensor "a" with these fields.
std::string tensor(const std::string& fields) { return "{\"a\":{" + fields + "}}"; }

std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return tensor("\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets);
}

TEST(SafetensorsHeader, IsReadAsPythonWritesIt) {
  const SafetensorsHeader header = parse(file_with(
      R"({"__metadata__":{"format":"np"},"b":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]}}     )"));
  EXPECT_EQ(header,
            (SafetensorsHeader{{{"b", DType::kInt64, {}, 0}, {"a", DType::kFloat32, {2, 3}, 8}},
                               {{"format", "np"}}}));
  EXPECT_EQ(header.entries[1].byte_count(), 24U);
  EXPECT_EQ(header.data_byte_count(), 32U);
  EXPECT_EQ(parse(file_with("{}")), SafetensorsHeader{});
  EXPECT_EQ(parse(file_with(R"({"__metadata__":{}})")).data_byte_count(), 0U);
}

TEST(SafetensorsHeader, IsSortedByPlace) {
  const SafetensorsHeader header =
      parse(file_with(R"({"c":{"dtype":"U8","shape":[2],"data_offsets":[3,5]},)"
                      R"("empty":{"data_offsets":[3,3],"shape":[7,0],"dtype":"F64"},)"
                      R"("a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})"));
  ASSERT_EQ(header.entries.size(), 3U);
  EXPECT_EQ(header.entries[0].name, "a");
  EXPECT_EQ(header.entries[1].name, "empty");
  EXPECT_EQ(header.entries[2].name, "c");
}

TEST(SafetensorsHeader, ReadsNamesInAnyAlphabet) {
  const SafetensorsHeader header = parse(file_with(
      R"({"größe \u0416 \ud83d\ude00\n":{"dtype":"U8","shape":[],"data_offsets":[0,1]}})"));
  EXPECT_EQ(header.entries[0].name, "größe Ж 😀\n");
}

TEST(SafetensorsHeader, RefusesWhatIsNoSafetensorsFile) {
  expect_refused("", "is empty, not a .safetensors file");
  expect_refused("hello", "is cut off within its header: expected at least 8 bytes, found 5");
  expect_refused("hello, world",
                 "is not a .safetensors file, or damaged: its first 8 bytes announce a header of "
                 "8583909746840200552 bytes; at most 100000000 are allowed");
  expect_refused(length_of(100'000'001),
                 "is not a .safetensors file, or damaged: its first 8 bytes announce a header of "
                 "100000001 bytes; at most 100000000 are allowed");
  expect_refused(length_of(100'000'000),
                 "is cut off within its header: expected 100000008 bytes, found 8");
  for (const char* json : {"", "[]", " {}", "\xef\xbb\xbf{}", "\"{}\""})
    expect_refused(file_with(json), "is not a .safetensors file: its header does not begin with {");
}

TEST(SafetensorsHeader, RefusesEveryBeginningOfItself) {
  const std::string whole = file_with(tensor("\"F32\"", "[2,3]", "[0,24]"));
  ASSERT_NO_THROW(parse(whole));
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_error(ErrorKind::kBadFile, testing::Not(testing::IsEmpty()),
                 [&] { parse(whole.substr(0, size)); });
  expect_refused(whole.substr(0, 20), "is cut off within its header: expected 65 bytes, found 20");
}

TEST(SafetensorsHeader, RefusesBrokenJson) {
  const auto near = [](int byte) {
    return "it is not valid JSON in UTF-8 near its byte " + std::to_string(byte);
  };
  expect_damaged("{", near(2));
  expect_damaged("{} x", near(4));
  expect_damaged("{}{}", near(3));
  expect_damaged("{\"a\":}", near(6));
  expect_damaged("{\"\xff\":{}}", near(3));
  expect_damaged("{\"\xed\xa0\x80\":{}}", near(4));  // half of a pair, in UTF-8
  expect_damaged("{\"\\ud800\":{}}", near(9));
  expect_damaged(std::string("{}\0", 3), near(3));
  expect_damaged("{/**/}", near(2));
  expect_damaged("{\"a\":NaN}", near(6));
}

TEST(SafetensorsHeader, RefusesNamesThatAreThereTwice) {
  const std::string fields = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  expect_damaged("{\"a\":" + fields + ",\"a\":" + fields + "}", "it names \"a\" twice");
  expect_damaged("{\"a\":" + fields + ",\"\\u0061\":" + fields + "}", "it names \"a\" twice");
  expect_damaged(R"({"__metadata__":{},"__metadata__":{}})", "it names \"__metadata__\" twice");
  expect_damaged(R"({"__metadata__":{"k":"v","k":"w"}})", "__metadata__ holds \"k\" twice");
}

TEST(SafetensorsHeader, RefusesMetadataThatAreNotTexts) {
  expect_damaged(R"({"__metadata__":null})", "__metadata__ is not an object");
  expect_damaged(R"({"__metadata__":"x"})", "__metadata__ is not an object");
  for (const char* value : {"1", "null", "{}", "[]", "true", "-1", "1.5"})
    expect_damaged(std::string(R"({"__metadata__":{"k":)") + value + "}}",
                   "__metadata__ has no text for \"k\"; it holds texts only");
}

TEST(SafetensorsHeader, RefusesTensorsWithWrongFields) {
  const std::string rule = "; it needs dtype, shape and data_offsets, each once";
  const std::string good = R"("dtype":"U8","shape":[2],"data_offsets":[0,2])";
  ASSERT_NO_THROW(parse(file_with(tensor(good))));
  for (const char* value : {"null", "1", "[]", "\"F32\"", "false"})
    expect_damaged(std::string("{\"a\":") + value + "}",
                   "tensor \"a\" is not an object with dtype, shape and data_offsets");
  expect_damaged(tensor(""), "tensor \"a\" has no dtype" + rule);
  expect_damaged(tensor(R"("dtype":"U8")"), "tensor \"a\" has no shape" + rule);
  expect_damaged(tensor(R"("dtype":"U8","shape":[2])"), "tensor \"a\" has no data_offsets" + rule);
  expect_damaged(tensor(good + ",\"strides\":[1]"), "tensor \"a\" has the key \"strides\"" + rule);
  expect_damaged(tensor(good + ",\"dtype\":\"U8\""), "tensor \"a\" has the key \"dtype\"" + rule);
  expect_damaged(tensor(good + ",\"shape\":[2]"), "tensor \"a\" has the key \"shape\"" + rule);
  expect_damaged(tensor(good + ",\"data_offsets\":[0,2]"),
                 "tensor \"a\" has the key \"data_offsets\"" + rule);
}

TEST(SafetensorsHeader, RefusesFieldsOfOtherKinds) {
  for (const char* value : {"null", "1", "{}", "[]", "[1]"})
    expect_damaged(tensor(value, "[2]", "[0,2]"), "the dtype of tensor \"a\" is not a text");
  for (const char* value : {"null", "2", "{}", "\"2\"", "[-2]", "[-0]", "[2.0]", "[2e0]", "[[2]]",
                            "[{}]", "[\"2\"]", "[true]", "[null]", "[18446744073709551616]"}) {
    const std::string rule = " of tensor \"a\" is not a list of whole numbers of 0 or more";
    expect_damaged(tensor("\"U8\"", value, "[0,2]"), "the shape" + rule);
    expect_damaged(tensor("\"U8\"", "[2]", value), "the data_offsets" + rule);
  }
}

TEST(SafetensorsHeader, RefusesDtypesThatCannotBeSummed) {
  const std::string rule = "; use F16, BF16, F32, F64, I8, I16, I32, I64, U8, U16, U32 or U64";
  expect_refused(file_with(tensor("\"BOOL\"", "[2]", "[0,2]")),
                 "has tensors whose dtypes cannot be summed: \"a\" is \"BOOL\"" + rule);
  std::string json = R"({"good":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  for (const char* name : {"1", "2", "3", "4", "5", "6", "7"})
    json += std::string(",\"") + name + R"(":{"dtype":"F8_E4M3","shape":[0],"data_offsets":[0,0]})";
  expect_refused(file_with(json + "}"),
                 "has tensors whose dtypes cannot be summed: \"1\" is \"F8_E4M3\", \"2\" is "
                 "\"F8_E4M3\", \"3\" is \"F8_E4M3\", \"4\" is \"F8_E4M3\", \"5\" is \"F8_E4M3\" "
                 "and 2 more" +
                     rule);
}

TEST(SafetensorsHeader, RefusesShapesThatDoNotFit) {
  expect_damaged(tensor("\"F32\"", "[4294967296,4294967296]", "[0,0]"),
                 "tensor \"a\" has shape [4294967296,4294967296], with more elements than memory "
                 "can hold");
  expect_damaged(tensor("\"U8\"", "[18446744073709551615]", "[0,18446744073709551615]"),
                 "tensor \"a\" has shape [18446744073709551615], with more elements than memory "
                 "can hold");
  expect_damaged(tensor("\"F32\"", "[2,3]", "[0,20]"),
                 "tensor \"a\" has 20 bytes of data, but F32 of shape [2,3] needs 24");
  expect_damaged(tensor("\"F32\"", "[]", "[0,0]"),
                 "tensor \"a\" has 0 bytes of data, but F32 of shape [] needs 4");
  expect_damaged(tensor("\"F32\"", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", "[0,0]"),
                 "tensor \"a\" has 0 bytes of data, but F32 of shape "
                 "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,...] needs 4");
}

TEST(SafetensorsHeader, RefusesOffsetsThatAreNoRange) {
  for (const char* offsets : {"[]", "[0]", "[0,2,2]", "[4,2]"})
    expect_damaged(tensor("\"U8\"", "[2]", offsets),
                   std::string("tensor \"a\" has data_offsets ") + offsets +
                       "; they are two, where its data begin and where they end");
}

TEST(SafetensorsHeader, RefusesOverlapsAndHoles) {
  const auto two = [](const std::string& first, const std::string& second) {
    return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + first +
           R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + second + "}}";
  };
  EXPECT_NO_THROW(parse(file_with(two("[0,4]", "[4,6]"))));
  expect_damaged(two("[0,4]", "[3,5]"), "tensors \"a\" and \"b\" overlap at byte 3 of the data");
  expect_damaged(two("[0,4]", "[0,2]"), "tensors \"b\" and \"a\" overlap at byte 0 of the data");
  expect_damaged(two("[0,4]", "[5,7]"),
                 "bytes 4 to 5 of the data belong to no tensor; there must be no holes");
  expect_damaged(two("[8,12]", "[6,8]"),
                 "bytes 0 to 6 of the data belong to no tensor; there must be no holes");
}

TEST(SafetensorsHeader, ShowsForeignNamesOnOneLineAndShort) {
  expect_damaged(R"({"a\nb\"":1})",
                 R"(tensor "a\nb\"" is not an object with dtype, shape and data_offsets)");
  expect_damaged("{\"" + std::string(1000, 'x') + "\":1}",
                 "tensor \"" + std::string(100, 'x') +
                     "\"... is not an object with dtype, shape and data_offsets");
}

}  // namespace
}  // namespace fanin
