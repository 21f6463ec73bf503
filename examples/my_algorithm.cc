// An all-reduce of one's own, with nothing but public headers: built, proved, priced, printed.

#include <fanin/schedule.h>
#include <fanin/schedule_cost.h>

#include <cstdio>
#include <vector>

// A chain: chunk after chunk goes from rank 0 up to the last rank, which then has the sum, and back
// down. Chunk c starts in round c, so that several are on their way at once.
fanin::Schedule chain(int rank_count, int chunk_count) {
  fanin::Schedule schedule{.name = "chain", .rank_count = rank_count, .chunk_count = chunk_count};
  const int hop_count = 2 * (rank_count - 1);
  if (hop_count == 0) return schedule;
  schedule.rounds.resize(static_cast<std::size_t>(hop_count + chunk_count - 1));
  for (int chunk = 0; chunk < chunk_count; ++chunk) {
    auto round = schedule.rounds.begin() + chunk;
    for (int hop = 0; hop < hop_count; ++hop, ++round) {
      const bool goes_up = hop < rank_count - 1;
      const int from = goes_up ? hop : hop_count - hop;
      const int to = goes_up ? from + 1 : from - 1;
      round->push_back(
          {to, {chunk, chunk + 1}, goes_up ? std::vector{from, to} : std::vector{from}});
    }
  }
  return schedule;
}

int main() {
  const fanin::Schedule schedule = chain(3, 2);
  if (const auto error = fanin::find_error(schedule)) {
    std::fprintf(stderr, "%s\n", error->c_str());
    return 1;
  }
  const fanin::ScheduleCost cost = fanin::cost_of(schedule);
  std::printf("%s", fanin::to_text(schedule).c_str());
  std::printf("proved; %d rounds, the busiest place sends %g times the data\n", cost.round_count,
              cost.share(cost.most_sent));
}
