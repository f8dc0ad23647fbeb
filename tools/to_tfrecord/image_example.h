// Builds the tf.train.Example of an image and its labels.
#ifndef TOOLS_TO_TFRECORD_IMAGE_EXAMPLE_H_
#define TOOLS_TO_TFRECORD_IMAGE_EXAMPLE_H_

#include <string>

#include "tools/to_tfrecord/image_bytes.h"
#include "tools/to_tfrecord/samples.h"

namespace estimator {

// The keys of the features. The defaults are those of TensorFlow's build_image_data.py and
// build_imagenet_data.py. A feature whose key is "" is not written.
struct ExampleKeys {
  std::string image = "image/encoded";
  std::string label = "image/class/label";
  std::string text = "image/class/text";      // the name of the class
  std::string synset = "image/class/synset";  // only if the data set has synsets
  std::string one_hot = "";                   // float: 1 for the classes of the image, 0 for others
  std::string height = "image/height";
  std::string width = "image/width";
  std::string channels = "image/channels";
  std::string colorspace = "image/colorspace";
  std::string format = "image/format";
  std::string filename = "image/filename";
  // The keys bbox/xmin, xmax, ymin, ymax and label. Only if the data set has bounding boxes.
  std::string bbox = "image/object/bbox";
};

enum class LabelFormat {
  kIndex,     // the numbers of the classes of the image
  kMultiHot,  // a number for each class: 1 or 0
  kColumns,   // a feature for each class, with the class's name as key: 1 or 0
};

struct ImageExampleOptions {
  ExampleKeys keys = {};
  LabelFormat label_format = LabelFormat::kIndex;
  // The number of the first class in LabelFormat::kIndex. TensorFlow's converters begin with 1 and
  // leave 0 for a background class. Labels that are integers in the data are not changed.
  int64_t first_label = 1;
  // Writes colorspace "RGB" and 3 channels for all images, as TensorFlow's converters do.
  bool always_rgb = false;
};

// Checks that no two features get one key.
// Errors: INVALID_ARGUMENT naming the key and both flags; also for an empty image key.
absl::Status CheckExampleKeys(const SampleSet& set, const ImageExampleOptions& options);

// The serialized Example. The same arguments always give the same bytes.
std::string BuildImageExample(const EncodedImage& image, const Sample& sample, const SampleSet& set,
                              const ImageExampleOptions& options);

}  // namespace estimator

#endif  // TOOLS_TO_TFRECORD_IMAGE_EXAMPLE_H_
