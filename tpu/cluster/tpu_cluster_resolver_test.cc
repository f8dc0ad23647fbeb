#include "tpu/cluster/tpu_cluster_resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "tpu/cluster/testing/fake_machine.h"
#include "tpu/cluster/testing/http_stand_in.h"

namespace estimator::tpu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Bodies = std::map<std::string, std::string>;

constexpr char kMetadata[] = "/computeMetadata/v1/";
constexpr char kNode[] = "/v1/projects/p/locations/us-central1-b/nodes/my-tpu";
constexpr char kReady[] = R"({"state": "READY", "acceleratorType": "v3-32", "networkEndpoints": [
    {"ipAddress": "10.0.0.2", "port": 8470}, {"ipAddress": "10.0.0.3", "port": 8471}]})";

class TPUClusterResolverTest : public ::testing::Test {
 protected:
  absl::StatusOr<TPUCluster> Resolve(const std::string& tpu, const std::string& zone = "",
                                     const std::string& project = "") {
    return TPUClusterResolver{
        .tpu = tpu, .zone = zone, .project = project, .machine = fake_.machine()}
        .Resolve();
  }
  FakeMachine fake_;
};

TEST_F(TPUClusterResolverTest, AnAddressNeedsNoSearch) {
  EST_ASSERT_OK_AND_ASSIGN(const TPUCluster one, Resolve("grpc://10.0.0.2"));
  EXPECT_EQ(one.Master(), "grpc://10.0.0.2:8470");
  EXPECT_FALSE(one.local);
  EST_ASSERT_OK_AND_ASSIGN(const TPUCluster two, Resolve("grpc://10.0.0.2:81, 10.0.0.3:82"));
  EXPECT_EQ(two.Master(), "grpc://10.0.0.2:81");
  EST_ASSERT_OK_AND_ASSIGN(const TPUCluster ipv6, Resolve("grpc://[fd20:ce::254],[::1]:82"));
  EXPECT_THAT(ipv6.workers, ElementsAre("[fd20:ce::254]:8470", "[::1]:82"));
  EXPECT_THAT(Resolve("grpc://fd20:ce::254"), ErrorHas("an IPv6 address without brackets"));
  EXPECT_THAT(two.ClusterSpec("worker").at("worker"), ElementsAre("10.0.0.2:81", "10.0.0.3:82"));
  for (const char* wrong : {"grpc://", "grpc://a:b", "grpc://a:1:2", "a:1,,b:2", "a:70000"}) {
    EXPECT_THAT(Resolve(wrong), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("an address of a TPU is grpc://HOST")))
        << wrong;
  }
}

TEST_F(TPUClusterResolverTest, TheEnvironmentNamesTheTpuInTensorFlowsOrder) {
  fake_.variables["TPU_CONFIG"] = R"({"tpu_node_name": "10.0.0.5:1", "project": "p", "zone": "z"})";
  EXPECT_EQ(Resolve("")->Master(), "grpc://10.0.0.5:1");
  EXPECT_EQ(Resolve("")->source, "TPU_CONFIG");
  fake_.variables["TPU_NAME"] = "grpc://10.0.0.6";
  EXPECT_EQ(Resolve("")->Master(), "grpc://10.0.0.6:8470");
  fake_.variables["KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"] = "grpc://10.0.0.7:8470";
  EXPECT_EQ(Resolve("")->Master(), "grpc://10.0.0.7:8470");
  EXPECT_EQ(Resolve("")->source, "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS");
  EXPECT_EQ(Resolve("grpc://10.0.0.8")->Master(), "grpc://10.0.0.8:8470");
}

TEST_F(TPUClusterResolverTest, AWrongTpuConfigIsRefused) {
  fake_.variables["TPU_CONFIG"] = "{";
  EXPECT_THAT(Resolve(""), ErrorHas("TPU_CONFIG is not a JSON object"));
  fake_.variables["TPU_CONFIG"] = R"({"project": "p"})";
  EXPECT_THAT(Resolve(""), ErrorHas("TPU_CONFIG has no tpu_node_name"));
}

TEST_F(TPUClusterResolverTest, WithoutANameTheErrorSaysHowToGiveOne) {
  EXPECT_THAT(Resolve(""), StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr("no TPU is named"),
                                                                       HasSubstr("set TPU_NAME"))));
}

TEST_F(TPUClusterResolverTest, LocalIsTheTpuOfThisMachine) {
  fake_.variables["TPU_ACCELERATOR_TYPE"] = "v5litepod-8";
  fake_.variables["TPU_WORKER_HOSTNAMES"] = "t1v-0,t1v-1";
  for (const char* tpu : {"local", ""}) {
    EST_ASSERT_OK_AND_ASSIGN(const TPUCluster cluster, Resolve(tpu));
    EXPECT_TRUE(cluster.local);
    EXPECT_EQ(cluster.Master(), "local");
    EXPECT_EQ(cluster.accelerator_type, "v5litepod-8");
    EXPECT_THAT(cluster.workers, ElementsAre("t1v-0", "t1v-1"));
    EXPECT_TRUE(cluster.ClusterSpec("worker").empty());
  }
}

TEST_F(TPUClusterResolverTest, ATpuVmIsKnownFromItsMetadataServer) {
  const std::string attributes = absl::StrCat(kMetadata, "instance/attributes/");
  const HttpStandIn metadata(
      {{attributes + "accelerator-type", "v4-16\n"},
       {attributes + "worker-network-endpoints", "a:8470:10.0.0.2,b:8470:fd20:ce::3"},
       {attributes + "tpu-env", "ZONE: 'us-central2-b'\nNODE_ID: 'my-vm'\n"}},
      "Metadata-Flavor: Google");
  fake_.variables["GCE_METADATA_HOST"] = metadata.address();
  for (const char* tpu : {"", "local", "my-vm"}) {
    EST_ASSERT_OK_AND_ASSIGN(const TPUCluster cluster, Resolve(tpu));
    EXPECT_TRUE(cluster.local) << tpu;
    EXPECT_EQ(cluster.accelerator_type, "v4-16");
    EXPECT_THAT(cluster.workers, ElementsAre("10.0.0.2", "fd20:ce::3"));
  }
}

TEST_F(TPUClusterResolverTest, ANameBecomesAnAddressThroughTheTpuApi) {
  const HttpStandIn api(Bodies{{kNode, kReady}});
  fake_.variables["TPU_API_DISCOVERY_URL"] =
      absl::StrCat("http://", api.address(), "/$discovery/rest?version=v1");
  EST_ASSERT_OK_AND_ASSIGN(const TPUCluster cluster, Resolve("my-tpu", "us-central1-b", "p"));
  EXPECT_EQ(cluster.name, "my-tpu");
  EXPECT_EQ(cluster.Master(), "grpc://10.0.0.2:8470");
  EXPECT_THAT(cluster.workers, ElementsAre("10.0.0.2:8470", "10.0.0.3:8471"));
  EXPECT_EQ(cluster.accelerator_type, "v3-32");
  EXPECT_THAT(cluster.source, HasSubstr("the TPU API of project p, zone us-central1-b"));
}

TEST_F(TPUClusterResolverTest, ProjectAndZoneMayComeFromTheMetadataServer) {
  const HttpStandIn metadata(
      {{absl::StrCat(kMetadata, "project/project-id"), "p"},
       {absl::StrCat(kMetadata, "instance/zone"), "projects/123/zones/us-central1-b"}},
      "Metadata-Flavor: Google");
  const HttpStandIn api(
      Bodies{{kNode, R"({"state": "READY", "ipAddress": "10.0.0.9", "port": "8470"})"}});
  fake_.variables["GCE_METADATA_IP"] = metadata.address();
  fake_.variables["TPU_API_DISCOVERY_URL"] = absl::StrCat("http://", api.address());
  fake_.variables["TPU_NAME"] = "my-tpu";
  EST_ASSERT_OK_AND_ASSIGN(const TPUCluster cluster, Resolve(""));
  EXPECT_EQ(cluster.Master(), "grpc://10.0.0.9:8470");
}

TEST_F(TPUClusterResolverTest, WithoutProjectOrZoneTheErrorNamesTheFlag) {
  EXPECT_THAT(Resolve("my-tpu"), ErrorHas("the project of the TPU \"my-tpu\" is not known: give it "
                                          "(--gcp_project)"));
  EXPECT_THAT(Resolve("my-tpu", "", "p"), ErrorHas("(--tpu_zone)"));
}

TEST_F(TPUClusterResolverTest, WhatTheApiAnswersOtherwiseIsAnErrorWithTheCure) {
  for (const auto& [body, error] :
       Bodies{{R"({"state": "CREATING"})", "is not ready; its state is \"CREATING\""},
              {R"({"state": "READY"})", "has no address"},
              {R"({"state": "READY", "networkEndpoints": [1, {}]})", "has no address"},
              {"<html>", "is not a JSON object"}}) {
    const HttpStandIn api(Bodies{{kNode, body}});
    fake_.variables["TPU_API_DISCOVERY_URL"] = absl::StrCat("http://", api.address());
    EXPECT_THAT(Resolve("my-tpu", "us-central1-b", "p"), ErrorHas(error)) << body;
  }
  const HttpStandIn api(Bodies{{kNode, kReady}});
  fake_.variables["TPU_API_DISCOVERY_URL"] = absl::StrCat("http://", api.address());
  EXPECT_THAT(Resolve("your-tpu", "us-central1-b", "p"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("the TPU \"your-tpu\" of project p, zone us-central1-b: GET ")));
}

TEST_F(TPUClusterResolverTest, HttpsIsAnErrorThatSaysWhatToDo) {
  for (const char* url : {"", "https://tpu.googleapis.com/$discovery/rest"}) {
    if (*url != '\0') fake_.variables["TPU_API_DISCOVERY_URL"] = url;
    EXPECT_THAT(Resolve("my-tpu", "us-central1-b", "p"),
                StatusIs(absl::StatusCode::kUnimplemented,
                         AllOf(HasSubstr("https://tpu.googleapis.com, which needs https"),
                               HasSubstr("--tpu=local"), HasSubstr("set TPU_API_DISCOVERY_URL"))));
  }
}

}  // namespace
}  // namespace estimator::tpu
