#include "tpu/cluster/host_port.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::tpu {
namespace {

using ::testing::HasSubstr;

std::string Parsed(const char* text) {
  const absl::StatusOr<HostPort> parsed = ParseHostPort(text, "8470");
  EST_EXPECT_OK(parsed.status());
  return parsed.ok() ? absl::StrCat(parsed->host, " ", parsed->port) : "";
}

TEST(HostPort, ParsesNamesAndBothKindsOfAddresses) {
  EXPECT_EQ(Parsed("tpu-vm"), "tpu-vm 8470");
  EXPECT_EQ(Parsed("tpu-vm:80"), "tpu-vm 80");
  EXPECT_EQ(Parsed("10.0.0.2:8471"), "10.0.0.2 8471");
  EXPECT_EQ(Parsed("[::1]"), "::1 8470");
  EXPECT_EQ(Parsed("[::1]:80"), "::1 80");
  EXPECT_EQ(Parsed("[fd20:ce::254]:8471"), "fd20:ce::254 8471");
  EXPECT_EQ(Parsed("[fe80::1%eth0]:80"), "fe80::1%eth0 80");
}

TEST(HostPort, WritesBracketsAroundIPv6) {
  EXPECT_EQ((HostPort{.host = "::1", .port = "80"}).ToString(), "[::1]:80");
  EXPECT_EQ((HostPort{.host = "10.0.0.2", .port = "80"}).ToString(), "10.0.0.2:80");
  EXPECT_EQ(BracketHost("fe80::1%eth0"), "[fe80::1%eth0]");
  EXPECT_EQ(BracketHost("[::1]:80"), "[::1]:80");
  EXPECT_EQ(BracketHost("metadata.google.internal"), "metadata.google.internal");
}

TEST(HostPort, AnErrorSaysWhatToWrite) {
  EXPECT_THAT(ParseHostPort("fd20:ce::254", "80").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("\"fd20:ce::254\" is an IPv6 address without brackets")));
  EXPECT_THAT(ParseHostPort("[::1", "80").status(), ErrorHas("has no closing bracket"));
  EXPECT_THAT(ParseHostPort("[tpu-vm]", "80").status(), ErrorHas("no IPv6 address"));
  EXPECT_THAT(ParseHostPort("[::1]80", "80").status(), ErrorHas("no :PORT"));
  EXPECT_THAT(ParseHostPort("", "80").status(), ErrorHas("has no host"));
  EXPECT_THAT(ParseHostPort(":80", "80").status(), ErrorHas("has no host"));
  for (const char* text : {"a:", "a:port", "a:0", "a:65536", "a:1:2", "[::1]:", "[::1]:x"})
    EXPECT_THAT(ParseHostPort(text, "80").status(), ErrorHas("a port is in [1, 65535]")) << text;
}

}  // namespace
}  // namespace estimator::tpu
