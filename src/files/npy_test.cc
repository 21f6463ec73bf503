#include "files/npy.h"

#include <sys/stat.h>

#include <string>
#include <vector>

#include "core/expect_error.h"
#include "files/test_folder.h"

namespace fanin {
namespace {

namespace fs = std::filesystem;

class Npy : public TestFolder {
 protected:
  void expect_bad_file(const fs::path& file, const std::string& message) {
    expect_error(ErrorKind::kBadFile, message, [&] { read_npy(file, context_); });
  }

  Context context_;
};

template <typename T>
std::vector<T> counted(std::size_t count) {
  std::vector<T> elements;
  for (std::size_t i = 0; i < count; ++i) elements.push_back(static_cast<T>(i));
  return elements;
}

TEST_F(Npy, SurvivesThereAndBack) {
  for (const Shape& shape : std::vector<Shape>{{}, {0}, {7}, {2, 3}, {2, 3, 4}}) {
    const auto elements = counted<double>(shape.element_count());
    for (const bool is_transposed : {false, true}) {
      if (is_transposed && shape.rank() < 2) continue;
      const NpyArray array{Tensor::of<double>(elements, shape), is_transposed};
      write_npy(path("a.npy"), array);
      const NpyArray back = read_npy(path("a.npy"), context_);
      EXPECT_EQ(back.tensor.to_vector<double>(), elements);
      EXPECT_EQ(back.tensor.shape(), shape);
      EXPECT_EQ(back.shape(), array.shape());
      EXPECT_EQ(back.is_transposed, is_transposed);
      EXPECT_EQ(read_npy_header(path("a.npy")).shape, array.shape());
    }
  }
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(Npy, KeepsFortranOrderAsTheTranspose) {
  // NumPy's numpy.asfortranarray([[0, 2, 4], [1, 3, 5]]): columns one after the other.
  const std::string bytes("\0\1\2\3\4\5", 6);
  const auto file = write_bytes("f.npy", make_npy_header({DType::kInt8, {2, 3}, true}) + bytes);
  const NpyArray array = read_npy(file, context_);
  EXPECT_TRUE(array.is_transposed);
  EXPECT_EQ(array.tensor.shape(), Shape({3, 2}));
  EXPECT_EQ(array.shape(), Shape({2, 3}));
  const NpyArray rows = to_row_major(array, context_);
  EXPECT_EQ(rows.shape(), Shape({2, 3}));
  EXPECT_EQ(rows.tensor.to_vector<std::int8_t>(), (std::vector<std::int8_t>{0, 2, 4, 1, 3, 5}));
  write_npy(path("again.npy"), array);
  EXPECT_EQ(read_bytes(path("again.npy")), read_bytes(file));
}

TEST_F(Npy, TurnsAnyRankToRowMajor) {
  const NpyArray array{Tensor::of<std::int32_t>(counted<std::int32_t>(24), {4, 3, 2}), true};
  const auto got = to_row_major(array, context_).tensor.to_vector<std::int32_t>();
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 4; ++k)
        EXPECT_EQ(got[(i * 3 + j) * 4 + k], static_cast<std::int32_t>((k * 3 + j) * 2 + i));
  const NpyArray empty{Tensor::of<float>({}, {3, 0}), true};
  EXPECT_EQ(to_row_major(empty, context_).shape(), Shape({0, 3}));
}

TEST_F(Npy, ReportsEveryByte) {
  const auto elements = counted<float>(5'000'000);
  std::size_t written = 0;
  std::size_t read = 0;
  int calls = 0;
  write_npy(path("a.npy"), {Tensor::view<float>(elements, {5'000'000})},
            [&](std::size_t bytes) { written += bytes; });
  const NpyArray back = read_npy(path("a.npy"), context_, [&](std::size_t bytes) {
    read += bytes;
    ++calls;
  });
  EXPECT_EQ(written, 20'000'000U);
  EXPECT_EQ(read, 20'000'000U);
  EXPECT_GT(calls, 1);
  EXPECT_EQ(back.tensor.to_vector<float>(), elements);
}

TEST_F(Npy, SaysWhatIsWrongWithAFile) {
  const std::string header = make_npy_header({DType::kFloat32, {2, 3}, false});
  const std::string data(24, 'x');
  const auto at = [&](const char* name) { return path(name).string(); };
  expect_bad_file(path("none.npy"), "cannot read " + at("none.npy") + ": there is no such file");
  expect_bad_file(folder_, "cannot read " + folder_.string() + ": it is a folder");
  expect_bad_file(path("none/a.npy"),
                  "cannot read " + at("none/a.npy") + ": there is no such file");
  expect_bad_file("/dev/null", "cannot read /dev/null: it is not a regular file");
  expect_bad_file(write_bytes("empty.npy", ""), at("empty.npy") + " is empty, not a .npy file");
  expect_bad_file(write_bytes("text.npy", "hello, world"),
                  at("text.npy") + " is not a .npy file: it does not begin as one");
  expect_bad_file(write_bytes("cut.npy", header.substr(0, 100)),
                  at("cut.npy") + " is cut off within its header: expected 128 bytes, found 100");
  expect_bad_file(write_bytes("short.npy", header + data.substr(5)),
                  at("short.npy") +
                      " is cut off: a float32 array of shape [2,3] has 24 bytes of data, found 19");
  expect_bad_file(write_bytes("long.npy", header + data + "yz"),
                  at("long.npy") + " has 2 bytes after its data; one file holds one array");
  EXPECT_NO_THROW(read_npy(write_bytes("good.npy", header + data), context_));
}

TEST_F(Npy, DoesNotWaitForAPipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  expect_bad_file(path("pipe"),
                  "cannot read " + path("pipe").string() + ": it is not a regular file");
}

TEST_F(Npy, DoesNotAllocateForDataThatIsNotThere) {
  const auto file = write_bytes(
      "huge.npy", make_npy_header({DType::kInt8, {std::int64_t{1} << 50}, false}) + "x");
  EXPECT_THROW(read_npy(file, context_), InvalidArgument);
  EXPECT_EQ(context_.memory().peak_bytes, 0U);
}

TEST_F(Npy, WritesNothingThatItCannotHold) {
  const NpyArray array{Tensor::of<float>({1}, {1})};
  expect_error(ErrorKind::kBadFile, "cannot write " + folder_.string() + ": it is a folder",
               [&] { write_npy(folder_, array); });
  expect_error(ErrorKind::kBadFile, "cannot hold bfloat16: .npy has no such dtype",
               [&] { write_npy(path("a.npy"), {Tensor::of({BFloat16(1)}, {1})}); });
  EXPECT_EQ(file_count(), 0U);
}

TEST_F(Npy, ReplacesAFileOnlyAtTheEnd) {
  const auto place = write_bytes("a.npy", "before");
  const NpyArray array{Tensor::of<float>(counted<float>(3'000'000), {3'000'000})};
  bool was_there = true;
  write_npy(place, array, [&](std::size_t) { was_there &= read_bytes(place) == "before"; });
  EXPECT_TRUE(was_there);
  EXPECT_EQ(read_npy(place, context_).shape(), Shape({3'000'000}));
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(Npy, LeavesNothingBehindWhenItFails) {
  const auto place = write_bytes("a.npy", "before");
  const NpyArray array{Tensor::of<float>(counted<float>(3'000'000), {3'000'000})};
  EXPECT_THROW(write_npy(place, array, [](std::size_t) { throw PeerFailure("interrupted"); }),
               PeerFailure);
  EXPECT_EQ(read_bytes(place), "before");
  EXPECT_EQ(file_count(), 1U);
}

}  // namespace
}  // namespace fanin
