// The images of a data set and their labels, before they are written: what a converter reads.
#ifndef TOOLS_TO_TFRECORD_SAMPLES_H_
#define TOOLS_TO_TFRECORD_SAMPLES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace estimator {

// A part of an image, relative to its size: 0 is the left or upper edge, 1 the right or lower.
struct BoundingBox {
  float xmin = 0, xmax = 0, ymin = 0, ymax = 0;
};

struct Sample {
  std::string path;             // of the image file; of an IDX file's row: "FILE:ROW"
  std::string name;             // the value of the feature image/filename
  std::vector<int64_t> labels;  // indices of classes
  int64_t bytes = 0;            // of the file; 0 if it does not exist
  double modified_seconds = 0;  // the time of its last change, since 1970
};

// The contents of the file at sample.path.
absl::StatusOr<std::string> ReadSampleFile(const Sample& sample);

struct SampleSet {
  std::vector<std::string> classes = {};  // the name of each class; empty: there are no labels
  std::vector<std::string> synsets = {};  // the WordNet id of each class; may be empty
  bool classes_are_numbers = false;       // the data have integers as labels, not names
  bool multi_label = false;               // an image may have no label or several
  std::vector<Sample> samples = {};
  std::map<std::string, std::vector<BoundingBox>> boxes = {};  // by Sample::name
  // Returns the bytes of the image file of a sample. Thread-safe.
  std::function<absl::StatusOr<std::string>(const Sample& sample)> load = ReadSampleFile;
};

// Images in one folder for each class: DIR/daisy/1.jpg. The classes are the folders, sorted by
// bytes. Folders in a class's folder are searched too. Names that begin with a dot are left out.
// Errors: NOT_FOUND if there are no folders with files; INVALID_ARGUMENT for files beside the
// folders, which have no class.
absl::StatusOr<SampleSet> ClassFolderSamples(const std::string& directory);

struct CsvOptions {
  std::string csv;               // the file
  std::string path_column = "";  // the image; "": the first column
  std::string path_suffix = "";  // is appended to the path, such as ".jpg"
  // Not more than one of these; none for images without labels.
  std::string label_column = "";                // a class name or integer
  std::vector<std::string> label_columns = {};  // a column for each class, with 0 or 1
  std::string label_separator = "";  // of several labels in label_column; "": there is one label
};

// Images that a CSV file with a header lists. Paths are relative to `directory`.
// Errors: those of reading the CSV; NOT_FOUND for a missing column; INVALID_ARGUMENT naming the
// rows with a label that is not 0 or 1, or without a label. A missing image is found later, by
// `load`.
absl::StatusOr<SampleSet> CsvSamples(const std::string& directory, const CsvOptions& options);

// The images of an IDX file u8 [n, height, width], as PNG files, and labels of another one, [n].
// Errors: those of reading; INVALID_ARGUMENT for other types, negative labels or other numbers of
// rows.
absl::StatusOr<SampleSet> IdxSamples(const std::string& images, const std::string& labels);

// The sample of a file, without labels.
Sample FileSample(const std::string& path, const std::string& name);

// Calls `use` with the path of each file in a directory and in its folders, sorted. Names that
// begin with a dot are left out.
absl::Status ForEachFile(const std::string& directory,
                         const std::function<absl::Status(const std::string& path)>& use);

}  // namespace estimator

#endif  // TOOLS_TO_TFRECORD_SAMPLES_H_
