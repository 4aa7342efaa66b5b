#include "runtime/uring_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "gyre/runtime/uring_io.h"

namespace gyre::runtime {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

UringFacts usual_facts() {
  UringFacts facts;
  facts.io_uring_disabled = 0;
  facts.kernel_release = "5.15.0-91-generic";
  facts.memlock_bytes = 65536;
  facts.descriptors = 1024;
  return facts;
}

std::string message(int error, const UringFacts& facts) {
  return std::string(describe_uring_error("io_uring_setup", error, facts).message());
}

TEST(UringErrors, SysctlIsNamedBeforeAnyFilter) {
  UringFacts facts = usual_facts();
  facts.io_uring_disabled = 1;
  facts.has_seccomp_filter = true;
  EXPECT_THAT(message(EPERM, facts),
              AllOf(HasSubstr("kernel.io_uring_disabled=1"),
                    HasSubstr("sysctl -w kernel.io_uring_disabled=0"),
                    HasSubstr("kernel.io_uring_group"), Not(HasSubstr("seccomp"))));
}

TEST(UringErrors, SwitchedOffForAllNoGroupHelps) {
  UringFacts facts = usual_facts();
  facts.io_uring_disabled = 2;
  EXPECT_THAT(message(EPERM, facts), AllOf(HasSubstr("kernel.io_uring_disabled=2"),
                                           Not(HasSubstr("kernel.io_uring_group"))));
}

TEST(UringErrors, ContainerFilterIsNamedWhenTheSysctlAllows) {
  UringFacts facts = usual_facts();
  facts.has_seccomp_filter = true;
  EXPECT_THAT(message(EPERM, facts),
              AllOf(HasSubstr("seccomp profile"), HasSubstr("--security-opt seccomp"),
                    HasSubstr("seccompProfile"), Not(HasSubstr("sysctl"))));
  facts.io_uring_disabled = UringFacts::kUnknown;  // Before 6.6 there is no such sysctl.
  EXPECT_THAT(message(EPERM, facts), HasSubstr("seccomp profile"));
}

TEST(UringErrors, NoCauseIsInventedForAPlainRefusal) {
  EXPECT_THAT(message(EPERM, usual_facts()), HasSubstr("security module"));
}

TEST(UringErrors, AKernelWithoutRingsIsNamedWithItsRelease) {
  EXPECT_THAT(message(ENOSYS, usual_facts()),
              AllOf(HasSubstr("lacks io_uring"), HasSubstr("5.15.0-91-generic"), HasSubstr("6.1")));
}

TEST(UringErrors, AnOldKernelIsNamedWithItsRelease) {
  EXPECT_THAT(message(EINVAL, usual_facts()), AllOf(HasSubstr("5.15.0-91-generic is too old"),
                                                    HasSubstr("6.1"), HasSubstr("DEFER_TASKRUN")));
}

TEST(UringErrors, LimitsAreNamedWithTheirValueAndCure) {
  EXPECT_THAT(message(ENOMEM, usual_facts()),
              AllOf(HasSubstr("65536"), HasSubstr("LimitMEMLOCK"), HasSubstr("memlock=-1")));
  EXPECT_THAT(message(EMFILE, usual_facts()), AllOf(HasSubstr("1024"), HasSubstr("LimitNOFILE")));
  EXPECT_THAT(message(ENFILE, usual_facts()), HasSubstr("fs.file-max"));
  UringFacts facts = usual_facts();
  facts.memlock_bytes = UINT64_MAX;
  EXPECT_THAT(message(ENOMEM, facts), HasSubstr("unlimited"));
}

TEST(UringErrors, AnyOtherErrorNamesTheStep) {
  EXPECT_THAT(message(EIO, usual_facts()),
              AllOf(HasSubstr("io_uring_setup failed"), HasSubstr("Input/output error")));
}

TEST(UringErrors, AMissingFeatureIsNamed) {
  EXPECT_THAT(std::string(describe_missing_feature("IORING_OP_X", usual_facts()).message()),
              AllOf(HasSubstr("lacks IORING_OP_X"), HasSubstr("5.15.0-91-generic")));
}

TEST(UringErrors, FactsOfThisHostAreRead) {
  const UringFacts facts = read_uring_facts();
  EXPECT_THAT(facts.kernel_release, HasSubstr("."));
  EXPECT_GT(facts.descriptors, 0u);
}

TEST(UringAvailable, IsTrueHere) {
  const absl::Status status = check_uring_available();
  EXPECT_TRUE(status.ok()) << status.ToString();
}

// Lets io_uring_setup fail with `error` in this process from now on, as container runtimes do.
bool block_io_uring(int error) {
  const auto answer = SECCOMP_RET_ERRNO | static_cast<unsigned>(error);
  sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {sizeof instructions / sizeof instructions[0], instructions};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// What a child behind such a filter is told.
std::string message_behind_filter(int error) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    std::string text = "no filter";
    if (block_io_uring(error)) text = std::string(check_uring_available().message());
    [[maybe_unused]] const ssize_t written = write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  std::string text(4096, '\0');
  const ssize_t got = read(ends[0], text.data(), text.size());
  close(ends[0]);
  waitpid(child, nullptr, 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

TEST(UringAvailable, BlockedByAFilterSaysSo) {
  EXPECT_THAT(
      message_behind_filter(EPERM),
      AllOf(HasSubstr("blocked by this container's seccomp profile"), HasSubstr("--security-opt")));
}

TEST(UringAvailable, HiddenByAFilterNamesThatPossibility) {
  EXPECT_THAT(message_behind_filter(ENOSYS),
              AllOf(HasSubstr("lacks io_uring"), HasSubstr("seccomp filter that hides it")));
}

}  // namespace
}  // namespace gyre::runtime
