#include "estimator/graphdef/import/op_rules.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/graphdef/import/gradient_conversions.h"
#include "estimator/graphdef/import/layout/channels_first.h"
#include "estimator/graphdef/import/loops/computed_slices.h"
#include "estimator/graphdef/import/op_conversions.h"
#include "estimator/graphdef/import/recurrent/block_cells.h"
#include "estimator/graphdef/tensor_proto.h"
#include "estimator/op_def/attr_def.h"
#include "estimator/op_def/op_def.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

ImportRules MakeRules() {
  ImportRules rules;
  for (const OpDef* row : OpDefs()) {
    if (row->traits.read_as_is) rules[row->name] = {row->name, row->attrs};
  }

  // Ops that have another name than ours.
  rules["Add"] = rules["AddV2"];
  rules["BatchMatMul"] = rules["BatchMatMulV2"];
  rules["BatchMatMulV3"] = rules["BatchMatMulV2"];
  rules["BiasAddV1"] = rules["BiasAdd"];
  rules["FusedBatchNorm"] = rules["FusedBatchNormV3"];
  rules["FusedBatchNormV2"] = rules["FusedBatchNormV3"];
  rules["Inv"] = rules["Reciprocal"];
  rules["Mod"] = rules["TruncateMod"];  // of early files, in the gradient of Mean
  rules["VariableShape"] = rules["Shape"];
  rules["ResourceGatherNd"] = rules["GatherNd"];

  AddOpConversions(rules);
  AddBlockCells(rules);
  AddComputedSlices(rules);
  // Last: an op that occurs in gradients has the rule of those.
  AddGradientConversions(rules);
  return rules;
}

// The attribute as a value of the rule's kind; nullopt if it is of another kind.
std::optional<AttrValue> FromProto(char kind, const proto::AttrValue& value) {
  using proto::AttrValue;
  const auto is = [&value](AttrValue::ValueCase c) { return value.value_case() == c; };
  if (kind == 'b' && is(AttrValue::kB)) return value.b();
  if (kind == 'i' && is(AttrValue::kI)) return value.i();
  if (kind == 'f' && is(AttrValue::kF)) return value.f();
  if (kind == 's' && is(AttrValue::kS)) return value.s();
  if (kind == 't' && is(AttrValue::kType)) return ReadDType(value.type());
  if (kind == 'l' && is(AttrValue::kList))
    return std::vector<int64_t>(value.list().i().begin(), value.list().i().end());
  if (kind == 'p' && is(AttrValue::kShape)) {
    const absl::StatusOr<Shape> shape = ReadShapeProto(value.shape());
    if (shape.ok()) return *shape;
  }
  return std::nullopt;
}

}  // namespace

const ImportRule* FindImportRule(absl::string_view op) {
  static const auto* const kRules = new ImportRules(MakeRules());
  const auto found = kRules->find(op);
  return found == kRules->end() ? nullptr : &found->second;
}

Attrs ReadAttrs(const ImportRule& rule, const proto::NodeDef& node,
                std::optional<std::string>& problem) {
  Attrs attrs;
  for (const AttrDef& wanted : ParseAttrs(rule.attrs)) {
    const auto found = node.attr().find(wanted.name);
    std::optional<AttrValue> value;
    if (found != node.attr().end()) {
      value = FromProto(wanted.kind, found->second);
      if (!value.has_value()) problem = absl::StrCat(wanted.name, " of an unknown kind");
    } else if (wanted.default_value.has_value()) {
      value = wanted.default_value;
    } else {
      problem = absl::StrCat("without ", wanted.name);
    }
    if (!value.has_value()) continue;
    if (wanted.only_default && AttrToString(*value) != AttrToString(*wanted.default_value) &&
        !(wanted.name == "data_format" && IsChannelsFirst(*value))) {
      problem = absl::StrCat(wanted.name, " = ", AttrToString(*value).substr(0, 40));
    }
    attrs.Set(wanted.name, *std::move(value));
  }
  return attrs;
}

}  // namespace estimator
