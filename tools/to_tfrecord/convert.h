// Writes the images of a data set as sharded TFRecord files.
//
// A shard is written under a temporary name and renamed when it is whole. Then the manifest
// (".train.manifest" of the split "train") lists it, so that the same command continues after a
// stop. The files do not depend on the number of threads, the batch size or stops.
#ifndef TOOLS_TO_TFRECORD_CONVERT_H_
#define TOOLS_TO_TFRECORD_CONVERT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/records/compression.h"
#include "estimator/records/progress_bar.h"
#include "tools/to_tfrecord/image_bytes.h"
#include "tools/to_tfrecord/image_example.h"
#include "tools/to_tfrecord/manifest.h"
#include "tools/to_tfrecord/samples.h"
#include "tools/to_tfrecord/splits.h"

namespace estimator {

struct ConvertOptions {
  std::string output_dir;
  ImageBytesOptions image = {};
  ImageExampleOptions example = {};
  Compression compression = Compression::kNone;
  int64_t shard_bytes = 100'000'000;
  bool counts_in_names = false;  // train-00000-of-00012-1024.tfrec
  std::string suffix = "";
  int64_t allow_bad = 0;     // the number of files that may be left out because they cannot be used
  int64_t batch_size = 256;  // the number of images that are in memory together
  int num_threads = 0;       // 0: one for each CPU
  bool force = false;        // replaces the files of other settings
  ProgressBar::Style progress = ProgressBar::Style::kAuto;
};

struct ConvertReport {
  int64_t records = 0;
  int64_t bytes = 0;
  int64_t kept_shards = 0;  // which an earlier run finished
  std::vector<std::string> files = {};
  std::vector<UnusedFile> unused = {};
};

// Writes all splits, and labels.txt: the names of the classes, one in each line. If files could not
// be used, unused_files-<split>.txt lists them with the reasons.
// Errors: INVALID_ARGUMENT if more than `allow_bad` files cannot be used. All files are read first,
// so that the list has all of them, and the shards without such files are finished.
// FAILED_PRECONDITION if the folder has shards of other settings, or labels.txt has other classes;
// CANCELLED after Ctrl-C; errors of writing.
absl::StatusOr<ConvertReport> Convert(const SampleSet& set, std::vector<Split> splits,
                                      const ConvertOptions& options);

}  // namespace estimator

#endif  // TOOLS_TO_TFRECORD_CONVERT_H_
