// Signatures: the ways to call an exported graph, each with its inputs and outputs by name.
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

// A model's graph behind its receiver.
struct ExportGraph {
  std::unique_ptr<Graph> graph;
  Signatures signatures;
  std::optional<ExampleParsing> parsing;
  Operation train_op;  // of a training graph
};
// Builds the graph for requests of `batch_size` rows. Called with several sizes.
using ExportGraphFn = std::function<absl::StatusOr<ExportGraph>(int64_t batch_size)>;

// A signature for each output, and for each output and alternative of the receiver. Those that
// cannot be served (a classification whose input is not one string tensor, an output that depends
// on a placeholder that is not fed) are left out; `excluded` says why, by signature key.
// Source: TF 2.15 export_utils.build_all_signature_defs.
Signatures BuildServingSignatures(const ExportOutputs& outputs, const InputReceiver& receiver,
                                  std::map<std::string, std::string>& excluded);

// Logs which signatures there are, which were left out and why, and warns where there is none, or
// no default one.
void LogSignatureReport(const Signatures& signatures,
                        const std::map<std::string, std::string>& excluded);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SIGNATURE_EXPORT_GRAPH_H_
