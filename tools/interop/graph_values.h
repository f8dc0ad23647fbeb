// Writes a graph and the values of its tensors, to be compared with those of TensorFlow:
//   graph.pb  the GraphDef
//   values    a bundle with
//               value/<tensor>   the value of each tensor whose shape is known
//               before/<name>    each variable
//               after/<name>     each variable after the updates have run once
#ifndef TOOLS_INTEROP_GRAPH_VALUES_H_
#define TOOLS_INTEROP_GRAPH_VALUES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/graph_def.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/evaluate.h"
#include "estimator/runtime/initialize_variables.h"

namespace estimator {

inline absl::Status WriteGraphAndValues(Graph& graph, const std::vector<Operation>& updates,
                                        const std::string& directory) {
  EST_RETURN_IF_ERROR(WriteFileAtomically(JoinPath(directory, "graph.pb"), GraphToGraphDef(graph)));
  std::vector<Tensor> fetches;
  for (const auto& node : graph.nodes()) {
    const bool changes = node->op().rfind("Apply", 0) == 0 || node->op() == "VariableV2";
    for (int i = 0; !changes && i < node->num_outputs(); ++i) {
      if (node->outputs()[static_cast<size_t>(i)].shape.fully_known())
        fetches.emplace_back(&graph, node.get(), i);
    }
  }
  VariableStore store;
  EST_RETURN_IF_ERROR(InitializeVariables(graph, store));
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleWriter> writer,
                       BundleWriter::Open(JoinPath(directory, "values")));
  const auto add_variables = [&](const char* prefix) {
    for (const std::string& name : store.Names())
      EST_RETURN_IF_ERROR(writer->Add(absl::StrCat(prefix, name), *store.Peek(name)));
    return absl::OkStatus();
  };
  EST_RETURN_IF_ERROR(add_variables("before/"));
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store);
  EST_ASSIGN_OR_RETURN(
      const std::vector<Array> values,
      RunOnce(*backend, graph, {.feeds = {}, .fetches = fetches, .updates = updates}));
  for (size_t i = 0; i < fetches.size(); ++i)
    EST_RETURN_IF_ERROR(writer->Add(absl::StrCat("value/", fetches[i].name()), values[i]));
  EST_RETURN_IF_ERROR(add_variables("after/"));
  return writer->Finish();
}

}  // namespace estimator

#endif  // TOOLS_INTEROP_GRAPH_VALUES_H_
