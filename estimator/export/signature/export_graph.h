// ExportGraph: a model's graph with its signatures. A signature is a way to call the graph, with
// inputs and outputs by name.
#ifndef ESTIMATOR_EXPORT_SIGNATURE_EXPORT_GRAPH_H_
#define ESTIMATOR_EXPORT_SIGNATURE_EXPORT_GRAPH_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/export/signature/export_output.h"
#include "estimator/export/signature/input_receiver.h"
#include "estimator/graph/graph.h"

namespace estimator {

// On disk: do not change.
inline constexpr char kSupervisedTrainMethodName[] = "tensorflow/supervised/training";
inline constexpr char kSupervisedEvalMethodName[] = "tensorflow/supervised/eval";

struct Signature {
  std::string method_name;
  NamedTensors inputs;
  NamedTensors outputs;
};
using Signatures = std::map<std::string, Signature>;

// A model's graph, built on the placeholders of its receiver.
struct ExportGraph {
  std::unique_ptr<Graph> graph;
  Signatures signatures;
  std::optional<ExampleParsing> parsing;
  Operation train_op;  // only in a training graph
};
// Builds the graph for requests of `batch_size` rows. It is called with several sizes.
using ExportGraphFn = std::function<absl::StatusOr<ExportGraph>(int64_t batch_size)>;

// Makes a signature for each output, and for each pair of an output and an alternative of the
// receiver. A signature that cannot be served is left out, and `excluded` gets the reason by its
// key. That is a classification whose input is not one string tensor, or an output that depends on
// a placeholder that is not fed.
// Source: TF 2.15 export_utils.build_all_signature_defs.
Signatures BuildServingSignatures(const ExportOutputs& outputs, const InputReceiver& receiver,
                                  std::map<std::string, std::string>& excluded);

// Logs the keys of the signatures, and those that were left out with the reason. Logs a warning if
// there is no signature, or no default signature.
void LogSignatureReport(const Signatures& signatures,
                        const std::map<std::string, std::string>& excluded);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SIGNATURE_EXPORT_GRAPH_H_
