#include "estimator/training/input/prefetch_steps.h"

#include <algorithm>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/data/pipeline/dataset_node.h"
#include "estimator/data/pipeline/nodes.h"

namespace estimator {

Dataset EndWithPrefetch(const Dataset& dataset, int64_t num_elements,
                        std::shared_ptr<ReadGate> gate) {
  const NodePtr& node = dataset.node();
  if (!node->status().ok() || node->prefetched() != nullptr) return dataset;
  return Dataset(PrefetchNode(node, num_elements, std::move(gate)));
}

InputFn PrefetchSteps(const InputFn& input_fn, int64_t global_batch_size,
                      std::shared_ptr<ReadGate> gate) {
  return InputFn(
      [=](const InputFn::Call& call) -> absl::StatusOr<Dataset> {
        EST_ASSIGN_OR_RETURN(const Dataset dataset, input_fn(call));
        // With PER_HOST_V2, a step takes an element for each replica.
        const int64_t rows_of_all = call.batch_size * call.num_invocations;
        const int64_t elements_of_step =
            rows_of_all > 0 ? std::max<int64_t>(1, global_batch_size / rows_of_all) : 1;
        return EndWithPrefetch(dataset, kPrefetchedSteps * elements_of_step, gate);
      },
      input_fn.identity());
}

InputFn PrefetchStepsUnlessInputWaits(const InputFn& input_fn, int64_t global_batch_size,
                                      std::shared_ptr<ReadGate> gate) {
  return InputFn(
      [=](const InputFn::Call& call) -> absl::StatusOr<Dataset> {
        EST_ASSIGN_OR_RETURN(const Dataset dataset, input_fn(call));
        // A generator may make its next example of the last prediction, so nobody may read ahead of
        // it.
        if (dataset.node()->may_wait()) return dataset;
        const InputFn opened([&](const InputFn::Call&) { return dataset; });
        return PrefetchSteps(opened, global_batch_size, gate)(call);
      },
      input_fn.identity());
}

}  // namespace estimator
