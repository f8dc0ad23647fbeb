#include "tools/to_tfrecord/image_example.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "estimator/base/status.h"
#include "estimator/data/parsing/example_builder.h"

namespace estimator {
namespace {

// 1 for the classes of the sample, 0 for others.
template <typename T>
std::vector<T> MultiHot(const Sample& sample, const SampleSet& set) {
  std::vector<T> values(set.classes.size(), 0);
  for (const int64_t label : sample.labels) values[static_cast<size_t>(label)] = 1;
  return values;
}

std::string JoinNames(const Sample& sample, const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const int64_t label : sample.labels) parts.push_back(names[static_cast<size_t>(label)]);
  return absl::StrJoin(parts, ", ");
}

void AddBoxes(const Sample& sample, const SampleSet& set, int64_t label, const std::string& key,
              ExampleBuilder& example) {
  constexpr std::pair<const char*, float BoundingBox::*> kSides[] = {{"/xmin", &BoundingBox::xmin},
                                                                     {"/xmax", &BoundingBox::xmax},
                                                                     {"/ymin", &BoundingBox::ymin},
                                                                     {"/ymax", &BoundingBox::ymax}};
  const auto found = set.boxes.find(sample.name);
  absl::Span<const BoundingBox> boxes;
  if (found != set.boxes.end()) boxes = found->second;
  for (const auto& [name, side] : kSides) {
    std::vector<float> values;
    for (const BoundingBox& box : boxes) values.push_back(box.*side);
    example.Floats(key + name, std::move(values));
  }
  example.Ints(key + "/label", std::vector<int64_t>(boxes.size(), label));
}

}  // namespace

absl::Status CheckExampleKeys(const SampleSet& set, const ImageExampleOptions& options) {
  const ExampleKeys& keys = options.keys;
  if (keys.image.empty()) return InvalidArgument("--image_key must not be empty");
  std::map<std::string, std::string> flag_of;
  std::vector<std::string> doubled;
  const auto use = [&](const std::string& key, const std::string& flag) {
    if (key.empty()) return;
    const auto [other, is_new] = flag_of.emplace(key, flag);
    if (!is_new) doubled.push_back(absl::StrCat(key, " (", other->second, " and ", flag, ")"));
  };
  use(keys.image, "--image_key");
  use(keys.label, "--label_key");
  use(keys.text, "--text_key");
  if (!set.synsets.empty()) use(keys.synset, "--synset_key");
  use(keys.one_hot, "--one_hot_key");
  use(keys.height, "--height_key");
  use(keys.width, "--width_key");
  use(keys.channels, "--channels_key");
  use(keys.colorspace, "--colorspace_key");
  use(keys.format, "--format_key");
  use(keys.filename, "--filename_key");
  if (options.label_format == LabelFormat::kColumns) {
    for (const std::string& name : set.classes) use(name, "the class of that name");
  }
  if (doubled.empty()) return absl::OkStatus();
  return InvalidArgument("two features would have one key: ", absl::StrJoin(doubled, ", "));
}

std::string BuildImageExample(const EncodedImage& image, const Sample& sample, const SampleSet& set,
                              const ImageExampleOptions& options) {
  const ExampleKeys& keys = options.keys;
  ExampleBuilder example;
  const auto add_bytes = [&](const std::string& key, const std::string& value) {
    if (!key.empty()) example.Bytes(key, {value});
  };
  const auto add_int = [&](const std::string& key, int64_t value) {
    if (!key.empty()) example.Ints(key, {value});
  };
  add_bytes(keys.image, image.bytes);
  add_bytes(keys.format, image.format);
  add_bytes(keys.colorspace, options.always_rgb ? "RGB" : image.colorspace);
  add_int(keys.channels, options.always_rgb ? 3 : image.channels);
  add_int(keys.height, image.height);
  add_int(keys.width, image.width);
  add_bytes(keys.filename, sample.name);
  if (set.classes.empty()) return example.Serialize();  // images without labels

  const int64_t first = set.classes_are_numbers ? 0 : options.first_label;
  std::vector<int64_t> numbers;
  for (const int64_t label : sample.labels) numbers.push_back(label + first);
  add_bytes(keys.text, JoinNames(sample, set.classes));
  if (!set.synsets.empty()) {
    add_bytes(keys.synset, JoinNames(sample, set.synsets));
    if (!keys.bbox.empty() && !numbers.empty()) {
      AddBoxes(sample, set, numbers[0], keys.bbox, example);
    }
  }
  if (!keys.one_hot.empty()) example.Floats(keys.one_hot, MultiHot<float>(sample, set));
  if (options.label_format == LabelFormat::kColumns) {
    const std::vector<int64_t> values = MultiHot<int64_t>(sample, set);
    for (size_t i = 0; i < values.size(); ++i) example.Ints(set.classes[i], {values[i]});
  } else if (!keys.label.empty()) {
    example.Ints(keys.label, options.label_format == LabelFormat::kIndex
                                 ? numbers
                                 : MultiHot<int64_t>(sample, set));
  }
  return example.Serialize();
}

}  // namespace estimator
