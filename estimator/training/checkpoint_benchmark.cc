// Memory and speed of restoring and saving a checkpoint of 1 GiB, each in a process of its own, and
// the time that a save takes from the training loop:
//   bazel run //estimator/training:checkpoint_benchmark [MODEL_DIR]
// Writes 2 GiB under $TMPDIR or /tmp. With MODEL_DIR, whose model.ckpt-1 has the same variables
// (testdata/interop/check_large_checkpoint.py lets TensorFlow write one), it only reads.
// Fails if the peak is more than 1.2 times the checkpoint where values are restored, or more than
// 100 MB in `verify`, or if a save in the background takes the loop more than the copy of the
// values and kMaxOverheadMs. Expected: a restore that takes as long as `touch new memory` and
// `verify` together.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/child_memory.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/async_saver.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/checkpoint/checkpoint_state.h"
#include "estimator/checkpoint/saver.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/variable.h"
#include "estimator/ops/gather.h"
#include "estimator/training/estimator.h"
#include "estimator/training/model/model_state.h"

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
  const std::string prefix = JoinPath(directory, "model.ckpt-1");
  EST_ASSIGN_OR_RETURN(const auto reader, BundleReader::Open(prefix));
  const int num_files = reader->index().num_shards;
  std::string piece(size_t{1} << 20, '\0');
  for (int i = 0; i < num_files; ++i) {
    EST_ASSIGN_OR_RETURN(const auto file, RandomAccessFile::Open(DataPath(prefix, i, num_files)));
    for (int64_t done = 0; done < file->size(); done += int64_t{1} << 20) {
      EST_RETURN_IF_ERROR(file->Read(done, piece.size(), piece.data()).status());
    }
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
  return state.Restore(graph, JoinPath(directory, "model.ckpt-1"), Scaffold());
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

// What a save in the background may take from the loop besides the copy of the values.
constexpr double kMaxOverheadMs = 10;
// The speed of a copy varies from one to the next.
constexpr double kCopyTolerance = 1.2;

double Milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

// Prints how long the loop waits for a save of `num_tables` variables, in the better of two rounds.
absl::Status MeasureSaves(const std::string& directory, int num_tables, int64_t rows) {
  AsyncSaver::Variables variables = {{"global_step", Array::Scalar<int64_t>(0)}};
  int64_t num_bytes = 0;
  for (int i = 0; i < num_tables; ++i) {
    Array table(DType::kFloat32, {rows, kColumns});
    // Memory that was never written has no pages of its own, and a copy of it would look too fast.
    std::memset(table.raw(), 0x3f, table.num_bytes());
    num_bytes += static_cast<int64_t>(table.num_bytes());
    variables[absl::StrCat("table_", i)] = std::move(table);
  }
  AsyncSaver::Variables copy;
  for (const auto& [name, value] : variables) copy[name] = value.Clone();
  double copy_ms = 1e9, sync_ms = 1e9, first_ms = 1e9, later_ms = 1e9, written_ms = 1e9;
  const auto least = [](double& best, double ms) { best = std::min(best, ms); };
  AsyncSaver saver({.keep_checkpoint_max = 1});
  absl::Status status;
  int64_t step = 0;
  // The first save of a run also reads the folder.
  status.Update(saver.Save(directory, step, {{"global_step", variables["global_step"]}}).status());
  for (int round = 0; round < 2; ++round) {
    const auto save = [&] { status.Update(saver.Save(directory, ++step, variables).status()); };
    const auto start = [&] {
      status.Update(saver.SaveInBackground(directory, ++step, variables).status());
    };
    least(copy_ms, Milliseconds([&] {
            for (const auto& [name, value] : variables)
              std::memcpy(copy[name].raw(), value.raw(), value.num_bytes());
          }));
    least(sync_ms, Milliseconds(save));
    least(first_ms, Milliseconds(start));
    saver.Wait();
    double call_ms = 0;
    least(written_ms, Milliseconds([&] {
            call_ms = Milliseconds(start);
            saver.Wait();
          }));
    least(later_ms, call_ms);
    status.Update(saver.Finish());
    EST_RETURN_IF_ERROR(status);
  }
  const bool ok = later_ms <= kCopyTolerance * copy_ms + kMaxOverheadMs;
  std::printf("%9.1f  %9d  %9.1f  %9.1f  %9.1f  %9.1f  %9.1f%s\n",
              static_cast<double>(num_bytes) / (1 << 20), num_tables + 1, sync_ms, first_ms,
              later_ms, copy_ms, written_ms, ok ? "" : ": TOO MUCH");
  std::fflush(stdout);
  return ok ? absl::OkStatus() : absl::InternalError("a save takes too much time of the loop");
}

absl::Status MeasureSaves(const std::string& directory) {
  std::printf(
      "What a save costs the loop (ms): sync; in the background the first time, which "
      "allocates the copy, and later; the copy alone; until the files are written\n"
      "%9s  %9s  %9s  %9s  %9s  %9s  %9s\n",
      "MiB", "variables", "sync", "first", "later", "copy", "written");
  const std::string folder = JoinPath(directory, "costs");
  EST_RETURN_IF_ERROR(MeasureSaves(folder, 1, 2048));
  EST_RETURN_IF_ERROR(MeasureSaves(folder, 320, 640));  // as many variables as a ResNet-50 has
  return MeasureSaves(folder, 2, kRows);
}

absl::Status Predict(const std::string& directory) {
  RunConfig config;
  config.model_dir = directory;
  Estimator<Params> estimator({.model_fn = Model, .config = config});
  return estimator.Predict(Ids).Next().status();
}

// Runs `phase` in a process of its own, and says how long it took and the most memory it had.
bool Measure(const char* name, double max_bytes, const std::string& directory,
             const std::function<absl::Status(const std::string&)>& phase) {
  const auto memory = MeasureInChild([&] { return phase(directory); });
  if (!memory.ok()) {
    std::printf("%-36s %s\n", name, memory.status().ToString().c_str());
    return false;
  }
  const auto peak = static_cast<double>(memory->peak_bytes);
  std::printf("%-36s %6.2f s  %5.2f GB/s  peak %7.1f MB, %.3f times the checkpoint%s\n", name,
              memory->seconds, kBytes / 1e9 / memory->seconds, peak / 1e6, peak / kBytes,
              peak <= max_bytes ? "" : ": TOO MUCH");
  return peak <= max_bytes;
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  using namespace estimator;
  constexpr double kStreams = 100e6, kRestores = 1.2 * kBytes;
  const TempDir own;
  const std::string directory = argc > 1 ? argv[1] : own.path();
  bool ok = argc > 1 || Measure("write, with sync", kStreams, directory, Write);
  ok = ok && Measure("read", kStreams, directory, ReadOnly);
  ok = ok && Measure("touch new memory", kRestores, directory, Touch);
  ok = ok && Measure("verify", kStreams, directory, estimator::Verify);
  ok = ok && Measure("restore", kRestores, directory, RestoreOnly);
  ok = ok && Measure("Estimator::Predict, first example", kRestores, directory, Predict);
  if (argc == 1) {
    ok = ok && Measure("restore and save", kRestores, directory, RestoreAndSave);
    const absl::Status saves = estimator::MeasureSaves(directory);
    if (!saves.ok()) std::printf("%s\n", saves.ToString().c_str());
    ok = ok && saves.ok();
  }
  return ok ? 0 : 1;
}
