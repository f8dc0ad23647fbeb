// A network with all that depends on the replica trains in several processes, which are threads
// here, to the bytes of one process.
#include <cmath>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/distributed/process_group.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/layers/layers.h"
#include "estimator/nn/losses/losses.h"
#include "estimator/nn/replica_scope.h"
#include "estimator/nn/train/exponential_moving_average.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/ops/ops.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/runtime/replicas/replica_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

constexpr int64_t kRows = 4;  // of a replica

struct Network {
  Graph graph;
  Tensor images, labels, loss;
  Operation train;

  explicit Network(int num_replicas) {
    graph.set_seed(11);
    const GraphScope scope(graph);
    const ReplicaScope replicas({.num_replicas = num_replicas, .dense_gradients = true});
    images = Placeholder(DType::kFloat32, {kRows, 8, 8, 3}, "images");
    labels = Placeholder(DType::kInt32, {kRows}, "labels");
    Tensor x =
        layers::Conv2D(images, {.filters = 16, .kernel_size = {3, 3}, .padding = Padding::kSame});
    x = Relu(layers::BatchNormalization(x, {.momentum = 0.9, .training = true}));
    x = layers::Dropout(layers::Flatten(x), {.rate = 0.3, .training = true});
    x = layers::Dense(x, {.units = 64, .activation = Relu});
    x = layers::BatchNormalization(x, {.momentum = 0.9, .training = true});
    loss = losses::SparseSoftmaxCrossEntropy(labels, layers::Dense(x, {.units = 10}));
    const Operation step = train::Momentum(0.05, 0.9).Minimize(loss);
    std::vector<Operation> updates = graph.update_ops();
    updates.push_back(train::ExponentialMovingAverage(0.9).Apply({}, step));
    updates.push_back(step);
    train = Group(updates);
  }
};

StepFeeds FeedsOf(int step, const ReplicaLayout& layout) {
  StepFeeds feeds;
  for (int i = 0; i < layout.num_local; ++i) {
    const int seed = 100 * step + layout.Number(i);
    Array images(DType::kFloat32, {kRows, 8, 8, 3}), labels(DType::kInt32, {kRows});
    for (int64_t k = 0; k < images.num_elements(); ++k)
      images.data<float>()[k] = std::sin(static_cast<float>(seed * 37 + k * (1 + seed % 3)));
    for (int k = 0; k < kRows; ++k) labels.data<int32_t>()[k] = (seed + 3 * k) % 10;
    feeds.push_back({std::move(images), std::move(labels)});
  }
  return feeds;
}

// The variables after some steps, as bytes, on every rank.
std::vector<std::map<std::string, std::string>> Train(int num_replicas, int num_processes) {
  std::vector<std::map<std::string, std::string>> variables(static_cast<size_t>(num_processes));
  auto groups = ThreadGroups(num_processes);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < num_processes; ++rank) {
    threads.emplace_back([&, rank] {
      const ReplicaLayout layout{
          .num_local = num_replicas / num_processes, .rank = rank, .num_processes = num_processes};
      const auto index = static_cast<size_t>(rank);
      const Network network(num_replicas);
      VariableStore store;
      EST_ASSERT_OK(InitializeVariables(network.graph, store));
      const auto backend =
          MakeCpuBackend(store, {}, nullptr, layout.num_local, std::move(groups[index]));
      const auto executable =
          backend->Compile(network.graph, {.feeds = {network.images, network.labels},
                                           .fetches = {network.loss},
                                           .updates = {network.train}});
      EST_ASSERT_OK(executable);
      int step = 0;
      const auto ran = (*executable)
                           ->RunLoop(
                               6,
                               [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
                                 return FeedsOf(step++, layout);
                               },
                               nullptr);
      EST_ASSERT_OK(ran);
      for (const std::string& name : store.Names()) {
        const Array& value = *store.Peek(name);
        variables[index][name] =
            std::string(static_cast<const char*>(value.raw()), value.num_bytes());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return variables;
}

TEST(ReplicaProcesses, ANetworkHasTheBytesOfOneProcess) {
  const auto one = Train(8, 1)[0];
  EXPECT_GE(one.size(), 20u);
  for (const int num_processes : {2, 4, 8}) {
    const auto several = Train(8, num_processes);
    for (size_t rank = 0; rank < several.size(); ++rank) {
      ASSERT_EQ(several[rank].size(), one.size());
      for (const auto& [name, bytes] : one)
        EXPECT_TRUE(several[rank].at(name) == bytes)
            << name << " differs on rank " << rank << " of " << num_processes;
    }
  }
  // The test can see a difference: other replicas have other numbers.
  EXPECT_NE(Train(4, 1)[0], one);
}

}  // namespace
}  // namespace estimator
