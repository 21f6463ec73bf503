#include "executor/fetch_plan.h"

#include <gmock/gmock.h>

#include "executor/test_data.h"
#include "executor/test_plans.h"
#include "schedule/test_schedules.h"
#include "transports/test_ranks.h"

namespace fanin {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

const Arithmetic& sum_of_3() {
  static const Arithmetic arithmetic =
      make_arithmetic(ReduceOp::kSum, DType::kFloat32, Accumulation::kWide, 3);
  return arithmetic;
}

/// Memory of three ranks, at the same addresses in all of their processes, but private to each:
/// what one writes the others do not see.
class Rows {
 public:
  explicit Rows(std::vector<std::size_t> counts) : counts_(std::move(counts)) {
    for (unsigned rank = 0; rank < 3; ++rank)
      for (std::size_t tensor = 0; tensor < counts_.size(); ++tensor) {
        inputs_.push_back(mixed_floats(counts_[tensor], 10 * rank + static_cast<unsigned>(tensor)));
        outputs_.emplace_back(counts_[tensor], -1.0F);
      }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      input_addresses_.push_back(reinterpret_cast<std::uint64_t>(inputs_[i].data()));
      output_addresses_.push_back(reinterpret_cast<std::uint64_t>(outputs_[i].data()));
    }
  }

  std::vector<const std::byte*> inputs_of(int rank) const {
    std::vector<const std::byte*> all;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      all.push_back(reinterpret_cast<const std::byte*>(inputs_[at(rank) + i].data()));
    return all;
  }
  std::vector<std::byte*> outputs_of(int rank, bool in_place) {
    std::vector<std::byte*> all;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      all.push_back(
          reinterpret_cast<std::byte*>((in_place ? inputs_ : outputs_)[at(rank) + i].data()));
    return all;
  }
  const std::vector<std::uint64_t>& input_addresses() const { return input_addresses_; }
  const std::vector<std::uint64_t>& output_addresses(bool in_place) const {
    return in_place ? input_addresses_ : output_addresses_;
  }

  /// All tensors of each rank in a row.
  std::vector<std::vector<float>> rows() const {
    std::vector<std::vector<float>> all(3);
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      auto& row = all[i / counts_.size()];
      row.insert(row.end(), inputs_[i].begin(), inputs_[i].end());
    }
    return all;
  }
  std::vector<float> result_of(int rank, bool in_place) const {
    std::vector<float> row;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const auto& piece = (in_place ? inputs_ : outputs_)[at(rank) + i];
      row.insert(row.end(), piece.begin(), piece.end());
    }
    return row;
  }

 private:
  std::size_t at(int rank) const { return static_cast<std::size_t>(rank) * counts_.size(); }

  std::vector<std::size_t> counts_;
  std::vector<std::vector<float>> inputs_;
  std::vector<std::vector<float>> outputs_;
  std::vector<std::uint64_t> input_addresses_;
  std::vector<std::uint64_t> output_addresses_;
};

/// Ranks can do so when all have joined, and as long as all are there.
void wait_until_all_can_fetch(Transport& mine) {
  constexpr int kFlag = Transport::kFirstFreeFlag + 9;
  const Deadline end = Clock::now() + std::chrono::seconds(20);
  while (!mine.can_fetch()) {
    test::expect(Clock::now() < end, "memory of processes cannot be read");
    std::this_thread::yield();
  }
  mine.publish(kFlag, 1);
  for (int peer = 0; peer < mine.size(); ++peer) test::wait_for(mine, peer, kFlag, 1, end, "test");
}

// One tensor and several, shorter than a share and of many blocks, apart and in place.
TEST(FetchPlan, GivesTheSchedulesSumOfMemoryThatNobodySees) {
  const Schedule ring = ring_of_3();
  const auto proved = proof_of(ring);
  const std::vector<std::vector<std::size_t>> lists = {
      {1}, {1000}, {70'000, 0, 1, 129}, {300'001}, std::vector<std::size_t>(200, 77)};
  for (const std::vector<std::size_t>& counts : lists)
    for (const bool in_place : {false, true})
      for (const std::optional<std::size_t> block :
           {std::optional<std::size_t>(), std::optional<std::size_t>(1024)}) {
        const Layout layout(counts, ring.chunk_count, sizeof(float));
        Rows rows(counts);
        const auto expected = evaluate(ring, 0, rows.rows(), layout);
        EXPECT_THAT(test::outcomes({test::Kind::kProcesses, 3},
                                   [&](Transport& mine) {
                                     wait_until_all_can_fetch(mine);
                                     const auto inputs = rows.inputs_of(mine.rank());
                                     const auto outputs = rows.outputs_of(mine.rank(), in_place);
                                     FetchPlan plan(proved, layout, sum_of_3(), mine.rank(),
                                                    Context::process(), block);
                                     std::uint64_t wave_base = 5;
                                     Call call{.describe = [] { return "test"; }};
                                     plan.run(mine, wave_base,
                                              {inputs, outputs, rows.input_addresses(),
                                               rows.output_addresses(in_place)},
                                              call);
                                     test::expect(rows.result_of(mine.rank(), in_place) == expected,
                                                  "another sum");
                                   }),
                    Each(IsEmpty()));
      }
}

TEST(FetchPlan, AMemoryThatIsNotThereIsAnError) {
  const auto proved = proof_of(ring_of_3());
  const std::vector<std::size_t> counts = {90'000};
  Rows rows(counts);
  const std::vector<std::uint64_t> nowhere(3, 4096);
  const auto outcomes = test::outcomes({test::Kind::kProcesses, 3}, [&](Transport& mine) {
    const auto inputs = rows.inputs_of(mine.rank());
    const auto outputs = rows.outputs_of(mine.rank(), false);
    FetchPlan plan(proved, Layout(counts, 3, 4), sum_of_3(), mine.rank(), Context::process());
    std::uint64_t wave_base = 0;
    Call call{.describe = [] { return "the test's sum"; }};
    wait_until_all_can_fetch(mine);
    try {
      plan.run(mine, wave_base, {inputs, outputs, nowhere, rows.output_addresses(false)}, call);
    } catch (const PeerFailure&) {
      test::expect(!mine.can_fetch(), "it would try again");
      throw;
    }
  });
  EXPECT_THAT(outcomes, Each(HasSubstr("cannot read memory of rank")));
  // Others may have ended by then.
  EXPECT_THAT(outcomes, Contains(HasSubstr("(Bad address): the test's sum (block 1 of 2)")));
}

TEST(FetchPlan, GivesWay) {
  const auto proved = proof_of(ring_of_3());
  Rows rows({9});
  test::Folder folder;
  std::vector<std::unique_ptr<Transport>> transports(3);
  {
    std::vector<std::jthread> joining;
    for (int rank = 0; rank < 3; ++rank)
      joining.emplace_back([&, rank] {
        transports[static_cast<std::size_t>(rank)] =
            test::join(folder, {test::Kind::kSharedMemoryThreads, 3}, rank);
      });
  }
  std::vector<std::uint64_t> wave_bases(3);
  expect_gives_way(3, [&](int rank, Call& call) {
    const auto at = static_cast<std::size_t>(rank);
    FetchPlan plan(proved, Layout({9}, 3, 4), sum_of_3(), rank, Context::process());
    const auto inputs = rows.inputs_of(rank);
    const auto outputs = rows.outputs_of(rank, false);
    plan.run(*transports[at], wave_bases[at],
             {inputs, outputs, rows.input_addresses(), rows.output_addresses(false)}, call);
  });
}

}  // namespace
}  // namespace fanin
