// The input that --input describes: a Dataset for a graph that TensorFlow wrote.
//
//   npy:x.npy,y.npy        one .npy file for each output of the iterator, one row for each example
//   idx:images,labels      the same with IDX files (MNIST's), which may be compressed
//   tfrecord:train-*       TFRecord files of Examples, parsed by a feature file
//   fixed:0..255,0..9      one batch of random numbers, the same for each step
// fixed: has LOW..HIGH (integers: with HIGH; floats: without) or one number for each output; with
// neither, it draws from 0..1.
#ifndef TOOLS_TRAIN_GRAPH_DESCRIBED_INPUT_H_
#define TOOLS_TRAIN_GRAPH_DESCRIBED_INPUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/array/tensor_spec.h"
#include "estimator/base/string_arg.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/graphdef/import_train_graph.h"

namespace estimator {

struct DescribedInputOptions {
  std::string input = {};     // as above
  std::string features = {};  // a feature file (feature_file.h), for tfrecord: only
  int64_t batch_size = 0;     // rows of a batch, over all replicas of this process
  // This process reads its part of each batch (Dataset::Shard).
  int num_hosts = 1;
  int current_host = 0;
  int64_t shuffle = 0;  // elements of the shuffle's buffer; 0 keeps the order
  int64_t seed = 1;     // of fixed:
  bool repeat = true;   // false: one pass, with a smaller last batch if the graph takes it
};

// The name of input `i` of `count`. Names are in the order of the inputs, so an imported model_fn
// gets them in the order of the iterator's outputs.
std::string InputName(size_t i, size_t count);

// What the graph wants, as a table: number, name, dtype, shape, whether something uses it.
std::string InputTable(const std::vector<TrainGraphInput>& wanted);

// The rows of a batch over all replicas: `given`, or the graph's own if that is 0.
// Errors: a UsageError (base/usage_error.h) if the graph has none and none is given, if the graph
// was built for another one, or if the replicas cannot have equal parts.
absl::StatusOr<int64_t> ResolveBatchSize(int64_t given, int64_t num_shards,
                                         const std::vector<TrainGraphInput>& wanted);

// What a batch gives for each input. The graph's own sizes stand for those that the input does not
// know before it is read. nullopt if these are not known either.
//   input: null for batches of `batch_size` rows as the graph wants them.
std::optional<std::vector<TensorSpec>> InputSpecs(const Dataset* input, int64_t batch_size,
                                                  const std::vector<TrainGraphInput>& wanted);

// Checks one array against an input of the graph, and returns it with the input's dtype. Integers
// of another size are converted if that keeps every value.
//   what: the array, for messages, such as a path.
// Errors: INVALID_ARGUMENT with both types and the conversion to do in NumPy.
absl::StatusOr<Array> FitRows(const Array& array, const std::string& what,
                              const TrainGraphInput& wanted);

// Batches for the graph, as features with the names of InputName. They are read while a step runs.
// Errors: INVALID_ARGUMENT for a description that cannot be parsed, another number of arrays than
// the graph takes, and arrays that do not fit; all arrays are checked. NOT_FOUND for missing files.
// Both have the mark of AsUsageError, so that a program exits with 2. DATA_LOSS for a file that is
// not of its format, such as a .npz where a .npy is wanted: a program exits with 1.
absl::StatusOr<Dataset> MakeDescribedInput(const DescribedInputOptions& options,
                                           const std::vector<TrainGraphInput>& wanted);

}  // namespace estimator

#endif  // TOOLS_TRAIN_GRAPH_DESCRIBED_INPUT_H_
