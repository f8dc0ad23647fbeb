#include "models/common/evaluated_examples.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/image/decode_image.h"
#include "estimator/image/picture_grid.h"
#include "estimator/image/png/png.h"
#include "estimator/summary/image.h"

namespace estimator {
namespace {

// Its floats are f32, so that a number has as few digits as it needs.
using ExampleJson = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t,
                                         std::uint64_t, float>;

constexpr size_t kNumDrawn = 9;

std::string JsonLine(const ExampleJson& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/true, ExampleJson::error_handler_t::replace) + "\n";
}

absl::StatusOr<std::string> PictureAsPng(const Array& picture) {
  const Shape& shape = picture.shape();
  absl::StatusOr<std::string> png =
      EncodePng(shape.rank() == 2 ? picture.Reshaped({shape[0], shape[1], 1}) : picture);
  return png.ok() ? png : Annotate(png.status(), "ExamplesOptions::picture");
}

struct EvaluatedExample {
  float sure;
  std::string title;
  ExampleJson json;

  bool correct() const { return absl::EndsWith(title, "[correct]"); }
};

absl::StatusOr<EvaluatedExample> Evaluated(const Prediction& row, const ExamplesOptions& options) {
  const Array scores = row.at(options.scores).Cast(DType::kFloat32);
  const Array labels = row.at(kExampleLabel).Cast(DType::kInt64);
  const std::vector<float> score(scores.values<float>().begin(), scores.values<float>().end());
  const std::vector<int64_t> label(labels.values<int64_t>().begin(),
                                   labels.values<int64_t>().end());
  const bool multi_label = labels.shape().rank() > 0;
  const auto size = static_cast<int64_t>(score.size());
  if (multi_label ? label.size() != score.size() : label[0] < 0 || label[0] >= size) {
    return InvalidArgument("an example has ", score.size(), " scores, and the label ",
                           absl::StrJoin(label, ","));
  }
  const auto highest = std::max_element(score.begin(), score.end()) - score.begin();
  std::vector<std::string> is, says;  // the names of classes
  float sure = 1;
  for (int64_t i = 0; i < size; ++i) {
    const auto at = static_cast<size_t>(i);
    const std::string name = at < options.classes.size() ? options.classes[at] : absl::StrCat(i);
    const bool of = multi_label ? label[at] != 0 : label[0] == i;
    if (of) is.push_back(name);
    if (multi_label ? score[at] > 0.5 : highest == i) says.push_back(name);
    if (of || multi_label) sure = std::fmin(sure, of ? score[at] : 1 - score[at]);
  }
  const auto joined = [](const std::vector<std::string>& names) {
    return names.empty() ? "none" : absl::StrJoin(names, ", ");
  };
  EvaluatedExample example{.sure = sure, .title = joined(says), .json = {}};
  example.title +=
      is == says ? " [correct]" : absl::StrCat(" [incorrect, should be ", joined(is), "]");
  example.json = {
      {"label", label}, {"scores", score}, {"title", example.title}, {"sure", example.sure}};
  return example;
}

}  // namespace

Dataset WithExampleFeatures(const Dataset& batches, const ExamplesOptions& options) {
  return batches.Map([options](const Element& element) -> absl::StatusOr<Element> {
    Element with = element;
    absl::StatusOr<Array> picture = element.features.Get(options.picture);
    if (!picture.ok() && element.features.size() == 1) picture = element.features.Only();
    if (!picture.ok()) return Annotate(picture.status(), "ExamplesOptions::picture");
    with.features[kExamplePicture] = *picture;
    if (element.labels.size() == 1) {
      EST_ASSIGN_OR_RETURN(with.features[kExampleLabel], element.labels.Only());
      return with;
    }
    const auto width = static_cast<int64_t>(options.classes.size());
    const Array first = element.labels.empty() ? Array() : element.labels.begin()->second;
    Array stacked(DType::kInt64, {first.num_elements(), width});
    for (int64_t column = 0; column < width; ++column) {
      EST_ASSIGN_OR_RETURN(const Array label,
                           element.labels.Get(options.classes[static_cast<size_t>(column)]));
      for (int64_t row = 0; row < first.num_elements(); ++row)
        stacked.data<int64_t>()[row * width + column] = static_cast<int64_t>(label.AsDouble(row));
    }
    with.features[kExampleLabel] = stacked;
    return with;
  });
}

absl::StatusOr<std::vector<std::string>> WriteExampleRows(
    StringArg model_dir, const std::function<absl::StatusOr<std::optional<Prediction>>()>& next,
    const ExamplesOptions& options) {
  std::vector<EvaluatedExample> examples;
  std::map<size_t, std::string> pictures;
  std::set<std::pair<float, size_t>> best, worst;  // of kNumShownExamples
  while (true) {
    EST_ASSIGN_OR_RETURN(const std::optional<Prediction> row, next());
    if (!row.has_value()) break;
    const size_t index = examples.size();
    EST_ASSIGN_OR_RETURN(examples.emplace_back(), Evaluated(*row, options));
    const std::pair<float, size_t> place = {examples.back().sure, index};
    best.insert(place);
    worst.insert(place);
    size_t best_out = index + 1, worst_out = index + 1;  // none
    if (best.size() > kNumShownExamples) best_out = best.extract(best.begin()).value().second;
    if (worst.size() > kNumShownExamples)
      worst_out = worst.extract(std::prev(worst.end())).value().second;
    if (index < kNumDrawn || best_out != index || worst_out != index) {
      EST_ASSIGN_OR_RETURN(pictures[index], PictureAsPng(row->at(kExamplePicture)));
    }
    for (const size_t out : {best_out, worst_out}) {
      if (out < kNumDrawn || out > index) continue;
      const std::pair<float, size_t> of = {examples[out].sure, out};
      if (best.count(of) == 0 && worst.count(of) == 0) pictures.erase(out);
    }
  }
  if (examples.empty()) return InvalidArgument("there are no examples to write");

  EST_ASSIGN_OR_RETURN(const std::optional<std::string> checkpoint, LatestCheckpoint(model_dir));
  std::string text =
      JsonLine({{"classes", options.classes},
                {"multi_label", examples[0].json["label"].size() > 1},
                {"checkpoint", checkpoint ? std::string(Basename(*checkpoint)) : ""}});
  std::vector<std::string> titles;
  std::vector<image::GridPicture> drawn;
  for (size_t i = 0; i < examples.size(); ++i) {
    EvaluatedExample& example = examples[i];
    if (pictures.count(i) > 0) example.json["png"] = absl::Base64Escape(pictures[i]);
    text += JsonLine(example.json);
    if (i >= kNumDrawn) continue;
    titles.push_back(example.title);
    EST_ASSIGN_OR_RETURN(const Array picture, image::DecodeImage(pictures[i], {.channels = 3}));
    drawn.push_back({picture, {{titles[i], example.correct() ? image::kBlack : image::kRed}}});
  }
  EST_RETURN_IF_ERROR(WriteDerivedFile(JoinPath(model_dir, kExamplesFile), text));
  EST_ASSIGN_OR_RETURN(const Array sheet,
                       image::DrawPictureGrid(drawn, {.side = 280, .font_pixels = 12}));
  EST_ASSIGN_OR_RETURN(const std::string png, image::EncodePng(sheet));
  EST_RETURN_IF_ERROR(WriteDerivedFile(JoinPath(model_dir, "examples.png"), png));
  return titles;
}

}  // namespace estimator
