// The functions that users call against TensorFlow: those that are several ops (op `fn.NAME` in
// testdata/ops), and those whose options and operands become an op's attributes and inputs.
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "estimator/ops/activations.h"
#include "estimator/ops/batch_norm.h"
#include "estimator/ops/bias.h"
#include "estimator/ops/conv.h"
#include "estimator/ops/ctc.h"
#include "estimator/ops/edit_distance.h"
#include "estimator/ops/meshgrid.h"
#include "estimator/ops/optimizer_ops.h"
#include "estimator/ops/pooling.h"
#include "estimator/ops/rearrange.h"
#include "estimator/ops/softmax.h"
#include "estimator/ops/sort.h"
#include "estimator/ops/statistics.h"
#include "estimator/ops/testing/golden_runner.h"
#include "estimator/ops/testing/golden_table.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::GoldenCase;
using In = const std::vector<Tensor>&;
using Out = std::vector<Tensor>;
// A case's outputs; the case for its attributes and name.
using Function = std::function<Out(In inputs, const GoldenCase& golden)>;

Function Unary(Tensor (*fn)(const Tensor&)) {
  return [fn](In in, const GoldenCase&) -> Out { return {fn(in[0])}; };
}

Conv2DOptions ConvOptions(const Attrs& attrs) {
  Conv2DOptions options = {.strides = attrs.ints("strides"), .dilations = attrs.ints("dilations")};
  if (attrs.s("padding") == "VALID") options.padding = Padding::kValid;
  if (attrs.s("padding") == "EXPLICIT") {
    const std::vector<int64_t>& all = attrs.ints("explicit_paddings");  // of N, H, W and C
    options.explicit_paddings = {all.begin() + 2, all.begin() + 6};
  }
  return options;
}

PoolOptions WindowOptions(const Attrs& attrs) {
  return {.ksize = attrs.ints("ksize"),
          .strides = attrs.ints("strides"),
          .padding = attrs.s("padding") == "SAME" ? Padding::kSame : Padding::kValid};
}

Function PoolOfRelu(int64_t size, Padding padding) {
  return [=](In in, const GoldenCase&) -> Out {
    return {MaxPool(Relu(in[0]),
                    {.ksize = {1, size, size, 1}, .strides = {1, 2, 2, 1}, .padding = padding})};
  };
}

Out BatchNormOutputs(In in, const GoldenCase& golden) {
  const bool none = in[3].shape().num_elements() == 0 && in[0].shape().dim(-1) != 0;
  const FusedBatchNormOptions options = {
      .mean = none ? Tensor() : in[3],
      .variance = none ? Tensor() : in[4],
      .epsilon = golden.attrs.f("epsilon"),
      .is_training = golden.attrs.b("is_training"),
      .exponential_avg_factor = golden.attrs.f("exponential_avg_factor")};
  const FusedBatchNormOutputs out = FusedBatchNorm(in[0], in[1], in[2], options);
  return {out.y, out.batch_mean, out.batch_variance};
}

// The axis of a case that is called axis_m1, or whose name ends in the axis.
int AxisOf(const GoldenCase& golden) {
  return golden.name == "axis_m1" ? -1 : golden.name.back() - '0';
}

// Loss and its gradient, the two outputs of the ops.
Out LossOutputs(const Tensor& loss) { return {loss, Tensor(loss.graph(), loss.node(), 1)}; }

std::map<std::string, Function> UpdateRules() {
  std::map<std::string, Function> rules;
  for (const UpdateDef& def : UpdateOps()) {
    rules[std::string(def.op)] = [&def](In in, const GoldenCase& golden) -> Out {
      return ApplyUpdate(def, in, !def.flag.empty() && golden.attrs.b(def.flag));
    };
  }
  return rules;
}

Function InOrder(Tensor (*fn)(const Tensor&, int, const SortOptions&), SortDirection direction) {
  return [=](In in, const GoldenCase& g) -> Out {
    return {fn(in[0], AxisOf(g), {.direction = direction})};
  };
}

// Of tables in functions.py: which axes a case's sums are over.
ReduceAxes AxesOf(const GoldenCase& golden) {
  if (golden.name == "images") return {0, 1, 2};
  return golden.name == "all" ? ReduceAxes({0, 1}) : ReduceAxes({0});
}

Out Histogram(In in, const GoldenCase& golden) {
  const std::map<std::string, std::tuple<double, double, int64_t>> ranges = {
      {"tenths", {0, 0.3, 3}},         {"hundred", {-10, 10, 100}},
      {"f64", {-0.3, 0.9, 12}},        {"infinite", {0, 1, 4}},
      {"i32_extremes", {-10, 100, 3}}, {"i32_widest", {-0x1p31, 0x1p31 - 1, 4}},
  };
  const auto found = ranges.find(golden.name);
  const auto [low, high, nbins] =
      found == ranges.end() ? std::tuple(0.0, 5.0, int64_t{5}) : found->second;
  return {HistogramFixedWidth(in[0], low, high, {.nbins = nbins})};
}

std::map<std::string, Function> Statistics() {
  return {
      {"fn.SortAscending", InOrder(Sort, SortDirection::kAscending)},
      {"fn.SortDescending", InOrder(Sort, SortDirection::kDescending)},
      {"fn.ArgSortAscending", InOrder(ArgSort, SortDirection::kAscending)},
      {"fn.ArgSortDescending", InOrder(ArgSort, SortDirection::kDescending)},
      {"fn.SufficientStatistics",
       [](In in, const GoldenCase& g) -> Out {
         const Sufficient sums = SufficientStatistics(in[0], AxesOf(g));
         return {sums.count, sums.mean_ss, sums.variance_ss};
       }},
      {"fn.NormalizeMoments",
       [](In in, const GoldenCase& g) -> Out {
         const Sufficient sums = SufficientStatistics(in[0], AxesOf(g), {.shift = in[1]});
         const MeanAndVariance moments =
             NormalizeMoments(sums.count, sums.mean_ss, sums.variance_ss, sums.shift);
         return {moments.mean, moments.variance};
       }},
      {"fn.HistogramFixedWidth", Histogram},
      {"fn.MeshgridXY",
       [](In in, const GoldenCase&) -> Out { return Meshgrid(in, Indexing::kXY); }},
      {"fn.MeshgridIJ",
       [](In in, const GoldenCase&) -> Out { return Meshgrid(in, Indexing::kIJ); }},
  };
}

// Of the table rearrangements() in functions.py.
struct Blocks {
  std::vector<int64_t> sizes;
  Paddings margins;
};
const Blocks& BlocksOf(const GoldenCase& golden) {
  static const auto& blocks =
      *new std::map<std::string, Blocks>{{"pixels", {{2, 3}, {{0, 0}, {0, 0}}}},
                                         {"margins", {{2, 2}, {{1, 2}, {0, 2}}}},
                                         {"one", {{1}, {{0, 0}}}},
                                         {"three", {{3, 1, 2}, {{0, 3}, {1, 1}, {1, 1}}}},
                                         {"empty", {{2}, {{0, 0}}}}};
  return blocks.at(golden.name);
}

Out Rolled(In in, const GoldenCase& golden) {
  using Ints = std::vector<int64_t>;
  const std::map<std::string, std::pair<Ints, Ints>> rolls = {{"one", {{2}, {1}}},
                                                              {"both", {{-4, 1}, {0, 1}}},
                                                              {"twice", {{1, 1}, {1, 1}}},
                                                              {"none", {{5}, {0}}}};
  const auto& [shifts, axes] = rolls.at(golden.name);
  return {Roll(in[0], shifts, axes)};
}

Out OutputsOf(const CtcDecoded& decoded) { return {decoded.ids, decoded.length, decoded.score}; }

std::map<std::string, Function> LabelSequences() {
  return {
      {"fn.CtcLoss",
       [](In in, const GoldenCase& g) -> Out {
         const bool middle = g.name == "middle";
         return {CtcLoss(in[0], in[1], in[2], in[3],
                         {.logits_time_major = !middle,
                          .blank_index = middle             ? 2
                                         : g.name == "last" ? -1
                                                            : 0})};
       }},
      {"fn.CtcGreedyDecoder",
       [](In in, const GoldenCase& g) -> Out {
         return OutputsOf(CtcGreedyDecoder(
             in[0], in[1],
             {.merge_repeated = g.name != "all", .blank_index = g.name == "blank_1" ? 1 : -1}));
       }},
      {"fn.CtcBeamSearchDecoder",
       [](In in, const GoldenCase& g) -> Out {
         const bool merged = g.name == "merged";
         return OutputsOf(CtcBeamSearchDecoder(in[0], in[1],
                                               {.beam_width = merged             ? 5
                                                              : g.name == "wide" ? 100
                                                                                 : 3,
                                                .top_paths = 3,
                                                .merge_repeated = merged}));
       }},
  };
}

std::map<std::string, Function> Rearrangements() {
  return {
      {"fn.EditDistance",
       [](In in, const GoldenCase& g) -> Out {
         return {EditDistance(in[0], in[1], in[2], in[3], {.normalize = g.name != "counts"})};
       }},
      {"fn.SpaceToBatch",
       [](In in, const GoldenCase& g) -> Out {
         return {SpaceToBatch(in[0], BlocksOf(g).sizes, BlocksOf(g).margins)};
       }},
      {"fn.BatchToSpace",
       [](In in, const GoldenCase& g) -> Out {
         return {BatchToSpace(in[0], BlocksOf(g).sizes, BlocksOf(g).margins)};
       }},
      {"fn.SpaceToDepth",
       [](In in, const GoldenCase& g) -> Out { return {SpaceToDepth(in[0], AxisOf(g))}; }},
      {"fn.DepthToSpace",
       [](In in, const GoldenCase& g) -> Out { return {DepthToSpace(in[0], AxisOf(g))}; }},
      {"fn.Roll", Rolled},
      {"fn.LocalResponseNormalization",
       [](In in, const GoldenCase& g) -> Out {
         if (g.name == "plain") return {LocalResponseNormalization(in[0])};
         return {LocalResponseNormalization(
             in[0], {.depth_radius = 2, .bias = 2, .alpha = 0.5, .beta = 0.75})};
       }},
  };
}

std::map<std::string, Function> Functions() {
  std::map<std::string, Function> functions = UpdateRules();
  functions.merge(Statistics());
  functions.merge(Rearrangements());
  functions.merge(LabelSequences());
  functions.merge(std::map<std::string, Function>{
      {"Relu", Unary(Relu)},
      {"Relu6", Unary(Relu6)},
      {"Elu", Unary(Elu)},
      {"Selu", Unary(Selu)},
      {"Softplus", Unary(Softplus)},
      {"Softsign", Unary(Softsign)},
      {"Sigmoid", Unary(Sigmoid)},
      {"Tanh", Unary(Tanh)},
      {"fn.Swish", Unary(Swish)},
      {"fn.Gelu", Unary(Gelu)},
      {"fn.GeluApproximate", Unary(GeluApproximate)},
      {"LeakyRelu",
       [](In in, const GoldenCase& g) -> Out { return {LeakyRelu(in[0], g.attrs.f("alpha"))}; }},
      {"BiasAdd", [](In in, const GoldenCase&) -> Out { return {BiasAdd(in[0], in[1])}; }},
      {"Conv2D",
       [](In in, const GoldenCase& g) -> Out {
         return {Conv2D(in[0], in[1], ConvOptions(g.attrs))};
       }},
      {"DepthwiseConv2dNative",
       [](In in, const GoldenCase& g) -> Out {
         return {DepthwiseConv2dNative(in[0], in[1], ConvOptions(g.attrs))};
       }},
      {"MaxPool",
       [](In in, const GoldenCase& g) -> Out { return {MaxPool(in[0], WindowOptions(g.attrs))}; }},
      {"fn.MaxPoolOfRelu", PoolOfRelu(2, Padding::kValid)},
      {"fn.OverlappingMaxPoolOfRelu", PoolOfRelu(3, Padding::kSame)},
      {"AvgPool",
       [](In in, const GoldenCase& g) -> Out { return {AvgPool(in[0], WindowOptions(g.attrs))}; }},
      {"FusedBatchNormV3", BatchNormOutputs},
      {"fn.BatchNormalization",
       [](In in, const GoldenCase&) -> Out {
         return {BatchNormalization(in[0], in[1], in[2], in[3], in[4], 1e-3f)};
       }},
      {"fn.LayerNorm",
       [](In in, const GoldenCase&) -> Out { return {LayerNorm(in[0], in[1], in[2], 1e-3f)}; }},
      {"fn.L2Normalize", [](In in, const GoldenCase&) -> Out { return {L2Normalize(in[0], -1)}; }},
      {"Softmax", [](In in, const GoldenCase&) -> Out { return {Softmax(in[0])}; }},
      {"LogSoftmax", [](In in, const GoldenCase&) -> Out { return {LogSoftmax(in[0])}; }},
      {"fn.Softmax", [](In in, const GoldenCase& g) -> Out { return {Softmax(in[0], AxisOf(g))}; }},
      {"fn.LogSoftmax",
       [](In in, const GoldenCase& g) -> Out { return {LogSoftmax(in[0], AxisOf(g))}; }},
      {"SoftmaxCrossEntropyWithLogits",
       [](In in, const GoldenCase&) {
         return LossOutputs(SoftmaxCrossEntropyWithLogits(in[1], in[0]));
       }},
      {"SparseSoftmaxCrossEntropyWithLogits",
       [](In in, const GoldenCase&) {
         return LossOutputs(SparseSoftmaxCrossEntropyWithLogits(in[1], in[0]));
       }},
      {"fn.SigmoidCrossEntropyWithLogits",
       [](In in, const GoldenCase&) -> Out {
         return {SigmoidCrossEntropyWithLogits(in[0], in[1])};
       }},
  });
  return functions;
}

class FunctionGoldens : public ::testing::TestWithParam<std::string> {};

TEST_P(FunctionGoldens, EqualTensorFlows) {
  const Function function = Functions().at(GetParam());
  int num_cases = 0;
  for (const GoldenCase& golden : testing::Goldens()) {
    if (golden.op != GetParam()) continue;
    ++num_cases;
    testing::ExpectEqualsTensorFlow(golden, [&](In in) { return function(in, golden); });
  }
  EXPECT_GT(num_cases, 0);
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, function] : Functions()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Functions, FunctionGoldens, ::testing::ValuesIn(Names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

TEST(FunctionGoldensTable, HasNoFunctionThatIsNotTested) {
  const std::map<std::string, Function> functions = Functions();
  for (const GoldenCase& golden : testing::Goldens()) {
    const bool of_function = golden.op.rfind("fn.", 0) == 0;
    EXPECT_TRUE(!of_function || functions.count(golden.op) == 1) << golden.op;
  }
}

}  // namespace
}  // namespace estimator
