#include "estimator/training/loop/tf_config.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

constexpr char kCluster[] =
    R"("cluster": {"chief": ["c:1"], "worker": ["w:1", "w:2"], "ps": ["p:1"], "aide": ["a:1"]})";

TaskConfig Parsed(const std::string& json) {
  const absl::StatusOr<TaskConfig> task = ParseTfConfig(json);
  EST_EXPECT_OK(task) << json;
  return task.ok() ? *task : TaskConfig();
}

TaskConfig TaskOf(const std::string& type, int index) {
  return Parsed(
      absl::StrCat("{", kCluster, R"(, "task": {"type": ")", type, R"(", "index": )", index, "}}"));
}

void ExpectRefused(const std::string& json, const std::string& reason) {
  const absl::Status status = ParseTfConfig(json).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument)) << json;
  EXPECT_THAT(status, ErrorHas(reason)) << json;
}

// Behaviour B6.
TEST(TfConfig, WithoutAClusterTheProcessIsWorkerZeroAndChief) {
  for (const char* json : {"", "{}", R"({"task": {"type": "worker", "index": 0}})"}) {
    const TaskConfig task = Parsed(json);
    EXPECT_EQ(task.task_type, "worker");
    EXPECT_EQ(task.task_id, 0);
    EXPECT_TRUE(task.is_chief);
    EXPECT_EQ(task.num_worker_replicas, 1);
    EXPECT_EQ(task.num_ps_replicas, 0);
    EXPECT_EQ(task.master, "");
    EXPECT_EQ(task.global_id_in_cluster, 0);
  }
}

// Behaviour B6.
TEST(TfConfig, WithoutAClusterAnyOtherTaskIsRefused) {
  ExpectRefused(R"({"task": {"type": "ps", "index": 0}})", "the task must be worker 0, given ps 0");
  ExpectRefused(R"({"task": {"index": 1}})", "the task must be worker 0, given worker 1");
}

// Behaviour B6.
TEST(TfConfig, SessionMastersAreHonouredEvenWhenEmpty) {
  const TaskConfig local = Parsed(R"({"session_master": "m", "eval_session_master": "e"})");
  EXPECT_EQ(local.master, "m");
  EXPECT_EQ(local.evaluation_master, "e");
  const TaskConfig chief = Parsed(absl::StrCat(
      "{", kCluster, R"(, "task": {"type": "chief", "index": 0}, "session_master": ""})"));
  EXPECT_EQ(chief.master, "");
}

TEST(TfConfig, TheServiceMayNameTheJobOfTheTpuWorkers) {
  EXPECT_EQ(Parsed("{}").tpu_worker_job_name, "");
  EXPECT_EQ(Parsed(R"({"service": {"tpu_worker_job_name": "w", "other": 1}})").tpu_worker_job_name,
            "w");
  ExpectRefused(R"({"service": {"tpu_worker_job_name": 1}})",
                "service.tpu_worker_job_name must be a non-empty string");
}

// Behaviour B7.
TEST(TfConfig, AClusterNeedsExactlyOneChiefAndAWholeTask) {
  ExpectRefused(R"({"cluster": {"worker": ["w:1"]}, "task": {"type": "worker", "index": 0}})",
                "exactly one chief, it has 0");
  ExpectRefused(R"({"cluster": {"chief": ["c:1", "c:2"]}, "task": {"type": "chief", "index": 0}})",
                "exactly one chief, it has 2");
  ExpectRefused(R"({"cluster": {"chief": ["c:1"]}})", "its type and its index");
  ExpectRefused(R"({"cluster": {"chief": ["c:1"]}, "task": {"type": "chief"}})",
                "its type and its index");
  ExpectRefused(R"({"cluster": {"chief": ["c:1"]}, "task": {"index": 0}})",
                "its type and its index");
  ExpectRefused(R"({"cluster": {"chief": ["c:1"]}, "task": {"type": "chief", "index": -1}})",
                "must be >= 0, given -1");
  ExpectRefused(R"({"cluster": {"chief": ["c:1"]}, "task": {"type": "chief", "index": 1}})",
                "the job \"chief\" has 1 tasks");
  ExpectRefused(R"({"cluster": {"chief": ["c:1"]}, "task": {"type": "wroker", "index": 0}})",
                "\"wroker\" is not a job of the cluster (chief)");
}

// Behaviour B8.
TEST(TfConfig, TheMasterIsEmptyInAClusterOfOneAndElseTheTasksAddress) {
  const TaskConfig alone =
      Parsed(R"({"cluster": {"chief": ["c:1"]}, "task": {"type": "chief", "index": 0}})");
  EXPECT_EQ(alone.master, "");
  EXPECT_TRUE(alone.is_chief);
  EST_EXPECT_OK(CheckMayTrain(alone));
  EXPECT_EQ(TaskOf("worker", 1).master, "grpc://w:2");
}

// Behaviour B9.
TEST(TfConfig, AnEvaluatorStandsOutsideTheCluster) {
  const TaskConfig task = TaskOf("evaluator", 0);
  EXPECT_TRUE(task.cluster_spec.empty());
  EXPECT_EQ(task.num_worker_replicas, 0);
  EXPECT_EQ(task.num_ps_replicas, 0);
  EXPECT_FALSE(task.is_chief);
  EXPECT_EQ(task.master, "");
  EXPECT_EQ(task.global_id_in_cluster, std::nullopt);
}

// Behaviour B9.
TEST(TfConfig, TheOldJobMasterPlaysTheChief) {
  const TaskConfig task = Parsed(
      R"({"cluster": {"master": ["m:1"], "worker": ["w:1"]},
          "task": {"type": "master", "index": 0}})");
  EXPECT_TRUE(task.is_chief);
  EXPECT_EQ(task.num_worker_replicas, 2);
  ExpectRefused(R"({"cluster": {"master": ["m:1"]}, "task": {"type": "evaluator", "index": 0}})",
                "neither a chief nor an evaluator");
  ExpectRefused(
      R"({"cluster": {"master": ["m:1"], "chief": ["c:1"]},
          "task": {"type": "chief", "index": 0}})",
      "neither a chief nor an evaluator");
}

// Behaviour B10.
TEST(TfConfig, GlobalIdsBeginWithTheChiefAndEndWithPs) {
  EXPECT_EQ(TaskOf("chief", 0).global_id_in_cluster, 0);
  EXPECT_EQ(TaskOf("aide", 0).global_id_in_cluster, 1);
  EXPECT_EQ(TaskOf("worker", 0).global_id_in_cluster, 2);
  EXPECT_EQ(TaskOf("worker", 1).global_id_in_cluster, 3);
  EXPECT_EQ(TaskOf("ps", 0).global_id_in_cluster, 4);
}

TEST(TfConfig, WhatIsNotTheRightJsonIsRefusedWithAnExample) {
  ExpectRefused("{cluster", "it is JSON like");
  ExpectRefused(R"({"cluster": {"chief": "c:1"}})", "it is JSON like");
  ExpectRefused(R"({"service": "x"})", "it is JSON like");
  ExpectRefused(R"({"cluster": {"chief": [1]}})", "addresses are non-empty strings");
  // Behaviour B5.
  ExpectRefused(R"({"model_dir": ""})", "model_dir must be non-empty");
}

// Behaviour D10.
TEST(TfConfig, OnlyTheProcessesOfTheGroupMayTrain) {
  EST_EXPECT_OK(CheckMayTrain({}));
  EXPECT_THAT(CheckMayTrain(TaskOf("evaluator", 0)), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(CheckMayTrain(TaskOf("ps", 0)), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(CheckMayTrain(TaskOf("chief", 0), 3),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("parameter servers")));
  const TaskConfig worker = Parsed(
      R"({"cluster": {"chief": ["c:1"], "worker": ["w:1", "w:2"]},
          "task": {"type": "worker", "index": 0}})");
  EST_EXPECT_OK(CheckMayTrain(worker, 3));
  EXPECT_THAT(CheckMayTrain(worker),
              ErrorHas("3 tasks that train, but RunConfig.process_group has 1"));
}

TEST(TfConfig, TheChiefAndTheWorkersAreAGroup) {
  const auto group_of = [](const std::string& task) {
    return GroupOfTask(
        Parsed(R"({"cluster": {"chief": ["c:1"], "worker": ["w:1", "w:2"]}, )" + task + "}"));
  };
  const auto chief = group_of(R"("task": {"type": "chief", "index": 0})");
  ASSERT_TRUE(chief.has_value());
  EXPECT_EQ(chief->rank, 0);
  EXPECT_EQ(chief->size, 3);
  EXPECT_EQ(chief->rendezvous, "c:1");
  const auto worker = group_of(R"("task": {"type": "worker", "index": 1})");
  ASSERT_TRUE(worker.has_value());
  EXPECT_EQ(worker->rank, 2);
  EXPECT_EQ(worker->rendezvous, "c:1");
  const auto evaluator = group_of(R"("task": {"type": "evaluator", "index": 0})");
  ASSERT_TRUE(evaluator.has_value());
  EXPECT_EQ(evaluator->size, 1);
}

TEST(TfConfig, WithoutAClusterOrWithParameterServersThereIsNoGroup) {
  EXPECT_FALSE(GroupOfTask(TaskConfig()).has_value());
  EXPECT_FALSE(GroupOfTask(TaskOf("worker", 0)).has_value());
  EXPECT_FALSE(GroupOfTask(TaskOf("ps", 0)).has_value());
}

}  // namespace
}  // namespace estimator
