// The options of Dataset's functions. Names and defaults are those of tf.data.Dataset in TF 2.15.
#ifndef ESTIMATOR_DATA_PIPELINE_DATASET_OPTIONS_H_
#define ESTIMATOR_DATA_PIPELINE_DATASET_OPTIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "estimator/array/shape.h"
#include "estimator/data/pipeline/element_spec.h"

namespace estimator {

// tf.data.AUTOTUNE: the pipeline chooses the number. num_parallel_calls is the number of cores.
// Prefetch's buffer grows while the consumer finds it empty.
inline constexpr int kAutotune = -1;

struct MapOptions {
  // The number of elements that are mapped at the same time, or kAutotune. Their order is kept.
  // With 1 they are mapped in the caller's thread.
  int num_parallel_calls = 1;
  // For a function that takes a RandomStream. Two Maps of one seed draw the same numbers.
  // By default the seed is derived from the run's seed (SetDefaultSeed).
  std::optional<int64_t> seed = std::nullopt;
  // The names, dtypes and shapes of the results. With it, transforms after the Map are checked when
  // the pipeline is built, and every result is checked. Without it, all results must have the names
  // and dtypes of the first one. TensorFlow finds it by tracing the function.
  std::optional<ElementSpec> output_signature = std::nullopt;
};
struct ShuffleOptions {
  // By default derived from the run's seed (SetDefaultSeed).
  std::optional<int64_t> seed = std::nullopt;
  // Whether each pass of a Repeat has another order.
  bool reshuffle_each_iteration = true;
};
struct BatchOptions {
  bool drop_remainder = false;  // drops a last batch with fewer than batch_size elements
};
struct PaddedBatchOptions {
  // The padded shape of a row, by name. An axis of Shape::kUnknownDim has the longest size in the
  // batch. All axes of an array that is not listed are like that.
  std::map<std::string, Shape> padded_shapes = {};
  // The padding value, by name. An array that is not listed is padded with 0; strings are padded
  // with "".
  std::map<std::string, double> padding_values = {};
  bool drop_remainder = false;  // as in BatchOptions
};
struct BucketBySequenceLengthOptions {
  // As in PaddedBatchOptions.
  std::map<std::string, Shape> padded_shapes = {};
  std::map<std::string, double> padding_values = {};
  // True: axes of unknown size are padded to the bucket's boundary minus 1, so that a bucket has
  // one shape. Elements as long as the last boundary are then an error.
  bool pad_to_bucket_boundary = false;
  // True: the elements of a batch must have one shape. The options above are not used.
  bool no_padding = false;
  bool drop_remainder = false;  // drops what does not fill a batch at the end of the input
};
struct InterleaveOptions {
  int cycle_length = 1;  // number of inner datasets that are open at the same time
  int block_length = 1;  // number of elements to take from one before the next one
  // The number of inner datasets that are read ahead at the same time, each by a thread, or
  // kAutotune. The order is the same for any number, and so is a saved position. With 1 they are
  // read in the caller's thread. More than cycle_length has no effect.
  int num_parallel_calls = 1;
};
struct WindowOptions {
  // The number of elements from the start of a window to that of the next; the size by default.
  std::optional<int64_t> shift = std::nullopt;
  int64_t stride = 1;           // a window takes every stride-th element
  bool drop_remainder = false;  // drops windows at the end with fewer than `size` elements
};
struct SampleFromDatasetsOptions {
  // By default derived from the run's seed (SetDefaultSeed).
  std::optional<int64_t> seed = std::nullopt;
  // Ends when the dataset that is drawn has no more elements. By default the others continue.
  bool stop_on_empty_dataset = false;
  // Whether each pass of a Repeat draws other numbers.
  bool rerandomize_each_iteration = false;
};
struct ChooseFromDatasetsOptions {
  // Ends when the dataset that is chosen has no more elements. Otherwise the choice is skipped.
  bool stop_on_empty_dataset = true;
};

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_DATASET_OPTIONS_H_
