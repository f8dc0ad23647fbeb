#include "estimator/data/parsing/parsed_spec.h"

#include <cstdint>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

int64_t MaxLength(int64_t max_length) { return max_length < 0 ? Shape::kUnknownDim : max_length; }

// Adds the results of one feature of one Example, or of one step of a sequence.
void AddResults(const std::string& name, const FeatureSpec& spec, ArraySpecMap* results) {
  if (const auto* const fixed = std::get_if<FixedLenFeature>(&spec)) {
    (*results)[name] = {.dtype = fixed->dtype, .shape = fixed->shape};
  } else if (const auto* const rows = std::get_if<FixedLenSequenceFeature>(&spec)) {
    (*results)[name] = {.dtype = rows->dtype,
                        .shape = WithAxis(MaxLength(rows->max_length), rows->shape)};
  } else if (const auto* const values = std::get_if<VarLenFeature>(&spec)) {
    (*results)[name] = {.dtype = values->dtype, .shape = Shape{MaxLength(values->max_length)}};
    (*results)[LengthName(name)] = {.dtype = DType::kInt32, .shape = Shape{}};
  }
}

// The shape of the one array of serialized Examples; nullopt if it is not known.
//   takes: what the function takes, for messages.
absl::StatusOr<std::optional<Shape>> SerializedShape(absl::string_view takes,
                                                     const std::optional<ElementSpec>& input) {
  if (!input) return std::optional<Shape>();
  const bool one = input->features.size() == 1;
  if (one && input->features.begin()->second.dtype == DType::kString) {
    return input->features.begin()->second.shape;
  }
  return InvalidArgument(takes, "; the elements are ",
                         input->features.empty() ? "without features" : input->ToString());
}

absl::StatusOr<ElementSpec> WithLabels(ArraySpecMap features,
                                       const std::vector<std::string>& labels) {
  ElementSpec spec{.features = std::move(features), .labels = {}};
  for (const std::string& name : labels) {
    const auto found = spec.features.find(name);
    if (found == spec.features.end()) {
      std::vector<std::string> names;
      for (const auto& [feature, type] : spec.features) {
        names.push_back(absl::StrCat("\"", feature, "\""));
      }
      return NotFound(
          "the label \"", name, "\" is none of the parsed features, or is given twice; ",
          names.empty() ? "there are no others" : "the others are ", JoinSome(names, kShownNames));
    }
    spec.labels[labels.size() == 1 ? "" : name] = std::move(found->second);
    spec.features.erase(found);
  }
  return spec;
}

}  // namespace

absl::StatusOr<ElementSpec> ParsedExampleSpec(const FeatureSpecs& specs,
                                              const std::vector<std::string>& labels,
                                              const std::optional<ElementSpec>& input) {
  constexpr absl::string_view kTakes =
      "ParseExample takes a serialized Example (string []) or a batch of them (string [n])";
  EST_ASSIGN_OR_RETURN(const std::optional<Shape> serialized, SerializedShape(kTakes, input));
  if (serialized && serialized->rank() > 1) {
    return InvalidArgument(kTakes, "; the elements are ", input->ToString());
  }
  ArraySpecMap features;
  for (const auto& [name, spec] : specs) AddResults(name, spec, &features);
  for (auto& [name, spec] : features) {
    if (!serialized) {
      spec.shape = std::nullopt;
    } else if (serialized->rank() == 1) {
      spec.shape = WithAxis(serialized->dim(0), *spec.shape);
    }
  }
  return WithLabels(std::move(features), labels);
}

absl::StatusOr<ElementSpec> ParsedSequenceExampleSpec(const FeatureSpecs& context,
                                                      const FeatureSpecs& sequences,
                                                      const std::vector<std::string>& labels,
                                                      const std::optional<ElementSpec>& input) {
  constexpr absl::string_view kTakes =
      "ParseSequenceExample takes one serialized SequenceExample (string [])";
  EST_ASSIGN_OR_RETURN(const std::optional<Shape> serialized, SerializedShape(kTakes, input));
  if (serialized && serialized->fully_known() && serialized->num_elements() != 1) {
    return InvalidArgument(kTakes, "; the elements are ", input->ToString(), "; map before Batch");
  }
  ArraySpecMap features;
  for (const auto& [name, spec] : context) AddResults(name, spec, &features);
  for (const auto& [name, spec] : sequences) {
    if (std::holds_alternative<FixedLenSequenceFeature>(spec)) {
      AddResults(name, spec, &features);  // its rows are the steps
      continue;
    }
    ArraySpecMap step;
    AddResults(name, spec, &step);
    for (auto& [result, type] : step) {
      features[result] = {.dtype = type.dtype, .shape = WithAxis(Shape::kUnknownDim, *type.shape)};
    }
  }
  return WithLabels(std::move(features), labels);
}

}  // namespace estimator
