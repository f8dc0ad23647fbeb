// The flags of resnet_main.cc.
#ifndef MODELS_IMAGENET_RESNET_FLAGS_H_
#define MODELS_IMAGENET_RESNET_FLAGS_H_

#include <gflags/gflags.h>

#include <cstdint>

#include "absl/status/status.h"
#include "models/imagenet/imagenet_input.h"
#include "models/imagenet/resnet_model.h"

DECLARE_string(data_dir);
DECLARE_string(mode);
DECLARE_double(eval_timeout);
DECLARE_string(export_dir);
DECLARE_string(result_json);
DECLARE_string(predict_csv);
DECLARE_bool(predict_probabilities);
DECLARE_int64(first_label);

namespace estimator::imagenet {

// The numbers that depend on the data: a flag that is 0 takes the default of ImageNet, or that of
// the drawn pictures. The number of training images is that of the counts in the files' names, if
// they have counts.
struct RunSizes {
  int64_t train_batch_size = 0;
  int64_t eval_batch_size = 0;
  int64_t train_steps = 0;
  int64_t steps_per_eval = 0;
  int64_t num_train_images = 0;
  int64_t num_eval_images = 0;
  int64_t num_label_classes = 0;
  int64_t image_size = 0;
  double base_learning_rate = 0;
};
RunSizes RunSizesFromFlags();

// Sets --num_shards from --num_cores, --iterations from --iterations_per_loop, and --compute_dtype
// from --precision, and checks all flags. Call it first.
// Errors: a UsageError listing all violations.
absl::Status CheckResnetFlags();

ResnetParams ResnetParamsFromFlags();
ImageNetInputOptions InputOptionsFromFlags();

}  // namespace estimator::imagenet

#endif  // MODELS_IMAGENET_RESNET_FLAGS_H_
