// Dataset describes an input pipeline, as tf.data does. An Iterator runs it. An Iterator can save
// its position, and can be restored to a saved position.
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
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/base/string_arg.h"
#include "estimator/data/pipeline/dataset_options.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/data/pipeline/element_spec.h"
#include "estimator/data/pipeline/random_stream.h"

namespace estimator {

// The time that a stage of a pipeline took.
struct StageTime {
  std::string stage;   // as in Dataset::Describe: "Map"
  double seconds = 0;  // without the stages before it
  std::string advice;  // how to make the stage faster; may be empty
};

// Runs a Dataset. Use it from one thread at a time.
class Iterator {
 public:
  virtual ~Iterator() = default;
  // The next element, or nullopt at the end.
  // Errors: those of files and of map functions, with the element and its source. Further calls
  // return the same error until RestoreState.
  virtual absl::StatusOr<std::optional<Element>> Next() = 0;
  // Skips `count` elements. Returns the number skipped, which is less if the data end. Indexed
  // sources seek; others read the elements. Errors: those of Next.
  virtual absl::StatusOr<int64_t> Skip(int64_t count) = 0;
  // The position of the element that Next would return, whatever was read ahead. It is a small byte
  // string of positions and counts, without data. It is stored in checkpoints.
  // Errors: the last error of Next, if there was one.
  virtual absl::StatusOr<std::string> SaveState() = 0;
  // Moves to a saved position. The same elements follow in the same order, even if the seed was
  // changed. Indexed sources, and shuffles of them, seek. Others read again the elements that were
  // in a buffer.
  // Errors: INVALID_ARGUMENT if the state is from another pipeline, or from a source of another
  // size; DATA_LOSS if it is damaged. The iterator is unchanged then.
  virtual absl::Status RestoreState(absl::string_view state) = 0;
  // The time of each stage so far, in the order of the data. Stages that only pass on positions of
  // indexed data are not listed.
  virtual std::vector<StageTime> StageTimes() const { return {}; }
};

class DatasetNode;  // data/pipeline/dataset_node.h

namespace internal {
// A function of an element that can be called only if it is not const: it has state that it
// changes.
template <typename Fn>
concept IsStatefulMapFn = (std::is_invocable_v<Fn&, const Element&> &&
                           !std::is_invocable_v<const Fn&, const Element&>) ||
                          (std::is_invocable_v<Fn&, const Element&, RandomStream&> &&
                           !std::is_invocable_v<const Fn&, const Element&, RandomStream&>);
}  // namespace internal

using MapFunction = std::function<absl::StatusOr<Element>(const Element&)>;
using RandomMapFn = std::function<absl::StatusOr<Element>(const Element&, RandomStream&)>;
using FilterFn = std::function<absl::StatusOr<bool>(const Element&)>;
using ElementLengthFn = std::function<absl::StatusOr<int64_t>(const Element&)>;

using ReduceFn =
    std::function<absl::StatusOr<Element>(const Element& state, const Element& element)>;

// An immutable value that is cheap to copy. A transform returns another Dataset and leaves this one
// as it is, so the compiler warns of a call such as `dataset.Shuffle(n);`.
class [[nodiscard]] Dataset {
 public:
  // One element for each row of axis 0. All arrays must have the same number of rows.
  //   name: of the data, such as "MNIST". A run that continues with data of another name is an
  //   error. Without names, data of the same size are not told apart.
  static Dataset FromTensorSlices(Element arrays, StringArg name = "");
  static Dataset FromTensors(Element element);       // one element
  static Dataset Range(int64_t begin, int64_t end);  // i64 scalars
  // The elements of a user's generator, which is called with the index 0, 1, ... The dataset ends
  // when it returns nullopt. It must be a pure function of the index, so that a position can be
  // restored.
  //   size: the number of elements, if known; the dataset is then indexed.
  //   output_signature: as in MapOptions.
  static Dataset FromGenerator(std::function<absl::StatusOr<std::optional<Element>>(int64_t)> fn,
                               std::optional<int64_t> size = std::nullopt,
                               std::optional<ElementSpec> output_signature = std::nullopt);
  // Elements with the features of `features`, and with the features of `labels` as labels. Ends
  // with the shorter one.
  static Dataset Zip(Dataset features, Dataset labels);
  // Merges the features and the labels of several datasets.
  // Errors: two of them have the same name.
  static Dataset Zip(std::vector<Dataset> parts);
  // The elements of each dataset, one dataset after another.
  // Errors: they differ in names or dtypes.
  static Dataset Concatenate(std::vector<Dataset> parts);
  // Each element is the next one of a dataset that is drawn at random.
  //   weights: the probabilities of the datasets, up to a common factor; {} draws all equally. A
  //     dataset of weight 0 is left out.
  // The draws are Philox, keyed by the seed, so they differ from TensorFlow's for the same seed.
  // After a dataset has ended, the others are drawn with their weights.
  // Errors: the datasets differ in names or dtypes; a weight is negative or not finite.
  static Dataset SampleFromDatasets(std::vector<Dataset> datasets, std::vector<double> weights = {},
                                    SampleFromDatasetsOptions options = {});
  // Each element is the next one of datasets[i], for each number i of `choice_dataset`.
  //   choice_dataset: i64 scalars in [0, datasets.size()).
  // Errors: the datasets differ in names or dtypes; a choice is not such a number.
  static Dataset ChooseFromDatasets(std::vector<Dataset> datasets, Dataset choice_dataset,
                                    ChooseFromDatasetsOptions options = {});

  // Skips up to max_errors damaged elements of the steps before it, each with a warning that names
  // its origin and the count. One more is an error. These are damaged records, and elements for
  // which the function of a Map or Filter returns DATA_LOSS or INVALID_ARGUMENT, such as Examples
  // that do not parse and images that do not decode. Other errors are never skipped.
  //   max_errors: an element counts once, however often it is read. The saved position has the
  //     count. 0 skips nothing. A run can continue with a higher number.
  // Call it after Map and before Batch. An error within a Zip, an Enumerate or a Batch before it is
  // not skipped, because rows would be lost or paired wrongly.
  // If the length of a record is damaged, the rest of its file is skipped as one element.
  // Source: TF 2.15 tf.data.Dataset.ignore_errors, which has no limit and does not count.
  Dataset IgnoreErrors(int64_t max_errors) const;
  // Applies a function to every element.
  //   fn: a pure function of the element. With num_parallel_calls > 1 several threads call it.
  // A function must not have a random generator of its own, such as a std::mt19937: a resumed run
  // starts it anew, and the order in which threads call it is not fixed. It takes a RandomStream:
  //   dataset.Map([](const Element& element, RandomStream& random) {
  //     return Flip(element, random);
  //   })
  // Errors (of MakeIterator): options.seed is set, but fn takes no RandomStream.
  Dataset Map(MapFunction fn, MapOptions options = {}) const;
  //   fn: a pure function of the element and of the numbers that it draws. The numbers depend on
  //     options.seed, the pass over this dataset and the position of the element in that pass.
  //     They do not depend on the number of threads, and are the same after a resume. Each pass of
  //     a Repeat after the Map has other numbers. A Cache after the Map keeps those of the first.
  // The result is not indexed, so call Shuffle before Map: a later one keeps elements in memory.
  Dataset Map(RandomMapFn fn, MapOptions options = {}) const;
  // Refuses functions that change their captures, such as a lambda with `mutable`.
  template <internal::IsStatefulMapFn Fn>
  Dataset Map(Fn, MapOptions = {}) const {
    static_assert(!internal::IsStatefulMapFn<Fn>,
                  "Map: the function changes its captures, so a resumed run would compute other "
                  "elements; for random numbers take a second argument, RandomStream&");
    return *this;
  }
  // Keeps the elements for which fn returns true.
  Dataset Filter(FilterFn fn) const;
  // Shuffles with a buffer of buffer_size elements. If the dataset is indexed and fits into the
  // buffer, the order is a random permutation.
  Dataset Shuffle(int64_t buffer_size, ShuffleOptions options = {}) const;
  Dataset Repeat(int64_t count = -1) const;  // -1 repeats without end
  // Stacks batch_size elements along a new axis 0.
  // Errors (of Next): the names, dtypes or shapes of the elements of a batch differ.
  Dataset Batch(int64_t batch_size, BatchOptions options = {}) const;
  // Pads each array at its end to a common shape.
  // Errors: an array is larger than its padded shape.
  Dataset PaddedBatch(int64_t batch_size, PaddedBatchOptions options = {}) const;
  // Batches elements of similar length, and pads each batch to its longest element. Bucket i has
  // the lengths from bucket_boundaries[i - 1] to bucket_boundaries[i] - 1, and its batches have
  // bucket_batch_sizes[i] elements. A batch comes when its bucket is full. At the end of the
  // dataset the rest of each bucket comes, in the order of the buckets.
  //   element_length_func: the length of an element. A pure function.
  //   bucket_boundaries: increasing.  bucket_batch_sizes: one more than boundaries.
  // The saved position has no data: a restore reads the elements that wait in buckets again.
  // Errors: those of PaddedBatch (of Next: of Batch with no_padding).
  // Source: TF 2.15 tf.data.Dataset.bucket_by_sequence_length.
  Dataset BucketBySequenceLength(ElementLengthFn element_length_func,
                                 std::vector<int64_t> bucket_boundaries,
                                 std::vector<int64_t> bucket_batch_sizes,
                                 BucketBySequenceLengthOptions options = {}) const;
  // One element for each row of axis 0 of every element: the reverse of Batch.
  // Errors: an array is a scalar, or has another number of rows than the others.
  Dataset Unbatch() const;
  // Unbatch().Batch(batch_size, options).
  Dataset Rebatch(int64_t batch_size, BatchOptions options = {}) const;
  // Joins the datasets that fn makes of windows of `size` elements:
  //   dataset.Window(3, [](const Dataset& window) { return window.Batch(3); }, {.shift = 1})
  // The windows at the end are shorter, unless options.drop_remainder is set. TensorFlow's window
  // gives the datasets themselves, and a flat_map joins them.
  Dataset Window(int64_t size, std::function<absl::StatusOr<Dataset>(const Dataset&)> fn,
                 WindowOptions options = {}) const;
  // Adds a feature with the number of the element: start, start + 1, ... (i64 scalars).
  // Errors: there is a feature of that name already.
  Dataset Enumerate(int64_t start = 0, StringArg name = "index") const;
  // Keeps the elements in memory after the first pass. All iterators of this Dataset share them.
  Dataset Cache() const;
  // Keeps the elements in a file, which the first whole pass writes. Later passes, and later runs
  // of the same pipeline, read that file. A pass that ends early leaves no file. The result is not
  // indexed. Delete the file after a change to the data or to a function, which is not noticed.
  // Errors (of MakeIterator and Next): the file is damaged, or is of another pipeline.
  Dataset Cache(StringArg filename) const;
  // Reads up to buffer_size elements ahead, in a thread of its own. 0 reads nothing ahead.
  // kAutotune begins with 1 and doubles the number while the consumer has to wait.
  Dataset Prefetch(int64_t buffer_size) const;
  Dataset Take(int64_t count) const;  // the first `count` elements; -1 takes all
  // The elements before the first for which fn returns false.
  Dataset TakeWhile(FilterFn fn) const;
  Dataset Skip(int64_t count) const;  // all but the first `count` elements
  // Elements index, index + num_shards, index + 2 * num_shards, ...
  //   block: if greater than 1, so many elements in a row instead of each: the blocks index,
  //     index + num_shards, ... With the batch size of a host, each host gets its part of the batch
  //     that one host would get: Shard(context.num_hosts, context.current_host, batch_size).
  //     TensorFlow's shard has no blocks.
  Dataset Shard(int64_t num_shards, int64_t index, int64_t block = 1) const;
  // Maps every element to a dataset, and gives the elements of these datasets one after another.
  Dataset FlatMap(std::function<absl::StatusOr<Dataset>(const Element&)> fn) const;
  // As FlatMap, but gives elements of several datasets in turn.
  Dataset Interleave(std::function<absl::StatusOr<Dataset>(const Element&)> fn,
                     InterleaveOptions options) const;

  // Returns fn(... fn(fn(initial, element 0), element 1) ..., element n - 1), or `initial` if there
  // are no elements. It reads the whole dataset.
  //   fn: returns the next state, with the names and dtypes of `initial`.
  // Errors: those of the pipeline and of fn; INVALID_ARGUMENT if the dataset has no end.
  absl::StatusOr<Element> Reduce(Element initial, const ReduceFn& fn) const;

  // Errors: those of building the pipeline, such as a missing file or Batch(0). The functions above
  // keep them for this call.
  absl::StatusOr<std::unique_ptr<Iterator>> MakeIterator() const;
  // The number of elements: -1 if it is not known without reading, kInfinite if there is no end.
  static constexpr int64_t kInfinite = -2;
  int64_t Cardinality() const;
  // The names, dtypes and shapes of the elements, or nullopt if a function makes them and gives no
  // output_signature. Transforms check it when the pipeline is built.
  std::optional<ElementSpec> element_spec() const;
  // The number of examples in one pass over the data: the rows of a batch count one by one, and a
  // Repeat does not count. -1 if it is not known without reading.
  int64_t ExamplesPerEpoch() const;
  // What would make the pipeline faster, or its order more random, such as a missing Prefetch.
  std::vector<std::string> Advice() const;
  // "Zip(Idx, Idx) > Map > Shuffle(60000) > Batch(1024) > Prefetch(2)". It is used in banners, and
  // in a saved state to recognize the pipeline. It has no paths, because data may be moved.
  std::string Describe() const;

  explicit Dataset(std::shared_ptr<const DatasetNode> node) : node_(std::move(node)) {}
  const std::shared_ptr<const DatasetNode>& node() const { return node_; }

 private:
  std::shared_ptr<const DatasetNode> node_;
};

// The seed for shuffles without a seed of their own. The training loop sets it from
// RunConfig.tf_random_seed while input_fn runs. Thread-local. The default is 1. Each shuffle of a
// pipeline derives a different seed from it.
void SetDefaultSeed(std::optional<int64_t> seed);
std::optional<int64_t> DefaultSeed();

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_DATASET_H_
