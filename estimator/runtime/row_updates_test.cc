// Tables of which a step writes some rows: in place, with the bits of the copies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/indexed_slices.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/evaluate.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/runtime/passes/testing/pass_module.h"
#include "estimator/runtime/program.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kRows = 1000, kColumns = 16, kBatch = 8;
constexpr size_t kTableBytes = kRows * kColumns * sizeof(float);

// Of each instruction of `op` in a program's text, whether it writes over its first operand.
std::vector<bool> InPlace(const std::string& text, const std::string& op) {
  std::vector<bool> in_place;
  const std::regex instruction("(\\S+) = " + op + "\\(([^,]+),");
  for (std::sregex_iterator match(text.begin(), text.end(), instruction), end; match != end;
       ++match)
    in_place.push_back((*match)[1] == (*match)[2]);
  return in_place;
}

// Momentum by rows, as nn/train/row_gradient.h makes it.
class RowUpdates : public GraphTest {
 protected:
  static Variable Make(absl::string_view name, int seed) {
    const Array value = ir::Numbers({kRows, kColumns}, seed);
    return GetVariable(name, value.shape(),
                       {.initializer = [value](const Shape&, DType) { return Constant(value); }});
  }
  Tensor Index() const { return ExpandDims(ids_, 1); }
  void MakeStep() {
    const Tensor rows = Gather(table_, ids_);
    loss_ = ReduceSum(rows * rows * rows);
    const Tensor gradient = Gather(Gradients(loss_, {table_})[0], ids_);
    const Tensor next = Gather(accum_, ids_) * 0.9 + gradient;
    updates_ = {Assign(table_, TensorScatterUpdate(table_, Index(), rows - next * 0.1)),
                Assign(accum_, TensorScatterUpdate(accum_, Index(), next))};
  }
  ProgramSpec Spec(std::vector<Tensor> more_fetches = {}) const {
    more_fetches.insert(more_fetches.begin(), loss_);
    return {.feeds = {ids_}, .fetches = more_fetches, .updates = updates_};
  }
  std::string Text(const ProgramSpec& spec, int64_t* arena_bytes = nullptr) const {
    const auto program = Program::Compile(graph_, spec, {.single_replica = true});
    EST_EXPECT_OK(program);
    if (!program.ok()) return "";
    if (arena_bytes != nullptr) *arena_bytes = (*program)->info().planned_peak_bytes;
    return (*program)->Plan();
  }
  // The fetches of the last of some steps; rows are looked up twice, and again in later steps.
  absl::StatusOr<std::vector<Array>> Run(const ProgramSpec& spec, VariableStore& store,
                                         CompileOptions options = {}) const {
    if (const absl::Status status = InitializeVariables(graph_, store); !status.ok()) return status;
    const std::unique_ptr<Backend> backend = MakeCpuBackend(store, options);
    auto step = backend->Compile(graph_, spec);
    if (!step.ok()) return step.status();
    std::vector<Array> fetched;
    int64_t begin = 0;
    const auto ran = (*step)->RunLoop(
        5,
        [&begin]() -> absl::StatusOr<std::optional<StepFeeds>> {
          Array ids(DType::kInt64, {kBatch});
          for (int64_t i = 0; i < kBatch; ++i) ids.data<int64_t>()[i] = begin * 3 + i * i % 7;
          ++begin;
          return StepFeeds{{ids}};
        },
        [&fetched](int64_t, const StepFetches& fetches) {
          fetched.clear();
          for (const Array& array : fetches[0]) fetched.push_back(array.Clone());
          return absl::OkStatus();
        });
    if (!ran.ok()) return ran.status();
    return fetched;
  }
  // That a step in place gives every variable and fetch the bits of one that copies.
  void ExpectBitsOfCopies(const ProgramSpec& spec) const {
    VariableStore in_place, copied;
    const auto fast = Run(spec, in_place),
               plain = Run(spec, copied, {.disable_passes = OptionalPasses()});
    EST_ASSERT_OK(fast);
    EST_ASSERT_OK(plain);
    for (size_t i = 0; i < fast->size(); ++i)
      EXPECT_TRUE(SameBits((*fast)[i], (*plain)[i])) << "fetch " << i;
    for (const std::string& name : in_place.Names()) {
      EXPECT_TRUE(SameBits(*in_place.Peek(name), *copied.Peek(name)))
          << name << ": " << Compare(*in_place.Peek(name), *copied.Peek(name)).report;
    }
  }

  const Variable table_ = Make("table", 1), accum_ = Make("accum", 2);
  const Tensor ids_ =
      graph_.AddOp("Placeholder", {}, {{"dtype", DType::kInt64}, {"shape", Shape{kBatch}}});
  Tensor loss_;
  std::vector<Operation> updates_;
};

TEST_F(RowUpdates, MakeAndCopyNoTable) {
  MakeStep();
  int64_t arena_bytes = 0;
  const std::string text = Text(Spec(), &arena_bytes);
  EXPECT_THAT(text, Not(HasSubstr(" = copy(")));
  EXPECT_THAT(text, Not(HasSubstr("UnsortedSegmentSum(")));
  EXPECT_LT(arena_bytes, static_cast<int64_t>(kTableBytes) / 4) << text;
}

TEST_F(RowUpdates, HaveTheBitsOfCopies) {
  MakeStep();
  ExpectBitsOfCopies(Spec());
}

TEST_F(RowUpdates, OfATableThatIsLookedUpInTwoPlacesMakeNoTableEither) {
  const Tensor first = Gather(table_, ids_), second = Gather(table_, ids_ * int64_t{2});
  loss_ = ReduceSum(first * first * second);
  const IndexedSlices slices = *SlicesOf(Gradients(loss_, {table_})[0]);
  const Tensor gradient = Gather(AddUp(slices, kRows), slices.indices);
  const Tensor next = Gather(table_, slices.indices) - gradient * 0.1;
  updates_ = {Assign(table_, TensorScatterUpdate(table_, ExpandDims(slices.indices, 1), next))};
  int64_t arena_bytes = 0;
  const std::string text = Text(Spec(), &arena_bytes);
  EXPECT_THAT(text, Not(HasSubstr(" = copy(")));
  EXPECT_THAT(text, Not(HasSubstr("UnsortedSegmentSum(")));
  EXPECT_LT(arena_bytes, static_cast<int64_t>(kTableBytes) / 4) << text;
  ExpectBitsOfCopies(Spec());
}

TEST_F(RowUpdates, AgreeWithReferenceKernels) {
  MakeStep();
  VariableStore store;
  const auto ran = Run(Spec(), store, {.check_kernels = true});
  EST_EXPECT_OK(ran);
}

TEST_F(RowUpdates, LeaveTheOldValueToThoseWhoReadIt) {
  MakeStep();
  // A fetch, other variables' updates, and what is computed from the new value.
  const Variable old = Make("old", 3), twice = Make("twice", 4), average = Make("average", 5);
  const Tensor new_table = TensorScatterAdd(table_, Index(), Gather(accum_, ids_));
  updates_[0] = Assign(table_, new_table);
  updates_.push_back(Assign(old, table_));
  updates_.push_back(Assign(twice, table_ * 2 + accum_));
  updates_.push_back(Assign(average, average * 0.5 + new_table * 0.5));
  const ProgramSpec spec = Spec({table_, ReduceSum(accum_)});
  EXPECT_THAT(Text(spec), HasSubstr("TensorScatterAdd(var"));
  ExpectBitsOfCopies(spec);
}

TEST_F(RowUpdates, OfAFetchedResultAreCopied) {
  MakeStep();
  const Tensor new_table = TensorScatterAdd(table_, Index(), Gather(accum_, ids_));
  updates_[0] = Assign(table_, new_table);
  ExpectBitsOfCopies(Spec({new_table}));
}

TEST_F(RowUpdates, OfTablesThatWriteWhatTheOtherReads) {
  MakeStep();
  updates_ = {
      Assign(table_, TensorScatterUpdate(table_, Index(), Gather(accum_, ids_))),
      Assign(accum_, TensorScatterUpdate(accum_, Index(), Gather(table_, ids_))),
  };
  ExpectBitsOfCopies(Spec());
}

// Within a step: the scatter writes over what nothing else reads.
TEST_F(RowUpdates, OfTensorsAreInPlaceToo) {
  MakeStep();
  const Tensor tripled = table_ * 3;
  const Tensor once = TensorScatterAdd(tripled, Index(), Gather(accum_, ids_));
  const Tensor kept = TensorScatterAdd(once, Index(), Gather(accum_, ids_));
  const ProgramSpec spec = Spec({ReduceSum(kept * kept), ReduceSum(once)});
  // "@1024 = TensorScatterAdd(@1024, ...": the first; `once` is still read after the second.
  EXPECT_THAT(InPlace(Text(spec), "TensorScatterAdd"), ElementsAre(true, false));
  ExpectBitsOfCopies(spec);
}

TEST_F(RowUpdates, ALookUpOutsideOfItsTableNamesTheTable) {
  VariableStore store;
  EST_ASSERT_OK(InitializeVariables(graph_, store));
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store);
  Array ids(DType::kInt64, {kBatch});
  ids.data<int64_t>()[3] = -1;
  const std::vector<Tensor> look_ups = {Gather(table_, ids_),
                                        Gather(Cast(table_, DType::kBfloat16), ids_),
                                        GatherNd(table_, ExpandDims(ids_, 1))};
  for (const Tensor& rows : look_ups) {
    loss_ = ReduceSum(Cast(rows, DType::kFloat32));
    EXPECT_THAT(RunOnce(*backend, graph_, Spec(), {ids}),
                ErrorHas("indices[3] = -1 is not in [0, 1000); the table is 'table', "))
        << rows.name();
  }
}

TEST_F(RowUpdates, WithAnIndexOutsideOfTheTableChangeNothing) {
  const Tensor rows = Gather(accum_, Minimum(ids_, int64_t{kRows - 1}));
  loss_ = ReduceSum(rows);
  updates_ = {Assign(accum_, accum_ * 2), Assign(table_, TensorScatterAdd(table_, Index(), rows))};
  VariableStore store;
  EST_ASSERT_OK(InitializeVariables(graph_, store));
  const Array table = *store.Get("table"), accum = *store.Get("accum");
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store);
  Array ids(DType::kInt64, {kBatch});
  ids.data<int64_t>()[5] = kRows;
  const auto ran = RunOnce(*backend, graph_, Spec(), {ids});
  EXPECT_THAT(ran,
              ErrorHas("indices[5] = 1000 is not in [0, 1000); the table is 'table', f32 [1000,"));
  EXPECT_TRUE(SameBits(*store.Peek("table"), table));
  EXPECT_TRUE(SameBits(*store.Peek("accum"), accum));
}

}  // namespace
}  // namespace estimator
