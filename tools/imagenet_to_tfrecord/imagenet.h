// Finds the images and labels of ImageNet (ILSVRC 2012) in a folder.
//
// The images are in one of these folders, relative to the folder of the data set:
//   train/n01440764/n01440764_10026.JPEG, validation/ILSVRC2012_val_00000001.JPEG
//   ILSVRC/Data/CLS-LOC/train/..., ILSVRC/Data/CLS-LOC/val/...    (as Kaggle distributes it)
// `val` is another name of `validation`. Validation images may also be in folders of synsets.
#ifndef TOOLS_IMAGENET_TO_TFRECORD_IMAGENET_H_
#define TOOLS_IMAGENET_TO_TFRECORD_IMAGENET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/to_tfrecord/samples.h"

namespace estimator {

// Files beside the images. "" looks for the usual names in the folder of the data set.
struct ImagenetOptions {
  std::string directory = "";
  // The synsets in the order of their labels, one in each line: "n01440764" or "n01440764 tench".
  // Usual names: imagenet_lsvrc_2015_synsets.txt, LOC_synset_mapping.txt, synset_words.txt. If
  // there is none: the folders of the training images, sorted. That is the official order.
  std::string labels_file = "";
  // The names of synsets: "n01440764<tab>tench, Tinca tinca". Usual names: imagenet_metadata.txt,
  // words.txt. If there is none: the names in labels_file, else the synsets themselves.
  std::string imagenet_metadata_file = "";
  // The synset of each validation image, in the order of their numbers
  // (imagenet_2012_validation_synset_labels.txt), or Kaggle's LOC_val_solution.csv.
  std::string validation_labels_file = "";
  // Bounding boxes: a file of lines (imagenet_2012_bounding_boxes.csv) or a folder of XML files
  // (ILSVRC/Annotations/CLS-LOC, bounding_boxes). Without them images have no boxes.
  std::string bounding_box_file = "";
};

struct Imagenet {
  SampleSet set;
  std::vector<int64_t> train, validation;  // indices in set.samples
  std::vector<std::string> notes;          // what was not found, and what is written instead
};

// Errors: NOT_FOUND for a missing folder or file; INVALID_ARGUMENT for images of unknown synsets,
// validation images without a label, and damaged files. All of a kind are named together.
absl::StatusOr<Imagenet> FindImagenet(const ImagenetOptions& options);

}  // namespace estimator

#endif  // TOOLS_IMAGENET_TO_TFRECORD_IMAGENET_H_
