#include "tools/report/serve.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

constexpr size_t kMaxRequestBytes = 16 << 10;
constexpr int kTimeoutMs = 2000, kPollMs = 100;

class ServerSocket {
 public:
  explicit ServerSocket(int fd) : fd_(fd) {}
  ServerSocket(const ServerSocket&) = delete;
  ServerSocket& operator=(const ServerSocket&) = delete;
  ~ServerSocket() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }
  bool Ready(short events, int timeout_ms) const {  // NOLINT: poll's type
    pollfd one = {fd_, events, 0};
    return poll(&one, 1, timeout_ms) > 0;
  }

 private:
  const int fd_;
};

// The head of a request; "" if it is too long or does not arrive in time.
std::string ReadHead(const ServerSocket& connection) {
  std::string head;
  char buffer[4096];
  while (!absl::StrContains(head, "\r\n\r\n")) {
    if (head.size() > kMaxRequestBytes || !connection.Ready(POLLIN, kTimeoutMs)) return "";
    const ssize_t received = recv(connection.fd(), buffer, sizeof(buffer), 0);
    if (received <= 0) return "";
    head.append(buffer, static_cast<size_t>(received));
  }
  return head;
}

void SendAll(const ServerSocket& connection, absl::string_view bytes) {
  while (!bytes.empty() && connection.Ready(POLLOUT, kTimeoutMs)) {
    const ssize_t sent =
        send(connection.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return;
    if (sent > 0) bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

std::string AnswerTo(absl::string_view head, int port,
                     const std::function<std::string(absl::string_view)>& body) {
  const auto answer = [](absl::string_view status, absl::string_view type,
                         const std::string& text) {
    return absl::StrCat("HTTP/1.1 ", status, "\r\nContent-Type: ", type,
                        "; charset=utf-8\r\nContent-Length: ", text.size(),
                        "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                        "Connection: close\r\n\r\n",
                        text);
  };
  const std::string lower = absl::AsciiStrToLower(head);
  if (!absl::StrContains(lower, absl::StrCat("\r\nhost: 127.0.0.1:", port, "\r\n")) &&
      !absl::StrContains(lower, absl::StrCat("\r\nhost: localhost:", port, "\r\n")))
    return answer("403 Forbidden", "text/plain", "the host is not this machine\n");
  for (const auto& [path, type] :
       {std::pair{"/", "text/html"}, std::pair{"/data.json", "application/json"}}) {
    if (absl::StartsWith(head, absl::StrCat("GET ", path, " ")))
      return answer("200 OK", type, body(path));
  }
  return answer("404 Not Found", "text/plain", "there are / and /data.json\n");
}

}  // namespace

absl::Status Serve(int64_t port, const std::function<void(const std::string& url)>& ready,
                   const std::function<std::string(absl::string_view path)>& body) {
  const ServerSocket listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof(address);
  const int one = 1;
  if (setsockopt(listener.fd(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
      bind(listener.fd(), generic, size) != 0 || listen(listener.fd(), 16) != 0 ||
      getsockname(listener.fd(), generic, &size) != 0) {
    return absl::UnavailableError(absl::StrCat("port ", port, ": ", std::strerror(errno),
                                               "; choose another one, or --port=0"));
  }
  const int bound = ntohs(address.sin_port);
  ready(absl::StrCat("http://127.0.0.1:", bound, "/"));
  while (!InterruptRequested()) {
    if (!listener.Ready(POLLIN, kPollMs)) continue;
    const ServerSocket connection(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.fd() < 0) continue;
    const std::string head = ReadHead(connection);
    if (!head.empty()) SendAll(connection, AnswerTo(head, bound, body));
  }
  return absl::OkStatus();
}

}  // namespace estimator
