// Writes the images of a data set as TFRecord files, which TensorFlow and this framework read.
// `--help` shows the flags.
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "estimator/base/usage_error.h"
#include "gflags/gflags.h"
#include "tools/to_tfrecord/convert.h"
#include "tools/to_tfrecord/converter_flags.h"
#include "tools/to_tfrecord/samples.h"

DEFINE_string(split, "train",
              "the parts of the data set and their fractions, such as train=0.8,validation=0.2");
DEFINE_int64(num_shards, 0, "the number of files of each split; 0: as many as --shard_mb needs");
DEFINE_double(shard_mb, 100, "the size of a file in MB (10^6 bytes), about");
DEFINE_bool(rgb_jpeg, false, "encodes PNG and CMYK images as RGB JPEGs (--jpeg_quality)");

DEFINE_string(csv, "", "a CSV file with a header that lists the images; else: folders or IDX");
DEFINE_string(path_column, "",
              "--csv: the column with the path relative to --input_dir; the default is the first");
DEFINE_string(path_suffix, "", "--csv: is appended to each path, such as .jpg");
DEFINE_string(label_column, "", "--csv: the column with the class, a name or an integer");
DEFINE_string(label_columns, "", "--csv: a column for each class, with 0 or 1, such as cat,dog");
DEFINE_string(label_separator, "",
              "--csv: --label_column has several classes with this text between them");
DEFINE_string(idx_images, "train-images-idx3-ubyte",
              "the IDX file with images, relative to --input_dir; may end in .gz");
DEFINE_string(idx_labels, "train-labels-idx1-ubyte", "the IDX file with labels, likewise");

DEFINE_string(label_format, "auto",
              "index: the numbers of the image's classes; multi_hot: 0 or 1 for each class; "
              "columns: a feature for each class with its name as key; auto: index, and multi_hot "
              "with --label_columns");
DEFINE_int64(first_label, 1,
             "the number of the first class (TensorFlow's converters: 1; many programs: 0). "
             "Integers of the data set are not changed");

namespace estimator {
namespace {

constexpr char kUsage[] =
    R"(to_tfrecord --input_dir=DIR --output_dir=DIR [flags]

Writes images with their labels as TFRecord files. The data set is one of these:
  DIR/daisy/1.jpg, DIR/rose/2.png, ...     a folder for each class
  DIR/train-images-idx3-ubyte[.gz], ...    IDX files (MNIST): --idx_images --idx_labels
  --csv=FILE                               paths, and labels in --label_column or --label_columns

Writes train-00000-of-00012, ... and labels.txt, which names the classes. The same command continues
after a stop, and does nothing if all files are there. Files that cannot be used are listed;
--allow_bad=N leaves up to N of them out. The keys are those of TensorFlow's ImageNet converter;
--image_key and others change them.

Exit codes:
  0    success
  1    an error, or files that cannot be used
  2    a wrong command line
  130  stopped by Ctrl-C; the same command continues)";

// The path of an IDX file with or without ".gz", or "" if neither exists.
std::string FindIdx(const std::string& name) {
  for (const char* suffix : {"", ".gz"}) {
    const std::string path = JoinPath(FLAGS_input_dir, name + suffix);
    if (FileExists(path)) return path;
  }
  return "";
}

absl::StatusOr<SampleSet> ReadSamples() {
  if (!FLAGS_csv.empty()) {
    // A path that does not exist as typed is relative to the data set.
    const std::string inside = JoinPath(FLAGS_input_dir, FLAGS_csv);
    return CsvSamples(FLAGS_input_dir,
                      {.csv = !FileExists(FLAGS_csv) && FileExists(inside) ? inside : FLAGS_csv,
                       .path_column = FLAGS_path_column,
                       .path_suffix = FLAGS_path_suffix,
                       .label_column = FLAGS_label_column,
                       .label_columns = absl::StrSplit(FLAGS_label_columns, ',', absl::SkipEmpty()),
                       .label_separator = FLAGS_label_separator});
  }
  for (const char* flag :
       {"path_column", "path_suffix", "label_column", "label_columns", "label_separator"}) {
    if (FlagIsGiven(flag)) {
      return UsageError(absl::StrCat("--", flag, " needs --csv=FILE"));
    }
  }
  const std::string images = FindIdx(FLAGS_idx_images), labels = FindIdx(FLAGS_idx_labels);
  if (!images.empty() && !labels.empty()) return IdxSamples(images, labels);
  if (!images.empty() || FlagIsGiven("idx_images") || FlagIsGiven("idx_labels")) {
    return NotFound(FLAGS_input_dir, " has no ",
                    images.empty() ? FLAGS_idx_images : FLAGS_idx_labels);
  }
  return ClassFolderSamples(FLAGS_input_dir);
}

absl::StatusOr<LabelFormat> ParseLabelFormat(const SampleSet& set) {
  if (FLAGS_label_format == "index") return LabelFormat::kIndex;
  if (FLAGS_label_format == "multi_hot") return LabelFormat::kMultiHot;
  if (FLAGS_label_format == "columns") return LabelFormat::kColumns;
  if (FLAGS_label_format != "auto") {
    return UsageError(absl::StrCat("--label_format=", FLAGS_label_format,
                                   " is not one of auto, index, multi_hot, columns"));
  }
  return set.multi_label && !FLAGS_label_columns.empty() ? LabelFormat::kMultiHot
                                                         : LabelFormat::kIndex;
}

absl::Status Run() {
  EST_ASSIGN_OR_RETURN(ConvertOptions options, ConvertOptionsOfFlags());
  options.shard_bytes = static_cast<int64_t>(FLAGS_shard_mb * 1e6);
  if (FLAGS_num_shards < 0 || FLAGS_num_shards > 99'999 || options.shard_bytes < 1) {
    return UsageError("--num_shards must be between 0 and 99999, and --shard_mb positive");
  }
  options.image.rgb_jpeg = FLAGS_rgb_jpeg;
  EST_ASSIGN_OR_RETURN(const SampleSet set, ReadSamples());
  EST_ASSIGN_OR_RETURN(options.example.label_format, ParseLabelFormat(set));
  if (set.classes_are_numbers && FlagIsGiven("first_label")) {
    return UsageError(
        "--first_label has no effect on this data set: its labels are integers, which are not "
        "changed");
  }
  options.example.first_label = FLAGS_first_label;
  EST_ASSIGN_OR_RETURN(
      std::vector<Split> splits,
      MakeSplits(FLAGS_split, static_cast<int64_t>(set.samples.size()), FLAGS_shuffle, FLAGS_seed));
  for (Split& split : splits) split.num_shards = FLAGS_num_shards;
  return ConvertAndReport(set, std::move(splits), options);
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  gflags::SetUsageMessage(estimator::kUsage);
  return estimator::Main(argc, argv, estimator::Run);
}
