#include "estimator/graphdef/train/rules.h"

#include <initializer_list>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "estimator/graphdef/import_check.h"
#include "estimator/graphdef/import_rules.h"
#include "estimator/graphdef/train/conversions.h"
#include "estimator/graphdef/train/formulas.h"
#include "estimator/graphdef/train/nodes.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

using RuleMap = std::map<absl::string_view, WriteRule>;

constexpr absl::string_view kSlots = "update_slots:b=true";
constexpr absl::string_view kNesterov = "use_nesterov:b=false";
constexpr absl::string_view kFtrl = "multiply_linear_by_lr:b=false!";

RuleMap MakeRules() {
  RuleMap rules;
  const auto add = [&rules](absl::string_view op, WriteRule rule) {
    rule.op = op;
    rules[op] = rule;
  };
  add("Assign", {.operands = "ref value", .formula = AssignFormula});
  add("AssignAdd", {.operands = "ref value", .formula = AssignAddFormula});
  add("AssignSub", {.operands = "ref value", .formula = AssignSubFormula});
  const auto scatter = [&add](absl::string_view op, WriteFormula formula, bool by_rows) {
    add(op, {.operands = "ref indices updates", .formula = formula, .by_rows = by_rows});
  };
  scatter("ScatterAdd", ScatterAddFormula, true);
  scatter("ScatterSub", ScatterSubFormula, true);
  scatter("ScatterUpdate", ScatterUpdateFormula, true);
  scatter("ScatterNdAdd", ScatterNdAddFormula, false);
  scatter("ScatterNdSub", ScatterNdSubFormula, false);
  scatter("ScatterNdUpdate", ScatterNdUpdateFormula, false);

  // Optimizers that are ops of ours.
  const auto own = [&add](absl::string_view op, int num_states, absl::string_view operands,
                          absl::string_view attrs = "") {
    add(op, {.operands = operands, .num_states = num_states, .attrs = attrs});
  };
  own("ApplyGradientDescent", 1, "var alpha delta");
  own("ApplyMomentum", 2, "var accum lr grad momentum", kNesterov);
  own("ApplyAdam", 3, "var m v beta1_power beta2_power lr beta1 beta2 epsilon grad", kNesterov);
  own("ApplyRMSProp", 3, "var ms mom lr rho momentum epsilon grad");
  own("ApplyCenteredRMSProp", 4, "var mg ms mom lr rho momentum epsilon grad");
  own("ApplyAdagrad", 2, "var accum lr grad", kSlots);
  own("ApplyAdadelta", 3, "var accum accum_update lr rho epsilon grad");
  own("ApplyFtrl", 3, "var accum linear grad lr l1 l2 lr_power", kFtrl);
  own("ApplyFtrlV2", 3, "var accum linear grad lr l1 l2 l2_shrinkage lr_power", kFtrl);
  own("ApplyProximalAdagrad", 2, "var accum lr l1 l2 grad");

  // Those that become element-wise ops.
  const auto formula = [&add](absl::string_view op, int num_states, absl::string_view operands,
                              WriteFormula function, absl::string_view attrs = "") {
    add(op, {.operands = operands,
             .num_states = num_states,
             .attrs = attrs,
             .formula = function,
             .by_rows = absl::StartsWith(op, "Sparse")});
  };
  formula("ApplyAdagradV2", 2, "var accum lr epsilon grad", AdagradV2Formula, kSlots);
  formula("ApplyAdaMax", 3, "var m v beta1_power lr beta1 beta2 epsilon grad", AdaMaxFormula);
  formula("ApplyKerasMomentum", 2, "var accum lr grad momentum", KerasMomentumFormula, kNesterov);
  formula("ApplyProximalGradientDescent", 1, "var alpha l1 l2 grad",
          ProximalGradientDescentFormula);
  formula("SparseApplyAdagrad", 2, "var accum lr grad indices", AdagradV2Formula, kSlots);
  formula("SparseApplyAdagradV2", 2, "var accum lr epsilon grad indices", AdagradV2Formula, kSlots);
  formula("SparseApplyMomentum", 2, "var accum lr grad indices momentum", MomentumFormula,
          kNesterov);
  formula("SparseApplyKerasMomentum", 2, "var accum lr grad indices momentum", KerasMomentumFormula,
          kNesterov);
  formula("SparseApplyRMSProp", 3, "var ms mom lr rho momentum epsilon grad indices",
          RMSPropFormula);
  formula("SparseApplyCenteredRMSProp", 4, "var mg ms mom lr rho momentum epsilon grad indices",
          RMSPropFormula);
  formula("SparseApplyAdadelta", 3, "var accum accum_update lr rho epsilon grad indices",
          AdadeltaFormula);
  formula("SparseApplyFtrl", 3, "var accum linear grad indices lr l1 l2 lr_power", FtrlFormula,
          kFtrl);
  formula("SparseApplyFtrlV2", 3, "var accum linear grad indices lr l1 l2 l2_shrinkage lr_power",
          FtrlFormula, kFtrl);
  formula("SparseApplyProximalAdagrad", 2, "var accum lr l1 l2 grad indices",
          ProximalAdagradFormula);
  formula("SparseApplyProximalGradientDescent", 1, "var alpha l1 l2 grad indices",
          ProximalGradientDescentFormula);

  // The ops on resource variables have the same operands.
  RuleMap all = rules;
  all["AssignVariableOp"] = rules["Assign"];
  all["AssignAddVariableOp"] = rules["AssignAdd"];
  all["AssignSubVariableOp"] = rules["AssignSub"];
  return all;
}

bool IsOneOf(absl::string_view op, std::initializer_list<absl::string_view> ops) {
  for (const absl::string_view other : ops)
    if (op == other) return true;
  return false;
}

// Why an op that no rule knows cannot be imported.
std::string Unsupported(absl::string_view op) {
  if (absl::StartsWith(op, "TPU") || absl::StartsWith(op, "Infeed") ||
      absl::StartsWith(op, "Outfeed") || absl::StrContains(op, "TPUEmbedding") ||
      IsOneOf(op, {"ConfigureDistributedTPU", "ShutdownDistributedTPU", "CrossReplicaSum",
                   "CollectivePermute", "AllToAll"})) {
    return "the graph was built for real TPUs; save it with use_tpu=False";
  }
  if (IsOneOf(op, {"Enter", "Exit", "NextIteration", "LoopCond", "RefEnter", "RefExit",
                   "RefNextIteration", "While", "StatelessWhile"})) {
    return "a loop (tf.while_loop)";
  }
  if (IsOneOf(op, {"PyFunc", "PyFuncStateless", "EagerPyFunc"})) return "calls Python";
  if (IsOneOf(op, {"If", "StatelessIf", "Case", "StatelessCase"})) return "without its functions";
  return "not supported";
}

}  // namespace

const WriteRule* FindWriteRule(absl::string_view op) {
  static const RuleMap* const kRules = new RuleMap(MakeRules());
  auto found = kRules->find(op);
  if (found == kRules->end() && absl::ConsumePrefix(&op, "Resource")) {
    // There is no ResourceAssign.
    if (!absl::StartsWith(op, "Assign")) found = kRules->find(op);
  }
  return found == kRules->end() ? nullptr : &found->second;
}

bool PassesReference(absl::string_view op) {
  return IsOneOf(op, {"Identity", "RefIdentity", "IdentityN", "StopGradient", "PreventGradient"});
}

bool ReadsHandle(absl::string_view op) {
  return IsOneOf(op, {"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape",
                      "VarIsInitializedOp", "DestroyResourceOp"});
}

bool IsTrainInputOp(absl::string_view op) {
  return IsOneOf(op, {"IteratorGetNext", "IteratorGetNextSync", "QueueDequeue", "QueueDequeueV2",
                      "QueueDequeueMany", "QueueDequeueManyV2", "QueueDequeueUpTo",
                      "QueueDequeueUpToV2", "Placeholder"});
}

bool IsRandomOp(absl::string_view op) {
  return absl::StartsWith(op, "Random") || IsOneOf(op, {"TruncatedNormal", "Multinomial"});
}

bool IsReportOp(absl::string_view op) {
  return IsOneOf(op, {"NoOp", "Assert", "Print", "PrintV2", "Timestamp", "CheckNumerics",
                      "ScalarSummary", "HistogramSummary", "ImageSummary", "MergeSummary",
                      "IsVariableInitialized", "VarIsInitializedOp", "StringFormat", "AsString"}) ||
         absl::StartsWith(op, "Iterator") || absl::StartsWith(op, "OneShotIterator") ||
         absl::EndsWith(op, "Dataset") || absl::EndsWith(op, "DatasetV2") ||
         IsOneOf(op, {"FIFOQueueV2", "FIFOQueue", "RandomShuffleQueueV2", "PaddingFIFOQueueV2"});
}

bool IsGradientName(absl::string_view name) {
  for (absl::string_view part : absl::StrSplit(name, '/')) {
    if (part == "gradient_tape") return true;
    int number = 0;
    if (absl::ConsumePrefix(&part, "gradients") &&
        (part.empty() || (absl::ConsumePrefix(&part, "_") && absl::SimpleAtoi(part, &number))))
      return true;
  }
  return false;
}

std::optional<std::string> TrainProblem(const proto::NodeDef& node) {
  const std::string& op = node.op();
  if (IsOneOf(op, {"Switch", "RefSwitch", "Merge", "RefMerge", "Unique", "IsVariableInitialized",
                   "VarIsInitializedOp", "OptionalFromValue", "OptionalNone", "OptionalGetValue",
                   "RefIdentity", kSelectBranchOp}) ||
      IsTrainInputOp(op)) {
    return std::nullopt;
  }
  std::optional<std::string> problem;
  const WriteRule* const write = FindWriteRule(op);
  const ImportRule* const conversion = FindTrainConversion(op);
  if (write != nullptr) {
    ReadAttrs({.op = write->op, .attrs = write->attrs}, node, problem);
    return problem;
  }
  if (conversion != nullptr) {
    ReadAttrs(*conversion, node, problem);
    return problem;
  }
  problem = ImportProblem(node);
  if (problem == "not supported") return Unsupported(op);
  return problem;
}

}  // namespace estimator
