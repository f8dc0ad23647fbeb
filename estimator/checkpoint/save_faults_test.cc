// Every file operation of a save fails in every way: the older checkpoint survives, the newest
// checkpoint has the right values, the error has its path and its cure, and the next save succeeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/base/fault_injection.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/memory.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/async_saver.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/input_file.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/saver.h"

namespace estimator {
namespace {

std::map<std::string, Array> Variables(int64_t step) {
  return {{"global_step", Array::Scalar<int64_t>(step)},
          {"names", Array::Strings({absl::StrCat("at ", step), ""})},
          {"w", Array::Of<float>({3}, {static_cast<float>(step), 1, -1})}};
}

SaverExtras Extras(int64_t step) {
  return {.input_state = absl::StrCat("position ", step),
          .meta_graph = {.make = [] { return std::string("graph"); }, .version = 1}};
}

struct FaultKind {
  std::string name;
  // The fault of an operation; nullopt if it does not have this one.
  std::optional<Fault> (*of)(FileOperation operation, absl::string_view path);
  enum class Outcome {
    kWhole,   // the save succeeds
    kFails,   // it succeeds or returns an error
    kDamage,  // it reports success and may have lost bytes
  } outcome;
};

Fault Errno(int number, FileOperation operation, absl::string_view path) {
  return {.status = absl::ErrnoToStatus(
              number, absl::StrCat("cannot ", FileOperationName(operation), " ", path)),
          .truncate_after_bytes = std::nullopt};
}

bool Writes(FileOperation operation) {
  return operation != FileOperation::kRead && operation != FileOperation::kList &&
         operation != FileOperation::kStat && operation != FileOperation::kLock;
}

const std::vector<FaultKind>& Kinds() {
  using Outcome = FaultKind::Outcome;
  static const auto& kinds = *new std::vector<FaultKind>{
      {"EIO",
       [](FileOperation operation, absl::string_view path) {
         return std::optional<Fault>(Errno(EIO, operation, path));
       },
       Outcome::kFails},
      {"ENOSPC",
       [](FileOperation operation, absl::string_view path) {
         const bool possible = Writes(operation) && operation != FileOperation::kRemove;
         return possible ? std::optional<Fault>(Errno(ENOSPC, operation, path)) : std::nullopt;
       },
       Outcome::kFails},
      {"ENOSPC after some bytes",
       [](FileOperation operation, absl::string_view path) {
         Fault fault = Errno(ENOSPC, operation, path);
         fault.truncate_after_bytes = 5;
         return operation == FileOperation::kWrite ? std::optional<Fault>(fault) : std::nullopt;
       },
       Outcome::kFails},
      {"EACCES",
       [](FileOperation operation, absl::string_view path) {
         const bool possible = operation != FileOperation::kWrite &&
                               operation != FileOperation::kSync &&
                               operation != FileOperation::kClose;
         return possible ? std::optional<Fault>(Errno(EACCES, operation, path)) : std::nullopt;
       },
       Outcome::kFails},
      {"a short write",
       [](FileOperation operation, absl::string_view) {
         return operation == FileOperation::kWrite
                    ? std::optional<Fault>(Fault{.bytes_per_call = 3})
                    : std::nullopt;
       },
       Outcome::kWhole},
      {"a write that loses bytes",
       [](FileOperation operation, absl::string_view) {
         return operation == FileOperation::kWrite
                    ? std::optional<Fault>(Fault{.truncate_after_bytes = 5})
                    : std::nullopt;
       },
       Outcome::kDamage},
  };
  return kinds;
}

// One fault at operation number `index`.
struct OneFault {
  const FaultKind& kind;
  const int index;
  int num_operations = 0;
  std::string hit;  // the operation, if it has this fault
  std::string path;

  Fault operator()(FileOperation operation, absl::string_view file) {
    if (num_operations++ != index) return {};
    const std::optional<Fault> fault = kind.of(operation, file);
    if (!fault) return {};
    hit = absl::StrCat(kind.name, " at operation ", index, ", ", FileOperationName(operation), " ",
                       file);
    path = std::string(file);
    return *fault;
  }
};

bool HasValuesOf(const std::string& prefix, int64_t step) {
  const auto reader = BundleReader::Open(prefix);
  if (!reader.ok() || !(*reader)->VerifyContents().ok()) return false;
  for (const auto& [name, expected] : Variables(step)) {
    const auto value = (*reader)->Read(name);
    if (!value.ok() || !SameBits(*value, expected)) return false;
  }
  return true;
}

// The step of the checkpoint that training would continue from. Damaged ones are passed over, as
// training does.
int64_t LatestWhole(const TempDir& dir, bool may_be_damaged) {
  for (const int64_t step : {30, 20, 10}) {
    const std::string prefix = dir.File(absl::StrCat("model.ckpt-", step));
    if (HasValuesOf(prefix, step)) return step;
    EXPECT_TRUE(may_be_damaged || !FileExists(prefix + ".index")) << prefix << " is damaged";
    // A damaged one must be recognized, and never be read with other values.
    const auto reader = BundleReader::Open(prefix);
    EXPECT_FALSE(reader.ok() && (*reader)->VerifyContents().ok()) << prefix;
  }
  return -1;
}

enum class SaveMode { kInForeground, kInBackground };

absl::Status Save(AsyncSaver& saver, SaveMode mode, const TempDir& dir, int64_t step) {
  if (mode == SaveMode::kInForeground) {
    return saver.Save(dir.path(), step, Variables(step), Extras(step)).status();
  }
  const absl::Status started =
      saver.SaveInBackground(dir.path(), step, Variables(step), Extras(step)).status();
  if (!started.ok()) return started;
  return saver.Finish();
}

void CheckInput(const std::string& prefix, int64_t step, bool may_be_damaged) {
  const auto input = ReadInputFile(prefix);
  EST_ASSERT_OK(input);
  // A file that lost bytes has no seal. Its state's own checksum does not match then.
  if (may_be_damaged && !input->meta_graph) return;
  EXPECT_EQ(input->state, absl::StrCat("position ", step));
  ASSERT_TRUE(input->meta_graph.has_value());
  const auto graph = ReadFile(prefix + ".meta");
  EST_ASSERT_OK(graph);
  if (may_be_damaged) return;
  EST_EXPECT_OK(CheckMetaGraphBytes(*graph, *input->meta_graph));
}

class SaveFaultsTest : public ::testing::TestWithParam<std::tuple<SaveMode, bool>> {
 protected:
  static void SetUpTestSuite() { testing::PutTempDirsIntoMemory(); }  // thousands of saves
};

TEST_P(SaveFaultsTest, NoFaultLosesAnOlderCheckpointOrGivesWrongValues) {
  using Outcome = FaultKind::Outcome;
  const auto [mode, first_of_its_run] = GetParam();
  int num_faults = 0, num_errors = 0;
  for (const FaultKind& kind : Kinds()) {
    const bool may_be_damaged = kind.outcome == Outcome::kDamage;
    bool more = true;
    for (int index = 0; more; ++index) {
      ASSERT_LT(index, 500);
      const TempDir dir;
      // 10 is deleted when 30 is committed.
      AsyncSaver before({.keep_checkpoint_max = 2}), restarted({.keep_checkpoint_max = 2});
      for (const int step : {10, 20}) {
        EST_ASSERT_OK(before.Save(dir.path(), step, Variables(step), Extras(step)));
      }
      AsyncSaver& saver = first_of_its_run ? restarted : before;
      OneFault fault{.kind = kind, .index = index, .hit = {}, .path = {}};
      absl::Status status;
      {
        const ScopedFaultInjector faults(std::ref(fault));
        status = Save(saver, mode, dir, 30);
      }
      more = index < fault.num_operations;
      if (fault.hit.empty()) {
        EST_ASSERT_OK(status);
        continue;
      }
      SCOPED_TRACE(fault.hit);
      ++num_faults;

      EXPECT_TRUE(HasValuesOf(dir.File("model.ckpt-20"), 20));
      CheckInput(dir.File("model.ckpt-20"), 20, /*may_be_damaged=*/false);
      const int64_t step = LatestWhole(dir, may_be_damaged);
      EXPECT_TRUE(step == 30 || step == 20) << step;
      std::vector<std::string> warnings;
      const auto latest = LatestCheckpoint(dir.path(), &warnings);
      EST_ASSERT_OK(latest);
      ASSERT_TRUE(latest->has_value());
      if (!may_be_damaged) {
        EXPECT_TRUE(warnings.empty()) << warnings[0];
        EXPECT_TRUE(HasValuesOf(**latest, **latest == dir.File("model.ckpt-30") ? 30 : 20));
      }
      if (status.ok()) {
        EXPECT_TRUE(step == 30 || may_be_damaged);
        if (step == 30) CheckInput(dir.File("model.ckpt-30"), 30, may_be_damaged);
      } else {
        ++num_errors;
        EXPECT_EQ(kind.outcome, Outcome::kFails) << status;
        EXPECT_THAT(status, ErrorHas(absl::StrCat("cannot save ", dir.File("model.ckpt-30"))));
        EXPECT_THAT(status, ErrorHas(fault.path.empty() ? "/" : fault.path));
        EXPECT_THAT(status, ErrorHas(absl::IsResourceExhausted(status) ? "free space on the disk of"
                                                                       : "check the disk of"));
        EXPECT_THAT(status, ErrorHas(absl::StrCat("the next start continues from ", **latest)));
      }

      EST_ASSERT_OK(Save(saver, mode, dir, 40));
      EXPECT_TRUE(HasValuesOf(dir.File("model.ckpt-40"), 40));
      CheckInput(dir.File("model.ckpt-40"), 40, /*may_be_damaged=*/false);
      EXPECT_TRUE(FileExists(dir.File("model.ckpt-40.meta")));
      EXPECT_EQ(**LatestCheckpoint(dir.path()), dir.File("model.ckpt-40"));
      const std::vector<std::string> names = ListDirectory(dir.path()).value();
      for (const std::string& name : names) EXPECT_NE(name[0], '.') << name << " was left";
    }
  }
  EXPECT_GT(num_faults, 100);
  EXPECT_GT(num_errors, 60);
}

INSTANTIATE_TEST_SUITE_P(Modes, SaveFaultsTest,
                         ::testing::Combine(::testing::Values(SaveMode::kInForeground,
                                                              SaveMode::kInBackground),
                                            ::testing::Bool()),
                         [](const auto& info) {
                           return absl::StrCat(
                               std::get<0>(info.param) == SaveMode::kInForeground ? "Foreground"
                                                                                  : "Background",
                               std::get<1>(info.param) ? "FirstSaveOfARun" : "LaterSaveOfARun");
                         });

}  // namespace
}  // namespace estimator
