#include "estimator/export/signature/input_receiver.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_unary.h"

namespace estimator {
namespace {

void CheckNames(absl::string_view what, const NamedTensors& tensors, absl::Status& status) {
  if (tensors.empty()) {
    status.Update(absl::InvalidArgumentError(absl::StrCat(what, " must be defined.")));
  }
  for (const auto& [name, tensor] : tensors) {
    if (name.empty()) {
      status.Update(absl::InvalidArgumentError(
          absl::StrCat(what, " keys must be strings that are not empty")));
    }
  }
}

InputReceiver Receiver(NamedTensors features, const NamedTensors& receiver_tensors,
                       ReceiverTensorsAlternatives alternatives) {
  InputReceiver receiver;
  receiver.features = std::move(features);
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
    status.Update(absl::InvalidArgumentError(absl::StrCat(
        "feature '", name, "' is ", spec.ToString(), "; its axis 0 must be the batch")));
    return Tensor();
  }
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

// Adds the placeholder of a parsed feature. Returns the feature in the dtype of its spec.
absl::StatusOr<Tensor> AddParsed(const std::string& name, const FeatureSpec& spec,
                                 int64_t batch_size, ExampleParsing& parsing) {
  const auto* fixed = std::get_if<FixedLenFeature>(&spec);
  if (fixed == nullptr) {
    return absl::UnimplementedError(absl::StrCat(
        "feature '", name,
        "': a parsing receiver takes FixedLenFeature only; the length of others "
        "depends on the request, and shapes are static. Pad the values in the Examples "
        "to the largest length, and declare a FixedLenFeature of that shape; or serve "
        "padded arrays with BuildRawServingInputReceiverFn"));
  }
  const absl::Status valid = CheckFixedLenFeature(name, *fixed);
  if (!valid.ok()) return Annotate(valid, "a parsing receiver");
  FixedLenFeature stored = *fixed;
  if (stored.dtype == DType::kInt32) {
    stored.dtype = DType::kInt64;  // Examples store integers as int64
    if (stored.default_value.has_value())
      stored.default_value = stored.default_value->Cast(DType::kInt64);
  }
  std::vector<int64_t> dims = {batch_size};
  dims.insert(dims.end(), stored.shape.dims().begin(), stored.shape.dims().end());
  const Tensor placeholder = Placeholder(stored.dtype, Shape(std::move(dims)),
                                         absl::StrCat("ParseExample/", NodeName(name)));
  parsing.parsed[name] = placeholder;
  parsing.specs[name] = stored;
  return fixed->dtype == stored.dtype ? placeholder : Cast(placeholder, fixed->dtype);
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
        absl::InvalidArgumentError("features and labels of a supervised receiver must be defined"));
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
    for (const auto& [name, spec] : labels) {
      if (features.count(name) > 0) both.push_back(name);
    }
    if (!both.empty()) {
      status = absl::InvalidArgumentError(absl::StrCat(
          "Features and labels must have distinct keys; both have ", absl::StrJoin(both, ", ")));
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
    parsing.serialized = Placeholder(DType::kString, {rows}, "input_example_tensor");
    NamedTensors features;
    absl::Status status;
    for (const auto& [name, spec] : feature_spec) {
      const absl::StatusOr<Tensor> feature = AddParsed(name, spec, rows, parsing);
      status.Update(feature.status());
      if (feature.ok()) features[name] = *feature;
    }
    InputReceiver receiver = ServingInputReceiver(features, {{"examples", parsing.serialized}});
    receiver.parsing = std::move(parsing);
    receiver.batch_size = default_batch_size;
    if (!status.ok()) receiver.status = status;
    return receiver;
  };
}

}  // namespace estimator
