// The CPU backend in several processes, which are threads here: the bits are those of one process.
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/kernels/gemm/gemm.h"
#include "estimator/ops/ops.h"
#include "estimator/ops/optimizer_ops.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/runtime/program.h"
#include "estimator/runtime/replicas/replica_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// How the replicas of a step run.
struct Division {
  int processes = 1;
  int replicas = 1;  // of all processes, with those that accumulate
  int accumulate_steps = 1;
};

// What all processes end with.
struct Outcome {
  std::vector<absl::Status> status;                           // of each process
  std::vector<std::map<std::string, std::string>> variables;  // of each process: bytes
  std::vector<std::vector<std::string>> fetches;              // [replica][fetch]: of the last step
};

std::string Bytes(const Array& array) {
  return std::string(static_cast<const char*>(array.raw()), array.num_bytes());
}

Array F32(std::initializer_list<float> values) {
  return Array::Of<float>({static_cast<int64_t>(values.size())}, values);
}

Variable MakeVariable(const char* name, const Array& initial) {
  return GetVariable(name, initial.shape(),
                     {.initializer = [initial](const Shape&, DType) { return Constant(initial); }});
}

Tensor Input(int64_t count, DType dtype = DType::kFloat32) { return Placeholder(dtype, {count}); }

// w - 0.1 * gradient, in place.
Operation Descend(const Variable& w, const Tensor& gradient) {
  return Assign(w, ApplyUpdate(*FindUpdateOp("ApplyGradientDescent"), {w, Constant(0.1f), gradient},
                               true)[0]);
}

// Numbers whose sums depend on the order in their last bits.
Array Numbers(int64_t count, int seed) {
  Array array(DType::kFloat32, {count});
  for (int64_t i = 0; i < count; ++i)
    array.data<float>()[i] = std::sin(static_cast<float>(7 * seed + i)) * (1 + seed % 4);
  return array;
}

class CpuProcessesTest : public GraphTest {
 protected:
  using Feed = std::function<std::vector<Array>(int step, int replica)>;

  // Runs three steps of graph_. `spec_of` gives the step of a rank.
  Outcome Run(const Division& division, const std::function<ProgramSpec(int rank)>& spec_of,
              const Feed& feed) {
    Outcome outcome;
    const auto processes = static_cast<size_t>(division.processes);
    outcome.status.resize(processes);
    outcome.variables.resize(processes);
    outcome.fetches.resize(static_cast<size_t>(division.replicas));
    std::vector<std::shared_ptr<ProcessGroup>> groups;
    for (auto& group : ThreadGroups(division.processes)) groups.push_back(std::move(group));
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < processes; ++rank) {
      threads.emplace_back([&, rank] {
        const ReplicaLayout layout{.num_local = division.replicas / division.processes,
                                   .accumulate_steps = division.accumulate_steps,
                                   .rank = static_cast<int>(rank),
                                   .num_processes = division.processes};
        VariableStore store;
        outcome.status[rank] = [&]() -> absl::Status {
          EST_RETURN_IF_ERROR(InitializeVariables(graph_, store));
          const auto backend = MakeCpuBackend(store, {}, nullptr, layout.num_local,
                                              std::move(groups[rank]), division.accumulate_steps);
          EST_ASSIGN_OR_RETURN(const auto executable,
                               backend->Compile(graph_, spec_of(layout.rank)));
          int step = 0;
          const Infeed infeed = [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
            StepFeeds feeds;
            for (int i = 0; i < layout.num_local; ++i)
              feeds.push_back(feed(step, layout.Number(i)));
            ++step;
            return feeds;
          };
          return executable
              ->RunLoop(3, infeed,
                        [&](int64_t, const StepFetches& fetches) {
                          for (int i = 0; i < layout.num_local; ++i) {
                            auto& own = outcome.fetches[static_cast<size_t>(layout.Number(i))];
                            own.clear();
                            for (const Array& value : fetches[static_cast<size_t>(i)])
                              own.push_back(Bytes(value));
                          }
                          return absl::OkStatus();
                        })
              .status();
        }();
        for (const std::string& name : store.Names())
          outcome.variables[rank][name] = Bytes(*store.Peek(name));
      });
    }
    for (std::thread& thread : threads) thread.join();
    return outcome;
  }

  void ExpectBitsOfOneProcess(const Division& division, const ProgramSpec& spec, const Feed& feed) {
    const auto spec_of = [&](int) { return spec; };
    const Outcome one = Run({.processes = 1,
                             .replicas = division.replicas,
                             .accumulate_steps = division.accumulate_steps},
                            spec_of, feed);
    const Outcome several = Run(division, spec_of, feed);
    const std::string what =
        absl::StrCat(division.replicas, " replicas in ", division.processes, " processes");
    EST_ASSERT_OK(one.status[0]) << what;
    for (size_t rank = 0; rank < several.status.size(); ++rank) {
      EST_ASSERT_OK(several.status[rank]) << what;
      EXPECT_EQ(several.variables[rank], one.variables[0]) << what << ", rank " << rank;
    }
    EXPECT_EQ(several.fetches, one.fetches) << what;
  }
};

TEST(ReplicaLayout, NumbersOfAProcessAreConsecutiveAndDependOnShardAndBatchAlone) {
  const ReplicaLayout one{.num_local = 12, .accumulate_steps = 3};
  for (const int processes : {1, 2, 4}) {
    std::vector<bool> seen(12);
    for (int rank = 0; rank < processes; ++rank) {
      const int num_local = 12 / processes, shards = num_local / 3;
      const ReplicaLayout layout{
          .num_local = num_local, .accumulate_steps = 3, .rank = rank, .num_processes = processes};
      for (int i = 0; i < num_local; ++i) {
        const int number = layout.Number(i);
        EXPECT_EQ(layout.RankOf(number), rank);
        EXPECT_EQ(layout.Local(number), i);
        // Batch i / shards of shard i % shards of the process.
        EXPECT_EQ(number, one.Number(i / shards * 4 + rank * shards + i % shards));
        seen[static_cast<size_t>(number)] = true;
      }
      EXPECT_EQ(layout.Local((rank * num_local + 12 - 1) % 12), processes == 1 ? 11 : -1);
    }
    EXPECT_THAT(seen, ::testing::Each(true));
  }
}

// Sums that are fetched, gradients that only the update reads, and one in a second segment.
TEST_F(CpuProcessesTest, SumsHaveTheBitsOfOneProcess) {
  const Variable w = MakeVariable("w", Numbers(3001, 1)), v = MakeVariable("v", Numbers(1999, 2)),
                 u = MakeVariable("u", Numbers(5, 3));
  const Tensor x = Input(3001), half = Input(7, DType::kBfloat16), y = Input(1999), z = Input(5);
  const Tensor dw = CrossReplicaSum(x * Tensor(w));
  const Tensor dv = CrossReplicaSum(y * (y - Tensor(v)));
  const Tensor du = CrossReplicaSum(z * ReduceSum(dw * x));
  const ProgramSpec spec = {
      .feeds = {x, half, y, z},
      .fetches = {dw, CrossReplicaSum(half), ReduceSum(dw), CrossReplicaSum(z)},
      .updates = {Descend(w, dw), Descend(v, dv), Assign(u, Tensor(u) - du * 0.1f)}};
  const auto feed = [](int step, int replica) -> std::vector<Array> {
    const int seed = 10 * step + replica;
    return {Numbers(3001, seed), Numbers(7, seed).Cast(DType::kBfloat16), Numbers(1999, seed),
            Numbers(5, seed)};
  };
  for (const int processes : {2, 4, 8})
    ExpectBitsOfOneProcess({.processes = processes, .replicas = 8}, spec, feed);
  // Parts of three are no subtrees, parts of two and of one are.
  for (const int processes : {2, 3, 6})
    ExpectBitsOfOneProcess({.processes = processes, .replicas = 6}, spec, feed);
  ExpectBitsOfOneProcess({.processes = 2, .replicas = 8, .accumulate_steps = 2}, spec, feed);
  ExpectBitsOfOneProcess({.processes = 4, .replicas = 12, .accumulate_steps = 3}, spec, feed);
}

// The sum of the first layer's gradient starts when that of the second is on its way.
TEST_F(CpuProcessesTest, SeveralBucketsHaveTheBitsOfOneProcess) {
  constexpr int64_t kCount = 1100000;  // more than a bucket
  const Variable first = MakeVariable("first", Numbers(kCount, 1)),
                 second = MakeVariable("second", Numbers(kCount, 2));
  const Tensor x = Input(kCount);
  const Tensor d_second = x * Tensor(second), d_first = d_second * Tensor(first) - x;
  const ProgramSpec spec = {.feeds = {x},
                            .fetches = {},
                            .updates = {Descend(second, CrossReplicaSum(d_second)),
                                        Descend(first, CrossReplicaSum(d_first + 1.0f))}};
  std::vector<Array> numbers;
  for (int replica = 0; replica < 4; ++replica) numbers.push_back(Numbers(kCount, replica));
  const auto feed = [&numbers](int, int replica) -> std::vector<Array> {
    return {numbers[static_cast<size_t>(replica)]};
  };
  for (const int processes : {2, 4})
    ExpectBitsOfOneProcess({.processes = processes, .replicas = 4}, spec, feed);
}

// The gradient of a dense layer, which is larger than two buckets.
TEST_F(CpuProcessesTest, BlocksOfRowsHaveTheBitsOfOneProcess) {
  constexpr int64_t kBatch = 64, kIn = 2100, kOut = 1024;
  const Variable w = MakeVariable("w", Numbers(kIn * kOut, 1).Reshaped({kIn, kOut})),
                 b = MakeVariable("b", Numbers(kOut, 2));
  const Tensor x = Placeholder(DType::kFloat32, {kBatch, kIn}),
               dy = Placeholder(DType::kFloat32, {kBatch, kOut});
  const Tensor dw = CrossReplicaSum(MatMul(x, dy, {.transpose_a = true})),
               db = CrossReplicaSum(ReduceSum(dy, {0}));
  const ProgramSpec spec = {
      .feeds = {x, dy}, .fetches = {}, .updates = {Descend(b, db), Descend(w, dw)}};
  const auto feed = [](int step, int replica) -> std::vector<Array> {
    const int seed = 10 * step + replica;
    return {Numbers(kBatch * kIn, seed).Reshaped({kBatch, kIn}),
            Numbers(kBatch * kOut, seed).Reshaped({kBatch, kOut})};
  };
  for (const int processes : {2, 4})
    ExpectBitsOfOneProcess({.processes = processes, .replicas = 4}, spec, feed);

  const auto plan = [&](bool buckets, bool check_kernels) {
    const auto program =
        Program::Compile(graph_, spec, {.check_kernels = check_kernels, .buckets = buckets});
    EST_EXPECT_OK(program);
    return (*program)->Plan();
  };
  const auto has_blocks = ::testing::HasSubstr("-> (f32 [704,1024])");
  const std::string whole = plan(false, false), blocks = plan(true, false);
  EXPECT_THAT(whole, ::testing::Not(has_blocks));
  EXPECT_THAT(plan(true, true), ::testing::Not(has_blocks)) << "a check compares whole outputs";
  // Other CPUs compute it by oneDNN.
  if (gemm::HasWideVectors()) {
    EXPECT_THAT(blocks, has_blocks);
  }
  const auto work = [](const std::string& text) {
    return text.substr(text.rfind(" MFLOP") - 8, 8);
  };
  EXPECT_EQ(work(blocks), work(whole));
}

TEST_F(CpuProcessesTest, GroupsOfReplicasHaveTheBitsOfOneProcess) {
  const Tensor x = Input(100), half = Input(3, DType::kFloat16);
  std::vector<Tensor> fetches;
  for (const std::vector<std::vector<int64_t>>& groups :
       std::vector<std::vector<std::vector<int64_t>>>{{{0, 1}, {2, 3}, {4, 5}, {6, 7}},
                                                      {{0, 2, 4, 6}, {1, 3, 5, 7}},
                                                      {{7, 6, 5, 4, 3, 2, 1, 0}},
                                                      {{0, 7}, {1, 6}, {5, 2}, {3, 4}}}) {
    fetches.push_back(CrossReplicaSum(x * x, groups));
    fetches.push_back(CrossReplicaSum(half, groups));
  }
  const auto feed = [](int step, int replica) -> std::vector<Array> {
    return {Numbers(100, 10 * step + replica), Numbers(3, replica).Cast(DType::kFloat16)};
  };
  for (const int processes : {2, 4, 8}) {
    ExpectBitsOfOneProcess({.processes = processes, .replicas = 8},
                           {.feeds = {x, half}, .fetches = fetches, .updates = {}}, feed);
  }
}

// As moving averages do.
TEST_F(CpuProcessesTest, AnUpdateFromTheOwnBatchIsThatOfReplica0OnAllRanks) {
  const Variable mean = MakeVariable("mean", F32({1, 2}));
  const Tensor x = Input(2);
  const Tensor next = (Tensor(mean) + x) * 0.5f;
  const ProgramSpec spec = {
      .feeds = {x}, .fetches = {CrossReplicaSum(x)}, .updates = {Assign(mean, next)}};
  const auto feed = [](int, int replica) -> std::vector<Array> {
    return {F32({static_cast<float>(replica + 1), 4})};
  };
  for (const int processes : {2, 4})
    ExpectBitsOfOneProcess({.processes = processes, .replicas = 4}, spec, feed);
}

TEST_F(CpuProcessesTest, AnotherProgramOnARankIsAnErrorThatNamesIt) {
  const Tensor x = Input(1);
  const Tensor sum = CrossReplicaSum(x);
  const auto feed = [](int, int) -> std::vector<Array> { return {F32({1})}; };
  const Outcome outcome = Run(
      {.processes = 3, .replicas = 3},
      [&](int rank) {
        return ProgramSpec{.feeds = {x}, .fetches = {rank == 1 ? sum * sum : sum}, .updates = {}};
      },
      feed);
  for (const int rank : {0, 2}) {
    EXPECT_THAT(outcome.status[static_cast<size_t>(rank)],
                ErrorHas("rank 1 (localhost) runs another step than rank"));
  }
  EXPECT_THAT(outcome.status[1], ErrorHas("rank 0 (localhost) runs another step than rank 1"));
}

// Its gradients never come, so the others must not wait for them.
TEST_F(CpuProcessesTest, AKernelThatFailsOnOneRankEndsAllBeforeTheUpdates) {
  const Variable w = MakeVariable("w", F32({1}));
  const Tensor index = Input(1, DType::kInt32);
  const Tensor sum = CrossReplicaSum(Gather(Constant(F32({1, 10, 100})), index));
  const ProgramSpec spec = {
      .feeds = {index}, .fetches = {sum}, .updates = {Assign(w, Tensor(w) + sum)}};
  const Outcome outcome = Run(
      {.processes = 4, .replicas = 4}, [&](int) { return spec; },
      [](int step, int replica) -> std::vector<Array> {
        return {Array::Of<int32_t>({1}, {step == 1 && replica == 2 ? 7 : 0})};
      });
  for (size_t rank = 0; rank < 4; ++rank) {
    EXPECT_THAT(outcome.status[rank], ErrorHas("7 is not in [0, 3)"));
    if (rank != 2) {
      EXPECT_THAT(outcome.status[rank], ErrorHas("rank 2"));
    }
    EXPECT_EQ(outcome.variables[rank].at("w"), Bytes(F32({5}))) << "of one step";
  }
}

}  // namespace
}  // namespace estimator
