#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "run_tool.h"

namespace fanin {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

/// As a container does: this thread, and what it starts, gets EPERM for the system call.
bool forbid(unsigned number) {
  std::array<sock_filter, 4> code = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

class Doctor : public ToolTest {
 protected:
  /// Runs the tool from a thread that has given something up before.
  template <typename GiveUp>
  ToolRun run_after(const GiveUp& give_up) const {
    ToolRun result{};
    std::thread([&] {
      give_up();
      result = run({"doctor", "--json"});
    }).join();
    return result;
  }

  static nlohmann::json finding(const ToolRun& result, const std::string& name) {
    const auto json = nlohmann::json::parse(result.out);
    for (const auto& each : json.at("findings"))
      if (each.at("name") == name) return each;
    ADD_FAILURE() << "there is no finding " << name << " in " << result.out;
    return {};
  }
};

TEST_F(Doctor, LooksAtEverything) {
  const ToolRun result = run({"doctor"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  for (const char* name :
       {"cores ", "caches ", "kernels ", "memory ", "shared memory ", "peer memory ", "membarrier ",
        "futex ", "/dev/shm ", "locked memory ", "python3 ", "clang++ ", "chromium "})
    EXPECT_THAT("\n" + result.out, HasSubstr(std::string("\n") + name)) << name;
  EXPECT_THAT(result.out, HasSubstr("\nEverything that Fanin needs is here.\n"));
}

TEST_F(Doctor, NamesTheInstructionsOfTheKernels) {
  EXPECT_THAT(finding(run({"doctor", "--json"}), "kernels").at("value").get<std::string>(),
              MatchesRegex("[A-Z0-9_]+"));
}

TEST_F(Doctor, SaysWhenThereIsOneCoreOnly) {
  int core = 0;
  const ToolRun result = run_after([&] {
    cpu_set_t set;
    core = ::sched_getcpu();
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    ASSERT_EQ(::sched_setaffinity(0, sizeof set, &set), 0);
  });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(finding(result, "distance of cores").at("value"),
            "not measured, there is only one core");
  EXPECT_THAT(finding(result, "cores").at("value").get<std::string>(),
              MatchesRegex("1 of [0-9]+ may be used: " + std::to_string(core)));
}

TEST_F(Doctor, FailsWhenSharedMemoryIsForbidden) {
  const ToolRun result = run_after([] { ASSERT_TRUE(forbid(SYS_memfd_create)); });
  EXPECT_EQ(result.exit_code, 1);
  const auto found = finding(result, "shared memory");
  EXPECT_EQ(found.at("health"), "forbidden");
  EXPECT_EQ(found.at("needed"), true);
  EXPECT_EQ(found.at("value"), "memfd_create and its seals: Operation not permitted");
  EXPECT_THAT(found.at("advice").get<std::string>(), HasSubstr("seccomp profile"));
  EXPECT_EQ(nlohmann::json::parse(result.out).at("well"), false);
}

TEST_F(Doctor, DoesWithoutWhatItOnlyLikes) {
  const std::vector<std::pair<unsigned, std::string>> liked = {
      {SYS_process_vm_readv, "peer memory"},
      {SYS_membarrier, "membarrier"},
      {SYS_pidfd_open, "process watch"}};
  for (const auto& [number, name] : liked) {
    const ToolRun result = run_after([&] { ASSERT_TRUE(forbid(number)); });
    EXPECT_EQ(result.exit_code, 0) << name;
    const auto found = finding(result, name);
    EXPECT_EQ(found.at("health"), "forbidden");
    EXPECT_NE(found.at("advice"), "");
  }
}

TEST_F(Doctor, NamesThePackageOfAProgramThatIsMissing) {
  write_text("python3", "");
  std::filesystem::permissions(path("python3"), std::filesystem::perms::owner_all);
  write_text("chromium", "not to be run");
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", path("").c_str(), 1);
  const ToolRun result = run({"doctor", "--json"});
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(result.exit_code, 0) << "programs are for work on Fanin, not for its use";
  EXPECT_EQ(finding(result, "python3").at("health"), "ok");
  EXPECT_EQ(finding(result, "chromium").at("health"), "missing");
  EXPECT_EQ(finding(result, "ninja").at("advice"),
            "only for building: apt-get install ninja-build");
}

}  // namespace
}  // namespace fanin
