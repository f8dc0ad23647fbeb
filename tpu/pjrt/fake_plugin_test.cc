// Plugins, clients and device variables against a plugin in this process.
#include "tpu/pjrt/testing/fake_plugin.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/runtime/variable_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/pjrt/client.h"
#include "tpu/pjrt/device_variables.h"
#include "tpu/pjrt/pjrt_abi.h"
#include "tpu/pjrt/plugin.h"

namespace estimator::tpu::pjrt {
namespace {

using ::testing::HasSubstr;

TEST(Plugin, RefusesVersionsWithAnotherLayout) {
  FakePlugin fake;
  c_api::Api& api = fake.api();
  api.version.minor_version = 20;
  EXPECT_THAT(Plugin::FromApi(&api, "old.so").status().message(), HasSubstr("a newer plugin"));
  api.version.major_version = 1;
  EXPECT_THAT(Plugin::FromApi(&api, "new.so").status().message(), HasSubstr("an older plugin"));
}

TEST(Plugin, NamesAFunctionThatAnOldPluginLacks) {
  FakePlugin fake;
  c_api::Api& api = fake.api();
  api.struct_size = offsetof(c_api::Api, executable_memory);
  const auto plugin = *Plugin::FromApi(&api, "fake.so");
  EXPECT_FALSE(plugin->Has(&c_api::Api::executable_memory));
  c_api::ExecutableMemoryArgs args;
  const absl::Status status =
      plugin->Call("PJRT_Executable_GetCompiledMemoryStats", &c_api::Api::executable_memory, args);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("has no PJRT_Executable_GetCompiledMemoryStats"));
}

// Plugins refuse a struct that is smaller than their own one. The sizes are those of libtpu 0.0.51,
// which refused the structs of version 0.34.
TEST(Plugin, ArgumentsHaveRoomForTheFieldsOfLaterVersions) {
  const c_api::ClientCreateArgs create;
  EXPECT_GE(create.struct_size, 88u);
  EXPECT_EQ(offsetof(c_api::ClientCreateArgs, later), 72u);
  const c_api::ExecuteOptions options;
  EXPECT_GE(options.struct_size, 112u);
  EXPECT_EQ(offsetof(c_api::ExecuteOptions, later), 56u);
  for (const c_api::LaterFields& later : {create.later, options.later}) {
    for (const void* const field : later.zeros) EXPECT_EQ(field, nullptr);
  }
}

TEST(Plugin, AFileThatIsNoPluginIsNamed) {
  const absl::Status status = Plugin::Load("/no/such/plugin.so").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("/no/such/plugin.so"));
}

TEST(Client, CopiesArraysToADeviceAndBack) {
  FakePlugin fake;
  const auto client = fake.NewClient();
  EXPECT_EQ(client->devices().size(), 2u);
  {
    auto buffer = client->Upload(Array::Of<float>({2}, {3, 4}), 1);
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    Array back(DType::kFloat32, {2});
    ASSERT_TRUE(buffer->Download(back).ok());
    EXPECT_EQ(back.data<float>()[1], 4);
    Array other(DType::kFloat32, {3});
    EXPECT_THAT(buffer->Download(other).message(), HasSubstr("[2] is not"));
    EXPECT_EQ(fake.live_buffers, 1);
  }
  EXPECT_EQ(fake.live_buffers, 0);
}

TEST(Client, MoreReplicasThanDevicesAreRefusedWithTheCure) {
  FakePlugin fake;
  EXPECT_THAT(fake.NewClient()->Compile("module {}", 8).status().message(),
              HasSubstr("set TPUConfig::num_shards to 2 or less"));
}

TEST(DeviceVariables, AValueIsCopiedOnlyWhenTheStoreChanged) {
  FakePlugin fake;
  const auto variables = std::make_shared<DeviceVariables>(fake.NewClient(), 2);
  VariableStore store;
  ASSERT_TRUE(store.Set("w", Array::Of<float>({1}, {1})).ok());
  fake.uploads = 0;
  ASSERT_TRUE(variables->Update(store, "w").ok());
  ASSERT_TRUE(variables->Update(store, "w").ok());
  EXPECT_EQ(fake.uploads, 2);  // one for each replica
  ASSERT_TRUE(store.Set("w", Array::Of<float>({1}, {2})).ok());
  ASSERT_TRUE(variables->Update(store, "w").ok());
  EXPECT_EQ(fake.uploads, 4);
}

TEST(DeviceVariables, TheStoreReadsTheNewestValueFromTheDevice) {
  FakePlugin fake;
  const auto client = fake.NewClient();
  const auto variables = std::make_shared<DeviceVariables>(client, 1);
  VariableStore store;
  ASSERT_TRUE(store.Set("w", Array::Of<float>({1}, {1})).ok());
  const auto compute = [&](float value) {
    std::vector<DeviceBuffer> buffers;
    buffers.push_back(*client->Upload(Array::Of<float>({1}, {value}), 0));
    variables->Set(store, "w", std::move(buffers));
  };
  compute(5);
  EXPECT_TRUE(store.newer_on("w", variables.get()));
  EXPECT_EQ(store.Peek("w")->data<float>()[0], 5);
  EXPECT_FALSE(store.newer_on("w", variables.get()));
  fake.uploads = 0;
  ASSERT_TRUE(variables->Update(store, "w").ok());  // both have the value
  EXPECT_EQ(fake.uploads, 0);

  // A value that is set on the host counts more than one on the device.
  compute(6);
  ASSERT_TRUE(store.Set("w", Array::Of<float>({1}, {7})).ok());
  EXPECT_EQ(store.Peek("w")->data<float>()[0], 7);

  compute(8);
  fake.download_error = absl::UnavailableError("the device is gone");
  EXPECT_THAT(store.Download().message(), HasSubstr("the device is gone"));
  EXPECT_FALSE(store.initialized("w"));
  EXPECT_THAT(store.Download().message(), HasSubstr("the device is gone"));

  // A value that is restored from a checkpoint ends the error: every later save failed with it.
  fake.download_error = absl::OkStatus();
  ASSERT_TRUE(store.Set("w", Array::Of<float>({1}, {9})).ok());
  EXPECT_TRUE(store.Download().ok()) << store.Download();
}

// The store has only an old value then, which other devices would compute with.
TEST(DeviceVariables, AValueThatWasLostOnOtherDevicesIsNotReplacedByAnOldOne) {
  FakePlugin fake;
  const auto client = fake.NewClient();
  const auto first = std::make_shared<DeviceVariables>(client, 1);
  const auto second = std::make_shared<DeviceVariables>(client, 1);
  VariableStore store;
  ASSERT_TRUE(store.Set("w", Array::Of<float>({1}, {1})).ok());
  std::vector<DeviceBuffer> buffers;
  buffers.push_back(*client->Upload(Array::Of<float>({1}, {2}), 0));
  first->Set(store, "w", std::move(buffers));
  first->Drop("w");  // as a step that fails does
  fake.uploads = 0;
  EXPECT_THAT(second->Update(store, "w").message(), HasSubstr("restore the newest checkpoint"));
  EXPECT_EQ(fake.uploads, 0);
}

}  // namespace
}  // namespace estimator::tpu::pjrt
