// Loops in the form of TensorFlow 1, as graphs for inference.
#include "estimator/graphdef/import/frames/frame_converter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graphdef/import_graph_def.h"
#include "estimator/ops/testing/eval.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class FrameConverterTest : public ::testing::Test {
 protected:
  proto::NodeDef& Node(const std::string& name, const std::string& op,
                       const std::vector<std::string>& inputs) {
    proto::NodeDef& node = *def_.add_node();
    node.set_name(name);
    node.set_op(op);
    for (const std::string& input : inputs) node.add_input(input);
    return node;
  }
  void Int(const std::string& name, int value, const std::vector<std::string>& inputs = {}) {
    proto::NodeDef& node = Node(name, "Const", inputs);
    (*node.mutable_attr())["dtype"].set_type(proto::DT_INT32);
    proto::TensorProto& tensor = *(*node.mutable_attr())["value"].mutable_tensor();
    tensor.set_dtype(proto::DT_INT32);
    tensor.mutable_tensor_shape();
    tensor.add_int_val(value);
  }
  void Float(const std::string& name, float value) {
    proto::NodeDef& node = Node(name, "Const", {});
    (*node.mutable_attr())["dtype"].set_type(proto::DT_FLOAT);
    proto::TensorProto& tensor = *(*node.mutable_attr())["value"].mutable_tensor();
    tensor.set_dtype(proto::DT_FLOAT);
    tensor.mutable_tensor_shape();
    tensor.add_float_val(value);
  }
  proto::NodeDef& Typed(proto::NodeDef& node, const std::string& attr, proto::DataType type) {
    (*node.mutable_attr())[attr].set_type(type);
    return node;
  }
  void Enter(const std::string& name, const std::string& input, const std::string& frame,
             bool constant = true) {
    proto::NodeDef& node = Node(name, "Enter", {input});
    (*node.mutable_attr())["frame_name"].set_s(frame);
    (*node.mutable_attr())["is_constant"].set_b(constant);
  }
  // A loop variable of a frame, whose LoopCond is `<frame>/go`. The body reads `<name>/in` and
  // gives `next`; `<name>/out` is the last value.
  void Variable(const std::string& name, const std::string& first, const std::string& next,
                const std::string& frame = "loop") {
    Enter(name + "/enter", first, frame, false);
    Node(name + "/merge", "Merge", {name + "/enter", name + "/next"});
    Node(name + "/switch", "Switch", {name + "/merge", frame + "/go"});
    Node(name + "/in", "Identity", {name + "/switch:1"});
    Node(name + "/next", "NextIteration", {next});
    Node(name + "/out", "Exit", {name + "/switch"});
  }
  // A variable `<frame>/i` that counts the trips.
  void Trips(int count, const std::string& frame = "loop") {
    Int(frame + "/zero", 0);
    Int(frame + "/count", count);
    Variable(frame + "/i", frame + "/zero", frame + "/i/plus", frame);
    Int(frame + "/one", 1, {"^" + frame + "/i/in"});
    Node(frame + "/i/plus", "Add", {frame + "/i/in", frame + "/one"});
    Enter(frame + "/limit", frame + "/count", frame);
    Node(frame + "/less", "Less", {frame + "/i/merge", frame + "/limit"});
    Node(frame + "/go", "LoopCond", {frame + "/less"});
  }
  // The trips of `loop` end by a random number too. REQUIRES: Trips was the last call.
  void EndByTheData() {
    def_.mutable_node()->rbegin()->set_input(0, "both");
    proto::NodeDef& scalar = Typed(Node("scalar", "Const", {}), "dtype", proto::DT_INT32);
    proto::TensorProto& shape = *(*scalar.mutable_attr())["value"].mutable_tensor();
    shape.set_dtype(proto::DT_INT32);
    shape.mutable_tensor_shape()->add_dim()->set_size(0);
    Typed(Typed(Node("largest", "RandomUniform", {"scalar"}), "dtype", proto::DT_FLOAT), "T",
          proto::DT_INT32);
    Enter("largest/in", "largest", "loop");
    Float("one", 1);
    Variable("v", "one", "v/twice");
    Node("v/twice", "Add", {"v/in", "v/in"});
    Node("small", "Less", {"v/merge", "largest/in"});
    Node("both", "LogicalAnd", {"loop/less", "small"});
  }
  // x f32 [3] = 1, 2, 3
  void Input() {
    proto::NodeDef& node = Node("x", "Const", {});
    (*node.mutable_attr())["dtype"].set_type(proto::DT_FLOAT);
    proto::TensorProto& tensor = *(*node.mutable_attr())["value"].mutable_tensor();
    tensor.set_dtype(proto::DT_FLOAT);
    tensor.mutable_tensor_shape()->add_dim()->set_size(3);
    for (int k = 1; k <= 3; ++k) tensor.add_float_val(static_cast<float>(k));
  }
  void Range(int count) {
    Int("range/start", 0);
    Int("range/limit", count);
    Int("range/delta", 1);
    Node("range", "Range", {"range/start", "range/limit", "range/delta"});
  }
  void Array(const std::string& name, int size) {
    Int(name + "/size", size);
    Typed(Node(name, "TensorArrayV3", {name + "/size"}), "dtype", proto::DT_FLOAT);
  }

  std::vector<double> Values(const std::string& fetch, int64_t step = 0) {
    Graph graph;
    const GraphScope scope(graph);
    const auto imported = ImportGraphDef(def_, {.fetches = {fetch}}, graph);
    EST_EXPECT_OK(imported);
    if (!imported.ok()) return {};
    nodes_.clear();
    for (const auto& node : graph.nodes()) nodes_.push_back(node->op());
    return testing::Doubles(imported->fetches[0], {.step = step});
  }
  std::string Error(const std::string& fetch) {
    Graph graph;
    const GraphScope scope(graph);
    return std::string(ImportGraphDef(def_, {.fetches = {fetch}}, graph).status().message());
  }

  proto::GraphDef def_;
  std::vector<std::string> nodes_;  // the ops of the last graph
};

TEST_F(FrameConverterTest, RunsTheBodyUntilTheCounterIsAtItsLimit) {
  Input();
  Float("two", 2);
  Trips(3);
  Enter("factor", "two", "loop");
  Variable("v", "x", "v/twice");
  Node("v/twice", "Mul", {"v/in", "factor"});
  EXPECT_THAT(Values("v/out"), ElementsAre(8, 16, 24));
  EXPECT_THAT(Values("loop/i/out"), ElementsAre(3));
}

TEST_F(FrameConverterTest, EvaluatesAConditionThatDependsOnConstants) {
  Input();
  Int("zero", 0);
  Variable("i", "zero", "i/plus");
  Int("two", 2, {"^i/in"});
  Int("seven", 7, {"^i/merge"});
  Node("i/plus", "Add", {"i/in", "two"});
  Node("less", "Less", {"i/merge", "seven"});
  Node("not", "LogicalNot", {"less"});
  Node("go_on", "LogicalNot", {"not"});
  Node("loop/go", "LoopCond", {"go_on"});
  Variable("v", "x", "v/twice");
  Node("v/twice", "Add", {"v/in", "v/in"});
  EXPECT_THAT(Values("v/out"), ElementsAre(16, 32, 48));
}

TEST_F(FrameConverterTest, RunsALoopInsideOfALoop) {
  Input();
  Trips(2);
  Variable("v", "x", "u/out");
  Trips(3, "inner");
  // The inner loop begins anew at each trip.
  Variable("u", "v/in", "u/twice", "inner");
  Node("u/twice", "Add", {"u/in", "u/in"});
  for (proto::NodeDef& node : *def_.mutable_node())
    if (node.name() == "inner/zero" || node.name() == "inner/count") node.add_input("^v/in");
  EXPECT_THAT(Values("v/out"), ElementsAre(64, 128, 192));
}

TEST_F(FrameConverterTest, TwoLoopsMayHaveOneFrameName) {
  Input();
  Trips(2);
  Variable("v", "x", "v/twice");
  Node("v/twice", "Add", {"v/in", "v/in"});
  Trips(3, "other");
  Variable("u", "v/out", "u/twice", "other");
  Node("u/twice", "Add", {"u/in", "u/in"});
  for (proto::NodeDef& node : *def_.mutable_node())
    if (node.op() == "Enter") (*node.mutable_attr())["frame_name"].set_s("loop");
  EXPECT_THAT(Values("u/out"), ElementsAre(32, 64, 96));
}

// Only the inner loop reads `two`.
TEST_F(FrameConverterTest, LoopsOfOneFrameNameMayHaveInnerLoops) {
  Input();
  Float("two", 2);
  Trips(2);
  Variable("v", "x", "u/out");
  Enter("two/in", "two", "loop");
  Trips(2, "inner");
  Variable("u", "v/in", "u/twice", "inner");
  Enter("two/inner", "two/in", "inner");
  Node("u/twice", "Mul", {"u/in", "two/inner"});
  for (proto::NodeDef& node : *def_.mutable_node())
    if (node.name() == "inner/zero" || node.name() == "inner/count") node.add_input("^v/in");
  Trips(3, "other");
  Variable("w", "v/out", "w/twice", "other");
  Node("w/twice", "Add", {"w/in", "w/in"});
  for (proto::NodeDef& node : *def_.mutable_node()) {
    std::string& frame = *(*node.mutable_attr())["frame_name"].mutable_s();
    if (node.op() == "Enter" && frame == "other") frame = "loop";
  }
  EXPECT_THAT(Values("w/out"), ElementsAre(128, 256, 384));
}

TEST_F(FrameConverterTest, ReadsAndWritesTensorArrays) {
  Input();
  Range(3);
  Array("from", 3);
  Node("unstack", "TensorArrayScatterV3", {"from", "range", "x", "from:1"});
  Array("to", 3);
  Trips(3);
  Enter("from/handle", "from", "loop");
  Enter("from/flow", "unstack", "loop");
  Enter("to/handle", "to", "loop");
  Variable("flow", "to:1", "write");
  Node("read", "TensorArrayReadV3", {"from/handle", "loop/i/in", "from/flow"});
  Node("square", "Mul", {"read", "read"});
  Node("write", "TensorArrayWriteV3", {"to/handle", "loop/i/in", "square", "flow/in"});
  Node("size", "TensorArraySizeV3", {"to", "flow/out"});
  Node("stack", "TensorArrayGatherV3", {"to", "range", "flow/out"});
  EXPECT_THAT(Values("stack"), ElementsAre(1, 4, 9));
  EXPECT_THAT(nodes_, Not(::testing::Contains("TensorScatterUpdate")));
  EXPECT_THAT(Values("size"), ElementsAre(3));
}

TEST_F(FrameConverterTest, AnArrayThatGrowsMayGetTheSameElementAtEachTrip) {
  Input();
  Range(3);
  Array("to", 0);
  (*def_.mutable_node()->rbegin()->mutable_attr())["dynamic_size"].set_b(true);
  Trips(3);
  Enter("to/handle", "to", "loop");
  Enter("x/in", "x", "loop");
  Variable("flow", "to:1", "write");
  Node("write", "TensorArrayWriteV3", {"to/handle", "loop/i/in", "x/in", "flow/in"});
  Node("stack", "TensorArrayGatherV3", {"to", "range", "flow/out"});
  EXPECT_THAT(Values("stack"), ElementsAre(1, 2, 3, 1, 2, 3, 1, 2, 3));
}

TEST_F(FrameConverterTest, TheHandleOfAnArrayMayBeALoopVariable) {
  Input();
  Range(3);
  Array("to", 3);
  Trips(3);
  Enter("x/in", "x", "loop");
  Variable("handle", "to", "handle/in");
  Variable("flow", "to:1", "write");
  Node("write", "TensorArrayWriteV3", {"handle/in", "loop/i/in", "x/in", "flow/in"});
  Node("stack", "TensorArrayGatherV3", {"to", "range", "flow/out"});
  EXPECT_THAT(Values("stack"), ElementsAre(1, 2, 3, 1, 2, 3, 1, 2, 3));
}

// v = x; 3 times v = v * v; the gradient multiplies 2 v from the last trip to the first.
TEST_F(FrameConverterTest, AGradientTakesFromAStackWhatTheLoopPushed) {
  Input();
  Trips(3);
  Variable("v", "x", "v/square");
  Node("v/square", "Mul", {"v/in", "v/in"});
  Int("size", -1);
  Typed(Node("acc", "StackV2", {"size"}), "elem_type", proto::DT_FLOAT);
  Enter("acc/forward", "acc", "loop");
  Node("push", "StackPushV2", {"acc/forward", "v/in"});
  // The trips are counted once more, as tf.gradients does.
  Int("f_zero", 0);
  Variable("f_count", "f_zero", "f_plus");
  Int("f_one", 1, {"^v/in"});
  Node("f_plus", "Add", {"f_count/in", "f_one"});
  Variable("b_count", "f_count/out", "b_minus", "back");
  Int("b_one", 1);
  Enter("b_limit", "b_one", "back");
  Node("more", "GreaterEqual", {"b_count/merge", "b_limit"});
  Node("back/go", "LoopCond", {"more"});
  Node("b_minus", "Sub", {"b_count/in", "b_limit"});
  Node("ones", "OnesLike", {"x"});
  Variable("g", "ones", "g/times", "back");
  Enter("acc/backward", "acc", "back");
  Typed(Node("pop", "StackPopV2", {"acc/backward", "^b_minus"}), "elem_type", proto::DT_FLOAT);
  Node("twice", "Add", {"pop", "pop"});
  Node("g/times", "Mul", {"g/in", "twice"});
  EXPECT_THAT(Values("g/out"), ElementsAre(8, 8 * 128, 8 * 2187));
}

// y = sum over t of x[t] * x[t]: the array of gradients gets one element at each trip, and a sum of
// flows that begins with the number 0.
TEST_F(FrameConverterTest, TheArrayOfGradientsStartsWithZeros) {
  Input();
  Range(3);
  Array("from", 3);
  Node("unstack", "TensorArrayScatterV3", {"from", "range", "x", "from:1"});
  Trips(3);
  Enter("handle", "from", "loop");
  Enter("flow", "unstack", "loop");
  Float("zero", 0);
  Variable("sum", "zero", "sum/plus");
  const auto grad = [this](const std::string& name, const std::string& handle,
                           const std::string& flow) {
    (*Node(name, "TensorArrayGradV3", {handle, flow}).mutable_attr())["source"].set_s("gradients");
    Node(name + "/flow", "Identity", {flow, "^" + name});
  };
  grad("grad", "handle", "flow");
  Node("read", "TensorArrayReadV3", {"handle", "loop/i/in", "flow"});
  Node("twice", "Add", {"read", "read"});
  Node("write", "TensorArrayWriteV3", {"grad", "loop/i/in", "twice", "grad/flow"});
  Node("sum/plus", "Add", {"sum/in", "write"});
  grad("whole", "from", "sum/out");
  Node("gather", "TensorArrayGatherV3", {"whole", "range", "whole/flow"});
  EXPECT_THAT(Values("gather"), ElementsAre(2, 4, 6));
}

TEST_F(FrameConverterTest, AConditionInALoopSelects) {
  Input();
  Trips(4);
  Variable("v", "x", "v/merge_branches");
  Int("two", 2, {"^v/in"});
  Node("less", "Less", {"loop/i/in", "two"});
  Node("sides", "Switch", {"v/in", "less"});
  Node("twice", "Add", {"sides:1", "sides:1"});
  Node("square", "Mul", {"sides", "sides"});
  Node("v/merge_branches", "Merge", {"square", "twice"});
  EXPECT_THAT(Values("v/out"), ElementsAre(256, 4096, 20736));
}

// v += x[i] or x[i - 1], and the gradient of a slice that is twice as large.
class SliceAtTheCounterTest : public FrameConverterTest,
                              public ::testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(All, SliceAtTheCounterTest, ::testing::Values("loop/i/in", "before"));

TEST_P(SliceAtTheCounterTest, IsTaken) {
  Input();
  Trips(3);
  Node("before", "Sub", {"loop/i/in", "loop/one"});  // -1, the last element, at first
  Enter("x/in", "x", "loop");
  Int("three", 3);
  const auto pack = [this](const std::string& name, const std::string& input) {
    (*Node(name, "Pack", {input}).mutable_attr())["N"].set_i(1);
  };
  pack("shape", "three");
  Enter("shape/in", "shape", "loop");
  pack("begin", GetParam());
  pack("end", "loop/i/plus");
  pack("strides", "loop/one");
  (*Node("slice", "StridedSlice", {"x/in", "begin", "end", "strides"})
        .mutable_attr())["shrink_axis_mask"]
      .set_i(1);
  Variable("v", "x", "v/plus");
  Node("v/plus", "Add", {"v/in", "slice"});
  Node("twice", "Add", {"slice", "slice"});
  (*Node("grad", "StridedSliceGrad", {"shape/in", "begin", "end", "strides", "twice"})
        .mutable_attr())["shrink_axis_mask"]
      .set_i(1);
  Variable("g", "x", "g/plus");
  Node("g/plus", "Add", {"g/in", "grad"});
  EXPECT_THAT(Values("v/out"), ElementsAre(7, 8, 9));
  EXPECT_THAT(Values("g/out"), ElementsAre(3, 6, 9));
}

// Trip t of step s draws the numbers of run s * trips + t.
TEST_F(FrameConverterTest, TripsDrawTheNumbersOfTensorFlowsRuns) {
  Range(3);
  Array("to", 3);
  Trips(3);
  Int("size", 1);
  (*Node("shape", "Pack", {"size"}).mutable_attr())["N"].set_i(1);
  Enter("shape/in", "shape", "loop");
  proto::NodeDef& random = Node("random", "RandomUniform", {"shape/in"});
  Typed(random, "dtype", proto::DT_FLOAT);
  (*random.mutable_attr())["seed"].set_i(3);
  (*random.mutable_attr())["seed2"].set_i(5);
  proto::NodeDef outside = random;
  outside.set_name("outside");
  outside.set_input(0, "shape");
  *def_.add_node() = outside;
  Enter("to/handle", "to", "loop");
  Variable("flow", "to:1", "write");
  Node("write", "TensorArrayWriteV3", {"to/handle", "loop/i/in", "random", "flow/in"});
  Node("stack", "TensorArrayGatherV3", {"to", "range", "flow/out"});
  for (int64_t step = 0; step < 2; ++step) {
    std::vector<double> runs;
    for (int64_t run = 3 * step; run < 3 * step + 3; ++run)
      runs.push_back(Values("outside", run)[0]);
    EXPECT_EQ(Values("stack", step), runs);
  }
}

TEST_F(FrameConverterTest, RefusesAFrameThatIsNoLoop) {
  Input();
  Enter("enter", "x", "loop", false);
  Node("next", "NextIteration", {"merge"});
  Node("merge", "Merge", {"enter", "next"});
  Node("out", "Exit", {"merge"});
  EXPECT_THAT(Error("out"), AllOf(HasSubstr("1 node"), HasSubstr("has no condition (LoopCond)")));
}

TEST_F(FrameConverterTest, RefusesAMergeOfThreeTensors) {
  Input();
  Trips(3);
  Variable("v", "x", "v/in");
  for (proto::NodeDef& node : *def_.mutable_node())
    if (node.name() == "v/merge") node.add_input("v/enter");
  EXPECT_THAT(Error("v/out"),
              AllOf(HasSubstr("1 node"), HasSubstr("'v/merge' has 3 inputs, not 2")));
}

TEST_F(FrameConverterTest, RefusesACycleWithoutNextIteration) {
  Input();
  Node("merge", "Merge", {"x", "again"});
  Node("again", "Relu", {"merge"});
  Trips(3);
  EXPECT_THAT(Error("again"), HasSubstr("in a cycle, or behind one"));
}

TEST_F(FrameConverterTest, RefusesLoopsThatReadEachOther) {
  Input();
  Trips(3);
  Variable("v", "x", "v/both");
  Trips(3, "other");
  Variable("u", "x", "u/in", "other");
  Node("v/both", "Add", {"v/in", "u/in"});
  EXPECT_THAT(Error("v/out"), HasSubstr("reads tensors of two loops"));
}

TEST_F(FrameConverterTest, RefusesToAppendRowsIfTheDataDecideHowMany) {
  Input();
  Trips(3);
  EndByTheData();
  Int("axis", 0);
  Node("row", "ExpandDims", {"x", "axis"});
  Enter("row/in", "row", "loop");
  Enter("axis/in", "axis", "loop");
  Variable("rows", "row", "append");
  (*Node("append", "ConcatV2", {"rows/in", "row/in", "axis/in"}).mutable_attr())["N"].set_i(2);
  EXPECT_THAT(Error("rows/out"), HasSubstr("number of trips depends on the data"));
}

TEST_F(FrameConverterTest, SaysWhatToDoWithAnArrayWhoseSizeTheDataDecide) {
  Range(3);
  Trips(3);
  EndByTheData();
  Array("to", 0);
  (*def_.mutable_node()->rbegin()->mutable_attr())["dynamic_size"].set_b(true);
  Enter("to/handle", "to", "loop");
  Variable("flow", "to:1", "write");
  Node("write", "TensorArrayWriteV3", {"to/handle", "loop/i/in", "v/in", "flow/in"});
  Node("stack", "TensorArrayGatherV3", {"to", "range", "flow/out"});
  EXPECT_THAT(Error("stack"), HasSubstr("give it as a constant (--feed)"));
}

TEST_F(FrameConverterTest, RefusesAStackOfALoopThatIsNoLoop) {
  Input();
  (*Typed(Node("always", "Const", {}), "dtype", proto::DT_BOOL).mutable_attr())["value"]
      .mutable_tensor()
      ->add_bool_val(true);
  Node("loop/go", "Identity", {"always"});  // where a LoopCond belongs
  Variable("v", "x", "v/square");
  Node("v/square", "Mul", {"v/in", "v/in"});
  Int("size", -1);
  Typed(Node("acc", "StackV2", {"size"}), "elem_type", proto::DT_FLOAT);
  Enter("acc/forward", "acc", "loop");
  Node("push", "StackPushV2", {"acc/forward", "v/in"});
  Trips(3, "back");
  Enter("acc/backward", "acc", "back");
  Typed(Node("pop", "StackPopV2", {"acc/backward", "^back/i/plus"}), "elem_type", proto::DT_FLOAT);
  Variable("g", "x", "g/times", "back");
  Node("g/times", "Mul", {"g/in", "pop"});
  EXPECT_THAT(Error("g/out"), HasSubstr("a stack of a loop that cannot be converted"));
}

TEST_F(FrameConverterTest, RefusesAnExitOfALoopInside) {
  Input();
  Trips(3);
  Variable("v", "x", "w/out");
  Trips(2, "inner");
  Variable("w", "v/in", "w/twice", "inner");
  Node("w/twice", "Add", {"w/in", "w/in"});
  Node("wrong", "Switch", {"w/merge", "loop/go"});
  Node("wrong/inner", "Exit", {"wrong"});
  Node("wrong/out", "Exit", {"wrong/inner"});
  EXPECT_THAT(Error("wrong/out"), Not(::testing::IsEmpty()));
}

TEST_F(FrameConverterTest, RefusesAFetchInsideOfALoop) {
  Input();
  Trips(3);
  Variable("v", "x", "v/twice");
  Node("v/twice", "Add", {"v/in", "v/in"});
  EXPECT_THAT(Error("v/twice"), HasSubstr("is inside of a loop"));
}

}  // namespace
}  // namespace estimator
