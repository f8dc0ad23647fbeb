#include "estimator/ops/case.h"

#include "estimator/graph/graph.h"
#include "estimator/ops/select.h"

namespace estimator {

Tensor Case(const std::vector<std::pair<Tensor, std::function<Tensor()>>>& predicates,
            const std::function<Tensor()>& default_fn, absl::string_view name) {
  Graph& graph = predicates.empty() ? Graph::Current() : GraphFor({predicates[0].first});
  const NameScope scope(name, graph);
  Tensor result = default_fn();
  for (auto pair = predicates.rbegin(); pair != predicates.rend(); ++pair)
    result = Cond(pair->first, pair->second, [&result] { return result; });
  return result;
}

}  // namespace estimator
