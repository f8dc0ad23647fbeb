#include "estimator/runtime/passes/simplify.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/kernels/op_traits.h"

namespace estimator::ir {
namespace {

// The integers of a constant (a permutation), or nullopt if it is not one.
std::optional<std::vector<int64_t>> ConstantInts(const Module& module, Value value) {
  const Array* array = module.constant(value);
  if (array == nullptr || !IsInteger(array->dtype())) return std::nullopt;
  const Array wide = array->Cast(DType::kInt64);
  return std::vector<int64_t>(wide.values<int64_t>().begin(), wide.values<int64_t>().end());
}

// Whether the value is a constant with all elements equal to `number`. Large constants are not
// checked.
bool IsAll(const Module& module, Value value, double number) {
  const Array* array = module.constant(value);
  if (array == nullptr || array->dtype() == DType::kString || array->num_elements() > 64)
    return false;
  for (int64_t i = 0; i < array->num_elements(); ++i) {
    if (array->AsDouble(i) != number) return false;
  }
  return array->num_elements() > 0;
}

// The number that all elements of a constant have, or nullopt. Large constants are not checked.
std::optional<double> ConstantNumber(const Module& module, Value value) {
  const Array* array = module.constant(value);
  if (array == nullptr || array->dtype() == DType::kString || array->num_elements() == 0)
    return std::nullopt;
  const double number = array->AsDouble(0);
  return IsAll(module, value, number) ? std::optional<double>(number) : std::nullopt;
}

bool IsF32Scalar(const Module& module, Value value) {
  const Array* array = module.constant(value);
  return array != nullptr && array->dtype() == DType::kFloat32 && array->num_elements() == 1;
}

class Simplifier {
 public:
  Simplifier(Module& module, bool single_replica)
      : module_(module), single_replica_(single_replica) {}

  void Run() {
    ReadActivations();
    readers_ = Readers(module_);
    to_.resize(module_.nodes.size());
    for (size_t n = 0; n < to_.size(); ++n) {
      for (Value& input : module_.nodes[n].inputs) {
        const std::vector<Value>& moved = At(to_, input.node);
        if (!moved.empty()) input = At(moved, input.output);
      }
      const Node& node = module_.nodes[n];
      if (node.kind != Node::Kind::kOp) continue;
      if (node.op == "IdentityN") {
        to_[n] = node.inputs;
      } else if (node.outputs.size() == 1) {
        Visit(static_cast<int>(n));
      }
    }
    ReplaceUses(module_, to_);
    Compact(module_);
  }

 private:
  Node& at(int n) { return module_.node(n); }
  const TensorSpec& spec(Value value) const { return module_.spec(value); }

  // Whether the op's gradient is the same if it reads y = op(x) instead of x: it depends only on
  // whether x > 0, and for Relu6 also on whether x < 6, which is so if y > 0 and y < 6.
  static bool GradientMayReadResult(const Node& node) {
    if (node.kind != Node::Kind::kOp) return false;
    if (node.op == "LeakyRelu") return node.attrs.f("alpha") >= 0;
    return node.op == "Relu" || node.op == "Relu6";
  }

  // Lets the gradients of such activations read y. Then x need not be kept, and can be fused.
  void ReadActivations() {
    std::map<std::pair<std::string, Value>, Value> results;  // (gradient's op, x) -> y
    for (size_t n = 0; n < module_.nodes.size(); ++n) {
      const Node& node = module_.nodes[n];
      if (GradientMayReadResult(node))
        results.emplace(std::pair(node.op + "Grad", node.inputs[0]), Value{static_cast<int>(n), 0});
    }
    for (Node& node : module_.nodes) {
      if (node.kind != Node::Kind::kOp || node.inputs.size() != 2) continue;
      const auto it = results.find(std::pair(node.op, node.inputs[1]));
      if (it != results.end()) node.inputs[1] = it->second;
    }
    Compact(module_);
  }

  // Replaces node n by `value`, which has the same elements and dtype. If the shape differs, the
  // node becomes a Reshape.
  void Becomes(int n, Value value) {
    Node& node = at(n);
    const Node& source = module_.node(value);
    if (source.kind == Node::Kind::kOp && source.op == "Reshape") value = source.inputs[0];
    if (spec(value) == node.outputs[0]) {
      At(to_, n) = {value};
    } else {
      node = MakeReshape(value, node.outputs[0], node.name);
    }
  }

  void Visit(int n) {
    const Node& node = at(n);
    if (node.inputs.empty()) return;
    const Value x = node.inputs[0];
    const bool same_elements = spec(x).dtype == node.outputs[0].dtype &&
                               spec(x).shape.num_elements() == node.outputs[0].shape.num_elements();
    if (node.op == "CrossReplicaSum" ? single_replica_
                                     : IsView(node) || node.op == "PreventGradient") {
      return Becomes(n, x);
    }
    if ((node.op == "Cast" || node.op == "BroadcastTo") && spec(x) == node.outputs[0])
      return Becomes(n, x);
    if (node.op == "AddN" && node.inputs.size() == 1) return Becomes(n, x);
    if (node.op == "AddN" && node.inputs.size() == 2) at(n).op = "AddV2";  // can be fused, AddN not
    if (TraitsOf(node.op).reduction && same_elements) return Becomes(n, x);
    if (node.op == "Transpose") return VisitTranspose(n);
    if (node.op == "Neg" && module_.node(x).op == "Neg")
      return Becomes(n, module_.node(x).inputs[0]);
    if (node.op == "Pow") return VisitPow(n);
    if (node.inputs.size() == 2) VisitBinary(n);
  }

  void VisitPow(int n) {
    const Value x = at(n).inputs[0];
    const TensorSpec spec = at(n).outputs[0];
    const std::optional<double> exponent = ConstantNumber(module_, at(n).inputs[1]);
    if (!exponent.has_value() || !(this->spec(x) == spec)) return;
    if (*exponent == 1) return Becomes(n, x);
    if (spec.dtype != DType::kFloat32 && spec.dtype != DType::kFloat64) return;
    const auto add = [&](const char* op, std::vector<Value> inputs) {
      return AddNode(op, std::move(inputs), n);
    };
    const auto become = [&](const char* op, std::vector<Value> inputs) {
      at(n).op = op;
      at(n).inputs = std::move(inputs);
    };
    if (*exponent == 0) {
      Array dims(DType::kInt64, Shape{spec.shape.rank()});
      std::copy(spec.shape.dims().begin(), spec.shape.dims().end(), dims.data<int64_t>());
      const Value shape = AddConstant(std::move(dims), at(n).name);
      const Value one = AddConstant(Array::Scalar(1.0f).Cast(spec.dtype), at(n).name);
      become("BroadcastTo", {one, shape});
    } else if (*exponent == 2) {
      become("Square", {x});
    } else if (*exponent == 3) {
      become("Mul", {add("Square", {x}), x});
    } else if (*exponent == 4) {
      become("Square", {add("Square", {x})});
    } else if (*exponent == -1) {
      become("Reciprocal", {x});
    } else if (*exponent == -2) {
      become("Square", {add("Reciprocal", {x})});  // 1 / Square(x) would overflow earlier
    } else if (*exponent == 0.5) {
      become("Sqrt", {x});
    } else if (*exponent == 1.5) {
      become("Mul", {x, add("Sqrt", {x})});
    } else if (*exponent == -0.5) {
      become("Rsqrt", {x});
    } else if (*exponent == -1.5) {
      become("RealDiv", {add("Rsqrt", {x}), x});
    }
  }

  // Adds a node that has the type and name of node n. Its index is higher than that of its reader,
  // until Compact orders the nodes.
  Value AddNode(const char* op, std::vector<Value> inputs, int n) {
    Node node;
    node.op = op;
    node.name = at(n).name;
    node.attrs = at(n).attrs;
    node.inputs = std::move(inputs);
    node.outputs = at(n).outputs;
    module_.nodes.push_back(std::move(node));
    return {static_cast<int>(module_.nodes.size()) - 1, 0};
  }

  Value AddConstant(Array value, const std::string& name) {
    module_.nodes.push_back(MakeConstant(std::move(value), absl::StrCat(name, "/constant")));
    return {static_cast<int>(module_.nodes.size()) - 1, 0};
  }

  void VisitTranspose(int n) {
    const Value x = at(n).inputs[0];
    const std::optional<std::vector<int64_t>> perm = ConstantInts(module_, at(n).inputs[1]);
    if (!perm.has_value()) return;
    // The elements do not move if the axes that are larger than 1 keep their order.
    int64_t last = -1;
    bool in_order = true;
    for (const int64_t axis : *perm) {
      if (spec(x).shape.dim(static_cast<int>(axis)) == 1) continue;
      in_order &= axis > last;
      last = axis;
    }
    if (in_order) return Becomes(n, x);
    const Node& inner = module_.node(x);
    if (inner.kind != Node::Kind::kOp || inner.op != "Transpose") return;
    const std::optional<std::vector<int64_t>> first = ConstantInts(module_, inner.inputs[1]);
    if (!first.has_value()) return;
    for (size_t i = 0; i < perm->size(); ++i) {
      if (At(*first, (*perm)[i]) != static_cast<int64_t>(i)) return;
    }
    Becomes(n, inner.inputs[0]);
  }

  void VisitBinary(int n) {
    const Node& node = at(n);
    const bool add = node.op == "AddV2";
    const bool mul = node.op == "Mul";
    if (!add && !mul && node.op != "Sub" && node.op != "RealDiv") return;
    const double neutral = mul || node.op == "RealDiv" ? 1 : 0;
    const Value a = node.inputs[0], b = node.inputs[1];
    if (spec(a) == node.outputs[0] && IsAll(module_, b, neutral)) return Becomes(n, a);
    if ((add || mul) && spec(b) == node.outputs[0] && IsAll(module_, a, neutral))
      return Becomes(n, b);
    if (mul) FoldFactors(n);
  }

  // (x * c) * d -> x * (c d), if nothing else reads x * c.
  void FoldFactors(int n) {
    const int scalar = IsF32Scalar(module_, at(n).inputs[1])   ? 1
                       : IsF32Scalar(module_, at(n).inputs[0]) ? 0
                                                               : -1;
    if (scalar < 0) return;
    const Value d = At(at(n).inputs, scalar);
    const Value product = At(at(n).inputs, 1 - scalar);
    const Node& inner = module_.node(product);
    if (inner.kind != Node::Kind::kOp || inner.op != "Mul" ||
        inner.outputs[0].dtype != DType::kFloat32 || OnlyReader(readers_, product.node) != n ||
        !(inner.outputs[0] == at(n).outputs[0])) {
      return;
    }
    const int other = IsF32Scalar(module_, inner.inputs[1])   ? 1
                      : IsF32Scalar(module_, inner.inputs[0]) ? 0
                                                              : -1;
    if (other < 0) return;
    const Value x = At(inner.inputs, 1 - other);
    if (!(spec(x) == at(n).outputs[0])) return;
    const Array* c = module_.constant(At(inner.inputs, other));
    const float factor = c->data<float>()[0] * module_.constant(d)->data<float>()[0];
    if (!std::isnormal(factor)) return;  // c * d may overflow or underflow where x * c * d does not
    const std::string name = absl::StrCat(at(n).name, "/factor");
    at(n).inputs = {x, {static_cast<int>(module_.nodes.size()), 0}};
    module_.nodes.push_back(MakeConstant(Array::Scalar(factor), name));
  }

  Module& module_;
  const bool single_replica_;
  std::vector<std::vector<int>> readers_;
  Replacements to_;
};

}  // namespace

void Simplify(Module& module, bool single_replica) { Simplifier(module, single_replica).Run(); }

}  // namespace estimator::ir
