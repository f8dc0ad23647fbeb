#include "tpu/cluster/http_get.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "tpu/cluster/testing/http_stand_in.h"

namespace estimator::tpu {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(HttpGet, ReturnsTheBodyAndSendsTheHeaders) {
  const std::string large(100000, 'x');
  const HttpStandIn server({{"/a/b", "hello\nworld"}, {"/large", large}, {"/", ""}});
  EXPECT_EQ(*HttpGet(absl::StrCat("http://", server.address(), "/a/b"),
                     {.headers = {{"Metadata-Flavor", "Google"}}}),
            "hello\nworld");
  EXPECT_EQ(*HttpGet(absl::StrCat("http://", server.address(), "/large")), large);
  EXPECT_EQ(*HttpGet(absl::StrCat("http://", server.address())), "");
  ASSERT_EQ(server.requests().size(), 3u);
  EXPECT_THAT(server.requests()[0], StartsWith("GET /a/b HTTP/1.0\r\nHost: "));
  EXPECT_THAT(server.requests()[0], HasSubstr("\r\nMetadata-Flavor: Google\r\n"));
}

TEST(HttpGet, AnIPv6AddressHasBracketsInTheUrlAndInTheHeader) {
  EXPECT_THAT(HttpGet("http://fd20:ce::254/a"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("without brackets")));
  EXPECT_THAT(HttpGet("http://[::1"), StatusIs(absl::StatusCode::kInvalidArgument));
  if (!HttpStandIn::HasIPv6()) GTEST_SKIP() << "this machine has no IPv6";
  const HttpStandIn server({{"/a", "hello"}}, "", /*ipv6=*/true);
  EXPECT_EQ(*HttpGet(absl::StrCat("http://", server.address(), "/a")), "hello");
  EXPECT_THAT(server.requests()[0],
              HasSubstr(absl::StrCat("\r\nHost: ", server.address(), "\r\n")));
}

TEST(HttpGet, AnErrorNamesTheUrlAndTheStatus) {
  const HttpStandIn server({{"/a", "b"}}, "Secret: 1");
  const std::string url = absl::StrCat("http://", server.address(), "/a");
  EXPECT_THAT(HttpGet(url), StatusIs(absl::StatusCode::kPermissionDenied,
                                     HasSubstr(absl::StrCat("GET ", url, ": status 403"))));
  EXPECT_THAT(HttpGet(url + "b", {.headers = {{"Secret", "1"}}}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("status 404")));
}

TEST(HttpGet, MoreThanAMebibyteIsRefused) {
  const HttpStandIn server({{"/", std::string(1100000, 'x')}});
  EXPECT_THAT(HttpGet(absl::StrCat("http://", server.address())),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("1 MiB")));
}

TEST(HttpGet, AServerThatIsGoneIsUnavailable) {
  auto server = std::make_unique<HttpStandIn>(std::map<std::string, std::string>());
  const std::string url = absl::StrCat("http://", server->address());
  server.reset();
  EXPECT_THAT(HttpGet(url), StatusIs(absl::StatusCode::kUnavailable, HasSubstr("cannot connect")));
}

// A server that accepts and never answers.
TEST(HttpGet, TheTimeoutEndsTheWait) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  EXPECT_THAT(HttpGet(absl::StrCat("http://127.0.0.1:", ntohs(address.sin_port)),
                      {.headers = {}, .timeout_seconds = 0.05}),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  close(listener);
}

TEST(HttpGet, AnotherUrlIsRefused) {
  EXPECT_THAT(HttpGet("https://tpu.googleapis.com/v1"),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("https is not supported")));
  for (const char* url : {"", "ftp://a", "http://", "http://a:port", "http://a:0", "http://a b/",
                          "http://a/\r\nHost: b"}) {
    EXPECT_THAT(HttpGet(url), StatusIs(absl::StatusCode::kInvalidArgument)) << url;
  }
}

}  // namespace
}  // namespace estimator::tpu
