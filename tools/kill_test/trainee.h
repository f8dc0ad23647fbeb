// The trainings that the kill test kills. Each writes which examples every step read.
#ifndef TOOLS_KILL_TEST_TRAINEE_H_
#define TOOLS_KILL_TEST_TRAINEE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace estimator::kill_test {

struct TraineeOptions {
  std::string model = "mnist";  // "mnist", or "resnet": augmented images from TFRecord files
  std::string data_dir;         // of resnet: the folder that WritePictures filled
  std::string model_dir;
  bool use_tpu = false;  // true: on eight replicas
  int64_t max_steps = 0;
  int64_t save_checkpoints_steps = 0;
};

// Trains with Shuffle, Momentum and summaries, mnist with dropout too, from the newest checkpoint
// of model_dir to max_steps. Appends a line for each step to model_dir/examples.txt:
// "STEP CRC CRC ...", with the crc32c of each example's image. A step that a kill undoes is written
// again.
absl::Status Train(const TraineeOptions& options);

// Writes JPEGs of drawn pictures into the TFRecord files of an ImageNet folder.
absl::Status WritePictures(const std::string& data_dir);

// The file that Train writes.
std::string ExamplesPath(const std::string& model_dir);

}  // namespace estimator::kill_test

#endif  // TOOLS_KILL_TEST_TRAINEE_H_
