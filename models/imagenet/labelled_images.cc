#include "models/imagenet/labelled_images.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/data/parsing/parse_example.h"
#include "estimator/data/sources/file_datasets.h"
#include "estimator/image/image.h"
#include "estimator/records/counts_in_names.h"
#include "models/imagenet/drawn_pictures.h"

namespace estimator::imagenet {
namespace {

absl::StatusOr<Element> DecodeLabelled(const Element& record, const LabelledImagesOptions& options,
                                       int64_t first_label) {
  EST_ASSIGN_OR_RETURN(const Array serialized, record.features.Only());
  EST_ASSIGN_OR_RETURN(
      const ArrayMap example,
      ParseSingleExample(serialized.scalar<std::string>(),
                         {{options.image_key, FixedLenFeature{.dtype = DType::kString}},
                          {options.label_key, FixedLenFeature{.dtype = DType::kInt64}}}));
  const absl::StatusOr<Array> pixels =
      image::DecodeImage(example.at(options.image_key).scalar<std::string>(), {.channels = 3});
  if (!pixels.ok())
    return Annotate(pixels.status(), absl::StrCat("feature '", options.image_key, "'"));
  EST_ASSIGN_OR_RETURN(Array resized,
                       image::ResizeToUint8(*pixels, {options.image_size, options.image_size}));
  int64_t label = example.at(options.label_key).scalar<int64_t>() - first_label;
  // Several kinds of drawn pictures are one class.
  if (options.data_dir.empty()) label %= options.classes;
  if (label < 0 || label >= options.classes) {
    return InvalidArgument("feature '", options.label_key, "': the label is ", label,
                           ", but must be in [0, ", options.classes, ")");
  }
  return Element{.features = std::move(resized),
                 .labels = Array::Scalar(static_cast<int32_t>(label))};
}

MapFunction Decode(const LabelledImagesOptions& options, int64_t first_label) {
  return [=](const Element& record) { return DecodeLabelled(record, options, first_label); };
}

}  // namespace

absl::StatusOr<LabelledImages> LoadLabelledImages(const LabelledImagesOptions& options,
                                                  bool training) {
  if (options.data_dir.empty()) {
    LabelledImagesOptions drawn = options;
    drawn.image_key = "image/encoded";
    drawn.label_key = "image/class/label";
    const int64_t begin = training ? 0 : options.num_drawn;
    const int64_t count = training ? options.num_drawn : options.num_drawn / 4;
    return LabelledImages{DrawnExamples(/*seed=*/3, static_cast<uint64_t>(begin), count),
                          Decode(drawn, /*first_label=*/1), count};
  }
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                       MatchFiles(JoinPath(options.data_dir, "*.tfrec")));
  const auto in_validation =
      static_cast<int64_t>(static_cast<double>(files.size()) * options.validation_split);
  if (in_validation < 1 || in_validation >= static_cast<int64_t>(files.size())) {
    return InvalidArgument(options.data_dir, " has ", files.size(), " files *.tfrec, of which ",
                           in_validation, " would be for validation (validation_split ",
                           options.validation_split,
                           "); divide the data into more files, of 100 MB or so");
  }
  const auto split = files.end() - in_validation;
  const std::vector<std::string> part(training ? files.begin() : split,
                                      training ? split : files.end());
  return LabelledImages{TFRecordDataset(part), Decode(options, /*first_label=*/0),
                        SumOfCountsInNames(part).value_or(0)};
}

absl::StatusOr<std::optional<int64_t>> LabelledImages::StepsPerEpoch(int64_t batch_size) const {
  if (count == 0) return std::nullopt;
  if (count >= batch_size) return count / batch_size;
  return InvalidArgument("there are ", count, " images for training, fewer than a batch of ",
                         batch_size, "; give more images, or a smaller batch (fewer replicas)");
}

absl::StatusOr<Element> AugmentImage(const Element& element, RandomStream& random) {
  EST_ASSIGN_OR_RETURN(Array pixels, element.features.Only());
  EST_ASSIGN_OR_RETURN(pixels, image::StatelessRandomFlipLeftRight(pixels, random.NextSeed()));
  EST_ASSIGN_OR_RETURN(pixels, image::StatelessRandomSaturation(pixels, 0, 2, random.NextSeed()));
  return Element{.features = std::move(pixels), .labels = element.labels};
}

}  // namespace estimator::imagenet
