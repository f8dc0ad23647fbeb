#include "estimator/graphdef/import/op_kinds.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace estimator {

bool IsOneOf(absl::string_view op, std::initializer_list<absl::string_view> ops) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

bool IsVariableOp(absl::string_view op) {
  return IsOneOf(op, {"VariableV2", "Variable", "VarHandleOp"});
}

bool IsParseExampleOp(absl::string_view op) {
  return IsOneOf(op, {"ParseExample", "ParseExampleV2"});
}

bool IsInputOp(absl::string_view op) {
  return IsOneOf(op, {"IteratorGetNext", "IteratorGetNextSync", "QueueDequeue", "QueueDequeueV2",
                      "QueueDequeueMany", "QueueDequeueManyV2", "QueueDequeueUpTo",
                      "QueueDequeueUpToV2", "Placeholder"});
}

bool IsRandomOp(absl::string_view op) {
  return absl::StartsWith(op, "Random") ||
         IsOneOf(op, {"TruncatedNormal", "Multinomial", "UniformCandidateSampler",
                      "LogUniformCandidateSampler"});
}

bool IsSwitchOp(absl::string_view op) { return IsOneOf(op, {"Switch", "RefSwitch"}); }
bool IsMergeOp(absl::string_view op) { return IsOneOf(op, {"Merge", "RefMerge"}); }
bool IsLoopOp(absl::string_view op) { return IsOneOf(op, {"While", "StatelessWhile"}); }
bool IsCaseOp(absl::string_view op) { return IsOneOf(op, {"Case", "StatelessCase"}); }
bool IsBranchOp(absl::string_view op) { return IsOneOf(op, {"If", "StatelessIf"}) || IsCaseOp(op); }
bool IsListOp(absl::string_view op) {
  return IsOneOf(op,
                 {"EmptyTensorList", "TensorListReserve", "TensorListFromTensor", "TensorListStack",
                  "TensorListGetItem", "TensorListSetItem", "TensorListGather", "TensorListLength",
                  "TensorListElementShape", "TensorListPushBack", "TensorListPopBack",
                  "TensorListScatterIntoExistingList", "TensorListConcatV2", "TensorArrayV3",
                  "TensorArrayScatterV3", "TensorArraySplitV3", "StackV2", "Stack"});
}

bool PassesReference(absl::string_view op) {
  return IsOneOf(op, {"Identity", "RefIdentity", "IdentityN", "StopGradient", "PreventGradient"});
}

bool ReadsHandle(absl::string_view op) {
  return IsOneOf(op, {"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape",
                      "VarIsInitializedOp", "DestroyResourceOp"});
}

bool IsReportOp(absl::string_view op) {
  // The ops of an input pipeline are here too: inputs are given, so a step does not run them.
  return IsOneOf(op, {"NoOp", "Assert", "Print", "PrintV2", "Timestamp", "CheckNumerics",
                      "ScalarSummary", "HistogramSummary", "ImageSummary", "MergeSummary",
                      "IsVariableInitialized", "VarIsInitializedOp", "StringFormat", "AsString"}) ||
         absl::StartsWith(op, "Iterator") || absl::StartsWith(op, "OneShotIterator") ||
         absl::EndsWith(op, "Dataset") || absl::EndsWith(op, "DatasetV2") ||
         IsOneOf(op, {"FIFOQueueV2", "FIFOQueue", "RandomShuffleQueueV2", "PaddingFIFOQueueV2"});
}

bool IsGradientName(absl::string_view name) {
  for (absl::string_view part : absl::StrSplit(name, '/')) {
    // tf.GradientTape names its scope so. A second tf.gradients has the scope `gradients_1`.
    if (part == "gradient_tape") return true;
    int number = 0;
    if (absl::ConsumePrefix(&part, "gradients") &&
        (part.empty() || (absl::ConsumePrefix(&part, "_") && absl::SimpleAtoi(part, &number))))
      return true;
  }
  return false;
}

}  // namespace estimator
