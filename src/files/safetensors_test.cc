#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "core/expect_error.h"
#include "files/safetensors_reader.h"
#include "files/safetensors_writer.h"
#include "files/test_folder.h"

namespace fanin {
namespace {

namespace fs = std::filesystem;

class Safetensors : public TestFolder {
 protected:
  /// Bytes that are different from tensor to tensor.
  static std::vector<std::byte> data_of(const SafetensorsEntry& entry) {
    std::vector<std::byte> bytes(entry.byte_count());
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::byte>(i * 7 + entry.name.size() * 31 + entry.offset);
    return bytes;
  }

  static void write_all(SafetensorsWriter& writer) {
    for (const SafetensorsEntry& entry : writer.entries())
      writer.write_bytes(entry.name, data_of(entry));
    writer.commit();
  }

  void expect_survives(const std::vector<SafetensorsEntry>& entries,
                       const SafetensorsMetadata& metadata = {}) {
    SafetensorsWriter writer(path("a.safetensors"), entries, metadata);
    write_all(writer);
    const SafetensorsReader reader(path("a.safetensors"));
    EXPECT_EQ(reader.entries(), writer.entries());
    EXPECT_EQ(reader.entries().size(), entries.size());
    EXPECT_EQ(reader.metadata(), metadata);
    for (const SafetensorsEntry& entry : entries) {
      const Tensor tensor = reader.read_tensor(entry.name, context_);
      EXPECT_EQ(tensor.dtype(), entry.dtype);
      EXPECT_EQ(tensor.shape(), entry.shape);
      const auto expected = data_of(reader.entry(entry.name));
      EXPECT_TRUE(std::ranges::equal(tensor.bytes(), expected)) << entry.name;
    }
    EXPECT_EQ(file_count(), 1U);
  }

  /// A file with the tensor "w", float32 of shape [2,3], whose elements are 0 to 5.
  fs::path write_sample() {
    SafetensorsWriter writer(path("w.safetensors"), {{.name = "w", .shape = {2, 3}}});
    writer.write_tensor("w", Tensor::of<float>({0, 1, 2, 3, 4, 5}, {2, 3}));
    writer.commit();
    return path("w.safetensors");
  }

  void expect_bad_file(const fs::path& file, const std::string& message) {
    expect_error(ErrorKind::kBadFile, message, [&] { SafetensorsReader reader(file); });
  }

  Context context_;
};

TEST_F(Safetensors, SurvivesThereAndBack) {
  std::vector<SafetensorsEntry> entries;
  for (int number = 0; number < kDTypeCount; ++number) {
    const auto dtype = static_cast<DType>(number);
    for (const Shape& shape : std::vector<Shape>{{}, {0}, {7}, {2, 3}, {4, 0, 2}})
      entries.push_back(
          {.name = std::string(name(dtype)) + to_string(shape), .dtype = dtype, .shape = shape});
  }
  expect_survives(entries, {{"format", "np"}, {"größe", "5 µm\n"}});
}

TEST_F(Safetensors, SurvivesWithNothingInIt) {
  expect_survives({});
  expect_survives({}, {{"k", "v"}});
  expect_survives({{.name = "", .shape = {0}}});
  EXPECT_EQ(read_bytes(path("a.safetensors")).size() % 8, 0U);
}

TEST_F(Safetensors, SurvivesWithManyTensorsInAnyAlphabet) {
  std::vector<SafetensorsEntry> entries;
  for (int i = 0; i < 2000; ++i)
    entries.push_back({.name = "слой." + std::to_string(i) + ".重み.😀",
                       .dtype = static_cast<DType>(i % kDTypeCount),
                       .shape = {i % 5, 3}});
  expect_survives(entries);
}

TEST_F(Safetensors, AreReadAsPythonWritesThem) {
  // safetensors.numpy.save({"b": array([1, 2], "u1"), "a": float32(1.5)}) of version 0.8.0.
  const std::string json = R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
                           R"("b":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}}       )";
  const auto file = write_bytes("p.safetensors", std::string("\x70\0\0\0\0\0\0\0", 8) + json +
                                                     std::string("\0\0\xc0\x3f\1\2", 6));
  ASSERT_EQ(json.size(), 0x70U);
  const SafetensorsReader reader(file);
  EXPECT_EQ(reader.path(), file);
  EXPECT_TRUE(reader.contains("b"));
  EXPECT_FALSE(reader.contains("c"));
  EXPECT_EQ(reader.entry("b").shape, Shape({2}));
  EXPECT_EQ(reader.read_tensor("a", context_).to_vector<float>(), (std::vector<float>{1.5}));
  EXPECT_EQ(reader.read_tensor("b", context_).to_vector<std::uint8_t>(),
            (std::vector<std::uint8_t>{1, 2}));
}

TEST_F(Safetensors, CopiesBlockByBlockInAnyOrder) {
  const std::vector<SafetensorsEntry> entries = {
      {.name = "x", .dtype = DType::kUInt8, .shape = {1000}},
      {.name = "y", .dtype = DType::kFloat64, .shape = {300}}};
  expect_survives(entries, {{"k", "v"}});
  const SafetensorsReader reader(path("a.safetensors"));
  SafetensorsWriter copy(path("copy.safetensors"), reader.entries(), reader.metadata());
  std::vector<std::byte> block(77);
  std::size_t told = 0;
  for (std::size_t done = 0; done < 2400; done += block.size())
    for (const char* name : {"x", "y"}) {
      const std::size_t size = reader.entry(name).byte_count();
      const auto part = std::span(block).first(std::min(block.size(), size - std::min(size, done)));
      reader.read_bytes(name, std::min(size, done), part);
      copy.write_bytes(name, part, [&](std::size_t bytes) { told += bytes; });
    }
  copy.commit();
  EXPECT_EQ(told, 3400U);
  EXPECT_EQ(read_bytes(path("copy.safetensors")), read_bytes(path("a.safetensors")));
}

TEST_F(Safetensors, ReportsEveryByte) {
  std::size_t written = 0;
  std::size_t read = 0;
  int calls = 0;
  SafetensorsWriter writer(path("a"), {{.name = "x", .shape = {5'000'000}}});
  std::vector<float> elements(5'000'000);
  std::iota(elements.begin(), elements.end(), 0.0F);
  writer.write_tensor("x", Tensor::view<float>(elements, {5'000'000}),
                      [&](std::size_t bytes) { written += bytes; });
  writer.commit();
  const SafetensorsReader reader(path("a"));
  const Tensor back = reader.read_tensor("x", context_, [&](std::size_t bytes) {
    read += bytes;
    ++calls;
  });
  EXPECT_EQ(written, 20'000'000U);
  EXPECT_EQ(read, 20'000'000U);
  EXPECT_GT(calls, 1);
  EXPECT_EQ(back.to_vector<float>(), elements);
}

TEST_F(Safetensors, SaysWhatIsWrongWithAFile) {
  const std::string whole = read_bytes(write_sample());
  const auto at = [&](const char* name) { return path(name).string(); };
  expect_bad_file(path("none"), "cannot read " + at("none") + ": there is no such file");
  expect_bad_file(folder_, "cannot read " + folder_.string() + ": it is a folder");
  expect_bad_file(write_bytes("empty", ""), at("empty") + " is empty, not a .safetensors file");
  expect_bad_file(write_bytes("header", whole.substr(0, 30)),
                  at("header") + " is cut off within its header: expected 72 bytes, found 30");
  expect_bad_file(write_bytes("short", whole.substr(0, whole.size() - 5)),
                  at("short") + " is cut off: its tensors have 24 bytes of data, found 19");
  expect_bad_file(write_bytes("long", whole + "yz"),
                  at("long") + " has 2 bytes after its data, which belong to no tensor");
  EXPECT_NO_THROW(SafetensorsReader(write_bytes("good", whole)));
}

TEST_F(Safetensors, DoesNotAllocateForDataThatIsNotThere) {
  const std::string header = make_safetensors_header(lay_out_safetensors(
      {{.name = "x", .dtype = DType::kInt8, .shape = {std::int64_t{1} << 50}}}));
  EXPECT_THROW(SafetensorsReader(write_bytes("huge", header + "x")), InvalidArgument);
}

TEST_F(Safetensors, SaysWhatCannotBeRead) {
  const auto file = write_sample();
  const SafetensorsReader reader(file);
  std::vector<std::byte> bytes(5);
  const auto expect_outside = [&](std::size_t offset) {
    expect_error(ErrorKind::kIndexOutOfRange,
                 "tensor \"w\" of " + file.string() + " has 24 bytes; 5 bytes from byte " +
                     std::to_string(offset) + " on are not within",
                 [&] { reader.read_bytes("w", offset, bytes); });
  };
  EXPECT_NO_THROW(reader.read_bytes("w", 19, bytes));
  expect_outside(20);
  expect_outside(25);
  expect_outside(SIZE_MAX);
  EXPECT_NO_THROW(reader.read_bytes("w", 24, {}));
  const std::string no_tensor = file.string() + " has no tensor \"v\"";
  expect_error(ErrorKind::kBadFile, no_tensor, [&] { reader.entry("v"); });
  expect_error(ErrorKind::kBadFile, no_tensor, [&] { reader.read_tensor("v", context_); });
  expect_error(ErrorKind::kBadFile, no_tensor, [&] { reader.read_bytes("v", 0, bytes); });
}

TEST_F(Safetensors, SaysWhenAFileBecomesShorter) {
  const auto file = write_sample();
  const SafetensorsReader reader(file);
  ASSERT_EQ(::truncate(file.c_str(), 80), 0);
  expect_error(ErrorKind::kBadFile, file.string() + " became shorter while it was read",
               [&] { reader.read_tensor("w", context_); });
}

TEST_F(Safetensors, RefusesDeclarationsThatCannotBe) {
  const auto place = path("a").string();
  expect_error(ErrorKind::kBadFile, place + " cannot hold two tensors with the name \"x\"", [&] {
    SafetensorsWriter writer(place, {{.name = "x"}, {.name = "x"}});
  });
  expect_error(ErrorKind::kBadFile, place + " cannot hold \"\xef\xbf\xbd\", which is not UTF-8",
               [&] { SafetensorsWriter writer(place, {{.name = "\xff"}}); });
  expect_error(ErrorKind::kBadFile, "cannot write " + folder_.string() + ": it is a folder",
               [&] { SafetensorsWriter writer(folder_, {{.name = "x"}}); });
  EXPECT_EQ(file_count(), 0U);
}

TEST_F(Safetensors, RefusesDataThatWereNotDeclared) {
  SafetensorsWriter writer(path("a"), {{.name = "x", .shape = {2}}});
  const std::string place = path("a").string();
  expect_error(ErrorKind::kBadFile, place + " has no tensor \"y\"",
               [&] { writer.write_bytes("y", {}); });
  expect_error(ErrorKind::kDtypeMismatch,
               "tensor \"x\" of " + place + " is declared as float32, not as float64", [&] {
                 writer.write_tensor("x", Tensor::of<double>({1, 2}, {2}));
               });
  expect_error(ErrorKind::kShapeMismatch,
               "tensor \"x\" of " + place + " is declared with shape [2], not with [2,1]", [&] {
                 writer.write_tensor("x", Tensor::of<float>({1, 2}, {2, 1}));
               });
  writer.write_bytes("x", std::vector<std::byte>(5));
  const std::string too_many = "tensor \"x\" of " + place + " has 8 bytes, and ";
  expect_error(ErrorKind::kIndexOutOfRange, too_many + "5 of them are written; 4 more do not fit",
               [&] { writer.write_bytes("x", std::vector<std::byte>(4)); });
  expect_error(ErrorKind::kBadFile,
               place +
                   " is not complete: tensor \"x\" has 5 of its 8 bytes; write all before "
                   "commit()",
               [&] { writer.commit(); });
  EXPECT_FALSE(fs::exists(place));
  writer.write_bytes("x", std::vector<std::byte>(3));
  writer.commit();
  EXPECT_EQ(SafetensorsReader(place).entries().size(), 1U);
  expect_error(ErrorKind::kIndexOutOfRange, too_many + "8 of them are written; 1 more do not fit",
               [&] { writer.write_bytes("x", std::vector<std::byte>(1)); });
}

TEST_F(Safetensors, ReplaceAFileOnlyAtTheEnd) {
  const auto place = write_bytes("a", "before");
  {
    SafetensorsWriter writer(place, {{.name = "x", .shape = {2}}});
    writer.write_tensor("x", Tensor::of<float>({1, 2}, {2}));
  }
  EXPECT_EQ(read_bytes(place), "before");
  EXPECT_EQ(file_count(), 1U);
}

}  // namespace
}  // namespace fanin
