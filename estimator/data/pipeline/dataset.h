// Dataset: a description of an input pipeline, after tf.data. An Iterator runs it, and can save
// where it stands and go on from there.
//
//   Dataset train = Dataset::Zip(IdxDataset(images), IdxDataset(labels))
//                       .Map(ToFloat, {.num_parallel_calls = 2})
//                       .Shuffle(60000, {.seed = 1})
//                       .Repeat()
//                       .Batch(params.batch_size, {.drop_remainder = true})
//                       .Prefetch(2);
#ifndef ESTIMATOR_DATA_PIPELINE_DATASET_H_
#define ESTIMATOR_DATA_PIPELINE_DATASET_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/data/pipeline/element.h"

namespace estimator {

// Runs a Dataset. Used by one thread at a time.
class Iterator {
 public:
  virtual ~Iterator() = default;
  // The next element, or nullopt at the end.
  // Errors: those of files and of map functions, with the element and its source. Calling again
  // repeats the error, until RestoreState.
  virtual absl::StatusOr<std::optional<Element>> Next() = 0;
  // A small byte string: positions and counts, never data: that of the element that Next would
  // return, whatever was read ahead. On disk. Errors: that of Next, once there was one.
  virtual absl::StatusOr<std::string> SaveState() = 0;
  // Goes to a saved position; what follows are the same elements in the same order, also under
  // another seed. Indexed sources (and a shuffle over one) seek; the others read again what a
  // buffer held.
  // Errors: INVALID_ARGUMENT if the state is of another pipeline, or of a source of another size;
  // DATA_LOSS if it is damaged; the iterator is then unchanged.
  virtual absl::Status RestoreState(absl::string_view state) = 0;
};

class DatasetNode;  // data/pipeline/dataset_node.h

using MapFn = std::function<absl::StatusOr<Element>(const Element&)>;
using FilterFn = std::function<absl::StatusOr<bool>(const Element&)>;

struct MapOptions {
  // Elements worked on at once, in order. 1: in the caller's thread. 0: as many as there are cores.
  int num_parallel_calls = 1;
};
struct ShuffleOptions {
  std::optional<int64_t> seed;  // None: the run's seed (SetDefaultSeed), so a run repeats
  bool reshuffle_each_iteration = true;
};
struct BatchOptions {
  bool drop_remainder = false;
};
struct PaddedBatchOptions {
  // By name, the shape of a row; Shape::kUnknownDim in an axis: the longest of the batch. A name
  // that is not here: all axes so.
  std::map<std::string, Shape> padded_shapes = {};
  // By name; 0 (and "" for strings) if it is not here.
  std::map<std::string, double> padding_values = {};
  bool drop_remainder = false;
};
struct InterleaveOptions {
  int cycle_length = 1;  // inner datasets open at once
  int block_length = 1;  // elements taken from one before the next one's turn
};

// A cheap immutable value.
class Dataset {
 public:
  // One element per row of axis 0. All arrays have the same number of rows.
  static Dataset FromTensorSlices(Element arrays);
  static Dataset FromTensors(Element element);       // one element
  static Dataset Range(int64_t begin, int64_t end);  // i64 scalars
  // Rows of a user's own generator: called with the index 0, 1, ...; nullopt ends it. Must be a
  // pure function of the index, so that a position can be restored.
  static Dataset FromGenerator(std::function<absl::StatusOr<std::optional<Element>>(int64_t)> fn,
                               std::optional<int64_t> size = std::nullopt);
  // features from `features`, labels from the features of `labels`. Ends with the shorter.
  static Dataset Zip(Dataset features, Dataset labels);
  // The merged names of several; a name twice is an error.
  static Dataset Zip(std::vector<Dataset> parts);
  static Dataset Concatenate(std::vector<Dataset> parts);

  // `fn` is a pure function of the element; with num_parallel_calls > 1 it runs in several threads.
  Dataset Map(MapFn fn, MapOptions options = {}) const;
  Dataset Filter(FilterFn fn) const;
  // Buffered shuffle; over an indexed dataset with a buffer as large as it: a seeded permutation.
  Dataset Shuffle(int64_t buffer_size, ShuffleOptions options = {}) const;
  Dataset Repeat(int64_t count = -1) const;  // -1: for ever
  // Errors (of Next): elements whose names, dtypes or shapes differ.
  Dataset Batch(int64_t batch_size, BatchOptions options = {}) const;
  // Pads each array at its end to a common shape. Errors (of Next): an array that is larger.
  Dataset PaddedBatch(int64_t batch_size, PaddedBatchOptions options = {}) const;
  // In memory, filled by the first pass; shared by all iterators of this Dataset.
  Dataset Cache() const;
  Dataset Prefetch(int64_t buffer_size) const;
  Dataset Take(int64_t count) const;
  Dataset Skip(int64_t count) const;
  Dataset Shard(int64_t num_shards, int64_t index) const;
  Dataset FlatMap(std::function<absl::StatusOr<Dataset>(const Element&)> fn) const;
  Dataset Interleave(std::function<absl::StatusOr<Dataset>(const Element&)> fn,
                     InterleaveOptions options) const;

  // Errors: those of building the pipeline (no such file, Batch(0)): kept until here.
  absl::StatusOr<std::unique_ptr<Iterator>> MakeIterator() const;
  // How many elements, where that is known without reading. -1 unknown, kInfinite for ever.
  static constexpr int64_t kInfinite = -2;
  int64_t Cardinality() const;
  // "Zip(Idx, Idx) > Map > Shuffle(60000) > Batch(1024) > Prefetch(2)": for banners, and in a saved
  // state to tell pipelines apart. Without paths: data may move.
  std::string Describe() const;

  explicit Dataset(std::shared_ptr<const DatasetNode> node) : node_(std::move(node)) {}
  const std::shared_ptr<const DatasetNode>& node() const { return node_; }

 private:
  std::shared_ptr<const DatasetNode> node_;
};

// The seed of shuffles that name none; set by the training loop from RunConfig.tf_random_seed
// while input_fn runs. Thread-local. None: 1. Shuffles of one pipeline differ from each other.
void SetDefaultSeed(std::optional<int64_t> seed);
std::optional<int64_t> DefaultSeed();

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_DATASET_H_
