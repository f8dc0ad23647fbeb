// Measures the training of a graph that TensorFlow wrote, and prints one line of JSON:
//
//   train_graph_benchmark --meta=DIR/model.ckpt-0.meta --batch_size=128 --input=fixed:0..255,0..9
//
// The input is one batch, again and again. The folder of the graph stays as it is.
// docs/performance.md describes the fields.
#include <gflags/gflags.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "estimator/training/import_model_fn.h"
#include "models/common/benchmark_flags.h"
#include "tools/train_graph/described_input.h"
#include "tools/train_graph/model_folder.h"
#include "tpu/tpu_estimator.h"

DEFINE_string(meta, "", "the graph, such as DIR/model.ckpt-0.meta, with its checkpoint");
DEFINE_string(input, "fixed:", "the batch: fixed:LOW..HIGH,VALUE in the order of the inputs");
DEFINE_int64(batch_size, 0, "examples in one step, over all replicas; 0: the graph's own");
DEFINE_string(unit, "images", "what an example is called: UNIT_per_second");

namespace estimator {
namespace {

// A folder for the checkpoint that the run begins with; removed at the end of the scope.
class WorkFolder {
 public:
  WorkFolder() {
    const char* parent = std::getenv("TMPDIR");
    std::string pattern = JoinPath(parent == nullptr ? "/tmp" : parent, "train_graph-XXXXXX");
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~WorkFolder() {
    if (path_.empty()) return;
    const absl::Status removed = RemoveDirectoryRecursively(path_);
    LOG_IF(WARNING, !removed.ok()) << removed.message();
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;  // empty: it could not be created
};

absl::Status Run() {
  const absl::StatusOr<std::string> meta = FindGraph("", FLAGS_meta);
  EST_RETURN_IF_ERROR(RequireBenchmarkFlags(
      {{"meta", !FLAGS_meta.empty(), "given: DIR/model.ckpt-0.meta"},
       StatusRequirement("meta", FLAGS_meta.empty() ? absl::OkStatus() : meta.status()),
       {"model_dir", FLAGS_model_dir.empty(), "",
        "is not used: the run begins at the checkpoint "
        "beside --meta, in a temporary folder"},
       {"batch_size", FLAGS_batch_size >= 0, "positive, or 0 for the graph's own"},
       {"unit", !FLAGS_unit.empty(), "given"}}));
  EST_ASSIGN_OR_RETURN(const ImportedModelFn model_fn, ImportModelFn(*meta));
  const std::vector<TrainGraphInput>& wanted = model_fn.info().inputs;
  EST_ASSIGN_OR_RETURN(const int64_t batch_size,
                       ResolveBatchSize(FLAGS_batch_size, NumReplicasFromFlags(), wanted));
  EST_ASSIGN_OR_RETURN(
      const Dataset dataset,
      MakeDescribedInput({.input = FLAGS_input, .batch_size = batch_size}, wanted));
  const WorkFolder folder;
  if (folder.path().empty()) {
    return FailedPrecondition(
        "cannot create a temporary folder; set TMPDIR to a folder that is writable");
  }
  EST_RETURN_IF_ERROR(PrepareFolder(folder.path(), *meta));
  FLAGS_model_dir = folder.path();
  return RunTrainingBenchmark<tpu::Params>(
      {.program = "train_graph_benchmark",
       .unit = FLAGS_unit,
       .model_fn = model_fn,
       .batch_size = batch_size,
       .input = [&dataset](const tpu::Params&) { return dataset; },
       .run = {{"mode", "train"}, {"graph", *meta}}});
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  gflags::SetUsageMessage("measures the training of a graph that TensorFlow's Estimator wrote");
  gflags::SetCommandLineOptionWithMode("use_tpu", "false", gflags::SET_FLAGS_DEFAULT);
  return estimator::Main(argc, argv, estimator::Run);
}
