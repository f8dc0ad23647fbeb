#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/runtime/passes/fuse.h"

namespace estimator::ir {
namespace {

class BatchNormFolder {
 public:
  explicit BatchNormFolder(Module& module)
      : module_(module), readers_(Readers(module)), to_(module.nodes.size()) {}

  void Run() {
    for (int n = 0; n < static_cast<int>(to_.size()); ++n) {
      const Node& node = module_.node(n);
      if (node.kind == Node::Kind::kOp && node.op == "FusedBatchNormV3") Visit(n);
    }
    ReplaceUses(module_, to_);
    Compact(module_);
  }

 private:
  // A variable or a constant in f32: what is computed from them alone is kept between runs.
  bool IsFixed(Value value) const {
    const Node::Kind kind = module_.node(value).kind;
    return (kind == Node::Kind::kVariable || kind == Node::Kind::kConstant) &&
           module_.spec(value).dtype == DType::kFloat32;
  }

  void Visit(int n) {
    const Node norm = module_.node(n);
    if (norm.attrs.b("is_training") || norm.attrs.s("data_format") != "NHWC") return;
    const int c = norm.inputs[0].node;
    if (module_.node(c).kind != Node::Kind::kOp || module_.node(c).op != "Conv2D") return;
    if (OnlyReader(readers_, c) != n || module_.spec(norm.inputs[0]).dtype != DType::kFloat32)
      return;
    Node conv = module_.node(c);
    for (const Value value :
         {conv.inputs[1], norm.inputs[1], norm.inputs[2], norm.inputs[3], norm.inputs[4]}) {
      if (!IsFixed(value)) return;
    }
    if (!OnlyYIsRead(n)) return;

    const Value scale = norm.inputs[1], offset = norm.inputs[2], mean = norm.inputs[3],
                variance = norm.inputs[4];
    const TensorSpec channels = module_.spec(scale);
    const Value epsilon = Add(
        MakeConstant(Array::Scalar(norm.attrs.f("epsilon")), absl::StrCat(norm.name, "/epsilon")));
    const Value deviation =
        Op(norm, "Rsqrt", {Op(norm, "AddV2", {variance, epsilon}, channels)}, channels);
    const Value factor = Op(norm, "Mul", {scale, deviation}, channels);
    const Value bias =
        Op(norm, "Sub", {offset, Op(norm, "Mul", {mean, factor}, channels)}, channels);
    conv.inputs[1] = Op(norm, "Mul", {conv.inputs[1], factor}, module_.spec(conv.inputs[1]));
    conv.kernel = nullptr;
    const Value product = Add(std::move(conv));
    Value y = Op(norm, "BiasAdd", {product, bias}, norm.outputs[0]);
    module_.node(y).attrs = {{"data_format", std::string("NHWC")}};
    to_[static_cast<size_t>(n)] = {y};
    module_.num_fused_nodes += 2;
  }

  // Whether nothing reads an output of node n but the first.
  bool OnlyYIsRead(int n) const {
    for (const int r : At(readers_, n)) {
      if (r < 0) continue;
      for (const Value input : module_.node(r).inputs) {
        if (input.node == n && input.output != 0) return false;
      }
    }
    for (const Value fetch : module_.fetches) {
      if (fetch.node == n && fetch.output != 0) return false;
    }
    for (const Update& update : module_.updates) {
      if (update.value.node == n && update.value.output != 0) return false;
    }
    return true;
  }

  Value Add(Node node) {
    module_.nodes.push_back(std::move(node));
    return {static_cast<int>(module_.nodes.size()) - 1, 0};
  }
  // A node of `norm`.
  Value Op(const Node& norm, const char* op, std::vector<Value> inputs, const TensorSpec& spec) {
    Node node;
    node.op = op;
    node.name = norm.name;
    node.inputs = std::move(inputs);
    node.outputs = {spec};
    return Add(std::move(node));
  }

  Module& module_;
  const std::vector<std::vector<int>> readers_;
  Replacements to_;
};

}  // namespace

void FoldBatchNorm(Module& module) { BatchNormFolder(module).Run(); }

}  // namespace estimator::ir
