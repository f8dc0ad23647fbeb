#include "estimator/data/parsing/sequence_example_parser.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/data/parsing/example_wire.h"
#include "estimator/data/pipeline/padding_value.h"

namespace estimator {
namespace {

// `steps` padded to max_length steps.
absl::StatusOr<Array> PadSteps(absl::string_view name, const FixedLenSequenceFeature& spec,
                               const Array& steps) {
  const int64_t length = steps.shape()[0];
  if (length > spec.max_length) {
    return FeatureError(name, absl::StrCat("It has ", length, " steps, but max_length is ",
                                           spec.max_length, "; raise max_length"));
  }
  Shape rest = steps.shape();
  rest.set_dim(0, spec.max_length - length);
  Array padding(spec.dtype, std::move(rest));
  if (spec.default_value != 0) {
    EST_ASSIGN_OR_RETURN(const Array value, PaddingValue(spec.default_value, spec.dtype));
    VisitNumeric(spec.dtype, [&](auto tag) {
      using T = decltype(tag);
      std::fill_n(padding.data<T>(), padding.num_elements(), value.scalar<T>());
    });
  }
  return Concatenate(std::vector<Array>{steps, padding});
}

}  // namespace

SequenceExampleParser::SequenceExampleParser(FeatureSpecs context, FeatureSpecs sequences)
    : context_(context), status_(context_.status()) {
  if (status_.ok()) status_ = CheckFeatureSpecs(sequences);
  std::set<std::string> names;
  for (const FeatureSpecs* const specs : {&context, &sequences}) {
    for (const auto& [name, spec] : *specs) {
      std::vector<std::string> results = {name};
      if (std::holds_alternative<VarLenFeature>(spec)) results.push_back(LengthName(name));
      for (const std::string& result : results) {
        if (names.insert(result).second || !status_.ok()) continue;
        status_ =
            FeatureError(name, absl::StrCat("The context and the sequences have the result \"",
                                            result, "\"; parse one of them separately"));
      }
    }
  }
  for (auto& [name, spec] : sequences) {
    FeatureSpec step = spec;
    if (const auto* rows = std::get_if<FixedLenSequenceFeature>(&spec)) {
      step = FixedLenFeature{.dtype = rows->dtype, .shape = rows->shape};
    } else if (std::holds_alternative<FixedLenFeature>(spec) && status_.ok()) {
      status_ =
          FeatureError(name,
                       "A FixedLenFeature is no sequence; give a FixedLenSequenceFeature or a "
                       "VarLenFeature");
    }
    index_[name] = sequences_.size();
    sequences_.push_back({.name = name,
                          .spec = spec,
                          .step = std::make_unique<ExampleParser>(FeatureSpecs{{name, step}})});
  }
}

absl::StatusOr<ArrayMap> SequenceExampleParser::Parse(absl::string_view example) const {
  EST_RETURN_IF_ERROR(status_);
  EST_RETURN_IF_ERROR(CheckExampleSize(example));
  absl::InlinedVector<WireFeature, 16> features(context_.num_specs());
  EST_RETURN_IF_ERROR(context_.Find(WireMap::OfContext(example), absl::MakeSpan(features)));
  EST_ASSIGN_OR_RETURN(ArrayMap out, context_.Decode(features, 1, ""));

  std::vector<std::optional<absl::string_view>> lists(sequences_.size());
  WireMap map = WireMap::OfFeatureLists(example);
  absl::string_view name, bytes;
  while (map.Next(&name, &bytes)) {
    const auto found = index_.find(name);
    if (found != index_.end()) lists[found->second] = bytes;  // the last one counts
  }
  if (!map.ok()) {
    return InvalidArgument(
        "Could not parse example input: its bytes are not a serialized tf.train.SequenceExample");
  }
  for (size_t i = 0; i < sequences_.size(); ++i) {
    const Sequence& sequence = sequences_[i];
    const auto* rows = std::get_if<FixedLenSequenceFeature>(&sequence.spec);
    if (!lists[i] && rows != nullptr && !rows->allow_missing) {
      return InvalidArgument("Feature list: ", sequence.name,
                             " (data type: ", FeatureKindName(rows->dtype),
                             ") is required but could not be found; .allow_missing makes it empty");
    }
    std::vector<WireFeature> steps;
    WireFeature step;
    WireFeatureList list(lists[i].value_or(absl::string_view()));
    while (list.Next(&step)) {
      if (step.kind() == WireFeature::Kind::kUnknown) {
        return FeatureError(sequence.name, absl::StrCat("Unsupported datatype: step ", steps.size(),
                                                        " is no list of bytes, floats or int64s"));
      }
      steps.push_back(step);
    }
    if (!list.ok()) return FeatureError(sequence.name, "Can't parse serialized SequenceExample.");
    EST_ASSIGN_OR_RETURN(ArrayMap parsed, sequence.step->Decode(steps, steps.size(), "step"));
    if (rows != nullptr && rows->max_length >= 0) {
      EST_ASSIGN_OR_RETURN(parsed.at(sequence.name),
                           PadSteps(sequence.name, *rows, parsed.at(sequence.name)));
    }
    out.merge(parsed);
  }
  return out;
}

}  // namespace estimator
