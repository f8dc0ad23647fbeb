// PipelineTimes: how long each stage of a running pipeline takes, to find the slowest one.
#ifndef ESTIMATOR_DATA_PIPELINE_PIPELINE_TIMES_H_
#define ESTIMATOR_DATA_PIPELINE_PIPELINE_TIMES_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "estimator/data/pipeline/dataset.h"
#include "estimator/data/pipeline/dataset_node.h"

namespace estimator {

// Thread-safe. Owned by shared pointers: its iterators keep it alive. Stages that pass on indices
// cost nanoseconds. They are not measured, and their reading counts for the stage that asks for the
// elements, such as Batch.
class PipelineTimes final : public NodeTimer, public std::enable_shared_from_this<PipelineTimes> {
 public:
  // Measuring a call takes about 50 ns. Calls are not sampled: those of a parallel map take turns
  // at being long and short.
  IteratorPtr Measure(const DatasetNode& node, IteratorPtr iterator) override;
  // The seconds that each stage of the pipeline took so far without the stages before it, in the
  // order of the data. A stage that reads ahead waits for the stages before it, and has about 0.
  std::vector<StageTime> Stages(const DatasetNode& last) const;

 private:
  using Nanoseconds = std::atomic<int64_t>;
  class Measured;

  const Nanoseconds* Find(const DatasetNode& node) const;
  void AppendStages(const DatasetNode& node, std::vector<StageTime>& stages) const;

  mutable std::mutex mutex_;
  std::map<const DatasetNode*, Nanoseconds> inclusive_;  // with the stages before it
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_PIPELINE_TIMES_H_
