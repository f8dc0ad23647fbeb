#include "tpu/cluster/testing/http_stand_in.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "glog/logging.h"

namespace estimator::tpu {

namespace {

// A socket that is bound to a free port of the loopback address.
struct Bound {
  int socket = -1;
  int port = 0;
  bool ok = false;
};

Bound Bind(bool ipv6) {
  Bound bound;
  bound.socket = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bound.socket < 0) return bound;
  sockaddr_in6 address6 = {};
  address6.sin6_family = AF_INET6;
  address6.sin6_addr = in6addr_loopback;
  sockaddr_in address4 = {};
  address4.sin_family = AF_INET;
  address4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr* const address =
      ipv6 ? reinterpret_cast<sockaddr*>(&address6) : reinterpret_cast<sockaddr*>(&address4);
  socklen_t size = ipv6 ? sizeof(address6) : sizeof(address4);
  bound.ok =
      bind(bound.socket, address, size) == 0 && getsockname(bound.socket, address, &size) == 0;
  bound.port = ntohs(ipv6 ? address6.sin6_port : address4.sin_port);
  return bound;
}

}  // namespace

HttpStandIn::HttpStandIn(std::map<std::string, std::string> bodies, std::string header, bool ipv6)
    : bodies_(std::move(bodies)), header_(std::move(header)) {
  const Bound bound = Bind(ipv6);
  CHECK(bound.ok);
  listener_ = bound.socket;
  CHECK_EQ(listen(listener_, 8), 0);
  address_ = absl::StrCat(ipv6 ? "[::1]" : "127.0.0.1", ":", bound.port);
  thread_ = std::thread([this] { Serve(); });
}

bool HttpStandIn::HasIPv6() {
  const Bound bound = Bind(/*ipv6=*/true);
  if (bound.socket >= 0) close(bound.socket);
  return bound.ok;
}

HttpStandIn::~HttpStandIn() {
  stopping_ = true;
  thread_.join();
  close(listener_);
}

std::vector<std::string> HttpStandIn::requests() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return requests_;
}

void HttpStandIn::Serve() {
  while (!stopping_) {
    pollfd one = {listener_, POLLIN, 0};
    if (poll(&one, 1, /*timeout_ms=*/20) <= 0) continue;
    const int connection = accept(listener_, nullptr, nullptr);
    if (connection < 0) continue;
    Answer(connection);
    close(connection);
  }
}

void HttpStandIn::Answer(int connection) {
  std::string request;
  char buffer[1024];
  while (!absl::StrContains(request, "\r\n\r\n")) {
    const ssize_t received = recv(connection, buffer, sizeof(buffer), 0);
    if (received <= 0) return;
    request.append(buffer, static_cast<size_t>(received));
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back(request);
  }
  const std::vector<std::string> words = absl::StrSplit(request, ' ');
  const auto found = bodies_.find(words.size() > 1 ? words[1] : "");
  std::string answer = "HTTP/1.0 404 Not Found\r\n\r\n";
  if (found != bodies_.end()) answer = absl::StrCat("HTTP/1.0 200 OK\r\n\r\n", found->second);
  if (!absl::StrContains(request, header_)) answer = "HTTP/1.0 403 Forbidden\r\n\r\n";
  (void)send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
}

}  // namespace estimator::tpu
