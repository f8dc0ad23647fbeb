#include "tools/report/serve.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Sends a request to the port and returns the whole answer.
std::string Ask(int port, const std::string& request) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  std::string answer;
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
      send(fd, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
    char buffer[4096];
    for (ssize_t n = 0; (n = recv(fd, buffer, sizeof(buffer), 0)) > 0;)
      answer.append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return answer;
}

class ServeTest : public ::testing::Test {
 protected:
  ServeTest()
      : server_([this] {
          status_ = Serve(
              0, [this](const std::string& url) { url_.set_value(url); },
              [](absl::string_view path) { return absl::StrCat("<", path, ">"); });
        }) {
    const std::string url = url_.get_future().get();
    absl::string_view port = url;
    EXPECT_TRUE(absl::ConsumePrefix(&port, "http://127.0.0.1:") && absl::ConsumeSuffix(&port, "/"));
    EXPECT_TRUE(absl::SimpleAtoi(port, &port_));
  }
  ~ServeTest() override {
    RequestInterruptForTest();
    server_.join();
    ClearInterrupt();
    EST_EXPECT_OK(status_);
  }
  std::string Get(const std::string& path, const std::string& host) const {
    return Ask(port_, absl::StrCat("GET ", path, " HTTP/1.1\r\nHost: ", host, "\r\n\r\n"));
  }

  std::promise<std::string> url_;
  int port_ = 0;
  absl::Status status_;
  std::thread server_;
};

TEST_F(ServeTest, AnswersWithThePageAndItsData) {
  const std::string host = absl::StrCat("127.0.0.1:", port_);
  EXPECT_THAT(Get("/", host), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("text/html"),
                                    HasSubstr("Content-Length: 3\r\n"), EndsWith("\r\n\r\n</>")));
  EXPECT_THAT(Get("/data.json", absl::StrCat("localhost:", port_)),
              AllOf(HasSubstr("application/json"), EndsWith("</data.json>")));
  EXPECT_THAT(Get("/../etc/passwd", host), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Ask(port_, absl::StrCat("POST / HTTP/1.1\r\nHost: ", host, "\r\n\r\n")),
              StartsWith("HTTP/1.1 404"));
}

TEST_F(ServeTest, RefusesTheNamesOfOtherHosts) {
  for (const std::string& host :
       {std::string("evil.example"), absl::StrCat("evil.example:", port_),
        absl::StrCat("127.0.0.1:", port_, ".evil.example"), std::string("127.0.0.1")})
    EXPECT_THAT(Get("/", host), StartsWith("HTTP/1.1 403")) << host;
  EXPECT_THAT(Ask(port_, "GET / HTTP/1.0\r\n\r\n"), StartsWith("HTTP/1.1 403"));
}

TEST_F(ServeTest, GoesOnAfterARequestWithoutAnEnd) {
  EXPECT_EQ(Ask(port_, std::string(100'000, 'x')), "");
  EXPECT_THAT(Get("/", absl::StrCat("localhost:", port_)), EndsWith("</>"));
}

TEST_F(ServeTest, APortThatIsTakenIsAnError) {
  EXPECT_THAT(Serve(
                  port_, [](const std::string&) {}, [](absl::string_view) { return ""; }),
              ErrorHas("choose another one"));
}

}  // namespace
}  // namespace estimator
