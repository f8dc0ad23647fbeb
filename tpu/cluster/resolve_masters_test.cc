#include "tpu/cluster/resolve_masters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "estimator/base/testing/status_matchers.h"
#include "tpu/cluster/testing/fake_machine.h"

namespace estimator::tpu {
namespace {

using ::testing::HasSubstr;

constexpr char kPlugin[] = "pjrt:/lib/libtpu.so";

RunConfig Resolved(const TaskConfig& task, RunConfig config) {
  EST_EXPECT_OK(ResolveMasters(task, config));
  return config;
}

RunConfig WithMaster(const std::string& master, const std::string& evaluation_master = "") {
  RunConfig config;
  config.master = master;
  config.evaluation_master = evaluation_master;
  return config;
}

RunConfig WithCluster(const std::string& tpu, const Machine& machine = {}) {
  RunConfig config;
  config.cluster = TPUClusterResolver{.tpu = tpu, .machine = machine};
  return config;
}

// Behaviour K5.
TEST(ResolveMasters, TheEvaluationMasterIsTheMasterUnlessTfConfigHasAnother) {
  EXPECT_EQ(Resolved({}, {}).master, "");
  EXPECT_EQ(Resolved({}, {}).evaluation_master, "");
  EXPECT_EQ(Resolved({}, WithMaster(kPlugin)).evaluation_master, kPlugin);
  TaskConfig task;
  task.master = kPlugin;
  EXPECT_EQ(Resolved(task, {}).master, kPlugin);
  EXPECT_EQ(Resolved(task, {}).evaluation_master, kPlugin);
  EXPECT_EQ(Resolved(task, WithMaster("local")).master, "local");
  task.evaluation_master = "local";
  EXPECT_EQ(Resolved(task, WithMaster("local")).evaluation_master, "local");
  RunConfig overridden = WithMaster(kPlugin);
  EXPECT_THAT(ResolveMasters(task, overridden), ErrorHas("runs on the devices of one master"));
  EXPECT_EQ(overridden.evaluation_master, "local");
}

// Behaviour K5.
TEST(ResolveMasters, AnEvaluatorHasNoEvaluationMaster) {
  TaskConfig task;
  task.task_type = "evaluator";
  EXPECT_EQ(Resolved(task, WithMaster(kPlugin)).evaluation_master, "");
}

TEST(ResolveMasters, MasterAndClusterExcludeEachOther) {
  RunConfig config = WithCluster("grpc://10.0.0.2");
  config.master = kPlugin;
  EXPECT_THAT(ResolveMasters({}, config),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("are both given")));
}

TEST(ResolveMasters, ATpuOfAnotherMachineIsAnErrorThatSaysWhatToDo) {
  RunConfig master = WithMaster("grpc://10.0.0.2:8470");
  EXPECT_THAT(ResolveMasters({}, master),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("10.0.0.2:8470 (from RunConfig.master) is on another machine")));
  RunConfig cluster = WithCluster("grpc://10.0.0.2");
  EXPECT_THAT(ResolveMasters({}, cluster), ErrorHas("(from RunConfig.cluster: the name that was"));
  EXPECT_EQ(cluster.tpu_config.tpu_job_name, "worker") << "behaviour of a resolver";
  TaskConfig task;
  task.master = "grpc://10.0.0.4:1";
  RunConfig config;
  EXPECT_THAT(ResolveMasters(task, config), ErrorHas("grpc://10.0.0.4:1 (from TF_CONFIG)"));
  RunConfig evaluation = WithMaster(kPlugin, "grpc://10.0.0.3:8470");
  EXPECT_THAT(ResolveMasters({}, evaluation), ErrorHas("(from RunConfig.evaluation_master)"));
  evaluation.evaluation_master = "pjrt:/lib/another.so";
  EXPECT_THAT(ResolveMasters({}, evaluation), ErrorHas("runs on the devices of one master"));
}

// Behaviour K3, its last part: num_shards 16 on a TPU with eight cores.
TEST(ResolveMasters, ALocalClusterGivesThePluginAndTheNumberOfReplicas) {
  FakeMachine fake;
  fake.Write("lib/libtpu.so", "");
  for (int chip = 0; chip < 4; ++chip) fake.AddChip("0x0027", chip);
  fake.variables["TPU_ACCELERATOR_TYPE"] = "v3-8";
  const RunConfig config = Resolved({}, WithCluster("local", fake.machine()));
  EXPECT_EQ(config.master, "pjrt:" + fake.Path("lib/libtpu.so"));
  EXPECT_EQ(config.evaluation_master, config.master);
  EXPECT_EQ(config.tpu_config.replicas(), 8);
  RunConfig sixteen = WithCluster("local", fake.machine());
  sixteen.tpu_config.num_shards = 16;
  EXPECT_THAT(ResolveMasters({}, sixteen),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("num_shards is 16, but the TPU (TPU v3-8: 4 chips, ")));
}

TEST(ResolveMasters, TheJobOfTheWorkersMayComeFromTfConfig) {
  TaskConfig task;
  task.tpu_worker_job_name = "mine";
  EXPECT_EQ(Resolved(task, {}).tpu_config.tpu_job_name, "mine");
  RunConfig config;
  config.tpu_config.tpu_job_name = "yours";
  EXPECT_EQ(Resolved(task, config).tpu_config.tpu_job_name, "yours");
  EXPECT_EQ(Resolved({}, {}).tpu_config.tpu_job_name, "");
}

}  // namespace
}  // namespace estimator::tpu
