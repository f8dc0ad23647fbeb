// The input of ResNet: TFRecord files of ImageNet, or pictures that are drawn (drawn_pictures.h).
#ifndef MODELS_IMAGENET_IMAGENET_INPUT_H_
#define MODELS_IMAGENET_IMAGENET_INPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/training/estimator_spec.h"

namespace estimator::imagenet {

struct ImageNetInputOptions {
  std::string data_dir = "";  // empty: pictures are drawn
  int64_t image_size = 224;
  int64_t num_label_classes = 1000;
  // The pictures that are drawn for training. Records of files are all used.
  int64_t num_train_images = 0;
  // Evaluation uses at most so many images.
  int64_t num_eval_images = 50000;
  // Keeps the records of training in memory after the first epoch.
  bool use_cache = false;
  int num_parallel_calls = kAutotune;  // the number of images decoded at the same time
  // The features of an Example. The label of the first class is first_label.
  std::string image_key = "image/encoded";
  std::string label_key = "image/class/label";
  int64_t first_label = 1;
  // kPredict: the feature with the id of an example. It may be absent.
  std::string id_key = "image/filename";
  // kPredict: the files to read. "": those of the evaluation.
  std::string predict_files = "";
  // The damaged records, and images that do not decode, that are skipped (Dataset::IgnoreErrors).
  int64_t skip_bad_records = 0;
  // kTrain: the processes that train together, and which of them reads. They share the order of the
  // records, and each reads its own.
  int num_hosts = 1;
  int current_host = 0;
};

// Returns the files of training or evaluation, sorted: `train-*` or `validation-*`, in data_dir or
// in its folder `train` or `validation`. Names may end in .tfrecord or .tfrec.
// Errors: NOT_FOUND if there is no such folder or no such file, with the names that are looked for.
absl::StatusOr<std::vector<std::string>> FindImageNetFiles(StringArg data_dir, Mode mode);

// Returns batches of images, f32 [N, image_size, image_size, 3], and labels, i32 [N], in
// [0, num_label_classes). The images are preprocessed (resnet_preprocessing.h).
//   kTrain: repeats for ever. The files, 16 of which are read in turn, and the records in a buffer
//     are shuffled again each epoch. Full batches only.
//   kEval, kPredict: once, in order; the last batch may be smaller.
//   kPredict: without labels. The images have the name "image", and "example_id" is their id, u8
//     [N, kExampleIdBytes] (models/common/predictions_csv.h).
// Errors: as FindImageNetFiles. Of the iterator: those of the records; INVALID_ARGUMENT naming the
// feature for an image that cannot be decoded, or a label that is out of range.
// Source: tensorflow/tpu models/official/resnet imagenet_input.ImageNetInput.
absl::StatusOr<Dataset> ImageNetDataset(const ImageNetInputOptions& options, Mode mode,
                                        int64_t batch_size);

}  // namespace estimator::imagenet

#endif  // MODELS_IMAGENET_IMAGENET_INPUT_H_
