#include "estimator/data/transforms/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace estimator {
namespace {

TEST(ThreadPool, ParallelForCallsEveryIndexOnce) {
  ThreadPool pool(3);
  for (const size_t n : {0u, 1u, 2u, 1000u}) {
    std::vector<std::atomic<int>> calls(n);
    pool.ParallelFor(n, [&](size_t i) { ++calls[i]; });
    for (const auto& count : calls) EXPECT_EQ(count, 1);
  }
}

TEST(ThreadPool, ParallelForRunsInSeveralThreadsAtOnce) {
  ThreadPool pool(3);
  std::atomic<int> arrived{0};
  // Each call waits for the others: this returns only if all four run at once.
  pool.ParallelFor(4, [&](size_t) {
    ++arrived;
    while (arrived < 4) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 4);
}

TEST(ThreadPool, SeveralThreadsShareOnePool) {
  ThreadPool pool(2);
  std::vector<std::thread> threads;
  std::vector<int> sums(4, 0);
  for (int& sum : sums) {
    threads.emplace_back([&pool, &sum] {
      std::vector<int> seen(100, 0);
      for (int round = 0; round < 50; ++round) pool.ParallelFor(100, [&](size_t i) { ++seen[i]; });
      for (const int count : seen) sum += count;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int sum : sums) EXPECT_EQ(sum, 5000);
}

TEST(ThreadPool, DestructionWaitsForTheTaskThatRuns) {
  std::atomic<bool> begun{false}, finished{false};
  {
    ThreadPool pool(1);
    pool.Submit([&] {
      begun = true;
      std::this_thread::yield();
      finished = true;
    });
    while (!begun) std::this_thread::yield();
  }
  EXPECT_TRUE(finished);
}

}  // namespace
}  // namespace estimator
