// Inspects and rewrites TFRecord files of TensorFlow and of this framework. `--help` shows the
// commands.
#include <cstdio>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/image/png/png.h"
#include "estimator/records/progress_bar.h"
#include "estimator/records/tfrecord_index.h"
#include "gflags/gflags.h"
#include "tools/commands/commands.h"
#include "tools/tfrecord/contact_sheet.h"
#include "tools/tfrecord/inspect.h"
#include "tools/tfrecord/label_statistics.h"
#include "tools/tfrecord/record_files.h"
#include "tools/tfrecord/rewrite.h"
#include "tools/tfrecord/verify.h"

DEFINE_string(compression, "auto",
              "of the files that are read: auto (GZIP is recognized), none, gzip or zlib");
DEFINE_string(output_compression, "none", "split, merge: none, gzip or zlib");
DEFINE_string(records, "0", "show: the numbers of the records, such as 0,5,12; the first is 0");
DEFINE_int64(max_values, 8, "show: the number of values that are shown of a feature");
DEFINE_bool(examples, true, "verify: checks that each record is a tf.train.Example");
DEFINE_bool(images, false, "verify: decodes the image of each record too (--image_key)");
DEFINE_int64(num_shards, 0, "split: the number of files; 0: as many as --shard_mb needs");
DEFINE_double(shard_mb, 100, "split: the size of a file in MB (10^6 bytes), about");
DEFINE_bool(counts_in_names, false, "split: names end with the number of records: ...-1024.tfrec");
DEFINE_string(suffix, "",
              "split: the end of the names; with --counts_in_names the default is .tfrec");
DEFINE_bool(force, false, "split, merge, sample: replace existing files");
DEFINE_string(image_key, "image/encoded", "sample, verify: the key of the encoded image");
DEFINE_string(label_key, "image/class/label", "sample, stats: the key of the label");
DEFINE_string(text_key, "image/class/text", "sample, stats: the key of the label's name");
DEFINE_int64(max_rows, 1000, "stats: the number of labels that are shown");
DEFINE_int64(num, 25, "sample: the number of images");
DEFINE_int64(columns, 0, "sample: images side by side; 0: as many as rows");
DEFINE_int64(side, 128, "sample: the longer side of an image, in pixels");
DEFINE_uint64(seed, 0, "sample: selects the records");

namespace estimator {
namespace {

constexpr char kUsage[] =
    R"(tfrecord COMMAND FILES ... [flags]

  list    FILES         lists files: records, bytes, compression; and the keys of the first record
  count   FILES         counts records, and compares the counts that names state (...-1024.tfrec)
  show    FILE          shows the features of records             --records --max_values
  verify  FILES         checks every crc32c and every Example     --examples --images --image_key
  stats   FILES         counts the labels                         --label_key --text_key --max_rows
  sample  FILES OUT     draws a contact sheet as PNG, with labels --num --columns --side --seed
                                                                  --image_key --label_key
                                                                  --text_key --force
  split   FILES PREFIX  writes PREFIX-00000-of-00012, ...         --num_shards --shard_mb
                                                                  --counts_in_names --suffix
                                                                  --output_compression --force
  merge   FILES OUT     writes all records into one file          --output_compression --force
  index   FILES         writes the index beside each file, so that readers seek in it

FILES are files, patterns in quotes ('DIR/train-*'), or directories. All commands take
--compression.

Exit codes:
  0  success
  1  verify found damage, or count found a name with another count
  2  an error)";

absl::StatusOr<InputCompression> Input() { return ParseInputCompression(FLAGS_compression); }

absl::StatusOr<RewriteOptions> Rewriting() {
  RewriteOptions options{.force = FLAGS_force};
  EST_ASSIGN_OR_RETURN(options.input, Input());
  EST_ASSIGN_OR_RETURN(options.output, ParseOutputCompression(FLAGS_output_compression));
  return options;
}

// The files that all arguments but the last name. The last is an output.
absl::StatusOr<std::vector<std::string>> FilesBeforeLast(const Arguments& arguments) {
  return FindRecordFiles({arguments.begin(), arguments.end() - 1});
}

absl::StatusOr<int> RunList(const Arguments& arguments) {
  EST_ASSIGN_OR_RETURN(const InputCompression input, Input());
  EST_ASSIGN_OR_RETURN(const auto files, FindRecordFiles(arguments));
  return PrintText(ListRecordFiles(files, input));
}

absl::StatusOr<int> RunCount(const Arguments& arguments) {
  EST_ASSIGN_OR_RETURN(const InputCompression input, Input());
  EST_ASSIGN_OR_RETURN(const auto files, FindRecordFiles(arguments));
  int wrong_names = 0;
  EST_RETURN_IF_ERROR(PrintText(CountRecordFiles(files, input, &wrong_names)).status());
  return wrong_names == 0 ? 0 : kFoundExitCode;
}

absl::StatusOr<int> RunShow(const Arguments& arguments) {
  EST_ASSIGN_OR_RETURN(const InputCompression input, Input());
  ShowOptions options{.records = {}, .max_values = FLAGS_max_values};
  for (const auto part : absl::StrSplit(FLAGS_records, ',')) {
    int64_t record = -1;
    if (!absl::SimpleAtoi(part, &record) || record < 0) {
      return InvalidArgument("--records=", FLAGS_records,
                             " is not a list of record numbers, such as 0,5,12");
    }
    options.records.push_back(record);
  }
  return PrintText(ShowRecords(arguments[0], input, options));
}

absl::StatusOr<int> RunVerify(const Arguments& arguments) {
  EST_ASSIGN_OR_RETURN(const InputCompression input, Input());
  EST_ASSIGN_OR_RETURN(const auto files, FindRecordFiles(arguments));
  EST_ASSIGN_OR_RETURN(const RecordsReport report,
                       VerifyRecordFiles(files, input,
                                         {.examples = FLAGS_examples,
                                          .image_key = FLAGS_images ? FLAGS_image_key : ""}));
  for (const std::string& damage : report.damage) std::printf("%s\n", damage.c_str());
  std::fputs(report.summary.c_str(), stdout);
  return report.damage.empty() ? 0 : kFoundExitCode;
}

absl::StatusOr<int> RunStats(const Arguments& arguments) {
  EST_ASSIGN_OR_RETURN(const InputCompression input, Input());
  EST_ASSIGN_OR_RETURN(const auto files, FindRecordFiles(arguments));
  return PrintText(LabelStatistics(
      files, input,
      {.label_key = FLAGS_label_key, .text_key = FLAGS_text_key, .max_rows = FLAGS_max_rows}));
}

absl::StatusOr<int> RunSample(const Arguments& arguments) {
  EST_ASSIGN_OR_RETURN(const InputCompression input, Input());
  EST_ASSIGN_OR_RETURN(const auto files, FilesBeforeLast(arguments));
  const std::string& output = arguments.back();
  EST_RETURN_IF_ERROR(CheckAbsent(output, FLAGS_force));
  EST_ASSIGN_OR_RETURN(const Array sheet, DrawContactSheet(files, input,
                                                           {.num_images = FLAGS_num,
                                                            .columns = FLAGS_columns,
                                                            .side = FLAGS_side,
                                                            .seed = FLAGS_seed,
                                                            .image_key = FLAGS_image_key,
                                                            .label_key = FLAGS_label_key,
                                                            .text_key = FLAGS_text_key}));
  EST_ASSIGN_OR_RETURN(const std::string png, image::EncodePng(sheet));
  EST_RETURN_IF_ERROR(WriteFileAtomically(output, png));
  return PrintText(
      absl::StrCat("wrote ", output, ", ", sheet.shape()[1], " x ", sheet.shape()[0], " pixels\n"));
}

absl::StatusOr<int> RunSplit(const Arguments& arguments) {
  SplitOptions options{.num_shards = FLAGS_num_shards,
                       .shard_bytes = static_cast<int64_t>(FLAGS_shard_mb * 1e6),
                       .counts_in_names = FLAGS_counts_in_names,
                       .suffix = FLAGS_suffix};
  if (FLAGS_counts_in_names && FLAGS_suffix.empty()) options.suffix = ".tfrec";
  if (options.num_shards < 0 || options.shard_bytes < 1) {
    return InvalidArgument("--num_shards and --shard_mb must be positive");
  }
  EST_ASSIGN_OR_RETURN(options.rewrite, Rewriting());
  EST_ASSIGN_OR_RETURN(const auto files, FilesBeforeLast(arguments));
  return PrintText(SplitRecordFiles(files, arguments.back(), options));
}

absl::StatusOr<int> RunMerge(const Arguments& arguments) {
  EST_ASSIGN_OR_RETURN(const RewriteOptions options, Rewriting());
  EST_ASSIGN_OR_RETURN(const auto files, FilesBeforeLast(arguments));
  return PrintText(MergeRecordFiles(files, arguments.back(), options));
}

absl::StatusOr<int> RunIndex(const Arguments& arguments) {
  EST_ASSIGN_OR_RETURN(const InputCompression input, Input());
  EST_ASSIGN_OR_RETURN(const auto files, FindRecordFiles(arguments));
  std::vector<std::vector<std::string>> rows = {{"index", "records"}};
  ProgressBar progress("files", static_cast<int64_t>(files.size()));
  for (const std::string& path : files) {
    EST_RETURN_IF_ERROR(CheckInterrupt());
    EST_ASSIGN_OR_RETURN(const Compression compression, DetectCompression(path, input));
    if (compression != Compression::kNone) {
      return InvalidArgument(
          path, " is a ", CompressionName(compression),
          " file, in which readers cannot seek, so it has no index; `merge` copies "
          "its records to a file that is not compressed");
    }
    EST_ASSIGN_OR_RETURN(const TFRecordIndex index, LoadTFRecordIndex(path));
    const std::string index_path = TFRecordIndexPath(path);
    if (!FileExists(index_path)) {
      return absl::PermissionDeniedError(
          absl::StrCat(index_path, " cannot be written; readers scan the file each time instead"));
    }
    rows.push_back({index_path, absl::StrCat(index.num_records())});
    progress.Add(1);
  }
  progress.Finish();
  return PrintText(FormatTable(rows));
}

std::vector<Command> Commands() {
  return {
      {"list", "FILES", 1, kManyArguments, {}, RunList},
      {"count", "FILES", 1, kManyArguments, {}, RunCount},
      {"show", "FILE", 1, 1, FlagNames("records max_values"), RunShow},
      {"verify", "FILES", 1, kManyArguments, FlagNames("examples images image_key"), RunVerify},
      {"stats", "FILES", 1, kManyArguments, FlagNames("label_key text_key max_rows"), RunStats},
      {"sample", "FILES OUT.png", 2, kManyArguments,
       FlagNames("num columns side seed image_key label_key text_key force"), RunSample},
      {"split", "FILES PREFIX", 2, kManyArguments,
       FlagNames("num_shards shard_mb counts_in_names suffix output_compression force"), RunSplit},
      {"index", "FILES", 1, kManyArguments, {}, RunIndex},
      {"merge", "FILES OUT", 2, kManyArguments, FlagNames("output_compression force"), RunMerge},
  };
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  return estimator::CommandMain(argc, argv, estimator::kUsage, "tfrecord", estimator::Commands());
}
