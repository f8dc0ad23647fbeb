#include "estimator/export/signature/export_output.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/export/signature/join_keys.h"

namespace estimator {

ExportOutput PredictOutput(const NamedTensors& outputs) {
  absl::Status status;
  if (outputs.empty()) {
    status = InvalidArgument("PredictOutput: at least one output must be given");
  }
  return ExportOutput(kPredictMethodName, outputs.WithDefaultName("output"), std::move(status));
}

ExportOutput ClassificationOutput(const ClassificationOutputOptions& options) {
  const Tensor& scores = options.scores;
  const Tensor& classes = options.classes;
  absl::Status status;
  NamedTensors outputs;
  if (scores.valid()) outputs["scores"] = scores;
  if (classes.valid()) outputs["classes"] = classes;
  if (outputs.empty()) {
    status = InvalidArgument(
        "Cannot create a ClassificationOutput with empty arguments. At least one of `scores` and "
        "`classes` must be defined.");
  } else if (scores.valid() && !IsFloating(scores.dtype())) {
    status = InvalidArgument("Classification scores must be a float32 Tensor; got ",
                             scores.spec().ToString());
  } else if (classes.valid() && classes.dtype() != DType::kString) {
    status = InvalidArgument("Classification classes must be a string Tensor; got ",
                             classes.spec().ToString(), "; use a PredictOutput for class ids");
  }
  return ExportOutput(kClassifyMethodName, std::move(outputs), std::move(status));
}

ExportOutput RegressionOutput(const Tensor& value) {
  absl::Status status;
  if (!value.valid() || !IsFloating(value.dtype())) {
    status = InvalidArgument("Regression output value must be a float32 Tensor; got ",
                             value.valid() ? value.spec().ToString() : "none");
  }
  return ExportOutput(kRegressMethodName, {{"outputs", value}}, std::move(status));
}

absl::StatusOr<ExportOutputs> ResolveExportOutputs(ExportOutputs outputs,
                                                   const NamedTensors& predictions) {
  if (outputs.empty()) outputs.emplace(kDefaultServingSignatureKey, PredictOutput(predictions));
  for (const auto& [key, output] : outputs) {
    EST_RETURN_IF_ERROR(Annotate(output.status(), absl::StrCat("export_outputs['", key, "']")));
  }
  if (outputs.count(kDefaultServingSignatureKey) > 0) return outputs;
  // A client that names no signature gets the only one, as in TensorFlow.
  if (outputs.size() == 1) {
    outputs.emplace(kDefaultServingSignatureKey, outputs.begin()->second);
    return outputs;
  }
  return InvalidArgument("Multiple `export_outputs` were provided (", JoinKeys(outputs),
                         "), but none of them is the default; name one of them `",
                         kDefaultServingSignatureKey, "`");
}

}  // namespace estimator
