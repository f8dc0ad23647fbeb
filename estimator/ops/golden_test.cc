// Every op of the registry and its gradient against TensorFlow: the cases of testdata/ops, with the
// reference kernels alone and with the fastest ones.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/testing/golden_runner.h"
#include "estimator/ops/testing/golden_table.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::GoldenCase;
using testing::Goldens;

// Ops that TensorFlow alone cannot show, and why.
const std::map<std::string, std::string>& Exempt() {
  static const auto* const exempt = new std::map<std::string, std::string>{
      {"_BlockGRU", "TensorFlow has one time step of it: ops/recurrent_test, nn/rnn/sequence_test"},
      {"_BlockGRUGrad", "the same"},
      {"Assign", "an update of the step: runtime/program_test, testdata/interop/check_graph.py"},
      {"AssignAdd", "the same"},
      {"Case", "runs functions: ops/branches_test"},
      {"CheckRange", "TensorFlow has asserts beside the value: ops/check_range_test"},
      {"CrossReplicaSum", "TensorFlow's CPU has no kernel: ops/cross_replica_test, tpu"},
      {"If", "runs functions: ops/branches_test"},
      {"IdentityN", "copies its inputs: ops/identity_n_test"},
      {"ImageSummary", "a picture for event files: ops/summary_test"},
      {"NoOp", "has no value"},
      {"Placeholder", "a feed: every case here uses it"},
      {"ReplicaId", "TensorFlow's CPU has no kernel: ops/cross_replica_test, tpu"},
      {"VariableV2", "state: runtime/program_test, testdata/interop/check_graph.py"},
      {"While", "runs functions: ops/while_loop_test"},
  };
  return *exempt;
}

// Gradients that TensorFlow has not, and where they are tested.
const std::map<std::string, std::string>& ExemptGradients() {
  static const auto* const exempt = new std::map<std::string, std::string>{
      {"Case", "branches_test: finite differences"},
      {"If", "branches_test: finite differences"},
      {"SoftsignGrad", "activations_test: finite differences"},
      {"While", "while_loop_test: finite differences"},
  };
  return *exempt;
}

// Edges that every op has a case of, and where they cannot be.
struct Edges {
  bool one = false;    // operands and results of one element
  bool odd = false;    // an axis of 3, 5, 7, ...
  bool empty = false;  // no elements in an operand or a result
};
const std::map<std::string, std::string>& ExemptEdges() {
  static const auto* const exempt = new std::map<std::string, std::string>{
      {"CombinedNonMaxSuppression one", "takes boxes of four numbers"},
      {"NonMaxSuppressionV4 one", "takes boxes of four numbers"},
      {"NonMaxSuppressionV5 one", "takes boxes of four numbers"},
      {"CTCLoss one", "takes an index of two numbers"},
      {"CTCLoss empty", "TensorFlow refuses examples without labels"},
      {"CTCBeamSearchDecoder empty", "TensorFlow refuses tensors without elements"},
      {"BlockLSTM one", "has four times as many weights as units"},
      {"BlockLSTMGrad one", "has four times as many weights as units"},
      {"ConcatV2 one", "takes two tensors, which make two elements"},
      {"LinSpace empty", "refuses to make no numbers"},
      {"MirrorPadGrad empty", "in absent.txt"},
      {"DepthwiseConv2dNativeBackpropInput empty", "in absent.txt"},
      {"DepthwiseConv2dNativeBackpropFilter empty", "in absent.txt"},
  };
  return *exempt;
}

Edges EdgesOf(const GoldenCase& golden) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < golden.inputs.size(); ++i) {
    if (golden.constants.count(static_cast<int>(i)) == 0)
      shapes.push_back(golden.inputs[i].shape());
  }
  for (const auto& [i, value] : golden.outputs) shapes.push_back(value.shape());
  Edges edges = {.one = true};
  for (const Shape& shape : shapes) {
    edges.one = edges.one && shape.num_elements() == 1;
    edges.empty = edges.empty || shape.num_elements() == 0;
    for (const int64_t size : shape.dims()) edges.odd = edges.odd || (size > 1 && size % 2 == 1);
  }
  edges.odd = edges.odd && !edges.empty;
  return edges;
}

std::vector<std::string> GoldenOps() {
  std::set<std::string> ops;
  for (const GoldenCase& golden : Goldens()) {
    if (golden.op.rfind("fn.", 0) != 0) ops.insert(golden.op);  // golden_functions_test
  }
  return {ops.begin(), ops.end()};
}

class OpGoldens : public ::testing::TestWithParam<std::string> {};

TEST_P(OpGoldens, EqualTensorFlowsOnEveryKernelTier) {
  for (const GoldenCase& golden : Goldens()) {
    if (golden.op == GetParam()) testing::ExpectEqualsTensorFlow(golden, testing::NodeOf(golden));
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, OpGoldens, ::testing::ValuesIn(GoldenOps()),
                         [](const auto& info) { return info.param; });

TEST(OpGoldensTable, HasEveryOpOfTheRegistryOrSaysWhyNot) {
  const std::vector<std::string> ops = GoldenOps();
  const std::set<std::string> with_golden(ops.begin(), ops.end());
  for (const std::string& op : RegisteredOps()) {
    EXPECT_NE(with_golden.count(op), Exempt().count(op))
        << op
        << (Exempt().count(op) > 0 ? " has goldens: strike it from the exemptions"
                                   : " has no golden: add rows to testdata/ops/cases.py");
  }
  for (const auto& [op, reason] : Exempt()) {
    EXPECT_NE(FindOp(op), nullptr) << op << " is exempt, but not registered";
  }
}

TEST(OpGoldensTable, HasCasesOfOneOfOddAndOfNoElementsForEveryOp) {
  std::map<std::string, Edges> of_op;
  for (const GoldenCase& golden : Goldens()) {
    if (golden.op.rfind("fn.", 0) == 0) continue;
    Edges& all = of_op[golden.op];
    const Edges edges = EdgesOf(golden);
    all.one = all.one || edges.one;
    all.odd = all.odd || edges.odd;
    all.empty = all.empty || edges.empty;
  }
  const auto expect = [](const std::string& op, const char* edge, bool has) {
    const std::string key = absl::StrCat(op, " ", edge);
    EXPECT_NE(has, ExemptEdges().count(key) > 0)
        << key << (has ? ": strike the exemption" : ": add a row to testdata/ops/cases.py");
  };
  for (const auto& [op, edges] : of_op) {
    expect(op, "one", edges.one);
    expect(op, "odd", edges.odd);
    expect(op, "empty", edges.empty);
  }
}

// What the tables ask for and TensorFlow does not give. A row more or less is looked at by a
// person.
TEST(OpGoldensTable, ListsTheRowsThatTensorFlowDoesNotGive) {
  const auto absent = testing::ReadAbsentGoldens("testdata/ops");
  EST_ASSERT_OK(absent);
  EXPECT_EQ(absent->size(), 45u);
  std::set<std::string> there;
  for (const GoldenCase& golden : Goldens())
    there.insert(absl::StrCat(golden.op, "/", golden.name));
  for (const testing::AbsentGolden& row : *absent) {
    EXPECT_EQ(there.count(absl::StrCat(row.op, "/", row.name)), 0u) << row.op << " " << row.name;
    EXPECT_NE(row.reason, "") << row.op << " " << row.name;
  }
}

TEST(OpGoldensTable, HasTheGradientOfEveryDifferentiableOp) {
  std::set<std::string> with_gradient;
  for (const GoldenCase& golden : Goldens()) {
    if (!golden.grads.empty()) with_gradient.insert(golden.op);
  }
  for (const std::string& op : RegisteredOps()) {
    if (FindOp(op)->gradient == nullptr || Exempt().count(op) > 0) continue;
    EXPECT_NE(with_gradient.count(op), ExemptGradients().count(op))
        << op
        << (with_gradient.count(op) > 0 ? " has goldens of its gradient: strike the exemption"
                                        : " has a gradient, and no golden of it");
  }
}

}  // namespace
}  // namespace estimator
