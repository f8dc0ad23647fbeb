// MNIST as arrays and as Datasets: from its four IDX files, or drawn (digits.h) where there are
// none.
#ifndef MODELS_MNIST_MNIST_DATA_H_
#define MODELS_MNIST_MNIST_DATA_H_

#include <cstdint>
#include <string>

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

// Whether a directory has the files that ReadMnist reads. OK for an empty data_dir.
// Errors: NOT_FOUND if the directory or some of the files are missing, all of which are named.
absl::Status CheckDataDir(absl::string_view data_dir);

// Reads train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
// t10k-labels-idx1-ubyte of a directory, each plain or as .gz.
// Errors: as CheckDataDir; DATA_LOSS if a file is truncated or corrupt; INVALID_ARGUMENT if images
// are not u8 [N, 28, 28], if the numbers of images and labels differ, or if a label is not in [0,
// 10) (file and record).
absl::StatusOr<MnistData> ReadMnist(absl::string_view data_dir);

// The embedded set: the test images stay the same however many are drawn for training.
struct DrawOptions {
  int64_t num_train = 60000;
  int64_t num_test = 10000;
  uint64_t seed = 0;
};
MnistData DrawMnist(const DrawOptions& options = {});

// ReadMnist, or DrawMnist where data_dir is empty. Logs in one line which of the two.
// Errors: as ReadMnist; a UsageError (base/usage_error.h) if there are fewer training examples than
// one batch, before any is drawn.
absl::StatusOr<MnistData> LoadMnist(absl::string_view data_dir, int64_t batch_size,
                                    const DrawOptions& options = {});

// Batches of {"image": u8 [N, 28, 28]} and labels i32 [N].
//   kTrain: shuffled anew each epoch, for ever, full batches only.
//   kEval, kPredict: in order, once, the last batch as small as it must be.
Dataset MnistDataset(const DigitSet& set, Mode mode, int64_t batch_size);

// The first `count` examples, or all where there are fewer. Shares the bytes.
DigitSet FirstExamples(const DigitSet& set, int64_t count);

}  // namespace estimator::mnist

#endif  // MODELS_MNIST_MNIST_DATA_H_
