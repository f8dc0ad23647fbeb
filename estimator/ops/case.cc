#include "estimator/ops/case.h"

#include "estimator/graph/graph.h"
#include "estimator/ops/select.h"

namespace estimator {

Tensor Case(const std::vector<std::pair<Tensor, std::function<Tensor()>>>& predicates,
            const std::function<Tensor()>& default_fn, StringArg name) {
  Graph& graph = predicates.empty() ? Graph::Current() : GraphFor({predicates[0].first});
  const NameScope scope(name, graph);
  // Built from the last condition to the first, while the functions are called from the first to
  // the last.
  std::function<Tensor()> fn = default_fn;
  for (auto pair = predicates.rbegin(); pair != predicates.rend(); ++pair)
    fn = [pair, rest = std::move(fn)] { return Cond(pair->first, pair->second, rest); };
  return fn();
}

}  // namespace estimator
