// What the ops that change variables leave in an imported graph, by hand-computed numbers.
#include <google/protobuf/text_format.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/graphdef/import_train_graph.h"
#include "estimator/graphdef/testing/small_training.h"
#include "estimator/proto/graph.pb.h"
#include "estimator/proto/variable.pb.h"
#include "estimator/training/estimator.h"
#include "estimator/training/import_model_fn.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::estimator::testing::SmallTraining;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::Pointwise;

const std::string kT = SmallTraining::TypeAttr("T");          // NOLINT: of a test
const std::string kFloat = SmallTraining::TypeAttr("dtype");  // NOLINT: of a test
const std::string kRows = kT + SmallTraining::TypeAttr("Tindices", "DT_INT32");  // NOLINT

// A constant of float32, or of int32 for indices.
void Constant(const std::string& name, const std::vector<int>& shape,
              const std::vector<int>& values, bool indices, SmallTraining& training,
              const std::vector<std::string>& controls = {}) {
  const std::string dtype = indices ? "DT_INT32" : "DT_FLOAT";
  std::string dims;
  for (const int size : shape) absl::StrAppend(&dims, " dim { size: ", size, " }");
  training.Node(
      name, "Const", controls,
      absl::StrCat(SmallTraining::TypeAttr("dtype", dtype),
                   " attr { key: 'value' value { tensor { dtype: ", dtype, " tensor_shape {", dims,
                   " } ", indices ? "int_val: [" : "float_val: [", absl::StrJoin(values, ","),
                   "] } } }"));
}

class ImportWritesTest : public ::testing::Test {
 protected:
  ImportWritesTest() : training_(SmallTraining::Small()) {
    Constant("rows", {3}, {2, 0, 2}, true, training_);
    Constant("six", {3, 2}, {1, 2, 3, 4, 5, 6}, false, training_);
  }
  // A variable of f32 [3, 2], all 1, which the op changes in each step.
  void Change(const std::string& variable, const std::string& op,
              const std::vector<std::string>& operands, const std::string& attrs) {
    training_.Variable(variable, {3, 2}, 1, false);
    std::vector<std::string> inputs = {variable};
    inputs.insert(inputs.end(), operands.begin(), operands.end());
    training_.Node(variable + "/change", op, inputs, attrs);
    run_.push_back("^" + variable + "/change");
  }
  // A resource variable `r`, all 1. `before` is what it is at first, which keep_first copies, and
  // `after` what the node `last` reads.
  void AddResource() {
    training_.Variable("before", {3, 2}, 0, false);
    training_.Variable("after", {3, 2}, 0, false);
    Constant("r/Initializer/ones", {3, 2}, {1, 1, 1, 1, 1, 1}, false, training_);
    training_.Node("r", "VarHandleOp", {}, kFloat + SmallTraining::ShapeAttr("shape", {3, 2}));
    training_.Node("r/Assign", "AssignVariableOp", {"r", "r/Initializer/ones"}, kFloat);
    training_.Node("r/Read/ReadVariableOp", "ReadVariableOp", {"r"}, kFloat);
    proto::VariableDef def;
    def.set_variable_name("r:0");
    def.set_initializer_name("r/Assign");
    def.set_snapshot_name("r/Read/ReadVariableOp:0");
    def.set_initial_value_name("r/Initializer/ones:0");
    def.set_is_resource(true);
    auto& collections = *training_.meta_graph().mutable_collection_def();
    collections["variables"].mutable_bytes_list()->add_value(def.SerializeAsString());
    training_.Node("first", "ReadVariableOp", {"r"}, kFloat);
    training_.Node("keep_first", "Assign", {"before", "first"}, kT);
    training_.Node("keep_last", "Assign", {"after", "last"}, kT);
    run_ = {"^keep_last"};
  }
  // One step of the graph, with x = 1 and y = 0 in each row.
  void Train() {
    run_.push_back("^step");
    training_.Rewire("train", run_);
    const std::string path = dir_.File("graph.meta");
    EST_ASSERT_OK(WriteFileAtomically(path, training_.Bytes()));
    const absl::StatusOr<ImportedModelFn> model_fn = ImportModelFn(path);
    ASSERT_TRUE(model_fn.ok()) << model_fn.status();
    Estimator<TinyParams>::Options options = TinyOptions(dir_.File("model"));
    options.model_fn = *model_fn;
    Estimator<TinyParams> estimator(options);
    const auto ones = [](const TinyParams&) {
      return Dataset::FromTensors({.features = Array::Of<float>({4, 1}, {1, 1, 1, 1}),
                                   .labels = Array(DType::kFloat32, {4, 1})})
          .Repeat();
    };
    EST_ASSERT_OK(estimator.Train(ones, MaxSteps(1)));
  }
  std::vector<float> Values(const std::string& variable) {
    const absl::StatusOr<Array> value = LoadVariable(dir_.File("model"), variable);
    EST_EXPECT_OK(value);
    if (!value.ok()) return {};
    return {value->values<float>().begin(), value->values<float>().end()};
  }
  void Expect(const std::string& variable, const std::vector<float>& values) {
    EXPECT_THAT(Values(variable), Pointwise(FloatNear(1e-5f), values)) << variable;
  }

  const TempDir dir_;
  SmallTraining training_;
  std::vector<std::string> run_;
};

TEST_F(ImportWritesTest, RowsThatRepeatAreAddedEachTime) {
  Constant("two_rows", {2}, {2, 0}, true, training_);
  Constant("nd_rows", {2, 1}, {2, 0}, true, training_);
  Constant("four", {2, 2}, {1, 2, 3, 4}, false, training_);
  training_.Float("five", 5);
  Change("add", "ScatterAdd", {"rows", "six"}, kRows);
  Change("minus", "ScatterSub", {"rows", "six"}, kRows);
  Change("scalar", "ScatterAdd", {"rows", "five"}, kRows);
  Change("update", "ScatterUpdate", {"two_rows", "four"}, kRows);
  Change("nd_add", "ScatterNdAdd", {"nd_rows", "four"}, kRows);
  Change("nd_sub", "ScatterNdSub", {"nd_rows", "four"}, kRows);
  Change("nd_update", "ScatterNdUpdate", {"nd_rows", "four"}, kRows);
  Change("whole", "AssignSub", {"six"}, kT);
  ASSERT_NO_FATAL_FAILURE(Train());
  Expect("add", {4, 5, 1, 1, 7, 9});
  Expect("minus", {-2, -3, 1, 1, -5, -7});
  Expect("scalar", {6, 6, 1, 1, 11, 11});
  Expect("update", {3, 4, 1, 1, 1, 2});
  Expect("nd_add", {4, 5, 1, 1, 2, 3});
  Expect("nd_sub", {-2, -3, 1, 1, 0, -1});
  Expect("nd_update", {3, 4, 1, 1, 1, 2});
  Expect("whole", {0, -1, -2, -3, -4, -5});
}

// As TensorFlow's optimizers update an embedding: the gradients of a word that occurs twice are
// summed, and the rule is applied once.
TEST_F(ImportWritesTest, AnOptimizerOfRowsIsAppliedOnceToARowThatRepeats) {
  training_.Variable("accumulator", {3, 2}, 0.5, false);
  training_.Float("momentum", 0.5);
  Constant("count", {}, {2}, true, training_);
  training_.Node(
      "unique", "Unique", {"rows"},
      SmallTraining::TypeAttr("T", "DT_INT32") + SmallTraining::TypeAttr("out_idx", "DT_INT32"));
  training_.Node("sums", "UnsortedSegmentSum", {"six", "unique:1", "count"},
                 kRows + SmallTraining::TypeAttr("Tnumsegments", "DT_INT32"));
  Change("words", "SparseApplyMomentum", {"accumulator", "rate", "sums", "unique", "momentum"},
         kRows + " attr { key: 'use_nesterov' value { b: false } }");
  ASSERT_NO_FATAL_FAILURE(Train());
  // The sums are {3, 4} in row 0 and {6, 8} in row 2, and the rate is 0.1.
  Expect("accumulator", {3.25f, 4.25f, 0.5f, 0.5f, 6.25f, 8.25f});
  Expect("words", {0.675f, 0.575f, 1, 1, 0.375f, 0.175f});
}

TEST_F(ImportWritesTest, ResourceVariablesAreReadBetweenTheirWrites) {
  AddResource();
  training_.Node("descend", "ResourceApplyGradientDescent", {"r", "rate", "six", "^keep_first"},
                 kT);
  training_.Node("subtract", "AssignSubVariableOp", {"r", "six", "^descend"}, kFloat);
  training_.Node("add_rows", "ResourceScatterAdd", {"r", "rows", "six", "^subtract"},
                 kFloat + SmallTraining::TypeAttr("Tindices", "DT_INT32"));
  training_.Node("last", "ReadVariableOp", {"r", "^add_rows"}, kFloat);
  ASSERT_NO_FATAL_FAILURE(Train());
  EXPECT_THAT(Values("before"), Each(1));
  const std::vector<float> last = {2.9f, 2.8f, -2.3f, -3.4f, 1.5f, 2.4f};
  Expect("r", last);
  Expect("after", last);
}

// A call begins after its control inputs, and its updates are done before what comes after it,
// though no output of it is read.
TEST_F(ImportWritesTest, UpdatesInsideOfAFunctionAreInTheOrderOfItsCall) {
  AddResource();
  proto::FunctionDefLibrary& library =
      *training_.meta_graph().mutable_graph_def()->mutable_library();
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "function { signature { name: 'update' input_arg { name: 'handle' type: DT_RESOURCE } "
      "input_arg { name: 'amount' type: DT_FLOAT } } "
      "node_def { name: 'subtract' op: 'AssignSubVariableOp' input: 'handle' input: 'amount' "
      "attr { key: 'dtype' value { type: DT_FLOAT } } } "
      "node_def { name: 'again' op: 'AssignSubVariableOp' input: 'handle' input: 'amount' "
      "input: '^subtract' attr { key: 'dtype' value { type: DT_FLOAT } } } }",
      &library));
  training_.Node("call", "StatefulPartitionedCall", {"r", "six", "^keep_first"},
                 "attr { key: 'f' value { func { name: 'update' } } }");
  training_.Node("last", "ReadVariableOp", {"r", "^call"}, kFloat);
  ASSERT_NO_FATAL_FAILURE(Train());
  EXPECT_THAT(Values("before"), Each(1));
  const std::vector<float> last = {-1, -3, -5, -7, -9, -11};
  Expect("r", last);
  Expect("after", last);
}

// Each function changes `r` by another amount, and returns it.
TEST_F(ImportWritesTest, ACaseMakesTheUpdatesOfOneFunction) {
  AddResource();
  const std::map<std::string, int> amounts = {{"by_1", 1}, {"by_10", 10}, {"by_100", 100}};
  std::string library, args, branches;
  for (const auto& [amount, value] : amounts) {
    Constant(amount, {3, 2}, std::vector<int>(6, value), false, training_);
    absl::StrAppend(&args, "input_arg { name: '", amount, "' type: DT_FLOAT } ");
    absl::StrAppend(&branches, "func { name: 'take_", amount, "' } ");
  }
  for (const auto& [amount, value] : amounts) {
    absl::StrAppend(&library, "function { signature { name: 'take_", amount,
                    "' input_arg { name: 'r' type: DT_RESOURCE } ", args,
                    "output_arg { name: 'taken' type: DT_FLOAT } } node_def { name: 'subtract' op: "
                    "'AssignSubVariableOp' input: 'r' input: '",
                    amount, "' ", kFloat, " } ret { key: 'taken' value: '", amount, "' } } ");
  }
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      library, training_.meta_graph().mutable_graph_def()->mutable_library()));
  training_.Node("four", "Cast", {"loss"},  // the loss is 4
                 SmallTraining::TypeAttr("SrcT") + SmallTraining::TypeAttr("DstT", "DT_INT32"));
  std::string before = "^keep_first";
  for (const int index : {-1, 0, 1, 2, 7}) {
    const std::string name = absl::StrCat("case_", index + 1);
    Constant(name + "/offset", {}, {index - 4}, true, training_);
    training_.Node(name + "/index", "AddV2", {"four", name + "/offset"},
                   SmallTraining::TypeAttr("T", "DT_INT32"));
    training_.Node(name, "Case", {name + "/index", "r", "by_1", "by_10", "by_100", before},
                   absl::StrCat("attr { key: 'branches' value { list { ", branches, "} } }"));
    Change(name + "_taken", "Assign", {name}, kT);
    before = "^" + name;
  }
  training_.Node("last", "ReadVariableOp", {"r", before}, kFloat);
  ASSERT_NO_FATAL_FAILURE(Train());
  EXPECT_THAT(Values("case_1_taken"), Each(1));
  EXPECT_THAT(Values("case_2_taken"), Each(10));
  for (const int last : {0, 3, 8})
    EXPECT_THAT(Values(absl::StrCat("case_", last, "_taken")), Each(100)) << last;
  EXPECT_THAT(Values("r"), Each(1 - 1 - 10 - 3 * 100));
}

// A tf.cond inside of one, for all values of both conditions: outer ? (inner ? 1 : 2) : 3. The
// values are constants that run after the Switch of their side, as TensorFlow writes them.
TEST_F(ImportWritesTest, ACondTakesTheSideOfItsCondition) {
  training_.Float("limit", 1);
  training_.Node("no", "Less", {"loss", "limit"}, kT);  // the loss is 4
  training_.Node("yes", "Greater", {"loss", "limit"}, kT);
  const std::string boolean = SmallTraining::TypeAttr("T", "DT_BOOL");
  // A Switch of `condition`, and an Identity for each of its sides.
  const auto sides = [&](const std::string& name, const std::string& condition) {
    training_.Node(name, "Switch", {condition, condition}, boolean);
    training_.Node(name + "_false", "Identity", {name}, boolean);
    training_.Node(name + "_true", "Identity", {name + ":1"}, boolean);
  };
  const auto value = [&](const std::string& name, int number, const std::string& after) {
    Constant(name, {3, 2}, std::vector<int>(6, number), false, training_, {"^" + after});
  };
  for (const std::string outer : {"no", "yes"}) {
    for (const std::string inner : {"no", "yes"}) {
      const std::string in = absl::StrCat(outer, "_", inner, "/");
      sides(in + "outer", outer);
      training_.Node(in + "passed", "Switch", {inner, outer}, boolean);
      sides(in + "inner", in + "passed:1");
      value(in + "one", 1, in + "inner_true");
      value(in + "two", 2, in + "inner_false");
      value(in + "three", 3, in + "outer_false");
      training_.Node(in + "inner_merge", "Merge", {in + "one", in + "two"}, kT);
      training_.Node(in + "outer_merge", "Merge", {in + "three", in + "inner_merge"}, kT);
      Change(absl::StrCat(outer, "_", inner), "Assign", {in + "outer_merge"}, kT);
    }
  }
  ASSERT_NO_FATAL_FAILURE(Train());
  EXPECT_THAT(Values("yes_yes"), Each(1));
  EXPECT_THAT(Values("yes_no"), Each(2));
  EXPECT_THAT(Values("no_yes"), Each(3));
  EXPECT_THAT(Values("no_no"), Each(3));
}

TEST_F(ImportWritesTest, ABranchInTheOtherBranchOfItsConditionUpdatesNothing) {
  AddResource();
  training_.Float("limit", 1);
  training_.Node("yes", "Greater", {"loss", "limit"}, kT);  // the loss is 4
  std::string library;
  const auto function = [&](const std::string& name, const std::string& nodes) {
    absl::StrAppend(&library, "function { signature { name: '", name,
                    "' input_arg { name: 'p' type: DT_BOOL } input_arg { name: 'r' type: "
                    "DT_RESOURCE } input_arg { name: 'by' type: DT_FLOAT } output_arg { name: "
                    "'taken' type: DT_FLOAT } } ",
                    nodes, " ret { key: 'taken' value: 'by' } } ");
  };
  const auto branches = [](const std::string& yes, const std::string& no) {
    return absl::StrCat(" attr { key: 'then_branch' value { func { name: '", yes,
                        "' } } } attr { key: 'else_branch' value { func { name: '", no, "' } } }");
  };
  function("keep", "");
  function("subtract",
           "node_def { name: 'subtract' op: 'AssignSubVariableOp' input: 'r' input: "
           "'by' " +
               kFloat + " }");
  for (const std::string which : {"then", "else"}) {
    const bool runs = which == "then";
    function("outer_" + which,
             "node_def { name: 'inner' op: 'If' input: 'p' input: 'p' input: 'r' "
             "input: 'by'" +
                 branches(runs ? "subtract" : "keep", runs ? "keep" : "subtract") + " }");
  }
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      library, training_.meta_graph().mutable_graph_def()->mutable_library()));
  training_.Node("runs", "If", {"yes", "yes", "r", "six", "^keep_first"},
                 branches("outer_then", "keep"));
  training_.Node("never", "If", {"yes", "yes", "r", "six", "^runs"},
                 branches("outer_else", "keep"));
  training_.Node("last", "ReadVariableOp", {"r", "^never"}, kFloat);
  ASSERT_NO_FATAL_FAILURE(Train());
  Expect("r", {0, -1, -2, -3, -4, -5});
}

// The function ends with the branch that is taken, whichever it is.
TEST_F(ImportWritesTest, WhatFollowsAFunctionWithACondRuns) {
  training_.Float("limit", 1);
  training_.Node("no", "Less", {"loss", "limit"}, kT);  // the loss is 4
  training_.Node("yes", "Greater", {"loss", "limit"}, kT);
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      absl::StrCat("function { signature { name: 'cond' input_arg { name: 'p' type: DT_BOOL }"
                   " input_arg { name: 'x' type: DT_FLOAT } output_arg { name: 'y' type: DT_FLOAT"
                   " } } node_def { name: 'switch' op: 'Switch' input: 'x' input: 'p' ",
                   kT, " } node_def { name: 'negative' op: 'Neg' input: 'switch:output_false:0' ",
                   kT, " } node_def { name: 'positive' op: 'Abs' input: 'switch:output_true:0' ",
                   kT,
                   " } node_def { name: 'merge' op: 'Merge' input: 'negative:y:0'"
                   " input: 'positive:y:0' ",
                   kT, " } ret { key: 'y' value: 'merge:output:0' } }"),
      training_.meta_graph().mutable_graph_def()->mutable_library()));
  for (const std::string p : {"no", "yes"}) {
    training_.Node("of_" + p, "PartitionedCall", {p, "six"},
                   " attr { key: 'f' value { func { name: 'cond' } } }");
    Change("v_" + p, "Assign", {"of_" + p}, kT);
  }
  ASSERT_NO_FATAL_FAILURE(Train());
  Expect("v_no", {-1, -2, -3, -4, -5, -6});
  Expect("v_yes", {1, 2, 3, 4, 5, 6});
}

// One branch of tf.cond looks rows up in a table. Its gradient has fewer rows than that of the
// other branch, which has a zero row for each row of the table.
class ImportBranchRowsTest : public ImportWritesTest {
 protected:
  ImportBranchRowsTest() {
    training_.Float("limit", 1);
    training_.Node("no", "Less", {"loss", "limit"}, kT);  // the loss is 4
    training_.Node("yes", "Greater", {"loss", "limit"}, kT);
    training_.Float("half", 0.5);
    Constant("axis", {}, {0}, true, training_);
    Constant("order", {2}, {1, 0}, true, training_);
    Constant("all", {3}, {0, 1, 2}, true, training_);
    Constant("zeros", {3, 2}, std::vector<int>(6, 0), false, training_);
    Constant("two", {2}, {2, 2}, true, training_);
    Constant("four", {2, 2}, {1, 2, 3, 4}, false, training_);
    const std::string ints = SmallTraining::TypeAttr("T", "DT_INT32");
    for (const std::string p : {"no", "yes"}) {
      for (const std::string name : {"four", "zeros"})
        training_.Node(p + "/" + name, "Switch", {name, p}, kT);
      for (const std::string name : {"two", "all"})
        training_.Node(p + "/" + name, "Switch", {name, p}, ints);
      // A look-up is not selected, but runs in a branch.
      training_.Node(p + "/taken", "GatherV2", {p + "/four:1", "order", "axis"}, kT);
      training_.Node(p + "/values", "Merge", {p + "/zeros", p + "/taken"}, kT);
      training_.Node(p + "/indices", "Merge", {p + "/all", p + "/two:1"}, ints);
    }
  }

  void Refuses(const std::string& message) {
    training_.Rewire("train", run_);
    const auto source = TrainGraph::Parse(training_.Bytes(), "test");
    ASSERT_TRUE(source.ok()) << source.status();
    const TensorSpec rows = {DType::kFloat32, {4, 1}};
    const auto obstacles = source->TryImport({}, {rows, rows});
    ASSERT_TRUE(obstacles.ok()) << obstacles.status();
    ASSERT_FALSE(obstacles->empty());
    EXPECT_THAT(obstacles->front().reason, ::testing::HasSubstr(message));
    run_.clear();
  }
};

TEST_F(ImportBranchRowsTest, AreSubtracted) {
  for (const std::string p : {"no", "yes"}) {
    training_.Node(p + "/half", "Mul", {p + "/values", "half"}, kT);
    Change("of_" + p, "ScatterSub", {p + "/indices", p + "/half"}, kRows);
  }
  ASSERT_NO_FATAL_FAILURE(Train());
  Expect("of_no", {1, 1, 1, 1, 1, 1});
  Expect("of_yes", {1, 1, 1, 1, -1, -2});
}

// An optimizer also changes rows whose gradient is zero, but no others.
TEST_F(ImportBranchRowsTest, AreSummedForAnOptimizer) {
  training_.Float("momentum", 0.5);
  Constant("count", {}, {3}, true, training_);
  for (const std::string p : {"no", "yes"}) {
    training_.Variable("accumulator_" + p, {3, 2}, 0.5, false);
    training_.Node(
        p + "/unique", "Unique", {p + "/indices"},
        SmallTraining::TypeAttr("T", "DT_INT32") + SmallTraining::TypeAttr("out_idx", "DT_INT32"));
    training_.Node(p + "/sums", "UnsortedSegmentSum", {p + "/values", p + "/unique:1", "count"},
                   kRows + SmallTraining::TypeAttr("Tnumsegments", "DT_INT32"));
    Change("of_" + p, "SparseApplyMomentum",
           {"accumulator_" + p, "rate", p + "/sums", p + "/unique", "momentum"},
           kRows + " attr { key: 'use_nesterov' value { b: false } }");
  }
  ASSERT_NO_FATAL_FAILURE(Train());
  EXPECT_THAT(Values("accumulator_no"), Each(0.25f));
  EXPECT_THAT(Values("of_no"), Each(FloatNear(0.975f, 1e-6f)));
  Expect("accumulator_yes", {0.5f, 0.5f, 0.5f, 0.5f, 4.25f, 6.25f});
  Expect("of_yes", {1, 1, 1, 1, 0.575f, 0.375f});
}

TEST_F(ImportBranchRowsTest, AreRefusedWhereTheirNumberCounts) {
  Change("counts", "ScatterAdd", {"yes/indices", "half"}, kRows);
  Refuses("changes the rows that a branch of tf.cond chooses by one number");
  training_.Node("mean", "Mean", {"yes/values", "axis"},
                 kT + SmallTraining::TypeAttr("Tidx", "DT_INT32"));
  Change("of_mean", "AssignAdd", {"mean"}, kT);
  Refuses("the branches of tf.cond return f32 [2,2] and f32 [3,2]");
}

// A vector may be a factor of all rows, so zeros are not added to it.
TEST_F(ImportBranchRowsTest, FactorsOfRowsAreNotRows) {
  Constant("factor1", {1}, {2}, false, training_);
  Constant("factor2", {2}, {2, 3}, false, training_);
  training_.Node("short", "Switch", {"factor1", "yes"}, kT);
  training_.Node("long", "Switch", {"factor2", "yes"}, kT);
  training_.Node("factor", "Merge", {"short", "long:1"}, kT);
  training_.Node("scaled", "Mul", {"four", "factor"}, kT);
  Change("of_factor", "ScatterSub", {"two", "scaled"}, kRows);
  Refuses("the branches of tf.cond return f32 [1] and f32 [2]");
}

// Writes are numbered, and the numbers of the later ones do not fit into one word of bits.
TEST_F(ImportWritesTest, AnyNumberOfWritesIsOrdered) {
  constexpr int kCount = 70;
  for (int i = 0; i < kCount; ++i) {
    const std::string v = absl::StrCat("v", i);
    training_.Variable(v, {3, 2}, 0, false);
    training_.Variable(v + "_before", {3, 2}, 9, false);
    training_.Variable(v + "_after", {3, 2}, 9, false);
    training_.Node(v + "/copy", "Assign", {v + "_before", v + "/read"}, kT);
    training_.Node(v + "/change", "Assign", {v, "six", "^" + v + "/copy"}, kT);
    training_.Node(v + "/copy_again", "Assign", {v + "_after", v + "/read", "^" + v + "/change"},
                   kT);
    run_.push_back("^" + v + "/copy_again");
  }
  ASSERT_NO_FATAL_FAILURE(Train());
  for (int i = 0; i < kCount; ++i) {
    EXPECT_THAT(Values(absl::StrCat("v", i, "_before")), Each(0)) << i;
    Expect(absl::StrCat("v", i, "_after"), {1, 2, 3, 4, 5, 6});
  }
}

}  // namespace
}  // namespace estimator
