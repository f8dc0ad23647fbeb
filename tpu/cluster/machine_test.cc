#include "tpu/cluster/machine.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "estimator/base/testing/status_matchers.h"
#include "tpu/cluster/testing/fake_machine.h"

namespace estimator::tpu {
namespace {

TEST(EnvironmentVariable, AnEmptyOneIsNotSet) {
  ASSERT_EQ(setenv("ESTIMATOR_MACHINE_TEST", "x", 1), 0);
  EXPECT_EQ(EnvironmentVariable("ESTIMATOR_MACHINE_TEST"), "x");
  EXPECT_FALSE(IsEmptyVariable("ESTIMATOR_MACHINE_TEST"));
  ASSERT_EQ(setenv("ESTIMATOR_MACHINE_TEST", "", 1), 0);
  EXPECT_EQ(EnvironmentVariable("ESTIMATOR_MACHINE_TEST"), std::nullopt);
  EXPECT_TRUE(IsEmptyVariable("ESTIMATOR_MACHINE_TEST"));
  EXPECT_FALSE(IsEmptyVariable("ESTIMATOR_NOT_SET"));
}

TEST(Machine, ChipsAreCountedOnThePciBus) {
  const FakeMachine fake;
  EXPECT_EQ(FindTPUChips(fake.machine()).num_chips, 0);
  EXPECT_EQ(FindTPUChips(fake.machine()).device_node, "");
  for (int chip = 0; chip < 4; ++chip) fake.AddChip("0x0027", chip);
  fake.Write("sys/bus/pci/devices/0000:00:09.0/vendor", "0x10de\n");  // a GPU
  fake.Write("sys/bus/pci/devices/0000:00:09.0/device", "0x0027\n");
  fake.Write("sys/bus/pci/devices/0000:00:0a.0/vendor", "0x1ae0\n");  // Google's network card
  fake.Write("sys/bus/pci/devices/0000:00:0a.0/device", "0x0042\n");
  const TPUChips chips = FindTPUChips(fake.machine());
  EXPECT_EQ(chips.num_chips, 4);
  EXPECT_EQ(chips.devices_per_chip, 2);
  EXPECT_EQ(chips.version, "v2 or v3");
  EXPECT_EQ(chips.device_node, fake.Path("dev/accel0"));
}

TEST(Machine, ChipsMayHaveVfioNodes) {
  const FakeMachine fake;
  fake.AddChip("0x0063", 0, /*with_node=*/false);
  fake.Write("dev/vfio/vfio", "");  // the control node is on every machine with VFIO
  EXPECT_EQ(FindTPUChips(fake.machine()).device_node, "");
  fake.Write("dev/vfio/0", "");
  const TPUChips chips = FindTPUChips(fake.machine());
  EXPECT_EQ(chips.version, "v5e");
  EXPECT_EQ(chips.devices_per_chip, 1);
  EXPECT_EQ(chips.device_node, fake.Path("dev/vfio/0"));
}

TEST(Machine, LibtpuIsTheGivenOneThenTheVariablesThenOneOfTheKnownPlaces) {
  FakeMachine fake;
  fake.variables["XDG_CACHE_HOME"] = fake.Path("cache");
  EXPECT_THAT(FindLibtpu(fake.machine(), "").status(), ErrorHas("run tools/get_libtpu.sh"));
  const std::string installed = "cache/estimator-libtpu/0.0.51/libtpu/libtpu.so";
  fake.Write(installed, "");
  EXPECT_EQ(*FindLibtpu(fake.machine(), ""), fake.Path(installed));
  fake.Write("usr/local/lib/python3.10/dist-packages/libtpu/libtpu.so", "");
  EXPECT_EQ(*FindLibtpu(fake.machine(), ""),
            fake.Path("usr/local/lib/python3.10/dist-packages/libtpu/libtpu.so"));
  fake.Write("lib/libtpu.so", "");
  EXPECT_EQ(*FindLibtpu(fake.machine(), ""), fake.Path("lib/libtpu.so"));
  fake.variables["VIRTUAL_ENV"] = fake.Path("venv");
  fake.Write("venv/lib/python3.11/site-packages/libtpu/libtpu.so", "");
  EXPECT_EQ(*FindLibtpu(fake.machine(), ""),
            fake.Path("venv/lib/python3.11/site-packages/libtpu/libtpu.so"));
  fake.variables["TPU_LIBRARY_PATH"] = fake.Path("mine.so");
  EXPECT_THAT(FindLibtpu(fake.machine(), "").status(),
              ErrorHas(fake.Path("mine.so") + " (TPU_LIBRARY_PATH); correct the variable"));
  EXPECT_THAT(FindLibtpu(fake.machine(), "/no/such.so").status(), ErrorHas("no file /no/such.so"));
  fake.Write("mine.so", "");
  EXPECT_EQ(*FindLibtpu(fake.machine(), ""), fake.Path("mine.so"));
  EXPECT_EQ(*FindLibtpu(fake.machine(), fake.Path("lib/libtpu.so")), fake.Path("lib/libtpu.so"));
}

TEST(Machine, OnlyVirtualMachinesOfGoogleHaveAMetadataServer) {
  FakeMachine fake;
  EXPECT_FALSE(HasMetadataServer(fake.machine()));
  fake.Write("sys/class/dmi/id/product_name", "Google Compute Engine\n");
  EXPECT_TRUE(HasMetadataServer(fake.machine()));
  fake.Write("sys/class/dmi/id/product_name", "Laptop\n");
  fake.variables["GCE_METADATA_HOST"] = "127.0.0.1:1";
  EXPECT_TRUE(HasMetadataServer(fake.machine()));
}

}  // namespace
}  // namespace estimator::tpu
