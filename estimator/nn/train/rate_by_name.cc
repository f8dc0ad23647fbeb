#include "estimator/nn/train/rate_by_name.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/replica_scope.h"
#include "estimator/ops/math_binary.h"

namespace estimator::train {
namespace {

// Returns the indices of the rates whose fragment is part of `name`.
std::vector<size_t> Matches(const std::vector<NamedRate>& rates, absl::string_view name) {
  std::vector<size_t> found;
  for (size_t i = 0; i < rates.size(); ++i) {
    if (absl::StrContains(name, rates[i].fragment)) found.push_back(i);
  }
  return found;
}

std::string QuotedFragments(const std::vector<NamedRate>& rates, const std::vector<size_t>& which) {
  return absl::StrJoin(which, ", ", [&](std::string* out, size_t i) {
    absl::StrAppend(out, "'", rates[i].fragment, "'");
  });
}

// Builds a rate, which Session::SetLearningRate finds in the graph.
Tensor BuildRate(const Schedule& schedule) {
  Tensor rate = schedule.Build();
  const double scale = ReplicaScope::Current().learning_rate_scale;
  if (scale != 1 && rate.valid()) rate = Multiply(rate, scale, "scaled_learning_rate");
  std::vector<Tensor>& all = Graph::Current().learning_rates();
  if (rate.valid() && std::find(all.begin(), all.end(), rate) == all.end()) all.push_back(rate);
  return rate;
}

}  // namespace

Schedule RateByName(std::vector<NamedRate> rates) {
  return Schedule(std::make_shared<const std::vector<NamedRate>>(std::move(rates)));
}

StepRates::StepRates(const Schedule& schedule, const std::vector<Variable>& variables) {
  if (schedule.by_name() == nullptr) {
    shared_ = BuildRate(schedule);
    return;
  }
  const std::vector<NamedRate>& rates = *schedule.by_name();
  std::vector<std::string> errors;
  std::map<size_t, Tensor> built;
  for (const Variable& variable : variables) {
    const std::vector<size_t> found = Matches(rates, variable.name());
    if (found.size() != 1) {
      errors.push_back(absl::StrCat("'", variable.name(), "' contains ",
                                    found.empty() ? "none" : QuotedFragments(rates, found)));
      continue;
    }
    const auto [rate, is_new] = built.emplace(found[0], Tensor());
    if (is_new) rate->second = BuildRate(rates[found[0]].rate);
    by_name_[variable.name()] = rate->second;
  }
  if (errors.empty()) return;
  std::vector<size_t> all;
  for (size_t i = 0; i < rates.size(); ++i) all.push_back(i);
  Graph::Current().Fail(
      InvalidArgument("RateByName: each variable's name must contain exactly one of ",
                      QuotedFragments(rates, all), ", but ", absl::StrJoin(errors, "; "),
                      ": add a fragment for a name without one, or make fragments longer"));
}

Tensor StepRates::Of(const Variable& variable) const {
  if (shared_.valid()) return shared_;
  const auto rate = by_name_.find(variable.name());
  return rate == by_name_.end() ? Tensor() : rate->second;
}

}  // namespace estimator::train
