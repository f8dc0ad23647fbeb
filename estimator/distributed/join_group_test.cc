// Groups that meet by TCP, with ranks as threads.
#include "estimator/distributed/join_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "estimator/array/tree_sum.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/distributed/rendezvous_server.h"
#include "estimator/distributed/socket.h"
#include "estimator/distributed/wire.h"
#include "glog/logging.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

// The options of each rank of a group that meets at a free port of this machine.
std::vector<GroupOptions> Local(int size, double peer_timeout_secs = 30) {
  auto listener = ListenAt({"127.0.0.1", 0});
  CHECK(listener.ok()) << listener.status();
  std::vector<GroupOptions> all(size, {.size = size,
                                       .rendezvous = listener->Local().ToString(),
                                       .token = "secret",
                                       .peer_timeout_secs = peer_timeout_secs});
  for (int rank = 0; rank < size; ++rank) all[rank].rank = rank;
  all[0].listener_fd = listener->Release();
  return all;
}

// Joins as each rank in a thread. Returns the results in order.
std::vector<absl::Status> OnEach(const std::vector<GroupOptions>& all,
                                 const std::function<absl::Status(ProcessGroup&)>& body) {
  std::vector<absl::Status> results(all.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < all.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto group = JoinGroup(all[i]);
      results[i] = group.ok() ? body(**group) : group.status();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

void ExpectAllOk(const std::vector<absl::Status>& results) {
  for (const absl::Status& result : results) EST_EXPECT_OK(result);
}

// Numbers whose sum depends on the order.
template <typename T>
std::vector<T> Numbers(int rank, int64_t count) {
  std::vector<T> numbers(count);
  for (int64_t i = 0; i < count; ++i)
    numbers[i] = static_cast<T>(static_cast<float>(std::sin(i * 0.37 + rank) * 1000 / (rank + 1)));
  return numbers;
}

template <typename T>
void ExpectSums(ProcessGroup& group, int64_t count) {
  std::vector<std::vector<T>> all;
  std::vector<const void*> inputs;
  for (int rank = 0; rank < group.size(); ++rank) {
    all.push_back(Numbers<T>(rank, count));
    inputs.push_back(all.back().data());
  }
  constexpr DType kType = kDTypeOf<T>;
  std::vector<T> expected(count), sums(count);
  EST_ASSERT_OK(TreeSum(kType, kType, count, inputs, std::vector<void*>{expected.data()}));
  const auto same = [&](const T* values) {
    return count == 0 || std::memcmp(values, expected.data(), count * sizeof(T)) == 0;
  };
  std::vector<T> mine = all[group.rank()];
  EST_ASSERT_OK(group.AllReduceSum(kType, mine.data(), sums.data(), count));
  EXPECT_TRUE(same(sums.data())) << count << " of " << DTypeName(kType);
  EST_ASSERT_OK(group.AllReduceSum(kType, mine.data(), mine.data(), count));
  EXPECT_TRUE(same(mine.data())) << "in place";
  EST_ASSERT_OK_AND_ASSIGN(void* const shared, group.SharedBuffer(count * sizeof(T) + 64));
  T* const buffer = reinterpret_cast<T*>(static_cast<char*>(shared) + 64);
  std::copy(all[group.rank()].begin(), all[group.rank()].end(), buffer);
  EST_ASSERT_OK(group.AllReduceSum(kType, buffer, buffer, count));
  EXPECT_TRUE(same(buffer)) << "in a shared buffer";
}

class JoinGroupTest : public ::testing::TestWithParam<bool> {
 protected:
  std::vector<GroupOptions> Ranks(int size, double peer_timeout_secs = 30) {
    std::vector<GroupOptions> all = Local(size, peer_timeout_secs);
    for (GroupOptions& options : all) options.use_shared_memory = GetParam();
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(Sums, JoinGroupTest, ::testing::Bool(), [](const auto& info) {
  return info.param ? "InSharedMemory" : "ThroughGloo";
});

TEST_P(JoinGroupTest, SumsHaveTheBitsOfTheTree) {
  for (const int size : {2, 3, 4, 5}) {
    SCOPED_TRACE(size);
    ExpectAllOk(OnEach(Ranks(size), [](ProcessGroup& group) {
      for (const int64_t count : {0, 1, 7, 300'001}) {
        ExpectSums<float>(group, count);
        ExpectSums<Bfloat16>(group, count);
        ExpectSums<int32_t>(group, count);
      }
      ExpectSums<double>(group, 1000);
      ExpectSums<int64_t>(group, 1000);
      return absl::OkStatus();
    }));
  }
}

TEST_P(JoinGroupTest, ManySumsInARowDoNotMix) {
  ExpectAllOk(OnEach(Ranks(3), [](ProcessGroup& group) {
    for (int64_t i = 0; i < 300; ++i) {
      std::vector<int64_t> values(i % 17, i * (group.rank() + 1));
      EST_RETURN_IF_ERROR(group.AllReduceSum(DType::kInt64, values.data(), values.data(), i % 17));
      EXPECT_THAT(values, ::testing::Each(i * 6));
    }
    return absl::OkStatus();
  }));
}

TEST_P(JoinGroupTest, ABoolIsRefusedWithoutHarm) {
  ExpectAllOk(OnEach(Ranks(2), [](ProcessGroup& group) {
    bool value = true;
    EXPECT_THAT(group.AllReduceSum(DType::kBool, &value, &value, 1),
                StatusIs(absl::StatusCode::kUnimplemented));
    return group.Barrier();
  }));
}

TEST_P(JoinGroupTest, ARankThatLeavesEndsTheSumsOfTheOthers) {
  const auto results = OnEach(Ranks(3), [](ProcessGroup& group) {
    if (group.rank() == 1) return absl::OkStatus();
    float value = 1;
    return group.AllReduceSum(DType::kFloat32, &value, &value, 1);
  });
  for (const int rank : {0, 2}) {
    EXPECT_THAT(results[rank], StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_THAT(results[rank], ErrorHas("rank 1 on host "));
    EXPECT_EQ(ExitCodeOf(results[rank]), kLostPeerExitCode);
  }
}

TEST_P(JoinGroupTest, ARankThatGivesUpEndsTheSumsOfTheOthers) {
  const auto results = OnEach(Ranks(3), [](ProcessGroup& group) {
    if (group.rank() == 1) group.Abandon("the disk is full");
    std::vector<float> values(1 << 20);
    return group.AllReduceSum(DType::kFloat32, values.data(), values.data(), 1 << 20);
  });
  for (const absl::Status& result : results) EXPECT_THAT(result, ErrorHas("the disk is full"));
}

TEST(JoinGroup, SmallCallsHaveTheOrderOfRanks) {
  ExpectAllOk(OnEach(Local(3), [](ProcessGroup& group) -> absl::Status {
    const std::string mine(group.rank(), static_cast<char>('a' + group.rank()));
    for (int root = 0; root < 3; ++root) {
      EST_ASSIGN_OR_RETURN(const std::string sent, group.Broadcast(mine, root));
      EXPECT_EQ(sent, std::string(root, static_cast<char>('a' + root)));
    }
    EST_ASSIGN_OR_RETURN(const auto all, group.AllGather(mine));
    EXPECT_THAT(all, ::testing::ElementsAre("", "b", "cc"));
    EST_ASSIGN_OR_RETURN(const int64_t largest, group.AllReduceMax(-5 - group.rank()));
    EXPECT_EQ(largest, -5);
    EXPECT_EQ(group.host(2), group.host(0));
    EST_ASSIGN_OR_RETURN(const std::string large, group.Broadcast(std::string(10'000'000, 'x'), 1));
    EXPECT_EQ(large.size(), 10'000'000u);
    return group.Barrier();
  }));
}

TEST(JoinGroup, DifferentCallsAreAnErrorThatNamesThem) {
  const auto results = OnEach(Local(2), [](ProcessGroup& group) {
    return group.rank() == 0 ? group.Barrier() : group.AllGather("").status();
  });
  for (const absl::Status& result : results) {
    EXPECT_THAT(result, ErrorHas("calls AllGather, but rank 0 on host "));
    EXPECT_THAT(result, ErrorHas("all processes must run the same program"));
  }
}

TEST(JoinGroup, ThoseThatAreMissingAreNamed) {
  std::vector<GroupOptions> all = Local(4, 0.3);
  all.erase(all.begin() + 2);
  for (const absl::Status& result : OnEach(all, [](ProcessGroup&) { return absl::OkStatus(); })) {
    EXPECT_THAT(result, StatusIs(absl::StatusCode::kDeadlineExceeded));
    EXPECT_THAT(result, ErrorHas("rank 2 of 4 did not arrive within 0.3 s"));
  }
}

TEST(JoinGroup, WhoDoesNotBelongToTheGroupIsRefused) {
  std::vector<GroupOptions> all = Local(2, 0.5);
  all[1].token = "guess";
  auto results = OnEach(all, [](ProcessGroup&) { return absl::OkStatus(); });
  EXPECT_THAT(results[1], StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(results[1], ErrorHas("its --rendezvous_token is not that of this run"));
  EXPECT_THAT(results[0], ErrorHas("rank 1 of 2 did not arrive within 0.5 s; a process at 127."));

  all = Local(2, 0.5);
  all[1].size = 3;
  results = OnEach(all, [](ProcessGroup&) { return absl::OkStatus(); });
  EXPECT_THAT(results[1], ErrorHas("it is rank 1 of 3, but the chief was started for 2"));

  all = Local(3, 0.5);
  all[2].rank = 1;
  results = OnEach(all, [](ProcessGroup&) { return absl::OkStatus(); });
  EXPECT_THAT(absl::StrCat(results[1].message(), results[2].message()),
              HasSubstr("there is already a rank 1 on host "));
}

// Connects to the chief as another program would.
TEST(JoinGroup, AStrangerDoesNotDisturbTheGroup) {
  const std::vector<GroupOptions> all = Local(2);
  EST_ASSERT_OK_AND_ASSIGN(const HostPort address, HostPort::Parse(all[0].rendezvous));
  EST_ASSERT_OK_AND_ASSIGN(const Socket stranger,
                           ConnectTo(address, Clock::now() + std::chrono::seconds(1)));
  EXPECT_TRUE(WriteAll(stranger.fd(), "GET / HTTP/1.1\r\n\r\n"));
  ExpectAllOk(OnEach(all, [](ProcessGroup& group) { return group.Barrier(); }));
}

TEST(JoinGroup, ARankThatFallsSilentIsNamedAfterTheTimeout) {
  std::vector<GroupOptions> all = Local(2, 0.5);
  EST_ASSERT_OK_AND_ASSIGN(const HostPort address, HostPort::Parse(all[0].rendezvous));
  EST_ASSERT_OK_AND_ASSIGN(const Socket silent,
                           ConnectTo(address, Clock::now() + std::chrono::seconds(1)));
  EXPECT_TRUE(WriteAll(
      silent.fd(), EncodeFrame(FrameType::kHello, {kProtocol, "secret", "1", "2", "far", "77"})));
  all.pop_back();
  const auto start = Clock::now();
  const auto results = OnEach(all, [](ProcessGroup& group) { return group.Barrier(); });
  EXPECT_THAT(results[0], StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(results[0], ErrorHas("rank 1 on host far (process 77) did not answer for 0.4"));
  EXPECT_GT(Seconds(Clock::now() - start).count(), 0.3);
}

TEST(JoinGroup, ASharedFolderLeadsToTheChief) {
  const TempDir dir;
  std::vector<GroupOptions> all(3, {.size = 3, .rendezvous = dir.File("meet")});
  for (int rank = 0; rank < 3; ++rank) all[rank].rank = rank;
  // What an earlier run left behind.
  EST_ASSERT_OK(CreateDirectories(dir.File("meet")));
  EST_ASSERT_OK(WriteFileAtomically(dir.File("meet/rendezvous"), "127.0.0.1:1 0123"));
  ExpectAllOk(OnEach(all, [](ProcessGroup& group) { return group.Barrier(); }));
  EXPECT_FALSE(FileExists(dir.File("meet/rendezvous")));
}

TEST(JoinGroup, WhatCannotBeIsRefused) {
  EXPECT_THAT(JoinGroup({.rank = 2, .size = 2}), ErrorHas("rank 2 of 2 processes cannot be"));
  EXPECT_THAT(JoinGroup({.rank = 1, .size = 2}), ErrorHas("2 processes need a place to meet"));
  EXPECT_THAT(JoinGroup({.rank = 1, .size = 2, .rendezvous = "host:port"}),
              ErrorHas("an address is HOST:PORT or [IPV6]:PORT, given \"host:port\""));
  EXPECT_THAT(JoinGroup({.size = 2, .rendezvous = "192.0.2.1:80"}),
              ErrorHas("cannot listen at 192.0.2.1:80"));
  EST_ASSERT_OK_AND_ASSIGN(const auto alone, JoinGroup({}));
  EXPECT_EQ(alone->size(), 1);
}

TEST(HostPort, HasIpV6InBrackets) {
  EST_ASSERT_OK_AND_ASSIGN(const HostPort address, HostPort::Parse("[fd00::1]:80"));
  EXPECT_EQ(address.host, "fd00::1");
  EXPECT_EQ(address.port, 80);
  EXPECT_EQ(address.ToString(), "[fd00::1]:80");
  for (const char* text : {"", "a", "a:", ":1", "a:b", "a:70000", "fd00::1:80", "a:-1"})
    EXPECT_FALSE(HostPort::Parse(text).ok()) << text;
}

}  // namespace
}  // namespace estimator
