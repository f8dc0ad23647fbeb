#include "estimator/export/any_batch/batch_analysis.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graph/function.h"
#include "estimator/graph/needed_nodes.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr size_t kNumGraphs = 3;

class Analyzer {
 public:
  explicit Analyzer(const std::vector<SizedGraph>& graphs) {
    for (const SizedGraph& sized : graphs) {
      sizes_.push_back(sized.batch_size);
      std::vector<Tensor> roots;
      for (const BatchRoot& root : sized.roots) roots.push_back(root.tensor);
      nodes_.push_back(NeededNodes(*sized.graph, roots));
    }
    if (!SameRoots(graphs)) return;
    if (!SameStructure()) return;
    FindReshapes();
    FindBatchPlaceholder();
    for (size_t i = 0; i < nodes_[0].size(); ++i)
      CompareNode({nodes_[0][i], nodes_[1][i], nodes_[2][i]});
  }

  BatchAnalysis Take() { return std::move(analysis_); }

 private:
  using Nodes = std::vector<const Node*>;

  template <typename... Parts>
  void Obstacle(const Parts&... parts) {
    analysis_.obstacles.push_back(absl::StrCat(parts...));
  }

  // Whether all graphs have the same roots. Equal names of nodes are not enough: if a loop over
  // rows adds `add_2` at a larger size, the root moves from `add_1` to `add_2`.
  bool SameRoots(const std::vector<SizedGraph>& graphs) {
    const std::vector<BatchRoot>& first = graphs[0].roots;
    for (const SizedGraph& sized : graphs) {
      const size_t common = std::min(first.size(), sized.roots.size());
      for (size_t i = 0; i < common; ++i) {
        const BatchRoot &a = first[i], &b = sized.roots[i];
        if (a.what != b.what) {
          Obstacle("the model has ", b.what, " at batch size ", sized.batch_size, " and ", a.what,
                   " at ", sizes_[0]);
          return false;
        }
        if (a.tensor.name() == b.tensor.name()) continue;
        Obstacle("the graph has other nodes at batch size ", sized.batch_size, " than at ",
                 sizes_[0], ": '", b.tensor.name(), "' for '", a.tensor.name(), "' as ", a.what);
        return false;
      }
      if (sized.roots.size() == first.size()) continue;
      const bool more = sized.roots.size() > first.size();
      Obstacle("the model has ", (more ? sized.roots : first)[common].what, " only at batch size ",
               more ? sized.batch_size : sizes_[0], ", not at ",
               more ? sizes_[0] : sized.batch_size);
      return false;
    }
    return true;
  }

  bool SameStructure() {
    for (size_t g = 1; g < kNumGraphs; ++g) {
      const size_t common = std::min(nodes_[0].size(), nodes_[g].size());
      for (size_t i = 0; i < common; ++i) {
        if (!SameNode(*nodes_[0][i], *nodes_[g][i], sizes_[g])) return false;
      }
      if (nodes_[g].size() != nodes_[0].size()) {
        Obstacle("the graph has ", nodes_[0].size(), " nodes at batch size ", sizes_[0], " and ",
                 nodes_[g].size(), " at ", sizes_[g]);
        return false;
      }
    }
    return true;
  }

  // Compares op, inputs, control inputs and dtypes of two nodes. Shapes and attributes are compared
  // later.
  bool SameNode(const Node& a, const Node& b, int64_t size) {
    const auto dtypes = [](const Node& node) {
      std::vector<DType> dtypes;
      for (const TensorSpec& output : node.outputs()) dtypes.push_back(output.dtype);
      return dtypes;
    };
    if (a.name() != b.name() || a.op() != b.op() || a.num_inputs() != b.num_inputs() ||
        a.control_inputs().size() != b.control_inputs().size() || dtypes(a) != dtypes(b)) {
      Obstacle("the graph has other nodes at batch size ", size, " than at ", sizes_[0],
               "; the first is '", b.name(), "' (", b.op(), ") instead of '", a.name(), "' (",
               a.op(), ")");
      return false;
    }
    const auto same_input = [&](const std::string& here, const std::string& there) {
      if (here == there) return true;
      Obstacle("'", a.name(), "' (", a.op(), ") takes '", there, "' at batch size ", size, " and '",
               here, "' at ", sizes_[0]);
      return false;
    };
    for (int i = 0; i < a.num_inputs(); ++i) {
      if (!same_input(a.input(i).name(), b.input(i).name())) return false;
    }
    for (size_t i = 0; i < a.control_inputs().size(); ++i) {
      if (!same_input(a.control_inputs()[i].name(), b.control_inputs()[i].name())) return false;
    }
    return true;
  }

  // Finds constants that are used only as the shape of a Reshape.
  void FindReshapes() {
    std::set<const Node*> others;
    for (const Node* node : nodes_[0]) {
      for (int i = 0; i < node->num_inputs(); ++i) {
        const Node* input = node->input(i).node();
        (node->op() == "Reshape" && i == 1 ? reshape_shapes_ : others).insert(input);
      }
    }
    for (const Node* node : others) reshape_shapes_.erase(node);
  }

  void FindBatchPlaceholder() {
    for (size_t i = 0; i < nodes_[0].size(); ++i) {
      const Node& node = *nodes_[0][i];
      // A string placeholder may be serialized Examples, which a request may replace by features.
      // It is then not fed, and its batch size is unknown.
      if (node.op() != "Placeholder" || node.outputs()[0].dtype == DType::kString) continue;
      for (int axis = 0; axis < node.outputs()[0].shape.rank(); ++axis) {
        bool is_batch = true;
        for (size_t g = 0; g < kNumGraphs; ++g)
          is_batch &= nodes_[g][i]->outputs()[0].shape.dim(axis) == sizes_[g];
        if (!is_batch) continue;
        analysis_.batch_placeholder = node.name();
        analysis_.batch_axis = axis;
        return;
      }
    }
  }

  void CompareNode(const Nodes& nodes) {
    const Node& node = *nodes[0];
    bool shapes_differ = false;
    std::vector<Shape> shapes;
    for (size_t output = 0; output < node.outputs().size(); ++output) {
      Shape shape = node.outputs()[output].shape;
      for (const Node* other : nodes) {
        const Shape& there = other->outputs()[output].shape;
        if (there.rank() != shape.rank()) {
          Obstacle("'", node.name(), "' (", node.op(), ") changes its rank with the batch size");
          return;
        }
        for (int axis = 0; axis < shape.rank(); ++axis) {
          if (there.dim(axis) == shape.dim(axis)) continue;
          shapes_differ = true;
          shape.set_dim(axis, Shape::kUnknownDim);
        }
      }
      shapes.push_back(std::move(shape));
    }
    if (shapes_differ) analysis_.output_shapes[node.name()] = std::move(shapes);
    if (node.op() == "VariableV2" && shapes_differ) {
      Obstacle("variable '", node.name(), "' changes its shape with the batch size");
    } else if (node.op() == "Placeholder" && shapes_differ) {
      ComparePlaceholders(nodes);
    } else if (node.op() == "Const") {
      CompareConstants(nodes);
    } else {
      CompareAttributes(nodes);
    }
    if (!node.functions().empty()) CompareFunctions(nodes);
  }

  // Bodies of loops and branches may differ in shapes only: their nodes cannot read the batch size.
  void CompareFunctions(const Nodes& owners) {
    for (size_t f = 0; f < owners[0]->functions().size(); ++f) {
      if (owners[0]->functions()[f] == nullptr) continue;
      std::vector<Nodes> bodies;
      for (const Node* owner : owners) {
        const Function& function = *owner->functions()[f];
        bodies.push_back(NeededNodes(function.graph(), function.results()));
      }
      for (size_t g = 1; g < kNumGraphs; ++g) {
        if (bodies[g].size() != bodies[0].size()) {
          Obstacle("'", owners[0]->name(), "' (", owners[0]->op(),
                   ") runs other nodes at other batch sizes");
          return;
        }
        for (size_t i = 0; i < bodies[0].size(); ++i)
          if (!SameNode(*bodies[0][i], *bodies[g][i], sizes_[g])) return;
      }
      for (size_t i = 0; i < bodies[0].size(); ++i)
        CompareInside(*owners[0], {bodies[0][i], bodies[1][i], bodies[2][i]});
    }
  }

  void CompareInside(const Node& owner, const Nodes& nodes) {
    const Node& node = *nodes[0];
    const bool nested = !node.functions().empty();
    for (const Node* other : nodes) {
      if (node.op() == "Const" &&
          !SameBits(node.attrs().get<Array>("value"), other->attrs().get<Array>("value"))) {
        Obstacle("constant '", node.name(), "' inside of '", owner.name(), "' (", owner.op(),
                 ") depends on the batch size; make it outside, or give the size as -1");
        return;
      }
      if (nested && !(node.outputs() == other->outputs())) {
        Obstacle("'", node.name(), "' (", node.op(), ") inside of '", owner.name(),
                 "' has shapes that depend on the batch size");
        return;
      }
    }
    if (node.op() != "Const") CompareAttributes(nodes);
    if (nested) CompareFunctions(nodes);
  }

  // Whether a loop has a row of its stacked results for each trip. Their number is then computed
  // (graphdef/functional_nodes.h).
  static bool StacksEachTrip(const Node& node) {
    const std::optional<Array> trips = ConstantValue(node.input(0));
    return trips.has_value() &&
           trips->AsDouble() == static_cast<double>(node.attrs().i("capacity"));
  }

  void ComparePlaceholders(const Nodes& nodes) {
    std::vector<std::vector<int64_t>> dims;
    for (const Node* node : nodes) dims.push_back(node->outputs()[0].shape.dims());
    std::optional<BatchConstant> shape = AffineShape(dims, sizes_);
    if (shape.has_value()) {
      analysis_.placeholders[nodes[0]->name()] = *std::move(shape);
    } else {
      Obstacle("the shape of placeholder '", nodes[0]->name(),
               "' is not a multiple of the batch size");
    }
  }

  void CompareAttributes(const Nodes& nodes) {
    const Node& node = *nodes[0];
    for (const Node* other : nodes) {
      if (other->attrs().values().size() == node.attrs().values().size()) continue;
      Obstacle("'", node.name(), "' (", node.op(), ") has other attributes at other batch sizes");
      return;
    }
    for (const auto& [name, value] : node.attrs().values()) {
      // The shape attribute of these is their output's shape, which is compared as a shape.
      if (name == "shape" && (node.op() == "Placeholder" || node.op() == "EnsureShape")) continue;
      if (name == "capacity" && node.op() == "While" &&
          std::all_of(nodes.begin(), nodes.end(),
                      [](const Node* other) { return StacksEachTrip(*other); }))
        continue;
      for (const Node* other : nodes) {
        const Attrs here = {{name, value}};
        if (other->attrs().has(name) && here == Attrs({{name, other->attrs().values().at(name)}}))
          continue;
        Obstacle("attribute ", name, " of '", node.name(), "' (", node.op(),
                 ") depends on the batch size: ", AttrToString(value), " at ", sizes_[0]);
        return;
      }
    }
  }

  void CompareConstants(const Nodes& nodes) {
    std::vector<Array> values;
    for (const Node* node : nodes) values.push_back(node->attrs().get<Array>("value"));
    const Node& node = *nodes[0];
    if (SameBits(values[0], values[1]) && SameBits(values[0], values[2])) return;
    std::optional<BatchConstant> constant;
    if (values[0].dtype() == values[1].dtype() && values[0].dtype() == values[2].dtype()) {
      const bool same_shape =
          values[0].shape() == values[1].shape() && values[0].shape() == values[2].shape();
      constant = same_shape ? AffineConstant(values, sizes_, reshape_shapes_.count(&node) > 0)
                            : FilledConstant(values, sizes_);
    }
    if (!constant.has_value()) {
      Obstacle("constant '", node.name(), "' (", values[0].TypeString(),
               ") holds values that depend on the batch size");
      return;
    }
    // A Reshape finds its -1 itself. The other kinds read the batch size from a placeholder.
    if (constant->kind != BatchConstant::Kind::kReshape && analysis_.batch_placeholder.empty()) {
      Obstacle("constant '", node.name(),
               "' depends on the batch size, but no placeholder has a dimension of that size");
      return;
    }
    analysis_.constants[node.name()] = *std::move(constant);
  }

  BatchAnalysis analysis_;
  std::vector<int64_t> sizes_;
  std::vector<Nodes> nodes_;
  std::set<const Node*> reshape_shapes_;
};

}  // namespace

Shape BatchAnalysis::ShapeOf(const Tensor& tensor) const {
  const auto found = output_shapes.find(tensor.node()->name());
  return found == output_shapes.end() ? tensor.shape()
                                      : found->second[static_cast<size_t>(tensor.output())];
}

BatchAnalysis AnalyzeBatch(const std::vector<SizedGraph>& graphs) {
  CHECK_EQ(graphs.size(), kNumGraphs);
  return Analyzer(graphs).Take();
}

}  // namespace estimator
