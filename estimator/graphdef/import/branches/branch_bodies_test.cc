// Branches of imported graphs, as graphs for inference.
#include "estimator/graphdef/import/branches/branch_bodies.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/function.h"
#include "estimator/graphdef/import_graph_def.h"
#include "estimator/ops/testing/eval.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The graph takes x f32 [3], indices i i32 [3], a number n i32 [], and conditions p and q.
class BranchBodiesTest : public ::testing::Test {
 protected:
  BranchBodiesTest() {
    for (const char* name : {"x", "i", "n", "p", "q"}) Node(name, "Placeholder", {});
    Int("axis", 0);
  }

  proto::NodeDef& Node(const std::string& name, const std::string& op,
                       const std::vector<std::string>& inputs) {
    proto::NodeDef& node = *def_.add_node();
    node.set_name(name);
    node.set_op(op);
    for (const std::string& input : inputs) node.add_input(input);
    return node;
  }
  void Int(const std::string& name, int value) {
    proto::NodeDef& node = Node(name, "Const", {});
    (*node.mutable_attr())["dtype"].set_type(proto::DT_INT32);
    proto::TensorProto& tensor = *(*node.mutable_attr())["value"].mutable_tensor();
    tensor.set_dtype(proto::DT_INT32);
    tensor.mutable_tensor_shape();
    tensor.add_int_val(value);
  }
  // x[i], which fails if an index is out of range.
  void Gather(const std::string& name, const std::string& x, const std::string& i) {
    Node(name, "GatherV2", {x, i, "axis"});
  }
  // Switches of x, i and n by a condition: `<scope>/x` and so on.
  void Switch(const std::string& scope, const std::string& condition,
              const std::string& from = "") {
    for (const std::string name : {"x", "i"})
      Node(scope + "/" + name, "Switch", {from.empty() ? name : from + "/" + name, condition});
  }

  // A function of x f32 [3], indices i i32 [3] and a condition p that returns y = nodes.
  //   nodes: the text of NodeDefs.  y: f32 [3].
  void Function(const std::string& name, const std::string& nodes, const std::string& y) {
    const std::string text = absl::StrCat(
        "signature { name: '", name,
        "' input_arg { name: 'x' type: DT_FLOAT } input_arg { name: 'i' type: DT_INT32 }"
        " input_arg { name: 'p' type: DT_BOOL } output_arg { name: 'y' type: DT_FLOAT } } ",
        nodes, " ret { key: 'y' value: '", y, "' }");
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
        text, def_.mutable_library()->add_function()));
  }
  void Functions() {
    Function("take",
             "node_def { name: 'axis' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }"
             " attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 0"
             " } } } } node_def { name: 'gather' op: 'GatherV2' input: 'x' input: 'i'"
             " input: 'axis:output:0' }",
             "gather:output:0");
    Function("twice", "node_def { name: 'add' op: 'AddV2' input: 'x' input: 'x' }", "add:z:0");
    Function("same", "", "x");
  }
  void If(const std::string& name, const std::string& condition, const std::string& yes,
          const std::string& no) {
    proto::NodeDef& node = Node(name, "If", {condition, "x", "i", "p"});
    (*node.mutable_attr())["then_branch"].mutable_func()->set_name(yes);
    (*node.mutable_attr())["else_branch"].mutable_func()->set_name(no);
  }

  struct Fed {
    std::vector<float> x = {1, 2, 3};
    std::vector<int32_t> i = {2, 2, 2};
    int32_t n = 0;
    bool p = false, q = false;
  };
  absl::StatusOr<std::vector<float>> Run(const std::string& fetch, const Fed& fed) {
    Graph graph;
    const GraphScope scope(graph);
    EST_ASSIGN_OR_RETURN(const ImportedGraph imported,
                         ImportGraphDef(def_,
                                        {.feeds = {{"x", {DType::kFloat32, {3}}},
                                                   {"i", {DType::kInt32, {3}}},
                                                   {"n", {DType::kInt32, {}}},
                                                   {"p", {DType::kBool, {}}},
                                                   {"q", {DType::kBool, {}}}},
                                         .fetches = {fetch}},
                                        graph));
    ops_.clear();
    body_ops_.clear();
    AddOps(graph, ops_);
    EST_ASSIGN_OR_RETURN(
        const Array result,
        testing::Eval(imported.fetches[0],
                      {{imported.feeds.at("x"), Array::FromSpan<float>({3}, fed.x)},
                       {imported.feeds.at("i"), Array::FromSpan<int32_t>({3}, fed.i)},
                       {imported.feeds.at("n"), Array::Scalar(fed.n)},
                       {imported.feeds.at("p"), Array::Scalar(fed.p)},
                       {imported.feeds.at("q"), Array::Scalar(fed.q)}}));
    return std::vector<float>(result.data<float>(), result.data<float>() + result.num_elements());
  }
  std::vector<float> Values(const std::string& fetch, const Fed& fed) {
    const auto values = Run(fetch, fed);
    EST_EXPECT_OK(values);
    return values.value_or(std::vector<float>());
  }
  void AddOps(const Graph& graph, std::vector<std::string>& ops) {
    for (const auto& node : graph.nodes()) {
      ops.push_back(node->op());
      for (const auto& function : node->functions()) AddOps(function->graph(), body_ops_);
    }
  }

  proto::GraphDef def_;
  std::vector<std::string> ops_, body_ops_;  // of the last graph, and of its bodies
};

const std::vector<int32_t> kWrong = {0, 7, 0};

TEST_F(BranchBodiesTest, AnIfRunsOnlyOneFunction) {
  Functions();
  If("y", "p", "take", "twice");
  EXPECT_THAT(Values("y", {.p = true}), ElementsAre(3, 3, 3));
  EXPECT_THAT(Values("y", {.i = kWrong}), ElementsAre(2, 4, 6));
  EXPECT_THAT(Run("y", {.i = kWrong, .p = true}), ErrorHas("7 is not in [0, 3)"));
  EXPECT_THAT(ops_, Not(Contains("GatherV2")));
}

TEST_F(BranchBodiesTest, FunctionsThatAreCheapAreSelected) {
  Functions();
  If("y", "p", "same", "twice");
  EXPECT_THAT(Values("y", {.p = true}), ElementsAre(1, 2, 3));
  EXPECT_THAT(Values("y", {}), ElementsAre(2, 4, 6));
  EXPECT_THAT(ops_, Contains("SelectV2"));
}

TEST_F(BranchBodiesTest, ACaseRunsOnlyOneFunction) {
  Functions();
  proto::NodeDef& node = Node("y", "Case", {"n", "x", "i", "p"});
  for (const char* name : {"same", "take", "twice"})
    (*node.mutable_attr())["branches"].mutable_list()->add_func()->set_name(name);
  EXPECT_THAT(Values("y", {.i = kWrong, .n = 0}), ElementsAre(1, 2, 3));
  EXPECT_THAT(Values("y", {.n = 1}), ElementsAre(3, 3, 3));
  EXPECT_THAT(Run("y", {.i = kWrong, .n = 1}), ErrorHas("7 is not in [0, 3)"));
  for (const int last : {2, 5, -1})
    EXPECT_THAT(Values("y", {.i = kWrong, .n = last}), ElementsAre(2, 4, 6)) << last;
}

TEST_F(BranchBodiesTest, AnIfInAnIfRunsInItsBranch) {
  Functions();
  const std::string inner =
      "node_def { name: 'inner' op: 'If' input: 'all:output:0' input: 'x' input: 'i'"
      " input: 'p'"
      " attr { key: 'then_branch' value { func { name: 'take' } } }"
      " attr { key: 'else_branch' value { func { name: 'twice' } } } }";
  const std::string condition =
      "node_def { name: 'ints' op: 'Cast' input: 'x'"
      " attr { key: 'DstT' value { type: DT_INT32 } } attr { key: 'SrcT' value { type: DT_FLOAT } "
      "} } node_def { name: 'quotient' op: 'FloorDiv'"
      " input: 'i' input: 'ints:y:0' } node_def { name: 'zero' op: 'Const'"
      " attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { tensor {"
      " dtype: DT_INT32 tensor_shape { } int_val: 0 } } } } node_def { name: 'is_right' op: 'Equal'"
      " input: 'quotient:z:0' input: 'zero:output:0' } node_def { name: 'all' op: 'All'"
      " input: 'is_right:z:0' input: 'zero:output:0' }";
  Function("outer", condition + inner, "inner:output:0");
  If("y", "p", "outer", "same");
  // All quotients are 0 if x is larger than i; 1 / 0 fails.
  EXPECT_THAT(Values("y", {.x = {5, 6, 7}, .i = {1, 0, 2}, .p = true}), ElementsAre(6, 5, 7));
  EXPECT_THAT(Values("y", {.x = {5, 6, 7}, .i = {1, 9, 2}, .p = true}), ElementsAre(10, 12, 14));
  EXPECT_THAT(Values("y", {.x = {0, 6, 7}, .i = {1, 9, 2}}), ElementsAre(0, 6, 7));
}

// TensorFlow runs the inner branch in no step.
TEST_F(BranchBodiesTest, ABranchInTheOtherBranchOfItsConditionNeverRuns) {
  Functions();
  Function("outer",
           "node_def { name: 'inner' op: 'If' input: 'p' input: 'x' input: 'i' input: 'p'"
           " attr { key: 'then_branch' value { func { name: 'twice' } } }"
           " attr { key: 'else_branch' value { func { name: 'take' } } } }",
           "inner:output:0");
  If("of_if", "p", "outer", "same");
  Node("switch_x", "Switch", {"x", "p"});
  Node("inner_x", "Switch", {"switch_x:1", "p"});
  Node("inner_i", "Switch", {"i", "p"});
  Gather("gather", "inner_x", "inner_i");
  Node("double", "AddV2", {"inner_x:1", "inner_x:1"});
  Node("inner_merge", "Merge", {"gather", "double"});
  Node("of_cond", "Merge", {"switch_x", "inner_merge"});
  for (const char* y : {"of_if", "of_cond"}) {
    EXPECT_THAT(Values(y, {.i = kWrong, .p = true}), ElementsAre(2, 4, 6)) << y;
    EXPECT_THAT(Values(y, {.i = kWrong}), ElementsAre(1, 2, 3)) << y;
    EXPECT_THAT(body_ops_, Not(Contains("GatherV2"))) << y;
  }
}

TEST_F(BranchBodiesTest, ALongChainOfIfsCanReturnTheirArguments) {
  Functions();
  constexpr int kCount = 300;
  for (int k = 0; k < kCount; ++k) {
    const auto name = [](int number) { return absl::StrCat("if", number); };
    If(name(k), "p", "same", k == 0 ? "twice" : "same");
    if (k > 0) def_.mutable_node(def_.node_size() - 1)->set_input(1, name(k - 1));
  }
  const std::string last = absl::StrCat("if", kCount - 1);
  EXPECT_THAT(Values(last, {.p = true}), ElementsAre(1, 2, 3));
  EXPECT_THAT(Values(last, {}), ElementsAre(2, 4, 6));
}

// Function k of a Case reads what function k of an earlier Case of its index gives.
TEST_F(BranchBodiesTest, AMergeCannotChooseBetweenTheFunctionsOfACase) {
  Functions();
  Function("merges",
           "node_def { name: 'own' op: 'Cast' input: 'i' attr { key: 'DstT' value { type: DT_FLOAT"
           " } } attr { key: 'SrcT' value { type: DT_INT32 } } }"
           " node_def { name: 'other' op: 'Neg' input: 'x' }"
           " node_def { name: 'merge' op: 'Merge' input: 'other:y:0' input: 'own:y:0' }",
           "merge:output:0");
  Int("two", 2);
  std::string x = "x";
  for (const std::string function : {"twice", "merges"}) {
    proto::NodeDef& node = Node("case_" + function, "Case", {"two", x, "i", "p"});
    for (int k = 0; k < 3; ++k)
      (*node.mutable_attr())["branches"].mutable_list()->add_func()->set_name(function);
    x = node.name();
  }
  EXPECT_THAT(Run(x, {}), ErrorHas("not of one tf.cond"));
}

TEST_F(BranchBodiesTest, ACondRunsOnlyOneBranch) {
  Switch("cond", "p");
  Gather("gather", "cond/x:1", "cond/i:1");
  Node("y", "Merge", {"cond/x", "gather"});
  EXPECT_THAT(Values("y", {.p = true}), ElementsAre(3, 3, 3));
  EXPECT_THAT(Values("y", {.i = kWrong}), ElementsAre(1, 2, 3));
  EXPECT_THAT(Run("y", {.i = kWrong, .p = true}), ErrorHas("7 is not in [0, 3)"));
  EXPECT_THAT(ops_, Not(Contains("GatherV2")));
}

TEST_F(BranchBodiesTest, TheMergesOfACondAreOneIf) {
  Switch("cond", "p");
  Gather("gather", "cond/x:1", "cond/i:1");
  Node("double", "AddV2", {"gather", "gather"});
  Node("first", "Merge", {"cond/x", "gather"});
  Node("second", "Merge", {"cond/x", "double"});
  Node("y", "AddV2", {"first", "second"});
  EXPECT_THAT(Values("y", {.p = true}), ElementsAre(9, 9, 9));
  EXPECT_THAT(Values("y", {.i = kWrong}), ElementsAre(2, 4, 6));
  EXPECT_EQ(std::count(ops_.begin(), ops_.end(), "If"), 1);
  EXPECT_EQ(std::count(body_ops_.begin(), body_ops_.end(), "GatherV2"), 1);
}

// Each of two conditions has a tensor that depends on a tensor of the other one.
TEST_F(BranchBodiesTest, ConditionsThatDependOnEachOtherAreSeveralIfs) {
  Switch("p_first", "p");
  Switch("q_first", "q");
  Gather("p_gather", "p_first/x:1", "p_first/i:1");
  Gather("q_gather", "q_first/x:1", "q_first/i:1");
  Node("p_merge", "Merge", {"p_first/x", "p_gather"});
  Node("q_merge", "Merge", {"q_first/x", "q_gather"});
  Node("p_second", "Switch", {"q_merge", "p"});
  Node("q_second", "Switch", {"p_merge", "q"});
  Gather("p_again", "p_second:1", "p_first/i:1");
  Gather("q_again", "q_second:1", "q_first/i:1");
  Node("p_last", "Merge", {"p_second", "p_again"});
  Node("q_last", "Merge", {"q_second", "q_again"});
  Node("y", "Sub", {"p_last", "q_last"});
  for (const bool p : {false, true}) {
    for (const bool q : {false, true}) {
      EXPECT_THAT(Values("y", {.i = {1, 2, 0}, .p = p, .q = q}), ElementsAre(0, 0, 0)) << p << q;
    }
  }
  EXPECT_EQ(std::count(ops_.begin(), ops_.end(), "If"), 4);
}

// As a gradient does: its branch reads what the branch before it computed.
TEST_F(BranchBodiesTest, ALaterBranchOfTheConditionReadsTheEarlierOne) {
  Switch("cond", "p");
  Gather("gather", "cond/x:1", "cond/i:1");
  Node("tanh", "Tanh", {"gather"});
  Node("double", "AddV2", {"cond/x", "cond/x"});
  Node("forward", "Merge", {"double", "tanh"});
  Node("back", "Switch", {"forward", "p"});
  Node("tanh_grad", "Mul", {"tanh", "back:1"});
  Node("double_grad", "Add", {"double", "back"});
  Node("y", "Merge", {"double_grad", "tanh_grad"});
  const float tanh = std::tanh(3.0f), square = tanh * tanh;
  EXPECT_THAT(Values("y", {.p = true}), ElementsAre(square, square, square));
  EXPECT_THAT(Values("y", {.i = kWrong}), ElementsAre(4, 8, 12));
  EXPECT_THAT(ops_, Not(Contains("GatherV2")));
  EXPECT_THAT(ops_, Not(Contains("Tanh")));
  EXPECT_EQ(std::count(ops_.begin(), ops_.end(), "If"), 2);
}

// TensorFlow 2 gives one output of an If, an Optional, another type in each branch.
TEST_F(BranchBodiesTest, TheIfOfAGradientReadsTheResultOfItsOwnBranch) {
  const auto function = [this](const std::string& name, const std::string& args,
                               const std::string& nodes, const std::string& results) {
    const std::string text =
        absl::StrCat("signature { name: '", name, "' ", args, "} ", nodes, " ", results);
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
        text, def_.mutable_library()->add_function()));
  };
  const auto optional = [](const std::string& of) {
    return absl::StrCat("node_def { name: 'kept' op: 'OptionalFromValue' input: '", of, "' }");
  };
  const auto get = [](const std::string& type) {
    return absl::StrCat(
        "node_def { name: 'get' op: 'OptionalGetValue' input: 'kept' attr { key: 'output_types'"
        " value { list { type: ",
        type, " } } } } ");
  };
  const std::string forward =
      "input_arg { name: 'x' type: DT_FLOAT } input_arg { name: 'i' type: DT_INT32 }"
      " output_arg { name: 'y' type: DT_FLOAT } output_arg { name: 'kept' type: DT_VARIANT }";
  const std::string back =
      "input_arg { name: 'x' type: DT_FLOAT } input_arg { name: 'kept' type: DT_VARIANT }"
      " output_arg { name: 'y' type: DT_FLOAT }";
  const std::string axis =
      "node_def { name: 'axis' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } }"
      " attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 } } } } ";
  function(
      "take", forward,
      axis +
          "node_def { name: 'gather' op: 'GatherV2' input: 'x' input: 'i'"
          " input: 'axis:output:0' } " +
          optional("gather:output:0"),
      "ret { key: 'y' value: 'gather:output:0' } ret { key: 'kept' value: 'kept:optional:0' }");
  function("same", forward, optional("i"),
           "ret { key: 'y' value: 'x' } ret { key: 'kept' value: 'kept:optional:0' }");
  function("take_grad", back,
           get("DT_FLOAT") +
               "node_def { name: 'mul' op: 'Mul' input: 'x'"
               " input: 'get:components:0' }",
           "ret { key: 'y' value: 'mul:z:0' }");
  function("same_grad", back,
           get("DT_INT32") +
               "node_def { name: 'cast' op: 'Cast' input: 'get:components:0' attr { key: 'SrcT'"
               " value { type: DT_INT32 } } attr { key: 'DstT' value { type: DT_FLOAT } } }"
               " node_def { name: 'add' op: 'AddV2' input: 'x' input: 'cast:y:0' }",
           "ret { key: 'y' value: 'add:z:0' }");
  If("forward", "p", "take", "same");
  If("y", "p", "take_grad", "same_grad");
  proto::NodeDef& node = *def_.mutable_node(def_.node_size() - 1);
  node.set_input(1, "forward");
  node.set_input(2, "forward:1");
  EXPECT_THAT(Values("y", {.p = true}), ElementsAre(9, 9, 9));
  EXPECT_THAT(Values("y", {.i = kWrong}), ElementsAre(1, 9, 3));
  EXPECT_THAT(ops_, Not(Contains("GatherV2")));
}

// The inner condition's gradient, in the gradient of the outer condition.
// Each reads its number of the same Optional, whose every value comes out of the one before.
TEST_F(BranchBodiesTest, ManyReadsOfOneOptionalEndSoon) {
  const auto output = [](int k) { return absl::StrCat("get", k, ":", k); };
  proto::NodeDef& kept = Node("kept", "OptionalFromValue", {"x", "kept"});
  for (int k = 1; k <= 60; ++k) {
    if (k > 1) kept.add_input(output(k - 1));
    Node(absl::StrCat("get", k), "OptionalGetValue", {k > 1 ? output(k - 1) : "kept"});
  }
  EXPECT_FALSE(Run(output(60), {}).ok());
}

TEST_F(BranchBodiesTest, LaterBranchesInBranchesReadTheEarlierOnes) {
  Switch("outer", "p");
  Node("outer/q", "Switch", {"q", "p"});
  for (const char* name : {"x", "i"})
    Node(absl::StrCat("inner/", name), "Switch", {absl::StrCat("outer/", name, ":1"), "outer/q:1"});
  Gather("gather", "inner/x:1", "inner/i:1");
  Node("inner_merge", "Merge", {"inner/x", "gather"});
  Node("forward", "Merge", {"outer/x", "inner_merge"});
  Node("back", "Switch", {"forward", "p"});
  Node("inner_back", "Switch", {"back:1", "outer/q:1"});
  Node("product", "Mul", {"inner_back:1", "gather"});
  Node("inner_back_merge", "Merge", {"inner_back", "product"});
  Node("y", "Merge", {"back", "inner_back_merge"});
  EXPECT_THAT(Values("y", {.p = true, .q = true}), ElementsAre(9, 9, 9));
  EXPECT_THAT(Values("y", {.i = kWrong, .p = true}), ElementsAre(1, 2, 3));
  EXPECT_THAT(Values("y", {.i = kWrong, .q = true}), ElementsAre(1, 2, 3));
  EXPECT_THAT(ops_, Not(Contains("GatherV2")));
}

TEST_F(BranchBodiesTest, WhatIsReadOutsideOfTheBranchesIsBuiltOutside) {
  Switch("cond", "p");
  Gather("gather", "cond/x:1", "cond/i:1");
  Node("y", "Merge", {"cond/x", "gather"});
  EXPECT_THAT(Values("gather", {}), ElementsAre(3, 3, 3));
}

TEST_F(BranchBodiesTest, AKnownConditionLeavesOneBranchOut) {
  proto::NodeDef& condition = Node("yes", "Const", {});
  (*condition.mutable_attr())["dtype"].set_type(proto::DT_BOOL);
  proto::TensorProto& tensor = *(*condition.mutable_attr())["value"].mutable_tensor();
  tensor.set_dtype(proto::DT_BOOL);
  tensor.mutable_tensor_shape();
  tensor.add_bool_val(true);
  Switch("cond", "yes");
  Gather("gather", "cond/x:1", "cond/i:1");
  Node("concat", "ConcatV2", {"cond/x", "cond/i", "axis"});  // of different types
  Node("y", "Merge", {"concat", "gather"});
  EXPECT_THAT(Values("y", {}), ElementsAre(3, 3, 3));
  EXPECT_THAT(ops_, Contains("GatherV2"));
  EXPECT_THAT(ops_, Not(Contains("If")));
}

// As the shape of a gradient of rows, which is a constant without a condition.
TEST_F(BranchBodiesTest, AMergeOfSeveralConditionsCanGiveAConstant) {
  Switch("outer", "p");
  Switch("inner", "q", "outer");
  Node("shape", "Shape", {"inner/x"});
  Int("three", 3);
  Node("zero_dim", "ExpandDims", {"three", "axis"});
  Node("merge", "Merge", {"shape", "zero_dim"});
  Node("y", "Reshape", {"x", "merge"});
  EXPECT_THAT(Values("y", {}), ElementsAre(1, 2, 3));
  Node("size", "Size", {"inner/x:1"});
  Node("other", "Merge", {"size", "n"});
  Node("z", "Fill", {"merge", "other"});
  EXPECT_THAT(Run("z", {}), ErrorHas("not of one tf.cond"));
}

TEST_F(BranchBodiesTest, BranchesOfDifferentTypesAreRefused) {
  Switch("cond", "p");
  Gather("gather", "cond/i:1", "cond/i:1");
  Node("y", "Merge", {"cond/x", "gather"});
  EXPECT_THAT(Run("y", {}), ErrorHas("the branches of tf.cond return i32 [3] and f32 [3]"));
}

TEST_F(BranchBodiesTest, AnErrorOfShapesNamesTheNode) {
  Switch("cond", "p");
  Gather("gather", "cond/x:1", "cond/i:1");
  Node("wrong", "MatMul", {"gather", "gather"});
  Node("y", "Merge", {"cond/x", "wrong"});
  EXPECT_THAT(Run("y", {}), ErrorHas("wrong"));
}

}  // namespace
}  // namespace estimator
