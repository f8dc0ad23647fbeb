// Every system call of a run on a file fails in turn, once, in every way: the run or its resume
// gives the same bits, no checkpoint is lost, the error says why, and nothing outside model_dir
// changes.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/memory.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/system_faults.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/records/tfrecord.h"
#include "estimator/records/tfrecord_index.h"
#include "estimator/summary/event_file_writer.h"
#include "estimator/training/testing/tiny_model.h"
#include "estimator/training/train_and_evaluate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::estimator::testing::SystemFault;
namespace fs = std::filesystem;

constexpr int kLastStep = 9;

// A record has the two numbers of x, and y.
absl::Status WriteRecords(const std::string& path) {
  const Element examples = TinyExamples();
  EST_ASSIGN_OR_RETURN(const auto writer, TFRecordWriter::Open(path));
  for (int64_t row = 0; row < 20; ++row) {
    std::string record(12, '\0');
    std::memcpy(record.data(), examples.features.at("x").data<float>() + 2 * row, 8);
    std::memcpy(record.data() + 8, examples.labels.at("").data<float>() + row, 4);
    EST_RETURN_IF_ERROR(writer->Write(record));
  }
  return writer->Close();
}

absl::StatusOr<Element> Parse(const Element& record) {
  EST_ASSIGN_OR_RETURN(const Array numbers, DecodeRaw(record.features.at(""), DType::kFloat32));
  Array x(DType::kFloat32, {2}), y(DType::kFloat32, {1});
  std::memcpy(x.data<float>(), numbers.data<float>(), 8);
  y.data<float>()[0] = numbers.data<float>()[2];
  return Element{.features = {{"x", x}}, .labels = y};
}

// The folder of a run: model_dir `m`, and the file of a Cache. All runs share the data.
struct Place {
  std::string File(absl::string_view name) const { return JoinPath(folder, name); }
  std::string folder;
  std::string data;  // the pattern of the files
};

Estimator<TinyParams>::Options OptionsOf(const Place& place) {
  auto options = TinyOptions(place.File("m"));
  options.params.dropout = 0.4;
  options.config.save_checkpoints_steps = 3;
  options.config.keep_checkpoint_max = 3;
  options.config.save_summary_steps = 4;
  options.config.checkpoint_save_graph_def = true;
  return options;
}

Dataset Records(const Place& place) {
  return TFRecordDataset({place.data}, {.indexed = true}).Map(Parse);
}

absl::Status Train(const Place& place, int64_t max_steps) {
  Estimator<TinyParams> estimator(OptionsOf(place));
  return estimator.Train(
      [&](const TinyParams&) { return Records(place).Shuffle(20).Repeat().Batch(6); },
      MaxSteps(max_steps));
}

absl::Status TrainWithCache(const Place& place, int64_t max_steps) {
  Estimator<TinyParams> estimator(OptionsOf(place));
  return estimator.Train(
      [&](const TinyParams&) {
        return Records(place).Cache(place.File("cache/c")).Shuffle(20).Repeat().Batch(6);
      },
      MaxSteps(max_steps));
}

absl::Status TrainAndExport(const Place& place, int64_t max_steps) {
  Estimator<TinyParams> estimator(OptionsOf(place));
  const ServingInputReceiverFn raw =
      BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}});
  const Exporters exporters = {
      std::make_shared<LatestExporter>(LatestExporter::Options{
          .name = "latest", .serving_input_receiver_fn = raw, .exports_to_keep = 1}),
      std::make_shared<BestExporter>(
          BestExporter::Options{.name = "best", .serving_input_receiver_fn = raw})};
  return TrainAndEvaluate<TinyParams>(
             estimator,
             {.input_fn =
                  [&](const TinyParams&) { return Records(place).Shuffle(20).Repeat().Batch(6); },
              .max_steps = max_steps},
             {.input_fn = [&](const TinyParams&) { return Records(place).Batch(10); },
              .steps = std::nullopt,
              .exporters = exporters,
              .throttle_secs = 0})
      .status();
}

struct Scenario {
  const char* name;
  absl::Status (*run)(const Place& place, int64_t max_steps);
  int64_t begins_at;        // the step of the checkpoint at which the run with the fault begins
  std::vector<int> errors;  // errnos
  // The calls that fail are those on paths that begin with this, in the folder of all.
  const char* prefix;
};

// The files below a folder and their contents, without those of the place.
std::map<std::string, std::string> Outside(const TempDir& dir, const Place& place) {
  std::map<std::string, std::string> files;
  for (auto entry = fs::recursive_directory_iterator(dir.path());
       entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string path = entry->path().string();
    if (path == place.folder) {
      entry.disable_recursion_pending();
    } else {
      files[path] = entry->is_regular_file() ? ReadFile(path).value_or("unreadable") : "";
    }
  }
  return files;
}

std::string BitsOf(const Place& place, int64_t step) {
  return CheckpointBits(place.File(absl::StrCat("m/model.ckpt-", step)))
      .value_or("there is no such checkpoint");
}

// An export waits for a second whose name is free. The resume begins in the same second.
void MakeExportsOlder(const Place& place) {
  const std::vector<std::string> paths = *Glob(place.File("m/export/*/*"));
  for (const std::string& path : paths) {
    if (Basename(path).size() == 10)
      fs::rename(path, JoinPath(Dirname(path), absl::StrCat("10", Basename(path).substr(2))));
  }
}

class IoFaultsTest : public ::testing::TestWithParam<Scenario> {
 protected:
  static void SetUpTestSuite() { testing::PutTempDirsIntoMemory(); }  // thousands of runs
};

TEST_P(IoFaultsTest, EachFailingCallIsToldOrHarmlessAndAResumeGivesTheSameBits) {
  const auto [name, run, begins_at, errors, prefix] = GetParam();
  const TempDir dir;
  const std::string data = dir.File("data/*.tfrecord");
  EST_ASSERT_OK(CreateDirectories(dir.File("data")));
  EST_ASSERT_OK(WriteRecords(dir.File("data/a.tfrecord")));
  EST_ASSERT_OK(CountRecords({dir.File("data/a.tfrecord")}, Compression::kNone));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("thesis.tex"), "precious"));
  const Place whole{dir.File("whole"), data}, begun{dir.File("begun"), data},
      place{dir.File("place"), data};
  for (const Place* one : {&whole, &begun}) EST_ASSERT_OK(CreateDirectories(one->folder));
  EST_ASSERT_OK(run(whole, kLastStep));
  if (begins_at > 0) {
    EST_ASSERT_OK(run(begun, begins_at));
  }
  const std::string whole_bits = BitsOf(whole, kLastStep);
  const auto outside = Outside(dir, place);

  std::set<std::string> calls;
  for (const int error : errors) {
    for (int index = 0;; ++index) {
      ASSERT_LT(index, 5000);
      CloseAllEventFileWriters().IgnoreError();  // of the folder that is removed
      fs::remove_all(place.folder);
      fs::copy(begun.folder, place.folder, fs::copy_options::recursive);
      absl::Status status;
      std::string hit;
      const testing::CapturedLog log;
      {
        const SystemFault fault(dir.File(prefix), index, error);
        status = run(place, kLastStep);
        hit = fault.hit();
      }
      const std::vector<std::string> warnings = log.warnings;
      if (hit.empty()) {
        EST_ASSERT_OK(status);
        break;
      }
      calls.insert(hit.substr(0, hit.find(' ')));
      SCOPED_TRACE(absl::StrCat(hit, " fails with ", std::strerror(error),
                                "; the run says: ", status.ToString()));
      if (status.ok()) {
        EXPECT_EQ(BitsOf(place, kLastStep), whole_bits);
      } else {
        EXPECT_THAT(status, ErrorHas(dir.path()));
        EXPECT_THAT(status, ErrorHas(std::strerror(error)));
      }
      // keep_checkpoint_max deletes the first one.
      for (int64_t step = 3; step <= begins_at; step += 3) {
        EXPECT_EQ(BitsOf(place, step), BitsOf(begun, step)) << "checkpoint " << step << " is lost";
      }
      MakeExportsOlder(place);
      EST_EXPECT_OK(run(place, kLastStep));
      EXPECT_EQ(BitsOf(place, kLastStep), whole_bits);
      // What a failed deletion left stays until the next save, and a warning says so.
      const std::vector<std::string> files = ListDirectory(place.File("m")).value();
      for (const std::string& file : files) {
        EXPECT_TRUE(file[0] != '.' || file == ".train.lock" || (status.ok() && !warnings.empty()))
            << file << " is left";
      }
      const auto now = Outside(dir, place);
      EXPECT_EQ(now.size(), outside.size());
      for (const auto& [path, contents] : outside) {
        EXPECT_TRUE(now.count(path) > 0 && now.at(path) == contents) << path << " has changed";
      }
    }
  }
  for (const char* call : {"open", "create", "stat", "opendir", "readdir", "read", "write", "fsync",
                           "close", "rename", "unlink", "flock"}) {
    EXPECT_TRUE(calls.count(call) > 0 || *prefix != '\0') << call;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Runs, IoFaultsTest,
    ::testing::Values(Scenario{"ANewRun", Train, 0, {EIO, ENOSPC, ENOLCK}, ""},
                      Scenario{"AResumedRun", Train, 6, {EIO, ESTALE, ENOLCK}, ""},
                      Scenario{"ARunWithACache", TrainWithCache, 0, {EIO, ENOLCK}, "place/cache"},
                      // m/eval, m/export and m/events.*: the rest is as above.
                      Scenario{"TrainAndEvaluate", TrainAndExport, 6, {EIO, ENOSPC}, "place/m/e"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace estimator
