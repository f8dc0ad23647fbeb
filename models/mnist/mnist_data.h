// MNIST as arrays and as Datasets. The images come from MNIST's four IDX files, or are drawn
// (digits.h).
#ifndef MODELS_MNIST_MNIST_DATA_H_
#define MODELS_MNIST_MNIST_DATA_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/training/estimator_spec.h"
#include "models/mnist/digits.h"

namespace estimator::mnist {

struct MnistData {
  DigitSet train;
  DigitSet test;
};

// Checks that a directory has the files that ReadMnist reads. Returns OK if data_dir is "".
// Errors: NOT_FOUND naming the directory or all files that are missing.
absl::Status CheckDataDir(absl::string_view data_dir);

// Reads train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
// t10k-labels-idx1-ubyte of a directory, each plain or as .gz.
// Errors: as CheckDataDir; DATA_LOSS if a file is truncated or corrupt; INVALID_ARGUMENT if images
// are not u8 [N, 28, 28], if the numbers of images and labels differ, or if a label is outside
// [0, 10), naming file and record.
//   skip_bad_records: examples of each set whose label is not a digit are left out with a warning,
//   up
//     to this number. Both files of a set have no other damage that leaves the rest readable.
absl::StatusOr<MnistData> ReadMnist(absl::string_view data_dir, int64_t skip_bad_records = 0);

// Options of the drawn set. The test images do not depend on num_train.
struct DrawOptions {
  int64_t num_train = 60000;
  int64_t num_test = 10000;
  uint64_t seed = 0;
};
MnistData DrawMnist(const DrawOptions& options = {});

struct LoadOptions {
  DrawOptions draw = {};
  int64_t skip_bad_records = 0;  // as in ReadMnist
};
// Calls ReadMnist, or DrawMnist if data_dir is "". Logs a line that says which.
// Errors: as ReadMnist; a UsageError (base/usage_error.h) if there are fewer training examples than
// batch_size. It is returned before images are drawn.
absl::StatusOr<MnistData> LoadMnist(absl::string_view data_dir, int64_t batch_size,
                                    const LoadOptions& options = {});

// Returns batches of {"image": u8 [N, 28, 28]} and labels i32 [N].
//   kTrain: repeats for ever, shuffled again each epoch, full batches only.
//   kEval, kPredict: once, in order. The last batch may be smaller.
//   hosts, host: the processes that train together, and which of them reads: each gets its part of
//   the batch that one of them would get.
Dataset MnistDataset(const DigitSet& set, Mode mode, int64_t batch_size, int hosts = 1,
                     int host = 0);

// Returns the first `count` examples, or all if there are fewer. They share memory with `set`.
DigitSet FirstExamples(const DigitSet& set, int64_t count);

}  // namespace estimator::mnist

#endif  // MODELS_MNIST_MNIST_DATA_H_
