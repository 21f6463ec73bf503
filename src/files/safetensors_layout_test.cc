#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/expect_error.h"
#include "files/safetensors_header.h"

namespace fanin {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 58;

SafetensorsHeader parse(const std::string& file) {
  return parse_safetensors_header(std::as_bytes(std::span(file)));
}

void expect_refused(const std::vector<SafetensorsEntry>& entries,
                    const SafetensorsMetadata& metadata, const std::string& message) {
  expect_error(ErrorKind::kBadFile, message,
               [&] { make_safetensors_header(lay_out_safetensors(entries, metadata)); });
}

TEST(SafetensorsLayout, SortsByDtypeThenByName) {
  // The order that Python's safetensors 0.8.0 gives.
  const std::vector<DType> order = {DType::kUInt64,   DType::kInt64,   DType::kFloat64,
                                    DType::kFloat32,  DType::kUInt32,  DType::kInt32,
                                    DType::kBFloat16, DType::kFloat16, DType::kUInt16,
                                    DType::kInt16,    DType::kInt8,    DType::kUInt8};
  std::vector<SafetensorsEntry> entries;
  for (int number = 0; number < kDTypeCount; ++number)
    for (const char* name : {"b", "a", "\xc3\xa4", "B"})
      entries.push_back({.name = name + std::to_string(number),
                         .dtype = static_cast<DType>(number),
                         .shape = {3},
                         .offset = 99});
  const SafetensorsHeader header = lay_out_safetensors(entries);
  ASSERT_EQ(header.entries.size(), 4U * kDTypeCount);
  std::size_t end = 0;
  for (std::size_t i = 0; i < header.entries.size(); ++i) {
    const SafetensorsEntry& entry = header.entries[i];
    const char* const names[] = {"B", "a", "b", "\xc3\xa4"};
    EXPECT_EQ(entry.dtype, order[i / 4]);
    EXPECT_EQ(entry.name, names[i % 4] + std::to_string(static_cast<int>(entry.dtype)));
    EXPECT_EQ(entry.offset, end);
    EXPECT_EQ(entry.offset % size_of(entry.dtype), 0U);
    end += entry.byte_count();
  }
}

TEST(SafetensorsLayout, IsWrittenAsPythonWritesIt) {
  // safetensors.numpy.save({"w": zeros((2, 3), "f4"), "n": int64(0), "": zeros((0,), "u1")},
  // {"format": "np"}) begins so.
  const std::string json =
      R"({"__metadata__":{"format":"np"},"n":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
      R"("w":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]},)"
      R"("":{"dtype":"U8","shape":[0],"data_offsets":[32,32]}})";
  const std::string made = make_safetensors_header(
      lay_out_safetensors({{.name = "w", .dtype = DType::kFloat32, .shape = {2, 3}},
                           {.name = "", .dtype = DType::kUInt8, .shape = {0}},
                           {.name = "n", .dtype = DType::kInt64, .shape = {}}},
                          {{"format", "np"}}));
  EXPECT_EQ(made.substr(8, json.size()), json);
  EXPECT_EQ(made.size() % 8, 0U);
  EXPECT_EQ(static_cast<std::size_t>(static_cast<unsigned char>(made[0])), made.size() - 8);
  for (const char c : made.substr(8 + json.size())) EXPECT_EQ(c, ' ');
}

TEST(SafetensorsLayout, SurvivesThereAndBack) {
  std::vector<SafetensorsEntry> entries;
  for (int number = 0; number < kDTypeCount; ++number)
    for (const Shape& shape : std::vector<Shape>{{}, {0}, {7}, {2, 3}, {5, 0, 1 << 20}})
      entries.push_back({.name = "名\"\\\n\x01/" + std::to_string(entries.size()),
                         .dtype = static_cast<DType>(number),
                         .shape = shape});
  const SafetensorsHeader header = lay_out_safetensors(entries, {{"größe", "\t\"x\""}, {"", ""}});
  const std::string made = make_safetensors_header(header);
  EXPECT_EQ(made.size() % 8, 0U);
  EXPECT_EQ(safetensors_header_size(std::as_bytes(std::span(made))), made.size());
  EXPECT_EQ(parse(made), header);
  EXPECT_EQ(lay_out_safetensors(header.entries, header.metadata), header);
  EXPECT_EQ(make_safetensors_header({}).substr(8), "{}      ");
}

TEST(SafetensorsLayout, RefusesNamesThatCannotBe) {
  expect_refused({{.name = "a"}, {.name = "b"}, {.name = "a", .dtype = DType::kInt8}}, {},
                 "cannot hold two tensors with the name \"a\"");
  expect_refused({{.name = "__metadata__"}}, {},
                 "cannot hold a tensor with the name \"__metadata__\", which is the metadata's");
  expect_refused({{.name = "a\xff"}}, {}, "cannot hold \"a\xef\xbf\xbd\", which is not UTF-8");
  expect_refused({}, {{"\xff", ""}}, "cannot hold \"\xef\xbf\xbd\", which is not UTF-8");
  expect_refused({}, {{"", "\xc3"}}, "cannot hold \"\xef\xbf\xbd\", which is not UTF-8");
}

TEST(SafetensorsLayout, RefusesWhatIsTooLarge) {
  // Each becomes six bytes of JSON.
  expect_refused({{.name = "a"}}, {{"k", std::string(16'666'667, '\x01')}},
                 "cannot hold 1 tensors and their metadata: the header has 100000080 bytes, at "
                 "most 100000000 are allowed");
  std::vector<SafetensorsEntry> entries;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"})
    entries.push_back({.name = name, .dtype = DType::kFloat64, .shape = {kHuge}});
  expect_refused(entries, {},
                 "cannot hold tensors with more than 18446744073709551615 bytes of data");
}

}  // namespace
}  // namespace fanin
