// Mistakes of a user's program that the compiler must explain in one line each. The test
// :misuses_test compares its errors with the comments.
#include "estimator/base/status.h"
#include "tpu/tpu_estimator.h"

namespace estimator {

struct MyParams : tpu::Params {};

EstimatorSpec OtherParams(const Features&, const Labels&, Mode, const MyParams&);
tpu::TPUEstimatorSpec ForTPU(const Features&, const Labels&, Mode, const tpu::Params&);
EstimatorSpec ParamsBeforeMode(const Features&, const Labels&, const EstimatorParams&, Mode);

void ModelFns() {
  Estimator<>::Options options;
  options.model_fn = OtherParams;       // error: a model_fn takes (const Features&, const Labels&,
  options.model_fn = ForTPU;            // error: a model_fn takes (const Features&, const Labels&,
  options.model_fn = ParamsBeforeMode;  // error: a model_fn takes (const Features&, const Labels&,
}

void HostFunctions(const Tensor& x) {
  const auto with_int = [](const Tensor&, int) { return MetricMap(); };
  const tpu::EvalMetrics a{with_int, {x, x}};  // error: the function of eval_metrics takes a `const
  const auto two = [](const Tensor&, const Tensor&) { return MetricMap(); };
  const tpu::EvalMetrics b{two, {{"x", x}, {"y", x}}};  // error: with named tensors, the function
  const auto number = [](const Array&) { return 3; };
  const HostCall c{number, {x}};  // error: that of host_call an absl::Status or nothing
}

absl::StatusOr<Dataset> TrainInput(const EstimatorParams&);
Dataset OtherInput(const MyParams&);

absl::Status InputFns(Estimator<>& estimator) {
  return estimator.Train(OtherInput);  // error: an input_fn takes (const Params&), where Params is
}

// A generator in the function would start anew in a resumed run.
void MapFunctions(const Dataset& dataset) {
  const auto counting = [n = 0](const Element& element) mutable -> absl::StatusOr<Element> {
    return ++n > 3 ? absl::StatusOr<Element>(OutOfRange("three")) : element;
  };
  const Dataset mapped = dataset.Map(counting);  // error: Map: the function changes its captures
}

void Gradients(const Tensor& x) {
  const auto same = [](const Tensor& in) { return in; };
  const auto two = [](const Tensor& dy, int) { return dy; };
  CustomGradient(same, two)(x);  // error: CustomGradient: backward takes (const Tensor& dy), or
}

void DroppedResults(const Dataset& dataset, const Tensor& loss, Estimator<>& estimator) {
  dataset.Shuffle(10);                         // error: ignoring returned value
  Dataset::Range(0, 10);                       // error: ignoring returned value
  train::GradientDescent(0.1).Minimize(loss);  // error: ignoring returned value
  AssignAdd(GetOrCreateGlobalStep(), loss);    // error: ignoring returned value
  estimator.Train(TrainInput);                 // error: ignoring returned value
  estimator.GetVariableNames();                // error: ignoring returned value
}

}  // namespace estimator
