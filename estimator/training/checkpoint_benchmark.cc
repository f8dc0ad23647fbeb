// Memory and speed of restoring and saving a checkpoint of 1 GiB, each in a process of its own:
//   bazel run //estimator/training:checkpoint_benchmark
// Writes 2 GiB under $TMPDIR or /tmp. Expected: a peak of at most 1.2 times the checkpoint where
// values are restored, and nearly none elsewhere; a restore that takes as long as `touch new
// memory` and `verify` together.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/temp_dir.h"
#include "estimator/checkpoint/bundle_format.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/checkpoint/checkpoint_state.h"
#include "estimator/checkpoint/saver.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/variable.h"
#include "estimator/ops/gather.h"
#include "estimator/training/estimator.h"
#include "estimator/training/model_state.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr int64_t kRows = 1 << 20, kColumns = 128;  // 512 MiB a table
constexpr double kBytes = 2.0 * kRows * kColumns * sizeof(float);

struct Params : EstimatorParams {};

std::vector<Tensor> Tables() {
  GetOrCreateGlobalStep();
  std::vector<Tensor> tables;
  for (const char* const name : {"table_0", "table_1"}) {
    tables.push_back(GetVariable(name, {kRows, kColumns}));
  }
  return tables;
}

EstimatorSpec Model(const Features& features, const Labels&, Mode, const Params&) {
  const std::vector<Tensor> tables = Tables();
  return EstimatorSpec::Predict(
      {{"y", Gather(tables[0], features["ids"])}, {"z", Gather(tables[1], features["ids"])}});
}

Dataset Ids(const Params&) {
  return Dataset::FromTensorSlices({.features = {{"ids", Array(DType::kInt32, {4})}}, .labels = {}})
      .Batch(4);
}

absl::Status Write(const std::string& directory) {
  const std::string prefix = JoinPath(directory, "model.ckpt-1");
  EST_ASSIGN_OR_RETURN(const auto writer, BundleWriter::Open(prefix));
  EST_RETURN_IF_ERROR(writer->Add("global_step", Array::Scalar<int64_t>(1)));
  for (const char* const name : {"table_0", "table_1"}) {
    EST_RETURN_IF_ERROR(writer->AddStored(
        name, {.dtype_on_disk = static_cast<int>(DType::kFloat32), .shape = {kRows, kColumns}},
        [](const BundleWriter::Append& append) -> absl::Status {
          const std::string piece(size_t{1} << 20, '\x3f');
          for (int64_t done = 0; done < kRows * kColumns * 4; done += int64_t{1} << 20) {
            EST_RETURN_IF_ERROR(append(piece));
          }
          return absl::OkStatus();
        }));
  }
  EST_RETURN_IF_ERROR(writer->Finish());
  return WriteCheckpointState(directory, {.model_checkpoint_path = prefix});
}

absl::Status ReadOnly(const std::string& directory) {
  const std::string path = DataPath(JoinPath(directory, "model.ckpt-1"), 0, 1);
  EST_ASSIGN_OR_RETURN(const auto file, RandomAccessFile::Open(path));
  std::string piece(size_t{1} << 20, '\0');
  for (int64_t done = 0; done < file->size(); done += int64_t{1} << 20) {
    EST_RETURN_IF_ERROR(file->Read(done, piece.size(), piece.data()).status());
  }
  return absl::OkStatus();
}

// What the system takes to hand out as much memory: a restore cannot be faster.
absl::Status Touch(const std::string&) {
  const Array array(DType::kFloat32, {2 * kRows, kColumns});
  return array.data<float>()[kRows] == 0 ? absl::OkStatus() : absl::InternalError("not zero");
}

absl::Status Verify(const std::string& directory) {
  EST_ASSIGN_OR_RETURN(const auto reader, BundleReader::Open(JoinPath(directory, "model.ckpt-1")));
  return reader->VerifyContents();
}

absl::Status Restore(const std::string& directory, ModelState& state) {
  Graph graph;
  const GraphScope scope(graph);
  Tables();
  EST_RETURN_IF_ERROR(graph.status());
  return state.Restore(graph, JoinPath(directory, "model.ckpt-1"));
}

absl::Status RestoreOnly(const std::string& directory) {
  ModelState state;
  return Restore(directory, state);
}

absl::Status RestoreAndSave(const std::string& directory) {
  ModelState state;
  EST_RETURN_IF_ERROR(Restore(directory, state));
  std::map<std::string, Array> values;
  for (const std::string& name : state.store().Names()) values[name] = *state.store().Peek(name);
  return Saver().Save(JoinPath(directory, "saved"), 2, values).status();
}

absl::Status Predict(const std::string& directory) {
  RunConfig config;
  config.model_dir = directory;
  Estimator<Params> estimator({.model_fn = Model, .config = config});
  return estimator.Predict(Ids).Next().status();
}

// Runs `phase` in a child process, and says how long it took and the most memory it had.
bool Measure(const char* name, const std::string& directory,
             const std::function<absl::Status(const std::string&)>& phase) {
  const pid_t child = ::fork();
  PCHECK(child >= 0);
  if (child == 0) {
    const auto begin = std::chrono::steady_clock::now();
    const absl::Status status = phase(directory);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    const double peak = 1024.0 * static_cast<double>(usage.ru_maxrss);
    std::printf("%-36s %6.2f s  %5.2f GB/s  peak %7.1f MB, %.3f times the checkpoint\n", name,
                seconds.count(), kBytes / 1e9 / seconds.count(), peak / 1e6, peak / kBytes);
    if (!status.ok()) std::printf("%s\n", status.ToString().c_str());
    std::fflush(stdout);
    ::_exit(status.ok() ? 0 : 1);
  }
  int code = 0;
  ::waitpid(child, &code, 0);
  return code == 0;
}

}  // namespace
}  // namespace estimator

int main() {
  using namespace estimator;
  const TempDir directory;
  const bool ok = Measure("write, with sync", directory.path(), Write) &&
                  Measure("read", directory.path(), ReadOnly) &&
                  Measure("touch new memory", directory.path(), Touch) &&
                  Measure("verify", directory.path(), estimator::Verify) &&
                  Measure("restore", directory.path(), RestoreOnly) &&
                  Measure("Estimator::Predict, first example", directory.path(), Predict) &&
                  Measure("restore and save, with sync", directory.path(), RestoreAndSave);
  return ok ? 0 : 1;
}
