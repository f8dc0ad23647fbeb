// Loops and branches as TensorFlow's functional ops, and back.
#include "estimator/graphdef/functional_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/graphdef/graph_def.h"
#include "estimator/graphdef/import_graph_def.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/branches.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/functional.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/optimizer_ops.h"
#include "estimator/ops/random.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/tensor_array.h"
#include "estimator/ops/testing/eval.h"
#include "estimator/ops/while_loop.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

class FunctionalNodesTest : public GraphTest {
 protected:
  const proto::GraphDef& Def() {
    EST_EXPECT_OK(graph_.status());
    def_.Clear();
    WriteGraphDef(graph_, &def_);
    return def_;
  }
  const proto::NodeDef& Find(const std::string& name) {
    for (const proto::NodeDef& node : def_.node()) {
      if (node.name() == name) return node;
    }
    ADD_FAILURE() << "no node " << name;
    static const auto* const kNone = new proto::NodeDef;
    return *kNone;
  }
  const proto::FunctionDef& FindFunction(const proto::NodeDef& node, const std::string& attr) {
    const std::string& name = node.attr().at(attr).func().name();
    for (const proto::FunctionDef& function : def_.library().function()) {
      if (function.signature().name() == name) return function;
    }
    ADD_FAILURE() << "no function " << name;
    static const auto* const kNone = new proto::FunctionDef;
    return *kNone;
  }
  static std::vector<std::string> Inputs(const proto::NodeDef& node) {
    return {node.input().begin(), node.input().end()};
  }
  static std::vector<std::string> Ops(const proto::FunctionDef& function) {
    std::vector<std::string> ops;
    for (const proto::NodeDef& node : function.node_def()) ops.push_back(node.op());
    return ops;
  }

  // Writes the graph, reads it, and expects the same values from both.
  void ExpectSameAfterReading(const Tensors& fetches) {
    EST_ASSERT_OK(graph_.status());
    const auto expected = testing::EvalAll(fetches);
    EST_ASSERT_OK(expected);
    std::vector<std::string> names;
    for (const Tensor& fetch : fetches) names.push_back(fetch.name());
    Graph graph;
    const auto read = ImportSerializedGraphDef(GraphToGraphDef(graph_), {.fetches = names}, graph);
    EST_ASSERT_OK(read);
    const auto actual = testing::EvalAll(read->fetches);
    EST_ASSERT_OK(actual);
    for (size_t i = 0; i < names.size(); ++i) {
      const Difference difference = Compare((*actual)[i], (*expected)[i], {.absolute = 1e-6});
      EXPECT_TRUE(difference.equal) << names[i] << ": " << difference.report;
    }
  }

  const Tensor w_ = Constant({0.5f, 0.75f, 1.0f});
  const Tensor rows_ = Reshape(Cast(Range(12), DType::kFloat32), {4, 3}) * 0.1f;

  Tensor Grow(const Tensor& start, const WhileLoopOptions& options = {}) {
    return WhileLoop([](const Tensors& v) { return Less(ReduceSum(v[1]), 9.0f); },
                     [this](const Tensors& v) {
                       return Tensors{Add(v[0], 1), Add(Multiply(v[1], 1.5f), w_)};
                     },
                     {Constant(0), start}, options)[1];
  }

  proto::GraphDef def_;
};

TEST_F(FunctionalNodesTest, BothBranchesTakeTheCapturedTensorsOfBoth) {
  const Tensor x = Placeholder(DType::kFloat32, {2}, "x");
  const Tensor y = Placeholder(DType::kFloat32, {2}, "y");
  Cond(
      Less(ReduceSum(x), 0.0f), [&] { return Multiply(x, y); }, [&] { return Negate(y); },
      "choose");
  Def();
  const proto::NodeDef& node = Find("choose");
  EXPECT_EQ(node.op(), "StatelessIf");
  EXPECT_EQ(node.attr().at("Tin").list().type_size(), 2);
  EXPECT_EQ(node.attr().at("output_shapes").list().shape(0).dim(0).size(), 2);
  EXPECT_FALSE(node.attr().at("_lower_using_switch_merge").b());
  for (const char* branch : {"then_branch", "else_branch"})
    EXPECT_EQ(FindFunction(node, branch).signature().input_arg_size(), 2) << branch;
  const proto::FunctionDef& other = FindFunction(node, "else_branch");
  EXPECT_THAT(Ops(other), ElementsAre("Neg"));
  EXPECT_EQ(other.node_def(0).input(0), other.signature().input_arg(1).name());
  EXPECT_EQ(other.ret().at("result0"), absl::StrCat(other.node_def(0).name(), ":y:0"));
}

TEST_F(FunctionalNodesTest, ALoopHasTensorFlowsVariablesAndItsOwnOutputs) {
  const Tensor x = Placeholder(DType::kFloat32, {2, 3}, "x");
  MapFn([](const Tensor& row) { return Relu(row); }, x, "each");
  Def();
  const proto::NodeDef& outputs = Find("each");
  EXPECT_EQ(outputs.op(), "IdentityN");
  EXPECT_THAT(Inputs(outputs), ElementsAre("each/trips", "each/stacked_0/TensorListStack"));
  const proto::NodeDef& loop = Find("each/loop");
  EXPECT_EQ(loop.op(), "StatelessWhile");
  EXPECT_THAT(Inputs(loop),
              ElementsAre("each/loop_counter", "each/maximum_iterations", "each/stacked_0", "x"));
  const proto::FunctionDef& body = FindFunction(loop, "body");
  EXPECT_THAT(Ops(body), Contains("GatherV2"));
  EXPECT_THAT(Ops(body), Contains("TensorListSetItem"));
  EXPECT_EQ(body.signature().input_arg_size(), 4);
  EXPECT_EQ(body.ret().at("result3"), body.signature().input_arg(3).name());
  EXPECT_THAT(Ops(FindFunction(loop, "cond")), ElementsAre("Less"));
}

TEST_F(FunctionalNodesTest, RandomNumbersMakeALoopStateful) {
  MapFn([](const Tensor& row) { return Add(row, RandomUniform({3})); }, rows_, "each");
  Def();
  EXPECT_EQ(Find("each/loop").op(), "While");
}

TEST_F(FunctionalNodesTest, TheGradientOfALoopWithoutALimitReadsAListThatGrows) {
  const Tensor x = Placeholder(DType::kFloat32, {3}, "x");
  const Tensor last = WhileLoop([](const Tensors& v) { return Less(ReduceSum(v[0]), 9.0f); },
                                [](const Tensors& v) { return Tensors{Square(v[0])}; }, {x})[0];
  Gradients({last}, {x});
  Def();
  EXPECT_EQ(Find("while/stacked_0").op(), "EmptyTensorList");
  EXPECT_EQ(Find("while").attr().at("T").list().type(2), proto::DT_VARIANT);
  EXPECT_THAT(Ops(FindFunction(Find("while/loop"), "body")), Contains("TensorListPushBack"));
  bool reads = false;
  for (const proto::NodeDef& node : def_.node()) {
    if (node.op() == "StatelessWhile" && node.name() != "while/loop")
      reads =
          !::testing::Matches(Not(Contains("TensorListGetItem")))(Ops(FindFunction(node, "body")));
  }
  EXPECT_TRUE(reads);
}

// TensorFlow's gradient of a loop adds functions, which it names after these.
TEST_F(FunctionalNodesTest, EachNodeHasFunctionsOfItsOwn) {
  const Tensor x = Placeholder(DType::kFloat32, {2, 3}, "x");
  for (int i = 0; i < 2; ++i) MapFn([](const Tensor& row) { return Relu(row); }, x, "each");
  EXPECT_EQ(Def().library().function_size(), 4);
  std::set<std::string> names;
  for (const proto::FunctionDef& function : def_.library().function())
    names.insert(function.signature().name());
  EXPECT_EQ(names.size(), 4u);
}

TEST_F(FunctionalNodesTest, AGraphWithoutFunctionsHasNoLibrary) {
  Relu(rows_);
  EXPECT_FALSE(Def().has_library());
}

TEST_F(FunctionalNodesTest, LoopsThatAreReadBackComputeTheSame) {
  const auto cell = [this](const Tensor& acc, const Tensor& row) {
    return Tanh(Add(Multiply(acc, w_), row));
  };
  ExpectSameAfterReading(
      {Grow(w_), Grow(w_, {.maximum_iterations = 2, .name = "cut"}),
       Grow(w_, {.maximum_iterations = 50, .name = "limited"}),
       MapFn([this](const Tensor& row) { return Multiply(row, w_); }, rows_), Scan(cell, rows_, w_),
       Scan(cell, rows_, w_, {.reverse = true, .name = "reverse"}), Foldl(cell, rows_, w_),
       Foldr(cell, rows_, w_),
       MapFn([this](const Tensor& row) { return Grow(row, {.name = "inner"}); }, rows_, "nested")});
}

TEST_F(FunctionalNodesTest, BranchesThatAreReadBackComputeTheSame) {
  const Tensor many = Less(ReduceSum(rows_), 1.0f);
  ExpectSameAfterReading(
      {Cond(
           many, [this] { return Square(w_); }, [this] { return Negate(w_); }),
       Cond(
           LogicalNot(many), [this] { return Square(w_); }, [this] { return w_; }, "other"),
       MapFn(
           [this](const Tensor& row) {
             return Cond(
                 Less(ReduceSum(row), 1.0f), [&] { return Multiply(row, w_); },
                 [&] { return row; });
           },
           rows_, "branch_in_loop")});
}

TEST_F(FunctionalNodesTest, ACaseThatIsReadBackRunsTheSameFunction) {
  const auto times = [](const Tensor& value, float factor) {
    return [value, factor] { return Tensors{Multiply(value, factor), Add(value, factor)}; };
  };
  const auto choose = [&](const Tensor& index, StringArg name) {
    const auto inner = [&] { return SwitchCase(index, {times(w_, 4), times(w_, 5)}, "inner"); };
    return SwitchCase(index, {times(w_, 2), times(w_, 3), inner}, name);
  };
  // An index out of range runs the last function.
  Tensors fetches = MapFn([&](const Tensors& row) { return choose(row[0], "in_loop"); },
                          {Constant({-1, 0, 1, 2, 3})});
  for (const int index : {-1, 0, 1, 3}) {
    const Tensors chosen = choose(Constant(index), "constant");
    fetches.insert(fetches.end(), chosen.begin(), chosen.end());
  }
  const Tensors only = SwitchCase(Cast(ReduceSum(w_), DType::kInt32), {times(w_, 6)}, "only");
  fetches.insert(fetches.end(), only.begin(), only.end());
  ExpectSameAfterReading(fetches);
  Def();
  EXPECT_EQ(Find("only").op(), "StatelessCase");
}

// TensorFlow's op takes variables, and a function has values only.
TEST_F(FunctionalNodesTest, AnUpdateRuleInABranchIsWrittenAsPlainOps) {
  for (const char* const op : {"ApplyAdam", "ApplyMomentum", "ApplyRMSProp"}) {
    const UpdateDef& rule = *FindUpdateOp(op);
    const Tensors updated = Cond(
        Less(ReduceSum(w_), 9.0f),
        [&] {
          Tensors operands;
          for (int i = 0; i < rule.num_operands(); ++i) {
            const auto value = 0.1f * static_cast<float>(1 + i);
            operands.push_back(rule.IsFull(i) ? Multiply(w_, value) : Constant(value));
          }
          return ApplyUpdate(rule, operands);
        },
        [&] { return Tensors(static_cast<size_t>(rule.num_states), w_); });
    ExpectSameAfterReading(updated);
  }
  Def();
  EXPECT_THAT(Ops(FindFunction(Find("cond"), "then_branch")), Not(Contains("ApplyAdam")));
}

TEST_F(FunctionalNodesTest, AnArrayThatALoopWritesIsReadBack) {
  const Tensors last =
      WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                [this](const Tensors& v) {
                  return Tensors{Add(v[0], 1), TensorArray(v[1]).Write(v[0], Gather(rows_, v[0]))};
                },
                {Constant(0), TensorArray({DType::kFloat32, {3}}, 4)});
  ExpectSameAfterReading({last[1]});
}

// In TensorFlow the branch returns the memory of the variable, which the update would change.
TEST_F(FunctionalNodesTest, AnUpdateWaitsForWhatReadsTheVariableThroughABranch) {
  const auto zero = [](const Shape& shape, DType dtype) { return Zeros(shape, dtype); };
  const Variable w = GetVariable("w", {2}, {.initializer = zero});
  const Tensor y = Cond(
      Constant(true), [&] { return w.read(); }, [&] { return Negate(w); });
  ReduceSum(y, {0}, {.name = "reader"});
  const Operation update = Assign(w, Constant({1.0f, 2.0f}), "update");
  EXPECT_TRUE(update.valid());
  Def();
  std::vector<std::string> inputs(Find("update").input().begin(), Find("update").input().end());
  EXPECT_THAT(inputs, Contains("^reader"));
  EXPECT_THAT(inputs, Contains("^cond"));
}

}  // namespace
}  // namespace estimator
