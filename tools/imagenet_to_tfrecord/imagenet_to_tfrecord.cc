// Writes ImageNet (ILSVRC 2012) as TFRecord files with the names, keys and labels of TensorFlow's
// build_imagenet_data.py. `--help` shows the flags.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "estimator/base/usage_error.h"
#include "gflags/gflags.h"
#include "tools/imagenet_to_tfrecord/imagenet.h"
#include "tools/to_tfrecord/convert.h"
#include "tools/to_tfrecord/converter_flags.h"
#include "tools/to_tfrecord/splits.h"

DEFINE_int64(train_shards, 1024, "the number of files with training images");
DEFINE_int64(validation_shards, 128, "the number of files with validation images");
DEFINE_string(labels_file, "",
              "synsets in the order of their labels, one in each line; default: "
              "imagenet_lsvrc_2015_synsets.txt or LOC_synset_mapping.txt in --input_dir, else the "
              "sorted folders of the training images");
DEFINE_string(imagenet_metadata_file, "",
              "names of synsets: SYNSET<tab>NAME; default: imagenet_metadata.txt or words.txt");
DEFINE_string(validation_labels_file, "",
              "the synset of each validation image; default: "
              "imagenet_2012_validation_synset_labels.txt or LOC_val_solution.csv");
DEFINE_string(bounding_box_file, "",
              "a file of bounding boxes or a folder of XML annotations; default: "
              "imagenet_2012_bounding_boxes.csv, ILSVRC/Annotations/CLS-LOC or bounding_boxes");

namespace estimator {
namespace {

constexpr char kUsage[] =
    R"(imagenet_to_tfrecord --input_dir=DIR --output_dir=DIR [flags]

Writes ImageNet as train-00000-of-01024, ... and validation-00000-of-00128, ... with the keys and
the labels 1 to 1000 of TensorFlow's converter. PNG and CMYK images become RGB JPEGs. DIR has one of
these layouts:
  train/n01440764/*.JPEG   validation/*.JPEG or validation/n01440764/*.JPEG
  ILSVRC/Data/CLS-LOC/train/n01440764/*.JPEG   ILSVRC/Data/CLS-LOC/val/*.JPEG

The same command continues after a stop. Files that cannot be used are listed; --allow_bad=N leaves
up to N of them out.

Exit codes:
  0    success
  1    an error, or files that cannot be used
  2    a wrong command line
  130  stopped by Ctrl-C; the same command continues)";

// Adds a split of some of the samples, if there are any.
absl::Status AddSplit(const std::string& name, const std::vector<int64_t>& samples,
                      int64_t num_shards, std::vector<Split>& splits) {
  if (samples.empty()) return absl::OkStatus();
  EST_ASSIGN_OR_RETURN(
      std::vector<Split> made,
      MakeSplits(name, static_cast<int64_t>(samples.size()), FLAGS_shuffle, FLAGS_seed));
  splits.push_back(std::move(made[0]));
  splits.back().num_shards = num_shards;
  for (int64_t& sample : splits.back().samples) sample = samples[static_cast<size_t>(sample)];
  return absl::OkStatus();
}

absl::Status Run() {
  EST_ASSIGN_OR_RETURN(ConvertOptions options, ConvertOptionsOfFlags());
  for (const int64_t shards : {FLAGS_train_shards, FLAGS_validation_shards}) {
    if (shards < 1 || shards > 99'999) {
      return UsageError("--train_shards and --validation_shards must be between 1 and 99999");
    }
  }
  options.image.rgb_jpeg = true;
  options.example.always_rgb = true;
  EST_ASSIGN_OR_RETURN(const Imagenet imagenet,
                       FindImagenet({.directory = FLAGS_input_dir,
                                     .labels_file = FLAGS_labels_file,
                                     .imagenet_metadata_file = FLAGS_imagenet_metadata_file,
                                     .validation_labels_file = FLAGS_validation_labels_file,
                                     .bounding_box_file = FLAGS_bounding_box_file}));
  for (const std::string& note : imagenet.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  std::vector<Split> splits;
  EST_RETURN_IF_ERROR(AddSplit("train", imagenet.train, FLAGS_train_shards, splits));
  EST_RETURN_IF_ERROR(AddSplit("validation", imagenet.validation, FLAGS_validation_shards, splits));
  return ConvertAndReport(imagenet.set, std::move(splits), options);
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  gflags::SetUsageMessage(estimator::kUsage);
  return estimator::Main(argc, argv, estimator::Run);
}
