#include "estimator/graphdef/import/meta_graph_signature.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"

namespace estimator {
namespace {

// The signature that only runs an op, which TensorFlow adds to some graphs.
constexpr char kInitSignature[] = "__saved_model_init_op";

const char* DefaultSignature(TrainGraphRole role) {
  return role == TrainGraphRole::kTrain  ? "train"
         : role == TrainGraphRole::kEval ? "eval"
                                         : "serving_default";
}

// Labels come after features, as TensorFlow flattens (features, labels). A single label has the key
// `label`; nothing tells the keys of several labels from those of features.
bool IsLabelKey(absl::string_view key) { return key == "label" || key == "labels"; }

absl::StatusOr<FlatTensor> FindTensor(FlatGraph& nodes, const std::string& key,
                                      const proto::TensorInfo& info) {
  // A sparse tensor has three names in other fields of the TensorInfo.
  if (info.name().empty()) {
    return Unimplemented("'", key, "' of the signature is not dense");
  }
  const absl::StatusOr<FlatTensor> at = nodes.Find(info.name());
  if (!at.ok()) return Annotate(at.status(), absl::StrCat("'", key, "' of the signature"));
  return *at;
}

absl::Status ReadInputs(const proto::SignatureDef& signature, ImportSource& source) {
  std::vector<std::pair<bool, std::string>> keys;
  for (const auto& [key, info] : signature.inputs()) keys.emplace_back(IsLabelKey(key), key);
  // The map of a proto has no order; sorted keys are the order of a flattened dictionary.
  std::sort(keys.begin(), keys.end());
  for (const auto& [is_label, key] : keys) {
    EST_ASSIGN_OR_RETURN(const FlatTensor at,
                         FindTensor(*source.nodes, key, signature.inputs().at(key)));
    source.input_keys.emplace(at, key);
    source.inputs.push_back(at);
  }
  return absl::OkStatus();
}

// "metrics/NAME/value" and "metrics/NAME/update_op".
absl::Status ReadMetrics(const proto::SignatureDef& signature,
                         const std::map<std::string, FlatTensor>& outputs, ImportSource& source) {
  for (const auto& [key, at] : outputs) {
    absl::string_view name = key;
    if (!absl::ConsumePrefix(&name, "metrics/")) continue;
    const bool is_value = absl::ConsumeSuffix(&name, "/value");
    if (!is_value && !absl::ConsumeSuffix(&name, "/update_op")) continue;
    const auto update = outputs.find(absl::StrCat("metrics/", name, "/update_op"));
    const auto value = outputs.find(absl::StrCat("metrics/", name, "/value"));
    if (update == outputs.end() || value == outputs.end()) {
      return InvalidArgument("the metric '", name, "' of the signature has a ",
                             is_value ? "value but no update_op" : "update_op but no value");
    }
    if (!is_value) continue;
    EST_ASSIGN_OR_RETURN(const int op,
                         source.nodes->FindOp(signature.outputs().at(update->first).name()));
    source.metrics.push_back({.name = std::string(name), .value = value->second, .update = op});
    source.info.metrics.emplace_back(name);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadMetaGraphSignature(const TrainGraphOptions& options, ImportSource& source) {
  const auto& all = source.meta_graph.signature_def();
  std::vector<std::string> names;
  for (const auto& [name, signature] : all)
    if (name != kInitSignature) names.push_back(name);
  std::sort(names.begin(), names.end());
  std::string wanted = options.signature;
  if (wanted.empty()) {
    wanted = DefaultSignature(options.role);
    // A model with one signature of another name has only that one to serve.
    const bool serves = options.role == TrainGraphRole::kPredict;
    if (serves && all.count(wanted) == 0 && names.size() == 1) wanted = names[0];
    // A .meta file has no signatures. Collections then say what loss and train_op are.
    if (options.role == TrainGraphRole::kTrain && all.count(wanted) == 0) return absl::OkStatus();
  }
  const auto found = all.find(wanted);
  if (found == all.end()) {
    return InvalidArgument("the graph has no signature '", wanted, "'; it has ",
                           names.empty() ? "none" : JoinSome(names, 10));
  }
  EST_RETURN_IF_ERROR(ReadInputs(found->second, source));
  std::map<std::string, FlatTensor> outputs;
  for (const auto& [key, info] : found->second.outputs()) {
    EST_ASSIGN_OR_RETURN(outputs[key], FindTensor(*source.nodes, key, info));
    if (options.role == TrainGraphRole::kPredict) source.info.outputs[key] = info.name();
  }
  if (options.role == TrainGraphRole::kPredict) return absl::OkStatus();
  const auto loss = outputs.find("loss");
  if (loss != outputs.end()) source.loss = loss->second;
  return options.role == TrainGraphRole::kEval ? ReadMetrics(found->second, outputs, source)
                                               : absl::OkStatus();
}

}  // namespace estimator
