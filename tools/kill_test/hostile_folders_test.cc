// What a user runs on a model directory that a stranger made ends soon, takes little memory, says
// why it cannot go on, and touches nothing outside.
#include "tools/kill_test/hostile_folders.h"

#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/child_memory.h"
#include "estimator/base/testing/memory.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::kill_test {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kSeconds = 10;
constexpr int64_t kMaxBytes = int64_t{1} << 30;

// All files outside of the folder, with their contents.
std::map<std::string, std::string> Outside(const TempDir& dir, const HostileOptions& options) {
  std::map<std::string, std::string> files;
  for (auto entry = fs::recursive_directory_iterator(dir.path());
       entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string path = entry->path().string();
    if (path == options.to || path == options.disk) {
      entry.disable_recursion_pending();
    } else {
      files[path] = entry->is_regular_file() ? ReadFile(path).value_or("unreadable") : "";
    }
  }
  return files;
}

// Runs `work` in a child that ends after kSeconds. Errors: none of `work`, which must have a
// message; what is wrong with the child otherwise.
absl::Status CheckInChild(const std::function<absl::Status()>& work) {
  const auto measured = MeasureInChild([&]() -> absl::Status {
    ::alarm(kSeconds);
    const absl::Status status = work();
    return status.ok() || !status.message().empty() ? absl::OkStatus()
                                                    : absl::InternalError("there is no message");
  });
  EST_RETURN_IF_ERROR(measured.status());
  if (kMemoryIsTrue && measured->growth_bytes > kMaxBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(measured->growth_bytes, " bytes"));
  }
  return absl::OkStatus();
}

// Errors: a signal, the time limit, or no output.
absl::Status CheckProgram(absl::string_view command) {
  const ProgramRun run = RunProgram(absl::StrCat("sh -c 'ulimit -v 4000000; exec timeout -k 1 ",
                                                 kSeconds, " ", command, " < /dev/null'"));
  if (run.exit_code < 0 || run.exit_code > 2) {
    return absl::InternalError(absl::StrCat("exit code ", run.exit_code, ": ", run.output));
  }
  return run.output.empty() ? absl::InternalError("there is no output") : absl::OkStatus();
}

TEST(HostileFolders, TouchNothingOutsideAndEndSoonWithAMessage) {
  testing::PutTempDirsIntoMemory();
  const TempDir dir;
  const HostileOptions options = {.whole = dir.File("whole"),
                                  .to = dir.File("m"),
                                  .thesis = dir.File("thesis.tex"),
                                  .elsewhere = dir.File("elsewhere"),
                                  .disk = dir.File("disk")};
  EST_ASSERT_OK(WriteFileAtomically(options.thesis, "precious"));
  EST_ASSERT_OK(CreateDirectories(options.disk));
  // In children, because a process with threads must not be forked.
  EST_ASSERT_OK(MeasureInChild([&] { return TrainTiny(options.whole, 8); }));
  fs::copy(options.whole, options.elsewhere, fs::copy_options::recursive);
  const auto before = Outside(dir, options);
  for (int index = 0; index < kNumHostileFolders; ++index) {
    fs::remove_all(options.to);
    const auto what = MakeHostileFolder(index, options);
    EST_ASSERT_OK(what);
    SCOPED_TRACE(absl::StrCat(index, ": ", *what));
    EST_EXPECT_OK(CheckProgram("tools/checkpoint/checkpoint list " + options.to)) << "list";
    EST_EXPECT_OK(CheckInChild([&] { return EvaluateTiny(options.to); })) << "evaluate";
    EST_EXPECT_OK(CheckInChild([&] { return TrainTiny(options.to, 20); })) << "train";
    EST_EXPECT_OK(
        CheckProgram("tools/train_graph/train_graph --show_input --model_dir=" + options.to))
        << "train_graph";
    const auto after = Outside(dir, options);
    for (const auto& [path, contents] : before) {
      EXPECT_TRUE(after.count(path) > 0 && after.at(path) == contents) << path << " has changed";
    }
    for (const auto& [path, contents] : after) EXPECT_TRUE(before.count(path) > 0) << path;
  }
}

}  // namespace
}  // namespace estimator::kill_test
