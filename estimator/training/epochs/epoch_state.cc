#include "estimator/training/epochs/epoch_state.h"

#include <utility>

#include "estimator/base/status.h"
#include "estimator/data/pipeline/element_bytes.h"

namespace estimator {
namespace {

absl::StatusOr<Array> TakeScalar(ArrayMap& from, const char* name, DType dtype) {
  const auto found = from.find(name);
  if (found == from.end() || found->second.dtype() != dtype || found->second.shape().rank() != 0)
    return DataLoss("the position in the epochs has no ", name);
  return from.extract(found).mapped();
}

}  // namespace

std::string EpochStateToBytes(const EpochState& state) {
  Element element;
  element.features = state.totals;
  element.features["epoch"] = Array::Scalar<int64_t>(state.epoch);
  element.features["steps"] = Array::Scalar<int64_t>(state.steps);
  element.features["begun"] = Array::Scalar<int64_t>(state.begun ? 1 : 0);
  element.features["seconds"] = Array::Scalar<double>(state.seconds);
  if (state.rate.has_value()) element.features["rate"] = Array::Scalar<double>(*state.rate);
  return ElementToBytes(element);
}

absl::StatusOr<EpochState> EpochStateFromBytes(absl::string_view bytes) {
  EST_ASSIGN_OR_RETURN(Element element, ElementFromBytes(bytes));
  EST_ASSIGN_OR_RETURN(const Array epoch, TakeScalar(element.features, "epoch", DType::kInt64));
  EST_ASSIGN_OR_RETURN(const Array steps, TakeScalar(element.features, "steps", DType::kInt64));
  EST_ASSIGN_OR_RETURN(const Array begun, TakeScalar(element.features, "begun", DType::kInt64));
  EST_ASSIGN_OR_RETURN(const Array seconds,
                       TakeScalar(element.features, "seconds", DType::kFloat64));
  EpochState state{.epoch = epoch.scalar<int64_t>(),
                   .steps = steps.scalar<int64_t>(),
                   .begun = begun.scalar<int64_t>() != 0,
                   .seconds = seconds.scalar<double>()};
  if (element.features.count("rate") > 0) {
    EST_ASSIGN_OR_RETURN(const Array rate, TakeScalar(element.features, "rate", DType::kFloat64));
    state.rate = rate.scalar<double>();
  }
  state.totals = std::move(element.features);
  return state;
}

}  // namespace estimator
