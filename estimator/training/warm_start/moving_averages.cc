#include "estimator/training/warm_start/moving_averages.h"

#include <initializer_list>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "estimator/base/strings.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// "bn/" of "bn/gamma" if the last part is one of `names`; else nothing.
std::optional<std::string> ScopeOf(absl::string_view name,
                                   std::initializer_list<absl::string_view> names) {
  const size_t slash = name.rfind('/');
  const size_t begin = slash == absl::string_view::npos ? 0 : slash + 1;
  for (const absl::string_view last : names)
    if (name.substr(begin) == last) return std::string(name.substr(0, begin));
  return std::nullopt;
}

// The name in the checkpoint of the variable `last` beside `stored`, the value of a gamma or beta.
std::string Beside(std::string stored, absl::string_view last) {
  for (const absl::string_view known : {"gamma", "beta"}) {
    const size_t at = stored.rfind(std::string(known));
    if (at != std::string::npos) return stored.replace(at, known.size(), std::string(last));
  }
  return "";
}

void Warn(const std::vector<std::string>& names, const std::string& prefix,
          absl::string_view cause) {
  LOG_IF(WARNING, !names.empty())
      << names.size() << (names.size() == 1 ? " moving average" : " moving averages")
      << " of batch normalization " << (names.size() == 1 ? "starts" : "start")
      << " at the initial value, though gamma and beta beside come from " << prefix << ": "
      << JoinSome(names, 4) << ". " << cause;
}

}  // namespace

void WarnOfMovingAverages(const Graph& graph, const BundleReader& reader,
                          const std::vector<WantedVariable>& loaded,
                          const std::set<std::string>& all) {
  std::map<std::string, std::string> stored;  // scope -> stored name of its gamma or beta
  for (const WantedVariable& variable : loaded) {
    if (const auto scope = ScopeOf(variable.name, {"gamma", "beta"}))
      stored[*scope] = variable.stored_name;
  }
  std::vector<std::string> not_there, left_out;
  for (const Variable& variable : graph.variables()) {
    const auto scope = ScopeOf(variable.name(), {"moving_mean", "moving_variance"});
    if (!scope.has_value() || all.count(variable.name()) > 0) continue;
    const auto beside = stored.find(*scope);
    if (beside == stored.end()) continue;
    const absl::string_view last = absl::string_view(variable.name()).substr(scope->size());
    const bool there = reader.Has(Beside(beside->second, last));
    (there ? left_out : not_there).push_back(variable.name());
  }
  Warn(left_out, reader.prefix(),
       "The checkpoint has them. Evaluation and frozen layers need them: take "
       "Graph::ModelVariables() in place of TrainableVariables()");
  Warn(not_there, reader.prefix(),
       "The checkpoint does not have them, so it was written without them. Evaluation is wrong "
       "until training has moved them, and that of frozen layers stays wrong");
}

}  // namespace estimator
