// What JoinOptions::from_environment() makes of the variables of Fanin, torchrun and Slurm.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "distribute/join_options.h"
#include "distribute/test_environment.h"
#include "fanin/error.h"
#include "fanin/join.h"
#include "transports/test_ranks.h"

namespace fanin {
namespace {

using test::Environment;
using test::Folder;
using test::Variables;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;
using namespace std::chrono_literals;

JoinOptions options_of(const Variables& variables) {
  const Environment environment(variables);
  return JoinOptions::from_environment();
}

/// The same with some variables changed; an empty value takes one away.
Variables with(Variables variables, const Variables& changes) {
  for (const auto& [name, value] : changes) variables[name] = value;
  return variables;
}

std::string error_of(const Variables& variables) {
  try {
    options_of(variables);
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadOption);
    return error.what();
  }
  return "";
}

/// Each test has a folder for temporary files of its own.
class FromEnvironment : public testing::Test {
 protected:
  FromEnvironment() { ::setenv("TMPDIR", temporary_files_.path().c_str(), 1); }
  ~FromEnvironment() override { ::setenv("TMPDIR", old_.c_str(), 1); }

  std::string old_ = std::filesystem::temp_directory_path();
  Folder temporary_files_;
};

TEST_F(FromEnvironment, WithoutARendezvousItIsAGroupOfOne) {
  Group group = join(options_of({}));
  EXPECT_EQ(group.rank(), 0);
  EXPECT_EQ(group.size(), 1);
  group.barrier();
}

TEST_F(FromEnvironment, ReadsAllVariables) {
  const JoinOptions options = options_of({{"FANIN_RENDEZVOUS", "file:/tmp/x"},
                                          {"FANIN_RANK", "2"},
                                          {"FANIN_WORLD_SIZE", "5"},
                                          {"FANIN_TIMEOUT_SECONDS", "1.5"},
                                          {"FANIN_SECRET", "between us"}});
  EXPECT_EQ(options.rendezvous, "file:/tmp/x");
  EXPECT_EQ(options.rank, 2);
  EXPECT_EQ(options.world_size, 5);
  EXPECT_EQ(options.timeout, 1500ms);
  EXPECT_EQ(options.secret, "between us");
  EXPECT_FALSE(options.store);
}

TEST_F(FromEnvironment, NamesTheVariableThatIsWrong) {
  const Variables good{
      {"FANIN_RENDEZVOUS", "file:/tmp/x"}, {"FANIN_RANK", "0"}, {"FANIN_WORLD_SIZE", "2"}};
  EXPECT_EQ(error_of(good), "");
  EXPECT_THAT(error_of({{"FANIN_RENDEZVOUS", "file:/tmp/x"}}),
              HasSubstr("FANIN_RENDEZVOUS is set but FANIN_RANK is not; set FANIN_RANK and"));
  EXPECT_THAT(error_of(with(good, {{"FANIN_WORLD_SIZE", ""}})),
              HasSubstr("FANIN_RANK is set but FANIN_WORLD_SIZE is not; set both or none"));
  EXPECT_THAT(error_of(with(good, {{"FANIN_RANK", ""}})),
              HasSubstr("FANIN_WORLD_SIZE is set but FANIN_RANK is not"));
  for (const char* rank : {"one", "1x", "-1", " 1", "99999999999999"})
    EXPECT_THAT(error_of(with(good, {{"FANIN_RANK", rank}})),
                AllOf(HasSubstr("FANIN_RANK is"), HasSubstr("no count")));
  EXPECT_THAT(error_of(with(good, {{"FANIN_RANK", "2"}})),
              HasSubstr("FANIN_RANK is 2 but FANIN_WORLD_SIZE is 2"));
  for (const char* seconds : {"soon", "0", "-1", "nan", "inf"})
    EXPECT_THAT(error_of({{"FANIN_TIMEOUT_SECONDS", seconds}}),
                HasSubstr("FANIN_TIMEOUT_SECONDS is"));
}

// As torchrun --nproc-per-node 4 sets them for its third process.
const Variables kTorchrun{
    {"RANK", "2"},           {"WORLD_SIZE", "4"},
    {"LOCAL_RANK", "2"},     {"LOCAL_WORLD_SIZE", "4"},
    {"MASTER_PORT", "2950"}, {"TORCHELASTIC_RUN_ID", "none"},
};

// As srun -n 4 sets them for its fourth process.
const Variables kSlurm{{"SLURM_PROCID", "3"},
                       {"SLURM_NTASKS", "4"},
                       {"SLURM_NNODES", "1"},
                       {"SLURM_JOB_ID", "77"},
                       {"SLURM_STEP_ID", "0"}};

TEST_F(FromEnvironment, TakesRankAndSizeFromOthersWhoSetThem) {
  const Variables place{{"FANIN_RENDEZVOUS", "file:/tmp/x"}};
  JoinOptions options = options_of(with(place, {{"RANK", "1"}, {"WORLD_SIZE", "3"}}));
  EXPECT_EQ(options.rendezvous, "file:/tmp/x");
  EXPECT_EQ(options.rank, 1);
  EXPECT_EQ(options.world_size, 3);
  options = options_of(with(place, {{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "5"}}));
  EXPECT_EQ(options.rank, 2);
  EXPECT_EQ(options.world_size, 5);
}

TEST_F(FromEnvironment, OursWinOverTorchrunsAndTheseOverSlurms) {
  Variables all = with(kSlurm, kTorchrun);
  EXPECT_EQ(options_of(all).rank, 2);
  all = with(all, {{"FANIN_RANK", "7"}, {"FANIN_WORLD_SIZE", "9"}});
  EXPECT_EQ(options_of(all).rank, 7);
  EXPECT_EQ(options_of(all).world_size, 9);
  EXPECT_EQ(options_of(all).rendezvous, "");
  all = with(all, {{"FANIN_RENDEZVOUS", "file:/ours"}, {"SLURM_NNODES", "2"}});
  EXPECT_EQ(options_of(all).rendezvous, "file:/ours");
}

TEST_F(FromEnvironment, HalfOfAPairIsNamed) {
  EXPECT_THAT(error_of(with(kTorchrun, {{"WORLD_SIZE", ""}})),
              StartsWith("RANK is set but WORLD_SIZE is not"));
  EXPECT_THAT(error_of(with(kTorchrun, {{"RANK", ""}})),
              StartsWith("WORLD_SIZE is set but RANK is not"));
  EXPECT_THAT(error_of(with(kSlurm, {{"SLURM_NTASKS", ""}})),
              StartsWith("SLURM_PROCID is set but SLURM_NTASKS is not"));
  EXPECT_THAT(error_of(with(kSlurm, {{"SLURM_PROCID", ""}})),
              StartsWith("SLURM_NTASKS is set but SLURM_PROCID is not"));
  EXPECT_THAT(error_of(with(kTorchrun, {{"RANK", "4"}})),
              HasSubstr("RANK is 4 but WORLD_SIZE is 4; ranks count from 0"));
  EXPECT_THAT(error_of(with(kSlurm, {{"SLURM_NNODES", "two"}})),
              HasSubstr("SLURM_NNODES is \"two\", which is no count"));
}

TEST_F(FromEnvironment, SeveralHostsNeedMpi) {
  const Variables torchrun = with(kTorchrun, {{"LOCAL_WORLD_SIZE", "2"}});
  const Variables slurm = with(kSlurm, {{"SLURM_NNODES", "2"}});
  EXPECT_THAT(error_of(torchrun),
              AllOf(HasSubstr("WORLD_SIZE is 4 but LOCAL_WORLD_SIZE is 2: these ranks are on "
                              "several hosts, and between hosts MPI carries the messages"),
                    HasSubstr("start the ranks by mpirun, or set FANIN_ENGINE")));
  EXPECT_THAT(error_of(slurm),
              AllOf(HasSubstr("SLURM_NNODES is 2: these 4 ranks are on several hosts"),
                    HasSubstr("set FANIN_ENGINE to openmpi or mpich")));
  for (const Variables& launcher : {torchrun, slurm}) {
    const JoinOptions options = options_of(with(launcher, {{"FANIN_ENGINE", "openmpi"}}));
    EXPECT_EQ(options.engine, "openmpi");
    EXPECT_EQ(options.world_size, 4);
    EXPECT_EQ(options.rendezvous, "");
    const test::Environment environment(launcher);
    EXPECT_EQ(read_join_options("mpi").engine, "mpi");
  }
}

TEST_F(FromEnvironment, TheEngineIsWhoeverHasStartedTheRanks) {
  const Variables openmpi{{"OMPI_COMM_WORLD_RANK", "0"}};
  const Variables mpich{{"PMI_RANK", "0"}, {"MPI_LOCALNRANKS", "2"}};
  const Variables pmix{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "job"}};
  EXPECT_EQ(options_of({}).engine, "");
  EXPECT_EQ(options_of(openmpi).engine, "openmpi");
  EXPECT_EQ(options_of(with(openmpi, kSlurm)).engine, "openmpi");
  EXPECT_EQ(options_of(mpich).engine, "mpich");
  EXPECT_EQ(options_of({{"PMI_RANK", "0"}}).engine, "");
  EXPECT_EQ(options_of(pmix).engine, "pmix");
  EXPECT_EQ(options_of(with(pmix, openmpi)).engine, "openmpi");
  EXPECT_EQ(options_of(with(pmix, kTorchrun)).engine, "");
  EXPECT_EQ(options_of(with(openmpi, {{"FANIN_ENGINE", "none"}})).engine, "");
  EXPECT_EQ(options_of(with(openmpi, {{"FANIN_ENGINE", "mpich"}})).engine, "mpich");
  const Variables ours{
      {"FANIN_RENDEZVOUS", "file:/tmp/x"}, {"FANIN_RANK", "0"}, {"FANIN_WORLD_SIZE", "2"}};
  EXPECT_EQ(options_of(with(openmpi, ours)).engine, "");
}

TEST_F(FromEnvironment, SaysWhereModulesAreAndWhetherMemoryIsShared) {
  EXPECT_EQ(options_of({{"FANIN_MODULES", "/modules"}}).modules, "/modules");
  EXPECT_TRUE(options_of({}).shares_memory);
  EXPECT_FALSE(options_of({{"FANIN_SHARE_MEMORY", "0"}}).shares_memory);
}

// A program in a batch script or in the shell of salloc is no rank of anything.
TEST_F(FromEnvironment, SlurmOutsideOfAStepIsAGroupOfOne) {
  EXPECT_EQ(options_of(with(kSlurm, {{"SLURM_STEP_ID", ""}, {"SLURM_PROCID", "0"}})).world_size, 1);
  EXPECT_EQ(options_of({{"SLURM_NTASKS", "4"}}).world_size, 1);
}

TEST_F(FromEnvironment, JobsOfLaunchersHaveAPlaceOfTheirOwn) {
  const Folder folder;
  const Variables runtime{{"XDG_RUNTIME_DIR", folder.path().native()}};
  const std::string torchrun = options_of(with(kTorchrun, runtime)).rendezvous;
  const std::string slurm = options_of(with(kSlurm, runtime)).rendezvous;
  EXPECT_THAT(torchrun, StartsWith("file:" + folder.path().native() + "/fanin-torchrun-"));
  EXPECT_THAT(slurm, StartsWith("file:" + folder.path().native() + "/fanin-slurm-"));

  const Variables other_rank = with(kTorchrun, with(runtime, {{"RANK", "0"}, {"LOCAL_RANK", "0"}}));
  EXPECT_EQ(options_of(other_rank).rendezvous, torchrun);
  for (const Variables& change :
       {Variables{{"MASTER_PORT", "2951"}}, Variables{{"TORCHELASTIC_RUN_ID", "../a long/name"}}}) {
    const std::string other = options_of(with(kTorchrun, with(runtime, change))).rendezvous;
    EXPECT_NE(other, torchrun);
    EXPECT_EQ(other.size(), torchrun.size());
  }
  for (const char* name : {"SLURM_JOB_ID", "SLURM_STEP_ID"})
    EXPECT_NE(options_of(with(kSlurm, with(runtime, {{name, "5"}}))).rendezvous, slurm);
}

TEST_F(FromEnvironment, TooLittleForAPlaceLeavesItOpen) {
  for (const char* name : {"LOCAL_WORLD_SIZE", "MASTER_PORT", "TORCHELASTIC_RUN_ID"}) {
    const JoinOptions options = options_of(with(kTorchrun, {{name, ""}}));
    EXPECT_EQ(options.rendezvous, "") << name;
    EXPECT_EQ(options.world_size, 4) << name;
    EXPECT_THAT(test::outcome_of([&] { join(options); }),
                AllOf(HasSubstr("4 ranks need a rendezvous"), HasSubstr("set FANIN_RENDEZVOUS")));
  }
}

TEST_F(FromEnvironment, WithoutAGoodRuntimeFolderAPrivateOneIsMade) {
  const std::filesystem::path made =
      temporary_files_.path() / ("fanin-" + std::to_string(static_cast<unsigned>(::geteuid())));
  for (const char* runtime : {"", "/no/such/folder", "/"}) {
    EXPECT_THAT(options_of(with(kSlurm, {{"XDG_RUNTIME_DIR", runtime}})).rendezvous,
                StartsWith("file:" + made.native() + "/fanin-slurm-"))
        << runtime;
  }
  struct stat status {};
  EXPECT_EQ(::stat(made.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  ::chmod(made.c_str(), 0755);
  EXPECT_THAT(error_of(kSlurm),
              AllOf(HasSubstr("where ranks would meet, is open to others (mode 755 instead"),
                    HasSubstr("set FANIN_RENDEZVOUS")));
  std::filesystem::remove(made);
  std::ofstream(made) << "mine";
  EXPECT_THAT(error_of(kSlurm), HasSubstr("is no folder"));
  std::filesystem::remove(made);
  std::filesystem::create_directory_symlink("/tmp", made);
  EXPECT_THAT(error_of(kSlurm), HasSubstr("is no folder"));
}

TEST_F(FromEnvironment, TheSecretMayBeInAFile) {
  const Folder folder;
  const std::filesystem::path file = folder.path() / "secret";
  std::ofstream(file) << "between us\n";
  ::chmod(file.c_str(), 0600);
  EXPECT_EQ(options_of({{"FANIN_SECRET_FILE", file.native()}}).secret, "between us");
  const std::string both =
      error_of({{"FANIN_SECRET_FILE", file.native()}, {"FANIN_SECRET", "another one"}});
  EXPECT_THAT(both, HasSubstr("FANIN_SECRET and FANIN_SECRET_FILE are both set"));
  EXPECT_THAT(both, Not(HasSubstr("another")));
  EXPECT_EQ(options_of({{"FANIN_SECRET", ""}}).secret, "");
}

}  // namespace
}  // namespace fanin
