// Plugins, clients and device variables against a plugin in this process, whose devices are arrays of
// bytes on the host.
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/runtime/variable_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/pjrt/client.h"
#include "tpu/pjrt/device_variables.h"
#include "tpu/pjrt/pjrt_abi.h"

namespace estimator::tpu::pjrt {
namespace c_api {

struct Error {
  std::string message;
};
struct Client {};
struct DeviceDescription {
  int id = 0;
};
struct Device {
  DeviceDescription description;
};
struct Buffer {
  BufferType type = BufferType::kInvalid;
  std::vector<int64_t> dims;
  std::string bytes;
};

}  // namespace c_api

namespace {

using ::testing::HasSubstr;

int num_buffers = 0;    // that live
int num_transfers = 0;  // from the host
bool download_fails = false;

c_api::Device devices[2];
c_api::Device* device_list[2] = {&devices[0], &devices[1]};

c_api::Api FakeApi() {
  c_api::Api api;
  api.version.major_version = 0;
  api.version.minor_version = 72;
  api.error_destroy = [](c_api::ErrorDestroyArgs* args) { delete args->error; };
  api.error_message = [](c_api::ErrorMessageArgs* args) {
    args->message = args->error->message.data();
    args->message_size = args->error->message.size();
  };
  api.error_get_code = [](c_api::ErrorGetCodeArgs* args) -> c_api::Error* {
    args->code = static_cast<int>(absl::StatusCode::kUnavailable);
    return nullptr;
  };
  api.plugin_initialize = [](c_api::PluginInitializeArgs*) -> c_api::Error* { return nullptr; };
  api.client_create = [](c_api::ClientCreateArgs* args) -> c_api::Error* {
    args->client = new c_api::Client;
    return nullptr;
  };
  api.client_destroy = [](c_api::ClientDestroyArgs* args) -> c_api::Error* {
    delete args->client;
    return nullptr;
  };
  api.client_platform_name = [](c_api::ClientTextArgs* args) -> c_api::Error* {
    args->text = "fake";
    args->text_size = 4;
    return nullptr;
  };
  api.client_addressable_devices = [](c_api::ClientDevicesArgs* args) -> c_api::Error* {
    devices[1].description.id = 1;
    args->devices = device_list;
    args->num_devices = 2;
    return nullptr;
  };
  api.device_get_description = [](c_api::DeviceGetDescriptionArgs* args) -> c_api::Error* {
    args->description = &args->device->description;
    return nullptr;
  };
  api.device_description_id = [](c_api::DeviceDescriptionIdArgs* args) -> c_api::Error* {
    args->id = args->description->id;
    return nullptr;
  };
  api.device_description_kind = [](c_api::DeviceDescriptionTextArgs* args) -> c_api::Error* {
    args->text = "Fake v1";
    args->text_size = 7;
    return nullptr;
  };
  api.client_buffer_from_host = [](c_api::BufferFromHostArgs* args) -> c_api::Error* {
    ++num_buffers;
    ++num_transfers;
    auto* const buffer = new c_api::Buffer;
    buffer->type = args->type;
    buffer->dims.assign(args->dims, args->dims + args->num_dims);
    size_t bytes = sizeof(float);  // the tests have floats only
    for (const int64_t dim : buffer->dims) bytes *= static_cast<size_t>(dim);
    buffer->bytes.assign(static_cast<const char*>(args->data), bytes);
    args->buffer = buffer;
    return nullptr;
  };
  api.buffer_destroy = [](c_api::BufferArgs* args) -> c_api::Error* {
    --num_buffers;
    delete args->buffer;
    return nullptr;
  };
  api.buffer_element_type = [](c_api::BufferTypeArgs* args) -> c_api::Error* {
    args->type = args->buffer->type;
    return nullptr;
  };
  api.buffer_dimensions = [](c_api::BufferDimensionsArgs* args) -> c_api::Error* {
    args->dims = args->buffer->dims.data();
    args->num_dims = args->buffer->dims.size();
    return nullptr;
  };
  api.buffer_to_host = [](c_api::BufferToHostArgs* args) -> c_api::Error* {
    if (download_fails) return new c_api::Error{"the device is gone"};
    std::memcpy(args->destination, args->source->bytes.data(), args->destination_size);
    return nullptr;
  };
  return api;
}

std::shared_ptr<Client> FakeClient(const c_api::Api& api) {
  auto plugin = Plugin::FromApi(&api, "fake.so");
  EXPECT_TRUE(plugin.ok()) << plugin.status();
  auto client = Client::Create(*plugin);
  EXPECT_TRUE(client.ok()) << client.status();
  return *client;
}

TEST(Plugin, RefusesVersionsWithAnotherLayout) {
  c_api::Api api = FakeApi();
  api.version.minor_version = 20;
  EXPECT_THAT(Plugin::FromApi(&api, "old.so").status().message(), HasSubstr("a newer plugin"));
  api.version.major_version = 1;
  EXPECT_THAT(Plugin::FromApi(&api, "new.so").status().message(), HasSubstr("an older plugin"));
}

TEST(Plugin, NamesAFunctionThatAnOldPluginLacks) {
  c_api::Api api = FakeApi();
  api.struct_size = offsetof(c_api::Api, executable_memory);
  const auto plugin = *Plugin::FromApi(&api, "fake.so");
  EXPECT_FALSE(plugin->Has(&c_api::Api::executable_memory));
  c_api::ExecutableMemoryArgs args;
  const absl::Status status =
      plugin->Call("PJRT_Executable_GetCompiledMemoryStats", &c_api::Api::executable_memory, args);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("has no PJRT_Executable_GetCompiledMemoryStats"));
}

TEST(Plugin, AFileThatIsNoPluginIsNamed) {
  const absl::Status status = Plugin::Load("/no/such/plugin.so").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("/no/such/plugin.so"));
}

TEST(Client, CopiesArraysToADeviceAndBack) {
  const c_api::Api api = FakeApi();
  const auto client = FakeClient(api);
  EXPECT_EQ(client->devices().size(), 2u);
  {
    auto buffer = client->Upload(Array::Of<float>({2}, {3, 4}), 1);
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    Array back(DType::kFloat32, {2});
    ASSERT_TRUE(buffer->Download(back).ok());
    EXPECT_EQ(back.data<float>()[1], 4);
    Array other(DType::kFloat32, {3});
    EXPECT_THAT(buffer->Download(other).message(), HasSubstr("[2] is not"));
    EXPECT_EQ(num_buffers, 1);
  }
  EXPECT_EQ(num_buffers, 0);
}

TEST(Client, MoreReplicasThanDevicesAreRefusedWithTheCure) {
  const c_api::Api api = FakeApi();
  EXPECT_THAT(FakeClient(api)->Compile("module {}", 8).status().message(),
              HasSubstr("set TPUConfig::num_shards to 2 or less"));
}

TEST(DeviceVariables, AValueIsCopiedOnlyWhenTheStoreChanged) {
  const c_api::Api api = FakeApi();
  const auto variables = std::make_shared<DeviceVariables>(FakeClient(api), 2);
  VariableStore store;
  ASSERT_TRUE(store.Set("w", Array::Of<float>({1}, {1})).ok());
  num_transfers = 0;
  ASSERT_TRUE(variables->Update(store, "w").ok());
  ASSERT_TRUE(variables->Update(store, "w").ok());
  EXPECT_EQ(num_transfers, 2);  // one for each replica
  ASSERT_TRUE(store.Set("w", Array::Of<float>({1}, {2})).ok());
  ASSERT_TRUE(variables->Update(store, "w").ok());
  EXPECT_EQ(num_transfers, 4);
}

TEST(DeviceVariables, TheStoreReadsTheNewestValueFromTheDevice) {
  const c_api::Api api = FakeApi();
  const auto client = FakeClient(api);
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
  num_transfers = 0;
  ASSERT_TRUE(variables->Update(store, "w").ok());  // both have the value
  EXPECT_EQ(num_transfers, 0);

  // A value that is set on the host counts more than one on the device.
  compute(6);
  ASSERT_TRUE(store.Set("w", Array::Of<float>({1}, {7})).ok());
  EXPECT_EQ(store.Peek("w")->data<float>()[0], 7);

  compute(8);
  download_fails = true;
  EXPECT_THAT(store.Download().message(), HasSubstr("the device is gone"));
  EXPECT_FALSE(store.initialized("w"));
  download_fails = false;
}

}  // namespace
}  // namespace estimator::tpu::pjrt
