#include "transports/registered_memory.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "fanin/error.h"

namespace fanin {
namespace {

using testing::Each;

constexpr std::size_t kPage = 65536;  // a whole number of pages everywhere
constexpr std::size_t kMemory = 4 * kPage;
constexpr std::size_t kTable = (sizeof(RenewalTable) + kPage - 1) / kPage * kPage;

/// Two processes' views of the same file, as if they were two: in each the memory of process 0,
/// then that of process 1. Room to move process 0's pages twice.
class RegisteredMemoryTest : public testing::Test {
 protected:
  static constexpr std::size_t kSpare = 2 * kMemory;

  void SetUp() override {
    file_ = FileDescriptor(::memfd_create("test", 0));
    ASSERT_EQ(::ftruncate(file_.get(), 2 * (kTable + kMemory + kSpare)), 0);
    for (int mine = 0; mine < 2; ++mine) {
      std::vector<RegisteredMemory::Process> processes;
      for (std::size_t each = 0; each < 2; ++each) {
        std::byte* const at = map(each * (kTable + kMemory), kTable + kMemory);
        processes.push_back({.view = {at + kTable, kMemory},
                             .spare_begin = 2 * (kTable + kMemory) + each * kSpare,
                             .spare_bytes = kSpare,
                             .table = reinterpret_cast<RenewalTable*>(at)});
      }
      memories_[mine] = std::make_unique<RegisteredMemory>(file_.get(), mine, processes);
      views_[mine] = memories_[mine]->of(0);
    }
  }

  std::byte* map(std::size_t offset, std::size_t bytes) const {
    return static_cast<std::byte*>(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                                          file_.get(), static_cast<off_t>(offset)));
  }

  RegisteredMemory& owner() { return *memories_[0]; }
  RegisteredMemory& other() { return *memories_[1]; }
  std::span<std::byte> seen_by_owner() { return views_[0]; }
  std::span<std::byte> seen_by_other() { return views_[1]; }

  /// Whether the other gets access after the owner has told so many renewals.
  bool follows(std::uint64_t told) {
    return other().access(std::array{0, 1}, std::array<std::uint64_t, 2>{told, 0}).has_value();
  }
  void renew(std::size_t page, std::size_t count) {
    owner().renew(std::array{seen_by_owner().subspan(page * kPage, count * kPage)});
  }

 private:
  FileDescriptor file_;
  std::unique_ptr<RegisteredMemory> memories_[2];
  std::span<std::byte> views_[2];
};

TEST_F(RegisteredMemoryTest, WhatComesAfterARenewalIsNotSeen) {
  std::ranges::fill(seen_by_owner(), std::byte{1});
  EXPECT_TRUE(follows(0));
  renew(1, 2);
  EXPECT_THAT(seen_by_owner(), Each(std::byte{1})) << "contents stay";
  std::ranges::fill(seen_by_other().subspan(kPage, 2 * kPage), std::byte{2});
  EXPECT_THAT(seen_by_owner(), Each(std::byte{1}));
  // The pages beside them are where they were.
  seen_by_other()[0] = std::byte{3};
  seen_by_other()[3 * kPage] = std::byte{4};
  EXPECT_EQ(seen_by_owner()[0], std::byte{3});
  EXPECT_EQ(seen_by_owner()[3 * kPage], std::byte{4});
}

TEST_F(RegisteredMemoryTest, WhoIsToldOfRenewalsFollows) {
  renew(0, 2);
  renew(1, 1);
  EXPECT_EQ(owner().renewal_count(), 2U);
  ASSERT_TRUE(follows(2));
  std::ranges::fill(seen_by_other(), std::byte{5});
  EXPECT_THAT(seen_by_owner(), Each(std::byte{5}));
  EXPECT_TRUE(follows(1)) << "a call of another group, which was told less, sees the same";
  seen_by_other()[0] = std::byte{6};
  EXPECT_EQ(seen_by_owner()[0], std::byte{6});
}

TEST_F(RegisteredMemoryTest, NonsenseIsNotFollowed) {
  renew(0, 1);
  EXPECT_FALSE(follows(RenewalTable::kMost + 1));
  auto* const table = reinterpret_cast<RenewalTable*>(seen_by_owner().data() - kTable);
  const Renewal good = table->renewals[0];
  for (const Renewal& bad :
       {Renewal{kMemory, kPage, good.file_offset}, Renewal{~std::uint64_t{0}, 2, good.file_offset},
        Renewal{0, ~std::uint64_t{0}, good.file_offset}, Renewal{0, kPage, 0},
        Renewal{0, kPage, good.file_offset + kSpare}, Renewal{0, kPage, ~std::uint64_t{0}},
        Renewal{1, kPage, good.file_offset}}) {
    table->renewals[0] = bad;
    EXPECT_FALSE(follows(1)) << bad.offset << " " << bad.bytes << " " << bad.file_offset;
  }
  table->renewals[0] = good;
  EXPECT_TRUE(follows(1));
}

TEST_F(RegisteredMemoryTest, SaysInTimeThatRoomRunsOut) {
  EXPECT_TRUE(owner().can_renew());
  for (int i = 0; i < 5; ++i) renew(0, 1);
  EXPECT_FALSE(owner().can_renew());
  for (int i = 0; i < 3; ++i) renew(0, 1);
  try {
    renew(0, 1);
    FAIL();
  } catch (const Unavailable& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("there is no room left to move registered memory"));
  }
}

TEST(RegisteredMemoryOfThreads, WhoGivesUpWaitsUntilNobodyWrites) {
  RegisteredMemory memory;
  EXPECT_TRUE(memory.of(0).empty());
  EXPECT_TRUE(memory.can_renew());
  int written = 0;
  std::atomic<bool> has_access = false;
  const std::jthread writer([&] {
    const std::optional<WriteAccess> access = memory.access({}, {});
    has_access = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    written = 1;
  });
  while (!has_access) std::this_thread::yield();
  memory.renew({});
  EXPECT_EQ(written, 1);
}

}  // namespace
}  // namespace fanin
