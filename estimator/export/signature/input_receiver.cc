#include "estimator/export/signature/input_receiver.h"

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/parsed_feature.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_unary.h"

namespace estimator {
namespace {

void CheckNames(absl::string_view what, const NamedTensors& tensors, absl::Status& status) {
  if (tensors.empty()) {
    status.Update(InvalidArgument(what, " must be defined."));
  }
  for (const auto& [name, tensor] : tensors) {
    if (name.empty()) {
      status.Update(InvalidArgument(what, " keys must be strings that are not empty"));
    }
  }
}

InputReceiver Receiver(NamedTensors features, const NamedTensors& receiver_tensors,
                       ReceiverTensorsAlternatives alternatives) {
  InputReceiver receiver;
  receiver.features = std::move(features);
  // The name that TensorFlow gives to a bare tensor.
  receiver.receiver_tensors = receiver_tensors.WithDefaultName("input");
  CheckNames("receiver_tensor", receiver.receiver_tensors, receiver.status);
  for (auto& [name, tensors] : alternatives) {
    tensors = tensors.WithDefaultName("input");
    CheckNames(absl::StrCat("receiver_tensors_alternatives['", name, "']"), tensors,
               receiver.status);
  }
  receiver.receiver_tensors_alternatives = std::move(alternatives);
  return receiver;
}

// Replaces characters that are allowed in a feature's name, but not in the name of a node.
// Source: TF 2.15 parsing_ops.
std::string NodeName(std::string name) {
  for (size_t i = 0; i < name.size(); ++i) {
    const bool valid = absl::ascii_isalnum(static_cast<unsigned char>(name[i])) || name[i] == '.' ||
                       (i > 0 && absl::StrContains("_-/", name[i]));
    if (!valid) name[i] = i > 0 ? '_' : '.';
  }
  return name;
}

// Makes a placeholder of `spec` with `batch_size` on axis 0.
Tensor BatchPlaceholder(const std::string& name, const TensorSpec& spec, int64_t batch_size,
                        absl::Status& status) {
  Shape shape = spec.shape;
  if (shape.rank() == 0) {
    status.Update(InvalidArgument("feature '", name, "' is ", spec.ToString(),
                                  "; its axis 0 must be the batch"));
    return Tensor();
  }
  // The spec leaves the batch open, but every build of the model has static shapes.
  shape.set_dim(0, batch_size);
  return Placeholder(spec.dtype, shape, NodeName(name));
}

NamedTensors BatchPlaceholders(const std::map<std::string, TensorSpec>& specs, int64_t batch_size,
                               absl::Status& status) {
  NamedTensors placeholders;
  for (const auto& [name, spec] : specs)
    placeholders[name] = BatchPlaceholder(name, spec, batch_size, status);
  return placeholders;
}

// Examples store integers as int64.
DType StoredDType(DType dtype) { return dtype == DType::kInt32 ? DType::kInt64 : dtype; }

// A spec as Examples store it.
FeatureSpec Stored(FeatureSpec spec) {
  std::visit(
      [](auto& kind) {
        const DType stored = StoredDType(kind.dtype);
        if constexpr (std::is_same_v<decltype(kind), FixedLenFeature&>) {
          if (kind.default_value.has_value() && stored != kind.dtype)
            kind.default_value = kind.default_value->Cast(stored);
        }
        kind.dtype = stored;
      },
      spec);
  return spec;
}

// The shape of the result for one Example.
Shape RowShape(const FeatureSpec& spec) {
  if (const auto* fixed = std::get_if<FixedLenFeature>(&spec)) return fixed->shape;
  return ParsedFeature{.serialized = "", .key = "", .spec = spec}.result().shape;
}

absl::Status CheckMaxLength(const std::string& name, const FeatureSpec& spec) {
  int64_t max_length = 1;
  if (const auto* rows = std::get_if<FixedLenSequenceFeature>(&spec)) max_length = rows->max_length;
  if (const auto* values = std::get_if<VarLenFeature>(&spec)) max_length = values->max_length;
  if (max_length > 0) return absl::OkStatus();
  return InvalidArgument(
      "feature '", name, "': max_length is ", max_length,
      ", but a parsing receiver needs it: the length of this feature depends on the "
      "request, and shapes are static; set max_length to the greatest length");
}

// Adds the placeholders of a parsed feature. Adds the feature, in the dtype of its spec, to
// `features`.
absl::Status AddParsed(const std::string& name, const FeatureSpec& spec, int64_t batch_size,
                       ExampleParsing& parsing, NamedTensors& features) {
  EST_RETURN_IF_ERROR(Annotate(CheckFeatureSpec(name, spec), "a parsing receiver"));
  EST_RETURN_IF_ERROR(CheckMaxLength(name, spec));
  const DType dtype = std::visit([](const auto& kind) { return kind.dtype; }, spec);
  const auto placeholder = [&](const std::string& result, DType type, const Shape& row) {
    std::vector<int64_t> dims = {batch_size};
    dims.insert(dims.end(), row.dims().begin(), row.dims().end());
    return parsing.parsed[result] = Placeholder(type, Shape(std::move(dims)),
                                                absl::StrCat("ParseExample/", NodeName(result)));
  };
  const Tensor values = placeholder(name, StoredDType(dtype), RowShape(spec));
  // Examples store three types; the model gets the one that its spec names.
  features[name] = dtype == StoredDType(dtype) ? values : Cast(values, dtype);
  // Padding cannot be told from values, so the model also gets the length.
  if (std::holds_alternative<VarLenFeature>(spec))
    features[LengthName(name)] = placeholder(LengthName(name), DType::kInt32, {});
  parsing.specs[name] = Stored(spec);
  return absl::OkStatus();
}

absl::Status CheckLengthNames(const FeatureSpecs& specs) {
  for (const auto& [name, spec] : specs) {
    if (!std::holds_alternative<VarLenFeature>(spec) || specs.count(LengthName(name)) == 0)
      continue;
    return InvalidArgument("feature '", LengthName(name), "' has the name of the length of '", name,
                           "', a VarLenFeature; rename one of them");
  }
  return absl::OkStatus();
}

}  // namespace

InputReceiver ServingInputReceiver(const NamedTensors& features,
                                   const NamedTensors& receiver_tensors,
                                   ReceiverTensorsAlternatives alternatives) {
  InputReceiver receiver =
      Receiver(features.WithDefaultName("feature"), receiver_tensors, std::move(alternatives));
  CheckNames("feature", receiver.features, receiver.status);
  return receiver;
}

InputReceiver TensorServingInputReceiver(const Tensor& features,
                                         const NamedTensors& receiver_tensors,
                                         ReceiverTensorsAlternatives alternatives) {
  return Receiver(features, receiver_tensors, std::move(alternatives));
}

InputReceiver SupervisedInputReceiver(const NamedTensors& features, const NamedTensors& labels,
                                      const NamedTensors& receiver_tensors) {
  InputReceiver receiver = Receiver(features, receiver_tensors, {});
  receiver.labels = labels;
  if (features.empty() || labels.empty()) {
    receiver.status.Update(
        InvalidArgument("features and labels of a supervised receiver must be defined"));
  }
  return receiver;
}

ServingInputReceiverFn BuildRawServingInputReceiverFn(std::map<std::string, TensorSpec> features,
                                                      std::optional<int64_t> default_batch_size) {
  return [=](int64_t batch_size) {
    absl::Status status;
    const NamedTensors placeholders =
        BatchPlaceholders(features, default_batch_size.value_or(batch_size), status);
    InputReceiver receiver = ServingInputReceiver(placeholders, placeholders);
    receiver.batch_size = default_batch_size;
    receiver.status.Update(status);
    return receiver;
  };
}

ServingInputReceiverFn BuildRawSupervisedInputReceiverFn(
    std::map<std::string, TensorSpec> features, std::map<std::string, TensorSpec> labels,
    std::optional<int64_t> default_batch_size) {
  return [=](int64_t batch_size) {
    absl::Status status;
    std::vector<std::string> both;
    // Features and labels become inputs of one signature, in which a name occurs once.
    for (const auto& [name, spec] : labels) {
      if (features.count(name) > 0) both.push_back(name);
    }
    if (!both.empty()) {
      status = InvalidArgument("Features and labels must have distinct keys; both have ",
                               absl::StrJoin(both, ", "));
    }
    const int64_t rows = default_batch_size.value_or(batch_size);
    const NamedTensors feature_tensors = BatchPlaceholders(features, rows, status);
    const NamedTensors label_tensors = BatchPlaceholders(labels, rows, status);
    NamedTensors all = feature_tensors.WithDefaultName("feature");
    for (const auto& [name, tensor] : label_tensors.WithDefaultName("label")) all[name] = tensor;
    InputReceiver receiver = SupervisedInputReceiver(feature_tensors, label_tensors, all);
    receiver.batch_size = default_batch_size;
    receiver.status.Update(status);
    return receiver;
  };
}

ServingInputReceiverFn BuildParsingServingInputReceiverFn(
    FeatureSpecs feature_spec, std::optional<int64_t> default_batch_size) {
  return [=](int64_t batch_size) {
    const int64_t rows = default_batch_size.value_or(batch_size);
    ExampleParsing parsing;
    // The names of the placeholder and of its input are TensorFlow's, so that clients can stay.
    parsing.serialized = Placeholder(DType::kString, {rows}, "input_example_tensor");
    NamedTensors features;
    absl::Status status = CheckLengthNames(feature_spec);
    for (const auto& [name, spec] : feature_spec)
      status.Update(AddParsed(name, spec, rows, parsing, features));
    InputReceiver receiver = ServingInputReceiver(features, {{"examples", parsing.serialized}});
    receiver.parsing = std::move(parsing);
    receiver.batch_size = default_batch_size;
    // It replaces the receiver's own error, which may only say that features are missing.
    if (!status.ok()) receiver.status = status;
    return receiver;
  };
}

}  // namespace estimator
