// Adds the summaries of a training graph.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_ADD_SUMMARIES_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_ADD_SUMMARIES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/import/import_source.h"

namespace estimator {

// Adds those that can be shown to graph.summaries(), and a warning for each of the others.
//   fetch: the tensor of the Graph for one of the file.
void AddSummaries(const std::vector<SourceSummary>& summaries,
                  const std::function<absl::StatusOr<Tensor>(FlatTensor)>& fetch, Graph& graph,
                  std::vector<std::string>* warnings);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_ADD_SUMMARIES_H_
