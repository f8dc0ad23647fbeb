#include "estimator/export/signature/export_graph.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// Checks that the inputs determine the outputs.
// Errors: INVALID_ARGUMENT naming a placeholder that the outputs need, but that is not an input.
absl::Status EnsureServable(const Signature& signature,
                            const std::optional<ExampleParsing>& parsing) {
  std::set<const Node*> fed, seen;
  std::vector<const Node*> pending;
  for (const auto& [name, tensor] : signature.inputs) fed.insert(tensor.node());
  if (parsing.has_value() && fed.count(parsing->serialized.node()) > 0) {
    // A server parses the Examples, so whoever feeds them feeds their features.
    for (const auto& [name, placeholder] : parsing->parsed) fed.insert(placeholder.node());
  }
  for (const auto& [name, tensor] : signature.outputs) {
    if (!tensor.valid()) {
      return InvalidArgument("output '", name, "' is not a tensor");
    }
    pending.push_back(tensor.node());
  }
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (fed.count(node) > 0 || !seen.insert(node).second) continue;
    if (node->op() == "Placeholder") {
      return InvalidArgument("the outputs need '", node->name(), "', which is not an input");
    }
    for (const Tensor& input : node->inputs()) pending.push_back(input.node());
  }
  return absl::OkStatus();
}

absl::StatusOr<Signature> MakeSignature(const ExportOutput& output, const NamedTensors& inputs,
                                        const std::optional<ExampleParsing>& parsing) {
  Signature signature = {output.method_name(), inputs, output.outputs()};
  if (output.method_name() != kPredictMethodName) {
    const bool classify = output.method_name() == kClassifyMethodName;
    // The Classify and Regress requests of TensorFlow Serving carry Examples only.
    if (inputs.size() != 1 || inputs.begin()->second.dtype() != DType::kString) {
      return InvalidArgument(
          classify ? "Classification" : "Regression",
          " signatures can only accept a single tensor input of type tf.string; a parsing receiver "
          "(BuildParsingServingInputReceiverFn) has one");
    }
    signature.inputs = inputs.begin()->second;
    signature.inputs = signature.inputs.WithDefaultName("inputs");
  }
  EST_RETURN_IF_ERROR(EnsureServable(signature, parsing));
  return signature;
}

}  // namespace

Signatures BuildServingSignatures(const ExportOutputs& outputs, const InputReceiver& receiver,
                                  std::map<std::string, std::string>& excluded) {
  Signatures signatures;
  const auto add = [&](const std::string& prefix, const NamedTensors& inputs) {
    for (const auto& [key, output] : outputs) {
      absl::StatusOr<Signature> signature = MakeSignature(output, inputs, receiver.parsing);
      if (signature.ok()) {
        signatures.emplace(prefix + key, *std::move(signature));
      } else {
        // As in TensorFlow, this is no error: an alternative receiver need not serve every output.
        excluded[prefix + key] = std::string(signature.status().message());
      }
    }
  };
  add("", receiver.receiver_tensors);
  for (const auto& [name, inputs] : receiver.receiver_tensors_alternatives) add(name + ":", inputs);
  return signatures;
}

void LogSignatureReport(const Signatures& signatures,
                        const std::map<std::string, std::string>& excluded) {
  std::map<std::string, std::vector<std::string>> by_method;
  for (const auto& [key, signature] : signatures) by_method[signature.method_name].push_back(key);
  const std::pair<const char*, const char*> methods[] = {{"Classify", kClassifyMethodName},
                                                         {"Regress", kRegressMethodName},
                                                         {"Predict", kPredictMethodName},
                                                         {"Train", kSupervisedTrainMethodName},
                                                         {"Eval", kSupervisedEvalMethodName}};
  for (const auto& [name, method] : methods) {
    const std::vector<std::string>& keys = by_method[method];
    if (!keys.empty())
      LOG(INFO) << "Signatures INCLUDED in export for " << name << ": "
                << absl::StrJoin(keys, ", ");
  }
  for (const auto& [key, reason] : excluded)
    LOG(INFO) << "Signature EXCLUDED from export because it cannot be served: '" << key
              << "': " << reason;
  if (signatures.empty()) {
    LOG(WARNING) << "Export includes no signatures!";
  } else if (by_method[kSupervisedTrainMethodName].empty() &&
             by_method[kSupervisedEvalMethodName].empty() &&
             signatures.count(kDefaultServingSignatureKey) == 0) {
    LOG(WARNING) << "Export includes no default signature!";
  }
}

}  // namespace estimator
