#include "files/npy_header.h"

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

/// A file of the given format with this dictionary.
std::string file_with(const std::string& dictionary, char major = 1) {
  std::string bytes = std::string("\x93NUMPY") + major + '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(dictionary.size() >> (8 * i) & 0xff);
  return bytes + dictionary;
}

NpyHeader parse(const std::string& file) { return parse_npy_header(bytes_of(file)); }

void expect_refused(const std::string& file, const std::string& message) {
  expect_error(ErrorKind::kBadFile, testing::HasSubstr(message), [&] { parse(file); });
}

TEST(NpyHeader, IsReadAsNumPyWritesIt) {
  const NpyHeader expected{DType::kFloat32, {3, 4}, false};
  for (const char major : {'\x01', '\x02', '\x03'})
    EXPECT_EQ(parse(file_with("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }      \n",
                              major)),
              expected);
  EXPECT_EQ(parse(file_with("{\"shape\":(3,4),\"descr\":\"<f4\",\"fortran_order\":False}")),
            expected);
  EXPECT_EQ(
      parse(file_with("{ 'fortran_order' : False , 'shape' : ( 3 , 4 , ) , 'descr' : '=f4' }")),
      expected);
  EXPECT_EQ(parse(file_with("{'descr': '<i8', 'fortran_order': True, 'shape': (), }")),
            (NpyHeader{DType::kInt64, {}, true}));
  EXPECT_EQ(parse(file_with("{'descr': '|u1', 'fortran_order': False, 'shape': (0,), }")),
            (NpyHeader{DType::kUInt8, {0}, false}));
}

TEST(NpyHeader, SurvivesThereAndBack) {
  const std::vector<Shape> shapes = {
      {}, {0}, {7}, {2, 3}, {5, 0, 1 << 20}, Shape(std::vector<std::int64_t>(32, 1))};
  for (int number = 0; number < kDTypeCount; ++number) {
    if (static_cast<DType>(number) == DType::kBFloat16) continue;
    for (const Shape& shape : shapes)
      for (const bool fortran_order : {false, true}) {
        const NpyHeader header{static_cast<DType>(number), shape, fortran_order};
        const std::string made = make_npy_header(header);
        EXPECT_EQ(made.size() % 64, 0U);
        EXPECT_EQ(made.back(), '\n');
        EXPECT_EQ(npy_header_size(bytes_of(made)), made.size());
        EXPECT_EQ(parse(made), header);
      }
  }
}

TEST(NpyHeader, IsWrittenAsFormat2IfItIsLong) {
  const NpyHeader header{DType::kFloat32, Shape(std::vector<std::int64_t>(30'000, 1)), false};
  const std::string made = make_npy_header(header);
  EXPECT_EQ(made[6], '\x02');
  EXPECT_EQ(made.size() % 64, 0U);
  EXPECT_EQ(parse(made), header);
}

TEST(NpyHeader, RefusesWhatIsNoNpyFile) {
  expect_refused("", "is empty, not a .npy file");
  expect_refused("PK\x03\x04 a zip file", "is not a .npy file: it does not begin as one");
  expect_refused("hello", "is not a .npy file");
  expect_refused("\x93NUMP", "is cut off within its header");
  expect_refused(file_with("", '\x04'), "has .npy format 4.0; formats 1.0, 2.0 and 3.0 are known");
  expect_refused(std::string("\x93NUMPY\x01\x01\x00\x00", 10), "has .npy format 1.1");
  expect_refused(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12),
                 "has a header of 4294967295 bytes; at most 1048576 make sense");
}

TEST(NpyHeader, RefusesEveryBeginningOfItself) {
  const std::string whole = make_npy_header({DType::kFloat32, {3, 4}, false});
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_error(ErrorKind::kBadFile, testing::Not(testing::IsEmpty()),
                 [&] { parse(whole.substr(0, size)); });
  expect_refused(whole.substr(0, 50), "is cut off within its header: expected 128 bytes, found 50");
}

TEST(NpyHeader, RefusesDamagedDictionaries) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }";
  ASSERT_NO_THROW(parse(file_with(good)));
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "expected {"},
      {"{}", "expected the keys descr, fortran_order and shape"},
      {"{'descr': '<f4', 'fortran_order': False, }", "expected the keys"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), 'x': 1}", "each once"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "each once"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (3, 4), }", "expected True or False"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3), }",
       "expected a comma after the only extent"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': [3, 4], }", "expected ("},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, -4), }",
       "expected an extent of 0 or more"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
       "expected an extent of 0 or more"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (,), }", "expected an extent"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3 4), }", "expected a comma"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } x", "nothing after"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)", "expected }"},
      {"{'descr': '<f4' 'fortran_order': False}", "expected }"},
      {"{'descr' '<f4'}", "expected :"},
      {"{'descr': '<f4", "expected the end of a string"},
      {"{'descr': '<f\\x34'}", "expected a plain string"},
      {"{'descr': <f4}", "expected a string"},
  };
  for (const auto& [dictionary, message] : cases) expect_refused(file_with(dictionary), message);
}

TEST(NpyHeader, RefusesAbsurdShapes) {
  expect_refused(file_with("{'descr': '<f4', 'fortran_order': False, "
                           "'shape': (4294967296, 4294967296), }"),
                 "has shape [4294967296,4294967296], with more elements than memory can hold");
}

TEST(NpyHeader, RefusesDtypesThatCannotBeSummed) {
  const auto with_dtype = [](const std::string& text) {
    return file_with("{'descr': " + text + ", 'fortran_order': False, 'shape': (3,), }");
  };
  expect_refused(with_dtype("'>f4'"),
                 "has dtype '>f4', which is big-endian; convert it in NumPy with "
                 "array.astype('<f4')");
  expect_refused(with_dtype("'|V2'"),
                 "has dtype '|V2', which is how NumPy stores bfloat16, without saying so; save it "
                 "as float32, with array.astype('float32')");
  expect_refused(with_dtype("'<V2'"), "bfloat16");
  expect_refused(with_dtype("'|b1'"), "has dtype '|b1', booleans; use array.astype('u1')");
  expect_refused(with_dtype("'<c8'"), "has dtype '<c8', complex numbers");
  expect_refused(with_dtype("'|O'"), "has dtype '|O', Python objects, which are not numbers");
  expect_refused(with_dtype("[('a', '<f4'), ('b', '<i8')]"), "has a structured dtype");
  for (const char* other : {"''", "'<'", "'<f3'", "'<f16'", "'<U5'", "'<M8[ns]'", "'|S3'", "'f4'"})
    expect_refused(with_dtype(other),
                   "which cannot be summed; use f2, f4, f8, i1, i2, i4, i8, u1, u2, u4 or u8");
}

TEST(NpyHeader, CannotHoldBfloat16) {
  expect_error(ErrorKind::kBadFile, "cannot hold bfloat16: .npy has no such dtype", [] {
    make_npy_header({DType::kBFloat16, {1}, false});
  });
}

}  // namespace
}  // namespace fanin
