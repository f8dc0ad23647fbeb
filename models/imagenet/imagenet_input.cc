#include "models/imagenet/imagenet_input.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/data/sources/file_datasets.h"
#include "models/common/predictions_csv.h"
#include "models/imagenet/drawn_pictures.h"
#include "models/imagenet/resnet_preprocessing.h"

namespace estimator::imagenet {
namespace {

// The index of the first test picture in the infinite set. Training pictures have smaller indices.
constexpr uint64_t kFirstTestIndex = uint64_t{1} << 40;
constexpr uint64_t kDrawnSeed = 0;

// As in the original: the records in the shuffle buffer, without and with a cache.
constexpr int64_t kShuffleBuffer = 1024;
constexpr int64_t kCachedShuffleBuffer = 16 * 1024;
// The files that are read in turn. The original reads 64 at a time.
constexpr int kCycleLength = 16;

// Adds the name of the feature to an error.
absl::Status OfFeature(const std::string& key, const absl::Status& status) {
  return Annotate(status, absl::StrCat("feature '", key, "'"));
}

// A parsed Example.
struct Parsed {
  std::string image;
  int64_t label = 0;    // in [0, num_label_classes); 0 if it is not needed
  std::string id = {};  // of kPredict
};

// mode: kPredict needs no label, and only kPredict needs the id.
absl::StatusOr<Parsed> Parse(const Element& element, const ImageNetInputOptions& options,
                             Mode mode) {
  EST_ASSIGN_OR_RETURN(const Array serialized, element.features.Only());
  FeatureSpecs specs = {{options.image_key, FixedLenFeature{.dtype = DType::kString}}};
  if (mode != Mode::kPredict) {
    specs.emplace(options.label_key, FixedLenFeature{.dtype = DType::kInt64});
  } else {
    specs.emplace(options.id_key,
                  FixedLenFeature{.dtype = DType::kString, .default_value = Array::String("")});
  }
  EST_ASSIGN_OR_RETURN(const ArrayMap features,
                       ParseSingleExample(serialized.scalar<std::string>(), specs));
  Parsed parsed{.image = features.at(options.image_key).scalar<std::string>()};
  if (mode == Mode::kPredict) {
    parsed.id = features.at(options.id_key).scalar<std::string>();
    return parsed;
  }
  const auto label = features.at(options.label_key).scalar<int64_t>();
  if (label < options.first_label || label - options.first_label >= options.num_label_classes) {
    return OfFeature(
        options.label_key,
        InvalidArgument("the label is ", label, ", but must be in [", options.first_label, ", ",
                        options.first_label + options.num_label_classes, "): num_label_classes is ",
                        options.num_label_classes, " and first_label is ", options.first_label));
  }
  parsed.label = label - options.first_label;
  return parsed;
}

absl::StatusOr<Element> ToElement(const Parsed& parsed, absl::StatusOr<Array> image,
                                  const ImageNetInputOptions& options, Mode mode) {
  if (!image.ok()) return OfFeature(options.image_key, image.status());
  if (mode != Mode::kPredict) {
    return Element{.features = *std::move(image),
                   .labels = Array::Scalar(static_cast<int32_t>(parsed.label))};
  }
  absl::StatusOr<Array> id = ExampleId(parsed.id);
  if (!id.ok()) return OfFeature(options.id_key, id.status());
  return Element{.features = {{"image", *std::move(image)}, {"example_id", *std::move(id)}},
                 .labels = {}};
}

// Batches of the images in the records.
Dataset Batches(const Dataset& records, const ImageNetInputOptions& options, Mode mode,
                int64_t batch_size) {
  const bool train = mode == Mode::kTrain;
  const MapOptions parallel = {.num_parallel_calls = options.num_parallel_calls};
  const auto for_train = [options](const Element& element,
                                   RandomStream& random) -> absl::StatusOr<Element> {
    EST_ASSIGN_OR_RETURN(const Parsed parsed, Parse(element, options, Mode::kTrain));
    return ToElement(parsed, PreprocessForTrain(parsed.image, options.image_size, random), options,
                     Mode::kTrain);
  };
  const auto for_test = [options, mode](const Element& element) -> absl::StatusOr<Element> {
    EST_ASSIGN_OR_RETURN(const Parsed parsed, Parse(element, options, mode));
    return ToElement(parsed, PreprocessForEval(parsed.image, options.image_size), options, mode);
  };
  return (train ? records.Map(for_train, parallel) : records.Map(for_test, parallel))
      .IgnoreErrors(options.skip_bad_records)
      .Batch(batch_size, {.drop_remainder = train})
      .Prefetch(2);
}

// The records of the files in another order each epoch.
Dataset ShuffledRecords(const std::vector<std::string>& files, bool use_cache) {
  const auto num_files = static_cast<int64_t>(files.size());
  const auto read = [](const Element& element) -> absl::StatusOr<Dataset> {
    EST_ASSIGN_OR_RETURN(const Array file, element.features.Only());
    return TFRecordDataset({file.scalar<std::string>()});
  };
  const InterleaveOptions in_turn = {
      .cycle_length = static_cast<int>(std::min<int64_t>(num_files, kCycleLength))};
  const Dataset names =
      Dataset::FromTensorSlices({.features = Array::Strings(files), .labels = {}});
  if (use_cache)
    return names.Interleave(read, in_turn).Cache().Shuffle(kCachedShuffleBuffer).Repeat();
  return names.Shuffle(num_files).Repeat().Interleave(read, in_turn).Shuffle(kShuffleBuffer);
}

// The Examples of a mode.
absl::StatusOr<Dataset> Records(const ImageNetInputOptions& options, Mode mode) {
  if (options.data_dir.empty()) {
    if (mode != Mode::kTrain)
      return DrawnExamples(kDrawnSeed, kFirstTestIndex, options.num_eval_images);
    return DrawnExamples(kDrawnSeed, 0, options.num_train_images)
        .Shuffle(options.num_train_images)
        .Repeat();
  }
  if (mode == Mode::kPredict && !options.predict_files.empty())
    return TFRecordDataset({options.predict_files});
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                       FindImageNetFiles(options.data_dir, mode));
  if (mode == Mode::kTrain) return ShuffledRecords(files, options.use_cache);
  return TFRecordDataset(files).Take(options.num_eval_images);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindImageNetFiles(StringArg data_dir, Mode mode) {
  const std::string split = mode == Mode::kTrain ? "train" : "validation";
  EST_ASSIGN_OR_RETURN(const bool is_directory, DirectoryExists(data_dir));
  if (!is_directory) {
    return NotFound("no such directory: '", data_dir, "'");
  }
  std::vector<std::string> patterns;
  for (const std::string& folder : {std::string(data_dir), JoinPath(data_dir, split)}) {
    const std::string pattern = JoinPath(folder, absl::StrCat(split, "-*"));
    patterns.push_back(pattern);
    auto files = MatchFiles(pattern);
    if (!absl::IsNotFound(files.status())) return files;
  }
  return NotFound(
      "no TFRecord files match ", absl::StrJoin(patterns, " or "),
      "; tools/to_tfrecord and tools/imagenet_to_tfrecord write such files from images");
}

absl::StatusOr<Dataset> ImageNetDataset(const ImageNetInputOptions& options, Mode mode,
                                        int64_t batch_size) {
  EST_ASSIGN_OR_RETURN(const Dataset records, Records(options, mode));
  // Before the images are decoded.
  return Batches(mode == Mode::kTrain
                     ? records.Shard(options.num_hosts, options.current_host, batch_size)
                     : records,
                 options, mode, batch_size);
}

}  // namespace estimator::imagenet
