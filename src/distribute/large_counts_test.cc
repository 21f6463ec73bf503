// More elements than 32 bits count: by windows, and in memory that all ranks see.

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "core/sanitized.h"
#include "distribute/test_groups.h"
#include "fanin/error.h"

namespace fanin {
namespace {

using test::expect;
using testing::Each;
using testing::IsEmpty;

constexpr std::size_t kCount = (std::size_t{1} << 31) + 1'000'003;
constexpr std::size_t kPeriod = 61 * 4099;  // so that blocks that change places are seen

/// Numbers that repeat: `factor` times small ones, and `summand`.
std::vector<std::int8_t> make_period(int factor, int summand) {
  std::vector<std::int8_t> period(kPeriod);
  for (std::size_t i = 0; i < kPeriod; ++i)
    period[i] = static_cast<std::int8_t>(factor * static_cast<int>(i % 61) + summand);
  return period;
}

template <typename Visit>
void for_each_period(std::span<std::byte> bytes, Visit visit) {
  for (std::size_t at = 0; at < bytes.size(); at += kPeriod)
    visit(bytes.subspan(at, std::min(kPeriod, bytes.size() - at)));
}

void check_in_place(Group& group, std::span<std::byte> bytes) {
  const std::vector<std::int8_t> mine = make_period(1, group.rank());
  for_each_period(bytes, [&](std::span<std::byte> piece) {
    std::memcpy(piece.data(), mine.data(), piece.size());
  });
  const Shape shape{static_cast<std::int64_t>(bytes.size())};
  group.all_reduce(Tensor::view(bytes, DType::kInt8, shape), {bytes, DType::kInt8, shape});
  const std::vector<std::int8_t> wanted = make_period(2, 0 + 1);
  for_each_period(bytes, [&](std::span<std::byte> piece) {
    expect(std::memcmp(piece.data(), wanted.data(), piece.size()) == 0, "a sum is wrong");
  });
}

/// Of two equal inputs. The part of rank 0 is more than 32 bits count, and that of rank 1 begins
/// behind it.
void check_parts_in_place(Group& group, std::span<std::byte> bytes) {
  constexpr std::size_t kTail = kCount % kPeriod;
  const std::span<std::byte> own =
      group.rank() == 0 ? bytes.first(kCount - kTail) : bytes.last(kTail);
  const auto count = static_cast<std::int64_t>(kCount);
  const auto tail = static_cast<std::int64_t>(kTail);
  group.reduce_scatter(Tensor::view(bytes, DType::kInt8, {count}),
                       {own, DType::kInt8, {static_cast<std::int64_t>(own.size())}},
                       {.extents = {count - tail, tail}});
  const std::vector<std::int8_t> wanted = make_period(4, 2);
  for_each_period(own, [&](std::span<std::byte> piece) {
    expect(std::memcmp(piece.data(), wanted.data(), piece.size()) == 0, "a part is wrong");
  });
}

TEST(LargeCounts, AreSummedBetweenProcesses) {
  if (kIsSanitized) GTEST_SKIP() << "minutes, and nothing for a sanitizer to find";
  const auto available = static_cast<std::size_t>(::sysconf(_SC_AVPHYS_PAGES)) *
                         static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (available < 3 * kCount) GTEST_SKIP() << "needs 6 GiB of memory";
  const auto errors = test::in_processes(2, [](Group& group) {
    void* const at = ::mmap(nullptr, kCount, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    expect(at != MAP_FAILED, "no memory");
    check_in_place(group, {static_cast<std::byte*>(at), kCount});
    check_parts_in_place(group, {static_cast<std::byte*>(at), kCount});
    ::munmap(at, kCount);
    check_in_place(group, group.allocate(kCount).bytes());
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

}  // namespace
}  // namespace fanin
