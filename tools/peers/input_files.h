// The files that input_benchmark and tf_data.py read, so that both do the same work.
#ifndef TOOLS_PEERS_INPUT_FILES_H_
#define TOOLS_PEERS_INPUT_FILES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/image/box.h"

namespace estimator::peers {

// Both write four TFRecord files into work_dir, which is made if it is absent, and return their
// paths. Files of an earlier run are replaced.
//   WriteSmallExamples: parse_small-N.tfrecord; 13 floats, 26 strings and a label, as Criteo's.
//   WriteImageExamples: parse_images-N.tfrecord; 100,000 bytes and a label.
absl::StatusOr<std::vector<std::string>> WriteSmallExamples(const std::string& work_dir,
                                                            int64_t count);
absl::StatusOr<std::vector<std::string>> WriteImageExamples(const std::string& work_dir,
                                                            int64_t count);
FeatureSpecs SmallSpecs();
FeatureSpecs ImageSpecs();

// Returns the contents of the JPEG files of `images`, in the order of their names, and copies them
// to work_dir/image-N.jpg. With images = "" it draws one picture of 375 x 500 pixels.
// Errors: NOT_FOUND if the folder has no file whose name ends in .jpg, .jpeg or .JPEG.
absl::StatusOr<std::vector<std::string>> WriteJpegs(const std::string& work_dir,
                                                    const std::string& images);

// A part of a file that is decoded, and whether the result is mirrored.
struct Crop {
  size_t file = 0;
  image::Box window;
  bool flip = false;
};
// Returns eight random crops for each JPEG file, with 8% to 100% of its area and a ratio of sides
// of 3/4 to 4/3, and writes them to work_dir/crops.bin: for each crop seven little-endian i32,
// which are file, y, x, height, width, flip and 0. The crops depend on the files only.
absl::StatusOr<std::vector<Crop>> WriteCrops(const std::string& work_dir,
                                             const std::vector<std::string>& files);

}  // namespace estimator::peers

#endif  // TOOLS_PEERS_INPUT_FILES_H_
