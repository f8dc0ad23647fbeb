// The gallery: programs that TensorFlow runs on the CPU and a TPU refuses or punishes. Each is
// broken in one way, is caught by exactly one rule, and passes when it is corrected. docs/tpu.md
// shows it.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "estimator/base/exit_code.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/rules/rule.h"
#include "tpu/rules/testing/gallery_program.h"

namespace estimator::tpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Change = std::function<void(GalleryProgram&)>;

struct Case {
  std::string name;
  std::string rule;
  Change breaks;
  Change corrects = [](GalleryProgram&) {};  // the same program without the mistake
};
std::ostream& operator<<(std::ostream& out, const Case& the_case) { return out << the_case.name; }

// A change that puts a layer into the model.
template <typename Fn>
Change Layer(Fn fn) {
  return [fn](GalleryProgram& program) {
    program.layer = [fn](const Tensor& x, const Features&, Mode, const Params&) { return fn(x); };
  };
}

Array Ids(DType dtype = DType::kInt32) { return Array(dtype, {2048}); }

// Rows with a text of a length that changes from batch to batch.
GalleryProgram::InputFnType TextInput(std::map<std::string, Shape> padded_shapes) {
  return [padded_shapes](const Params& params) -> absl::StatusOr<Dataset> {
    const int64_t rows = params.batch_size;
    const auto example = [rows](int64_t i) -> absl::StatusOr<std::optional<Element>> {
      return Element{.features = {{"x", Array(DType::kFloat32, {128})},
                                  {"tokens", Array(DType::kInt32, {1 + i / rows % 3})}},
                     .labels = Array(DType::kInt32, {})};
    };
    return Dataset::FromGenerator(example).PaddedBatch(
        rows, {.padded_shapes = padded_shapes, .drop_remainder = true});
  };
}

Operation IncrementGlobalStep() {
  return AssignAdd(GetOrCreateGlobalStep(), Constant(Array::Scalar<int64_t>(1)));
}

// Gradient descent without an optimizer.
Operation HandWrittenDescent(const Tensor& loss, double rate, bool sums) {
  std::vector<Operation> updates = {IncrementGlobalStep()};
  const std::vector<Variable> variables = Graph::Current().TrainableVariables();
  const std::vector<Tensor> gradients = Gradients(loss, variables);
  for (size_t i = 0; i < variables.size(); ++i) {
    const Tensor gradient = sums ? CrossReplicaSum(gradients[i]) : gradients[i];
    updates.push_back(Assign(variables[i], variables[i].read() - gradient * rate));
  }
  return Group(updates);
}

std::vector<Case> ConfigCases() {
  return {
      {"no train_batch_size", "batch-size-missing",
       [](GalleryProgram& p) { p.options.train_batch_size = std::nullopt; }},
      {"a training batch of 1020 on 8 cores", "batch-not-divisible",
       [](GalleryProgram& p) { p.options.train_batch_size = 1020; }},
      {"an evaluation batch of 1020 on 8 cores", "batch-not-divisible",
       [](GalleryProgram& p) { p.options.eval_batch_size = 1020; },
       [](GalleryProgram& p) { p.options.eval_batch_size = 2048; }},
      {"six cores", "num-shards",
       [](GalleryProgram& p) {
         p.options.config.tpu_config.num_shards = 6;
         p.options.train_batch_size = 768;
         p.options.eval_batch_size = p.options.predict_batch_size = 768;
       },
       [](GalleryProgram& p) { p.options.config.tpu_config.num_shards = 16; }},
      {"SLICED evaluation on the CPU", "sliced-on-cpu",
       [](GalleryProgram& p) {
         p.options.eval_on_tpu = false;
         p.options.config.tpu_config.eval_training_input_configuration =
             InputPipelineConfig::SLICED;
       },
       [](GalleryProgram& p) {
         p.options.config.tpu_config.eval_training_input_configuration =
             InputPipelineConfig::SLICED;
       }},
      {"prediction with a batch_axis", "predict-batch-axis",
       [](GalleryProgram& p) {
         p.options.batch_axis = {0, 0};
       },
       [](GalleryProgram& p) {
         p.options.batch_axis = {0, 0};
         p.options.predict_batch_size = std::nullopt;
       }},
      {"iterations_per_loop left at its default", "default-iterations-per-loop",
       [](GalleryProgram& p) { p.options.config.tpu_config.iterations_per_loop = 2; },
       [](GalleryProgram& p) { p.options.config.tpu_config.iterations_per_loop = "30s"; }},
      {"training without a number of steps", "steps-not-given",
       [](GalleryProgram& p) { p.length = TrainLength(); },
       [](GalleryProgram& p) { p.length = Steps(10); }},
      {"PER_SHARD_V1 with a Dataset", "per-shard-dataset",
       [](GalleryProgram& p) {
         p.options.config.tpu_config.per_host_input_for_training =
             InputPipelineConfig::PER_SHARD_V1;
       },
       [](GalleryProgram& p) {
         p.options.config.tpu_config.per_host_input_for_training = InputPipelineConfig::PER_HOST_V2;
       }},
      {"four rows a core", "few-rows", [](GalleryProgram& p) { p.options.train_batch_size = 32; },
       [](GalleryProgram& p) { p.options.train_batch_size = 64; }},
      {"100 rows a core", "rows-not-of-8",
       [](GalleryProgram& p) { p.options.train_batch_size = 800; },
       [](GalleryProgram& p) { p.options.train_batch_size = 832; }},
  };
}

// The rows [n, 128] of x, in two beams of 64 numbers, of which each is replaced by the better one
// as a beam search does: flat indices of TopK, divided and taken with a GatherNd.
Tensor Beams(const Tensor& x, int32_t offset) {
  const int64_t rows = x.dim(0);
  const Tensor beams = Reshape(x, Shape{rows, 2, 64});
  const Tensor best = TopK(x, 2).indices;           // [n, 2], in [0, 128)
  const Tensor beam = FloorDiv(best, 64) + offset;  // [n, 2], in [0, 2)
  const Tensor row = BroadcastTo(ExpandDims(Range(rows), 1), Shape{rows, 2});
  const Tensor index = Stack({Cast(row, DType::kInt32), beam}, 2);
  return Reshape(GatherNd(beams, index), Shape{rows, 128});
}

// The rows `ids` of a table, one after the other.
Tensor RowsById(const Tensor& ids, int64_t rows) {
  const Variable table = GetVariable("table", {rows, 128});
  return MapFn([&table](const Tensor& id) { return Gather(table, id); }, ids);
}

std::vector<Case> InputCases() {
  return {
      {"a batch size that is not params.batch_size", "input-error",
       [](GalleryProgram& p) {
         p.input = [](const Params&) -> absl::StatusOr<Dataset> {
           return Dataset::FromTensorSlices(GalleryExamples())
               .Repeat()
               .Batch(100, {.drop_remainder = true});
         };
       }},
      {"texts padded to the longest of a batch", "dynamic-shape",
       [](GalleryProgram& p) { p.input = TextInput({}); },
       [](GalleryProgram& p) {
         p.input = TextInput({{"tokens", Shape{3}}});
       }},
      {"one pass without drop_remainder", "partial-batch",
       [](GalleryProgram& p) {
         p.input = [](const Params& params) -> absl::StatusOr<Dataset> {
           return Dataset::FromTensorSlices(GalleryExamples()).Batch(params.batch_size);
         };
       },
       [](GalleryProgram& p) {
         p.input = [](const Params& params) -> absl::StatusOr<Dataset> {
           return Dataset::FromTensorSlices(GalleryExamples())
               .Batch(params.batch_size, {.drop_remainder = true});
         };
       }},
      {"an endless input without drop_remainder", "open-batch",
       [](GalleryProgram& p) {
         p.input = [](const Params& params) -> absl::StatusOr<Dataset> {
           return Dataset::FromTensorSlices(GalleryExamples()).Repeat().Batch(params.batch_size);
         };
       }},
      {"a feature with TensorFlow's reserved name", "reserved-feature",
       [](GalleryProgram& p) {
         p.input = GalleryInput({{"_concatenated_small_features_0", Ids()}});
       },
       [](GalleryProgram& p) {
         p.input = GalleryInput({{"small_features_0", Ids()}});
       }},
      {"a feature of strings", "string",
       [](GalleryProgram& p) {
         p.input = GalleryInput({{"file", Ids(DType::kString)}});
       },
       [](GalleryProgram& p) {
         p.input = GalleryInput({{"file_number", Ids()}});
       }},
      {"labels of int64", "int64",
       [](GalleryProgram& p) {
         p.input = [](const Params& params) -> absl::StatusOr<Dataset> {
           Element examples = GalleryExamples();
           examples.labels = Ids(DType::kInt64);
           return Dataset::FromTensorSlices(examples).Repeat().Batch(params.batch_size,
                                                                     {.drop_remainder = true});
         };
       }},
      {"ids from the input that nobody checks", "unchecked-index",
       [](GalleryProgram& p) {
         p.input = GalleryInput({{"id", Ids()}});
         p.layer = [](const Tensor& x, const Features& features, Mode, const Params&) {
           return x + Gather(GetVariable("table", {1024, 128}), features["id"]);
         };
       },
       [](GalleryProgram& p) {
         p.input = GalleryInput({{"id", Ids()}});
         p.layer = [](const Tensor& x, const Features& features, Mode, const Params&) {
           return x + MatMul(OneHot(features["id"], 1024), GetVariable("table", {1024, 128}));
         };
       }},
      {"a best row of another table", "unchecked-index", Layer([](const Tensor& x) {
         return x + Gather(GetVariable("table", {127, 128}),
                           ArgMax(x, 1, {.output_type = DType::kInt32}));
       }),
       Layer([](const Tensor& x) {
         return x + Gather(GetVariable("table", {128, 128}),
                           ArgMax(x, 1, {.output_type = DType::kInt32}));
       })},
      {"ids from the input that a loop does not check", "unchecked-index",
       [](GalleryProgram& p) {
         p.input = GalleryInput({{"id", Ids()}});
         p.layer = [](const Tensor& x, const Features& features, Mode, const Params&) {
           return x + RowsById(features["id"], 1024);
         };
       },
       [](GalleryProgram& p) {
         p.input = GalleryInput({{"id", Ids()}});
         p.layer = [](const Tensor& x, const Features& features, Mode, const Params&) {
           return x + RowsById(FloorMod(features["id"], 1024), 1024);
         };
       }},
      // Fixed bug: a beam search had a note for each of its gathers.
      {"beams of a wrong row", "unchecked-index",
       Layer([](const Tensor& x) { return x + Beams(x, 1); }),
       Layer([](const Tensor& x) { return x + Beams(x, 0); })},
  };
}

// `body` applied to x three times.
Tensor InLoop(const Tensor& x, const std::function<Tensor(const Tensor&)>& body,
              const WhileLoopOptions& options = {.maximum_iterations = 3}) {
  return WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                   [&body](const Tensors& v) {
                     return Tensors{v[0] + 1, body(v[1])};
                   },
                   {Constant(0), x}, options)[1];
}

// `branch` if the sum of x is positive.
Tensor OrZeros(const Tensor& x, const std::function<Tensor()>& branch) {
  return Cond(Greater(ReduceSum(x), 0.f), branch, [&x] { return ZerosLike(x); });
}

std::vector<Case> LayerCases() {
  return {
      {"a shape that depends on the input", "dynamic-shape", Layer([](const Tensor& x) {
         const Tensor rows = Cast(ReduceSum(x), DType::kInt32);
         return Reshape(x, Stack({rows, Constant(Array::Scalar<int32_t>(128))}));
       }),
       Layer([](const Tensor& x) {
         return Reshape(x, Shape{-1, 128});
       })},
      {"a path for the TPU that does not build", "model-error",
       [](GalleryProgram& p) {
         p.layer = [](const Tensor& x, const Features&, Mode, const Params& params) {
           return params.use_tpu ? Reshape(x, Shape{7, 7}) : x;
         };
       }},
      {"a layer in float64", "float64",
       Layer([](const Tensor& x) { return Cast(Cast(x, DType::kFloat64) * 2.0, DType::kFloat32); }),
       Layer([](const Tensor& x) { return x * 2.0; })},
      {"a layer in float16", "float16",
       Layer([](const Tensor& x) { return Cast(Cast(x, DType::kFloat16) * 2.0, DType::kFloat32); }),
       Layer(
           [](const Tensor& x) { return Cast(Cast(x, DType::kBfloat16) * 2.0, DType::kFloat32); })},
      {"a determinant", "host-only-op", Layer([](const Tensor& x) {
         return x * MatrixDeterminant(Constant(Shape{2, 2}, {2.f, 0.f, 0.f, 1.f}));
       }),
       Layer([](const Tensor& x) {
         return x * ReduceProd(MatrixDiagPart(Constant(Shape{2, 2}, {2.f, 0.f, 0.f, 1.f})));
       })},
      {"a determinant in a loop", "host-only-op", Layer([](const Tensor& x) {
         return InLoop(x, [](const Tensor& v) {
           return v * MatrixDeterminant(Constant(Shape{2, 2}, {2.f, 0.f, 0.f, 1.f}));
         });
       }),
       Layer([](const Tensor& x) { return InLoop(x, [](const Tensor& v) { return v * 2.0; }); })},
      {"a loop with a gradient and any number of trips", "loop-without-bound",
       Layer([](const Tensor& x) { return InLoop(x, [](const Tensor& v) { return Sin(v); }, {}); }),
       Layer([](const Tensor& x) { return InLoop(x, [](const Tensor& v) { return Sin(v); }); })},
      {"a sum over the cores in a branch", "sum-in-body", Layer([](const Tensor& x) {
         return x + StopGradient(OrZeros(x, [&] { return CrossReplicaSum(x); }));
       }),
       Layer([](const Tensor& x) {
         return x + StopGradient(CrossReplicaSum(OrZeros(x, [&] { return x; })));
       })},
      {"a check of values", "check-op",
       Layer([](const Tensor& x) { return CheckNumerics(x, "hidden"); })},
      {"a summary in the model", "summary-in-model", Layer([](const Tensor& x) {
         summary::Scalar("hidden", ReduceMean(x));
         return x;
       })},
      {"data as a constant", "large-constant", Layer([](const Tensor& x) {
         return x + ReduceMean(Constant(Array(DType::kFloat32, {131072, 128})), 0);
       }),
       Layer([](const Tensor& x) {
         return x + ReduceMean(Constant(Array(DType::kFloat32, {128, 128})), 0);
       })},
      {"a tensor of 128 GiB", "tensor-too-large", Layer([](const Tensor& x) {
         const int64_t rows = x.dim(0);
         return ReduceMean(BroadcastTo(Reshape(x, {rows, 1, 128}), {rows, 1 << 21, 128}), 1);
       }),
       Layer([](const Tensor& x) {
         const int64_t rows = x.dim(0);
         return ReduceMean(BroadcastTo(Reshape(x, {rows, 1, 128}), {rows, 16, 128}), 1);
       })},
      {"a tensor with only small dimensions", "tiled-size", Layer([](const Tensor& x) {
         const int64_t rows = x.dim(0);
         const Tensor small = Reshape(Tile(x, {1, 64}), {4, 8, 8, 8, 8, 8, 8});
         return ReduceMean(Reshape(Relu(small), {rows, 64, 128}), 1);
       }),
       Layer([](const Tensor& x) {
         const int64_t rows = x.dim(0);
         return ReduceMean(Reshape(Relu(Tile(x, {1, 64})), {rows, 64, 128}), 1);
       })},
      {"100 hidden units", "features-not-of-128", [](GalleryProgram& p) { p.units = 100; },
       [](GalleryProgram& p) { p.units = 256; }},
      {"batch normalization of a core's rows", "local-batch-norm",
       [](GalleryProgram& p) {
         p.layer = [](const Tensor& x, const Features&, Mode mode, const Params&) {
           return layers::BatchNormalization(x, {.training = mode == Mode::kTrain});
         };
       },
       Layer([](const Tensor& x) { return layers::LayerNorm(x); })},
  };
}

std::vector<Case> SpecCases() {
  return {
      {"gradients that are not summed", "no-cross-replica-sum",
       [](GalleryProgram& p) {
         p.train_op = [](const Tensor& loss, double rate) {
           return HandWrittenDescent(loss, rate, /*sums=*/false);
         };
       },
       [](GalleryProgram& p) {
         p.train_op = [](const Tensor& loss, double rate) {
           return HandWrittenDescent(loss, rate, /*sums=*/true);
         };
       }},
      {"a bare optimizer", "bare-optimizer",
       [](GalleryProgram& p) {
         p.train_op = [](const Tensor& loss, double rate) {
           return train::Momentum(rate, 0.9).Minimize(loss);
         };
       }},
      {"global_step that nobody increments", "global-step-unused",
       [](GalleryProgram& p) {
         p.train_op = [](const Tensor& loss, double rate) {
           return CrossShardOptimizer(train::Momentum(rate, 0.9))
               .Minimize(loss, {.increment_global_step = false});
         };
       },
       [](GalleryProgram& p) {
         p.train_op = [](const Tensor& loss, double rate) {
           return Group({CrossShardOptimizer(train::Momentum(rate, 0.9))
                             .Minimize(loss, {.increment_global_step = false}),
                         IncrementGlobalStep()});
         };
       }},
      {"global_step incremented twice", "global-step-twice",
       [](GalleryProgram& p) {
         p.train_op = [](const Tensor& loss, double rate) {
           return Group({CrossShardOptimizer(train::Momentum(rate, 0.9)).Minimize(loss),
                         IncrementGlobalStep()});
         };
       }},
      {"a learning rate that ignores the batch", "learning-rate-not-scaled",
       [](GalleryProgram& p) { p.scale_rate = false; }},
      {"the learning rate of one replica, not scaled", "learning-rate-not-scaled",
       [](GalleryProgram& p) { p.scale_rate = false; },
       [](GalleryProgram& p) {
         p.scale_rate = false;
         p.options.config.scale_learning_rate = true;
       }},
      {"a scalar for host_call", "outfeed-rank",
       [](GalleryProgram& p) {
         p.host_call = [](const Tensor& loss) { return HostCall{[](const Array&) {}, {loss}}; };
       },
       [](GalleryProgram& p) {
         p.host_call = [](const Tensor& loss) {
           return HostCall{[](const Array&) {}, {Reshape(loss, Shape{1})}};
         };
       }},
      {"a scalar for eval_metrics", "outfeed-rank",
       [](GalleryProgram& p) { p.scalar_metric = true; }},
      {"numbers written as text", "host-only-op",
       [](GalleryProgram& p) {
         p.host_call = [](const Tensor& loss) {
           return HostCall{[](const Array&) {}, {AsString(Reshape(loss, Shape{1}))}};
         };
       },
       [](GalleryProgram& p) {
         p.host_call = [](const Tensor& loss) {
           return HostCall{[](const Array&) {}, {Reshape(loss, Shape{1})}};
         };
       }},
      {"predictions of 1 GiB a core", "predictions-too-large",
       [](GalleryProgram& p) {
         p.predictions = [](const Tensor& logits) -> std::map<std::string, Tensor> {
           const int64_t rows = logits.dim(0);
           return {{"maps", BroadcastTo(Reshape(logits, {rows, 1, 128}), {rows, 16384, 128})}};
         };
       },
       [](GalleryProgram& p) {
         p.predictions = [](const Tensor& logits) -> std::map<std::string, Tensor> {
           const int64_t rows = logits.dim(0);
           return {{"maps", BroadcastTo(Reshape(logits, {rows, 1, 128}), {rows, 256, 128})}};
         };
       }},
      {"a prediction without rows", "prediction-rows",
       [](GalleryProgram& p) {
         p.predictions = [](const Tensor& logits) -> std::map<std::string, Tensor> {
           return {{"probabilities", Softmax(logits)}, {"mean", ReduceMean(logits)}};
         };
       },
       [](GalleryProgram& p) {
         p.predictions = [](const Tensor& logits) -> std::map<std::string, Tensor> {
           return {{"probabilities", Softmax(logits)}, {"mean", ReduceMean(logits, 1)}};
         };
       }},
      {"a scaffold_fn that reads an activation", "scaffold-tensor",
       [](GalleryProgram& p) {
         p.scaffold = [](const Tensor& hidden) {
           ReduceMean(hidden);
           return Scaffold();
         };
       },
       [](GalleryProgram& p) {
         p.scaffold = [](const Tensor&) {
           return Scaffold{.restore_names = {{"dense/kernel", "dense/kernel/average"}}};
         };
       }},
  };
}

class GalleryTest : public ::testing::TestWithParam<Case> {};

TEST_P(GalleryTest, TheBrokenProgramIsCaughtByItsRuleAndTheCorrectedOnePasses) {
  GalleryProgram broken;
  GetParam().breaks(broken);
  const GalleryReport caught = CheckGalleryProgram(broken);
  EXPECT_THAT(caught.rule_ids, ElementsAre(GetParam().rule)) << caught.text << caught.status;
  const bool is_violation = FindRule(GetParam().rule).severity == Severity::kViolation;
  EXPECT_EQ(caught.status.code(),
            is_violation ? absl::StatusCode::kFailedPrecondition : absl::StatusCode::kCancelled)
      << caught.status;
  EXPECT_EQ(IsFinishedEarly(caught.status), !is_violation) << caught.status;

  GalleryProgram corrected;
  GetParam().corrects(corrected);
  const GalleryReport passed = CheckGalleryProgram(corrected);
  EXPECT_THAT(passed.rule_ids, IsEmpty()) << passed.text;
  EXPECT_TRUE(IsFinishedEarly(passed.status)) << passed.status;
}

INSTANTIATE_TEST_SUITE_P(Config, GalleryTest, ::testing::ValuesIn(ConfigCases()));
INSTANTIATE_TEST_SUITE_P(Input, GalleryTest, ::testing::ValuesIn(InputCases()));
INSTANTIATE_TEST_SUITE_P(Layer, GalleryTest, ::testing::ValuesIn(LayerCases()));
INSTANTIATE_TEST_SUITE_P(Spec, GalleryTest, ::testing::ValuesIn(SpecCases()));

std::vector<Case> AllCases() {
  std::vector<Case> all;
  for (const auto& part : {ConfigCases(), InputCases(), LayerCases(), SpecCases()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(GalleryTableTest, EveryRuleHasAProgram) {
  const std::vector<Case> cases = AllCases();
  EXPECT_GE(cases.size(), 30u);
  std::set<std::string> with_case;
  for (const Case& the_case : cases) with_case.insert(the_case.rule);
  for (const Rule& rule : Rules()) EXPECT_EQ(with_case.count(rule.id), 1u) << rule.id;
}

TEST(GalleryTableTest, AllFindingsOfAProgramAreInOneReport) {
  GalleryProgram program;
  program.options.train_batch_size = 1020;
  program.options.config.tpu_config.iterations_per_loop = 2;
  program.input = GalleryInput({{"file", Ids(DType::kString)}});
  program.layer = [](const Tensor& x, const Features&, Mode, const Params&) {
    const NameScope scope("tower");
    return Cast(Cast(x, DType::kFloat64, "wide"), DType::kFloat32);
  };
  const GalleryReport report = CheckGalleryProgram(program);
  EXPECT_THAT(report.rule_ids, ElementsAre("batch-not-divisible", "float64", "string",
                                           "default-iterations-per-loop"))
      << report.text;
  for (const char* part : {"train: tower/wide (Cast) f64 [128,128]", "features['file']",
                           "1020 rows leave 4", "Why: ", "Cure: use float32"})
    EXPECT_THAT(report.text, ::testing::HasSubstr(part));
}

}  // namespace
}  // namespace estimator::tpu
