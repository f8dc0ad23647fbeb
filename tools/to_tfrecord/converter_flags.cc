#include "tools/to_tfrecord/converter_flags.h"

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/base/usage_error.h"
#include "gflags/gflags.h"
#include "tools/tfrecord/record_files.h"

DEFINE_string(input_dir, "", "the folder of the data set");
DEFINE_string(output_dir, "", "the folder for the TFRecord files; it is created");
DEFINE_bool(shuffle, true, "permutes the images before they are divided into splits and shards");
DEFINE_uint64(seed, 12345, "selects the permutation; the same seed gives the same files");
DEFINE_int64(allow_bad, 0, "the number of files that may be left out because they are unusable");
DEFINE_bool(decode_images, true, "decodes every image, to find damaged ones; false is faster");
DEFINE_string(compression, "none", "of the TFRecord files: none, gzip or zlib");
DEFINE_bool(counts_in_names, false, "file names end with the number of records: ...-1024.tfrec");
DEFINE_string(suffix, "", "the end of file names; with --counts_in_names the default is .tfrec");
DEFINE_int32(num_threads, 0, "the number of threads that read images; 0: one for each CPU");
DEFINE_int64(batch_size, 256, "the number of images that are read together and then written");
DEFINE_bool(force, false, "replaces files of an earlier run with other settings");
DEFINE_int32(jpeg_quality, 100, "of images that are encoded as JPEG, 0 to 100");

DEFINE_bool(default_keys, true,
            "writes the features of TensorFlow's ImageNet converter; false: only those whose "
            "--..._key is given");
DEFINE_string(image_key, "image/encoded", "the key of the encoded image: bytes");
DEFINE_string(label_key, "image/class/label", "the key of the label: int64; \"\": not written");
DEFINE_string(text_key, "image/class/text", "the key of the class's name: bytes");
DEFINE_string(synset_key, "image/class/synset", "the key of the WordNet id: bytes; ImageNet only");
DEFINE_string(one_hot_key, "", "the key of a float for each class: 1 for those of the image");
DEFINE_string(height_key, "image/height", "the key of the height in pixels: int64");
DEFINE_string(width_key, "image/width", "the key of the width in pixels: int64");
DEFINE_string(channels_key, "image/channels", "the key of the number of channels: int64");
DEFINE_string(colorspace_key, "image/colorspace", "the key of the colorspace, such as RGB: bytes");
DEFINE_string(format_key, "image/format", "the key of the format, JPEG or PNG: bytes");
DEFINE_string(filename_key, "image/filename", "the key of the file's name: bytes");
DEFINE_string(bbox_key, "image/object/bbox",
              "the keys KEY/xmin, xmax, ymin, ymax: float, and KEY/label: int64; ImageNet only");

namespace estimator {
namespace {

// The value of a key's flag; "" if it is not given and --nodefault_keys is.
std::string Key(const std::string& flag, const std::string& value) {
  return FLAGS_default_keys || FlagIsGiven(flag) ? value : "";
}

}  // namespace

bool FlagIsGiven(const std::string& name) {
  return !gflags::GetCommandLineFlagInfoOrDie(name.c_str()).is_default;
}

absl::StatusOr<ConvertOptions> ConvertOptionsOfFlags() {
  std::vector<std::string> mistakes;
  if (FLAGS_input_dir.empty()) mistakes.push_back("--input_dir=DIR is missing");
  if (FLAGS_output_dir.empty()) mistakes.push_back("--output_dir=DIR is missing");
  if (!FLAGS_input_dir.empty() && !IsDirectory(FLAGS_input_dir)) {
    mistakes.push_back(absl::StrCat("--input_dir=", FLAGS_input_dir, " is not a folder"));
  }
  if (FLAGS_allow_bad < 0) mistakes.push_back("--allow_bad is negative");
  if (FLAGS_num_threads < 0 || FLAGS_num_threads > 1024) {
    mistakes.push_back("--num_threads is not between 0 and 1024");
  }
  if (FLAGS_batch_size < 1) mistakes.push_back("--batch_size is less than 1");
  if (FLAGS_jpeg_quality < 0 || FLAGS_jpeg_quality > 100) {
    mistakes.push_back("--jpeg_quality is not between 0 and 100");
  }
  const absl::StatusOr<Compression> compression = ParseOutputCompression(FLAGS_compression);
  if (!compression.ok()) mistakes.emplace_back(compression.status().message());
  if (!mistakes.empty()) return UsageError(absl::StrJoin(mistakes, "\n"));

  ConvertOptions options{.output_dir = FLAGS_output_dir};
  options.image.jpeg_quality = FLAGS_jpeg_quality;
  options.image.decode = FLAGS_decode_images;
  options.example.keys = {.image = Key("image_key", FLAGS_image_key),
                          .label = Key("label_key", FLAGS_label_key),
                          .text = Key("text_key", FLAGS_text_key),
                          .synset = Key("synset_key", FLAGS_synset_key),
                          .one_hot = Key("one_hot_key", FLAGS_one_hot_key),
                          .height = Key("height_key", FLAGS_height_key),
                          .width = Key("width_key", FLAGS_width_key),
                          .channels = Key("channels_key", FLAGS_channels_key),
                          .colorspace = Key("colorspace_key", FLAGS_colorspace_key),
                          .format = Key("format_key", FLAGS_format_key),
                          .filename = Key("filename_key", FLAGS_filename_key),
                          .bbox = Key("bbox_key", FLAGS_bbox_key)};
  options.compression = *compression;
  options.counts_in_names = FLAGS_counts_in_names;
  options.suffix = FLAGS_counts_in_names && FLAGS_suffix.empty() ? ".tfrec" : FLAGS_suffix;
  options.allow_bad = FLAGS_allow_bad;
  options.batch_size = FLAGS_batch_size;
  options.num_threads = FLAGS_num_threads;
  options.force = FLAGS_force;
  return options;
}

absl::Status ConvertAndReport(const SampleSet& set, std::vector<Split> splits,
                              const ConvertOptions& options) {
  EST_ASSIGN_OR_RETURN(const ConvertReport report, Convert(set, std::move(splits), options));
  std::printf("%s: %zu files, %lld records, %s\n", options.output_dir.c_str(), report.files.size(),
              static_cast<long long>(report.records), HumanBytes(report.bytes).c_str());
  if (report.kept_shards > 0) {
    std::printf("%lld of the files are from an earlier run of the same command\n",
                static_cast<long long>(report.kept_shards));
  }
  if (report.unused.empty()) return absl::OkStatus();
  std::printf("%zu files were left out, because they cannot be used:\n", report.unused.size());
  for (const UnusedFile& unused : report.unused) {
    std::printf("  %s: %s\n", unused.path.c_str(), unused.reason.c_str());
  }
  return absl::OkStatus();
}

}  // namespace estimator
