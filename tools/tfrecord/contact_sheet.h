// `tfrecord sample`: a contact sheet, one image with small versions of some records' images and
// their labels.
#ifndef TOOLS_TFRECORD_CONTACT_SHEET_H_
#define TOOLS_TFRECORD_CONTACT_SHEET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "tools/tfrecord/record_files.h"

namespace estimator {

struct ContactSheetOptions {
  int64_t num_images = 25;
  int64_t columns = 0;  // 0: a square sheet
  int64_t side = 128;   // of an image, in pixels
  uint64_t seed = 0;    // selects the records
  std::string image_key = "image/encoded";
  std::string label_key = "image/class/label";  // "" or missing: no label
  std::string text_key = "image/class/text";    // "" or missing: no text
};

// Draws randomly chosen records, in the order of the files. Returns u8 [height, width, 3]. Below
// each image are its label with its text, and its record number and file.
// Errors: INVALID_ARGUMENT for an option out of range or no records; those of reading and decoding,
// which name the file, record, offset and key.
absl::StatusOr<Array> DrawContactSheet(const std::vector<std::string>& files,
                                       InputCompression compression,
                                       const ContactSheetOptions& options);

}  // namespace estimator

#endif  // TOOLS_TFRECORD_CONTACT_SHEET_H_
