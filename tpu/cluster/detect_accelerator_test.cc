#include "tpu/cluster/detect_accelerator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "tpu/cluster/testing/fake_machine.h"
#include "tpu/cluster/testing/http_stand_in.h"

namespace estimator::tpu {
namespace {

using ::testing::HasSubstr;
using Kind = Accelerator::Kind;

class DetectAcceleratorTest : public ::testing::Test {
 protected:
  absl::StatusOr<Accelerator> Detect(const std::string& tpu = "",
                                     const std::string& gpu_plugin = "") {
    return DetectAccelerator({.tpu = tpu, .gpu_plugin = gpu_plugin, .machine = fake_.machine()});
  }
  void AddTPU(const std::string& type) {
    fake_.Write("lib/libtpu.so", "");
    for (int chip = 0; chip < 4; ++chip) fake_.AddChip("0x0027", chip);
    fake_.variables["TPU_ACCELERATOR_TYPE"] = type;
  }
  FakeMachine fake_;
};

TEST_F(DetectAcceleratorTest, AMachineWithoutDevicesIsACpuWithOneReplica) {
  const estimator::testing::CapturedLog log;
  EST_ASSERT_OK_AND_ASSIGN(const Accelerator accelerator, Detect());
  EXPECT_EQ(accelerator.kind, Kind::kCpu);
  EXPECT_EQ(accelerator.num_replicas, 1);
  EXPECT_FALSE(accelerator.use_tpu());
  EXPECT_EQ(accelerator.master, "");
  const std::string text = absl::StrJoin(log.infos, "\n");
  EXPECT_THAT(text, HasSubstr("there is no TPU chip on the PCI bus"));
  EXPECT_THAT(text, HasSubstr("there is no GPU"));
  EXPECT_THAT(text, HasSubstr("Running on CPU; number of replicas: 1"));
}

TEST_F(DetectAcceleratorTest, ATpuIsItsChipsAndLibtpu) {
  AddTPU("v3-8");
  EST_ASSERT_OK_AND_ASSIGN(const Accelerator accelerator, Detect());
  EXPECT_EQ(accelerator.kind, Kind::kTpu);
  EXPECT_EQ(accelerator.num_replicas, 8);
  EXPECT_TRUE(accelerator.use_tpu());
  EXPECT_EQ(accelerator.master, "pjrt:" + fake_.Path("lib/libtpu.so"));
  EXPECT_EQ(accelerator.description, "TPU v3-8: 4 chips, " + fake_.Path("lib/libtpu.so"));
  RunConfig config;
  accelerator.Configure(config);
  EXPECT_EQ(config.master, accelerator.master);
  EXPECT_EQ(config.tpu_config.replicas(), 8);
}

TEST_F(DetectAcceleratorTest, TheTypeMayComeFromTheMetadataServer) {
  AddTPU("");
  fake_.variables.erase("TPU_ACCELERATOR_TYPE");
  const HttpStandIn metadata(
      {{"/computeMetadata/v1/instance/attributes/accelerator-type", "v2-8"}, {"/", ""}},
      "Metadata-Flavor: Google");
  fake_.variables["GCE_METADATA_HOST"] = metadata.address();
  EXPECT_THAT(Detect()->description, HasSubstr("TPU v2-8: 4 chips"));
}

TEST_F(DetectAcceleratorTest, VisibleChipsAreCounted) {
  AddTPU("v3-8");
  fake_.variables["TPU_VISIBLE_CHIPS"] = "0";
  EXPECT_EQ(Detect()->num_replicas, 2);
}

TEST_F(DetectAcceleratorTest, ChipsThatCannotBeUsedAreReportedAndTheCpuIsUsed) {
  fake_.AddChip("0x0063", 0, /*with_node=*/false);
  EST_ASSERT_OK_AND_ASSIGN(const Accelerator no_node, Detect());
  EXPECT_EQ(no_node.kind, Kind::kCpu);
  ASSERT_FALSE(no_node.notes.empty());
  EXPECT_THAT(no_node.notes[0], HasSubstr("1 TPU chip (v5e), but no device node"));
  fake_.Write("dev/accel0", "");
  EXPECT_THAT(Detect()->notes.at(0), HasSubstr("but no libtpu.so: install it"));
  EXPECT_THAT(Detect("local"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("the TPU \"local\" cannot be used here: there is 1 TPU chip")));
}

TEST_F(DetectAcceleratorTest, LibtpuAloneIsNoTpu) {
  fake_.Write("lib/libtpu.so", "");
  EXPECT_THAT(Detect()->notes.at(0), HasSubstr("libtpu.so, but no TPU chip on the PCI bus"));
}

TEST_F(DetectAcceleratorTest, ATpuOfAnotherMachineIsAnErrorAndNotTheCpu) {
  fake_.variables["TPU_NAME"] = "grpc://10.0.0.2:8470";
  EXPECT_THAT(Detect(), StatusIs(absl::StatusCode::kUnimplemented,
                                 HasSubstr("grpc://10.0.0.2:8470 (from TPU_NAME)")));
  EXPECT_THAT(Detect("grpc://10.0.0.3"), ErrorHas("is on another machine"));
}

TEST_F(DetectAcceleratorTest, ASliceOfSeveralHostsIsAnErrorUnlessOneHostIsChosen) {
  AddTPU("v3-32");
  EXPECT_THAT(Detect(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("one of the 4 hosts of a TPU v3-32, and this program runs on one "
                                 "host: create a slice of one host")));
  fake_.variables["TPU_PROCESS_BOUNDS"] = "1,1,1";
  EXPECT_EQ(Detect()->num_replicas, 8);
}

TEST_F(DetectAcceleratorTest, AGpuIsItsDeviceAndAPlugin) {
  fake_.Write("dev/nvidia0", "");
  fake_.Write("dev/nvidia1", "");
  fake_.Write("dev/nvidiactl", "");
  EXPECT_THAT(Detect()->notes.at(1), HasSubstr("there are 2 GPUs, but no PJRT plugin is named"));
  EXPECT_THAT(Detect("", "/nowhere/plugin.so")->notes.at(1), HasSubstr("does not exist"));
  fake_.Write("plugin.so", "");
  fake_.variables["PJRT_NAMES_AND_LIBRARY_PATHS"] =
      absl::StrCat("other:/x.so,cuda:", fake_.Path("plugin.so"));
  EST_ASSERT_OK_AND_ASSIGN(const Accelerator accelerator, Detect());
  EXPECT_EQ(accelerator.kind, Kind::kGpu);
  EXPECT_EQ(accelerator.num_replicas, 2);
  EXPECT_EQ(accelerator.master, "pjrt:" + fake_.Path("plugin.so"));
  for (const auto& [visible, count] :
       std::map<std::string, int64_t>{{"1", 1}, {"0,1", 2}, {"0,-1,1", 1}, {"GPU-8932f937", 1}}) {
    fake_.variables["CUDA_VISIBLE_DEVICES"] = visible;
    EXPECT_EQ(Detect()->num_replicas, count) << visible;
  }
  for (const char* none : {"-1", ""}) {
    fake_.variables["CUDA_VISIBLE_DEVICES"] = none;
    EXPECT_EQ(Detect()->kind, Kind::kCpu) << none;
  }
}

}  // namespace
}  // namespace estimator::tpu
