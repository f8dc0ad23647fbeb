// Dataset: a description of an input pipeline, after tf.data. An Iterator runs it, and can save
// where it stands and go on from there.
//
//   Dataset train = Dataset::Zip(IdxDataset(images), IdxDataset(labels))
//                       .Map(ToFloat, {.num_parallel_calls = 2})
//                       .Shuffle(60000, {.seed = 1})
//                       .Repeat()
//                       .Batch(params.batch_size, {.drop_remainder = true})
//                       .Prefetch(2);
#ifndef ESTIMATOR_DATA_DATASET_H_
#define ESTIMATOR_DATA_DATASET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/data/element.h"

namespace estimator {

// Runs a Dataset. Used by one thread at a time.
class Iterator {
 public:
  virtual ~Iterator() = default;
  // The next element, or nullopt at the end.
  // Errors: those of files and of map functions, with the element's index and its source. After an
  // error the iterator stays where it was; calling again repeats the error.
  virtual absl::StatusOr<std::optional<Element>> Next() = 0;
  // A small byte string: positions and counts, and never the data where a position will do. On disk.
  virtual absl::StatusOr<std::string> SaveState() = 0;
  // Goes to a saved position. Indexed sources (and a shuffle over one) seek; the others skip.
  // Errors: INVALID_ARGUMENT if the state is of another pipeline; the iterator is then unchanged.
  virtual absl::Status RestoreState(absl::string_view state) = 0;
};

class DatasetNode;  // data/dataset_node.h

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
struct InterleaveOptions {
  int cycle_length = 1;
  int block_length = 1;
};

// A cheap immutable value.
class Dataset {
 public:
  // One element per row of axis 0. All arrays have the same number of rows.
  static Dataset FromTensorSlices(Element arrays);
  static Dataset FromTensors(Element element);  // one element
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

  Dataset Map(MapFn fn, MapOptions options = {}) const;
  Dataset Filter(FilterFn fn) const;
  // Buffered shuffle; over an indexed dataset with a buffer as large as it: a seeded permutation.
  Dataset Shuffle(int64_t buffer_size, ShuffleOptions options = {}) const;
  Dataset Repeat(int64_t count = -1) const;  // -1: for ever
  Dataset Batch(int64_t batch_size, BatchOptions options = {}) const;
  Dataset Cache() const;  // in memory, filled by the first pass
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
  // "Zip > Map > Shuffle(60000) > Batch(1024) > Prefetch(2)": for banners, and in a saved state to
  // tell pipelines apart.
  std::string Describe() const;

  explicit Dataset(std::shared_ptr<const DatasetNode> node) : node_(std::move(node)) {}
  const std::shared_ptr<const DatasetNode>& node() const { return node_; }

 private:
  std::shared_ptr<const DatasetNode> node_;
};

// The seed of shuffles that name none; set by the training loop from RunConfig.tf_random_seed
// while input_fn runs. Thread-local.
void SetDefaultSeed(std::optional<int64_t> seed);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_DATASET_H_
