// The teeth of the verifier: it refuses every mutant that changes the meaning, and no other.

#include "mutants.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <map>

#include "fanin/algorithms.h"

namespace fanin {
namespace {

struct Score {
  int harmful = 0, caught = 0, harmless = 0, passed = 0;
};

TEST(Mutants, AreCaughtIfTheyChangeTheMeaningAndOnlyThen) {
  std::mt19937 random(20'261'116);
  std::map<std::string, Score> scores;
  Score all;
  for (const Algorithm& algorithm : algorithms()) {
    for (const Goal goal : all_goals()) {
      for (const int ranks : {2, 3, 4, 7, 8, 11}) {
        const Schedule schedule =
            build_schedule(algorithm.name, {.topology = {.worker_count = ranks}, .goal = goal});
        ASSERT_TRUE(reaches_goal(schedule)) << to_text(schedule);
        for (int i = 0; i < 25; ++i) {
          const Mutant mutant = mutate(schedule, random);
          const bool is_good = reaches_goal(mutant.schedule);
          const bool is_proved = !find_error(mutant.schedule);
          ASSERT_EQ(is_proved, is_good) << algorithm.name << ": " << mutant.change << "\n"
                                        << to_text(mutant.schedule);
          for (Score* score : {&scores[mutant.change], &all}) {
            ++(is_good ? score->harmless : score->harmful);
            score->caught += !is_good && !is_proved;
            score->passed += is_good && is_proved;
          }
        }
      }
    }
  }
  for (const auto& [change, score] : scores)
    fmt::print("{:<36} {:5} of {:5} caught, {:4} of {:4} harmless ones passed\n", change,
               score.caught, score.harmful, score.passed, score.harmless);
  fmt::print("mutation score: {} of {} caught, {} of {} harmless ones passed\n", all.caught,
             all.harmful, all.passed, all.harmless);
  EXPECT_GT(all.harmful, 5000) << "the mutants should mostly do harm";
  EXPECT_GT(all.harmless, 100);
}

}  // namespace
}  // namespace fanin
