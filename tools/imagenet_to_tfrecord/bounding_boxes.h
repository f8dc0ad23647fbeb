// Reads the bounding boxes of ImageNet's images.
#ifndef TOOLS_IMAGENET_TO_TFRECORD_BOUNDING_BOXES_H_
#define TOOLS_IMAGENET_TO_TFRECORD_BOUNDING_BOXES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/to_tfrecord/samples.h"

namespace estimator {

using BoundingBoxes = std::map<std::string, std::vector<BoundingBox>>;  // by the image's file name

// Reads a file of lines "n00007846_64193.JPEG,0.0060,0.2620,0.7545,0.9940": the image, xmin, ymin,
// xmax and ymax, relative to its size.
// Errors: INVALID_ARGUMENT naming the line.
// Source: build_imagenet_data.py, `_build_bounding_box_lookup`.
absl::StatusOr<BoundingBoxes> ReadBoundingBoxCsv(const std::string& path);

// Reads the XML annotations in a folder and below: n00007846/n00007846_64193.xml. Coordinates are
// clamped to the image and rounded to 4 digits; boxes without an area are left out.
// Errors: INVALID_ARGUMENT naming each file that is not an annotation.
// Source: process_bounding_boxes.py, which writes the file above.
absl::StatusOr<BoundingBoxes> ReadBoundingBoxXmls(const std::string& directory);

// The boxes of one annotation. `path` is for messages.
absl::StatusOr<std::vector<BoundingBox>> ParseAnnotation(const std::string& path,
                                                         absl::string_view xml);

}  // namespace estimator

#endif  // TOOLS_IMAGENET_TO_TFRECORD_BOUNDING_BOXES_H_
