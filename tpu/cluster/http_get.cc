#include "tpu/cluster/http_get.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "tpu/cluster/host_port.h"

namespace estimator::tpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxBytes = size_t{1} << 20;

struct Url {
  HostPort server;
  std::string path = "/";
};

absl::StatusOr<Url> ParseUrl(absl::string_view text) {
  if (absl::StartsWithIgnoreCase(text, "https://"))
    return Unimplemented("https is not supported, only http");
  if (!absl::StartsWithIgnoreCase(text, "http://"))
    return InvalidArgument("a URL begins with http://");
  text.remove_prefix(7);
  Url url;
  const size_t slash = std::min(text.find('/'), text.size());
  if (slash < text.size()) url.path = std::string(text.substr(slash));
  absl::StatusOr<HostPort> server = ParseHostPort(text.substr(0, slash), "80");
  if (!server.ok()) return Annotate(server.status(), "a URL is http://HOST[:PORT][/PATH]");
  url.server = *std::move(server);
  // A line break in the URL would add headers to the request.
  for (const char c : absl::StrCat(url.server.host, url.path)) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c)) || c == ' ')
      return InvalidArgument("a URL has no spaces and no control characters");
  }
  return url;
}

class Socket {
 public:
  Socket() = default;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }

  absl::Status Connect(const Url& url, Clock::time_point deadline) {
    addrinfo hints = {};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = getaddrinfo(url.server.host.c_str(), url.server.port.c_str(), &hints, &found);
    if (error != 0) {
      return absl::UnavailableError(
          absl::StrCat("no address for host \"", url.server.host, "\": ", gai_strerror(error)));
    }
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
    absl::Status status = absl::UnavailableError("the host has no address");
    for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
      status = ConnectTo(*address, deadline);
      if (status.ok()) return status;
    }
    return status;
  }

  absl::Status Send(absl::string_view bytes, Clock::time_point deadline) {
    while (!bytes.empty()) {
      EST_RETURN_IF_ERROR(Wait(POLLOUT, deadline));
      // Without MSG_NOSIGNAL, a server that closes the connection would end this program by
      // SIGPIPE.
      const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (sent < 0) return Failed("cannot send");
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return absl::OkStatus();
  }

  // Reads until the other side closes the connection.
  absl::StatusOr<std::string> ReceiveAll(Clock::time_point deadline) {
    std::string all;
    char buffer[4096];
    while (true) {
      EST_RETURN_IF_ERROR(Wait(POLLIN, deadline));
      const ssize_t received = recv(fd_, buffer, sizeof(buffer), 0);
      if (received == 0) return all;
      if (received < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (received < 0) return Failed("cannot receive");
      all.append(buffer, static_cast<size_t>(received));
      if (all.size() > kMaxBytes) return ResourceExhausted("the answer has more than 1 MiB");
    }
  }

 private:
  static absl::Status Failed(const char* what) {
    return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
  }

  absl::Status ConnectTo(const addrinfo& address, Clock::time_point deadline) {
    if (fd_ >= 0) close(fd_);
    // SOCK_NONBLOCK, because a connect that blocks would not obey the deadline.
    fd_ = socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                 address.ai_protocol);
    if (fd_ < 0) return Failed("cannot open a socket");
    if (connect(fd_, address.ai_addr, address.ai_addrlen) == 0) return absl::OkStatus();
    if (errno != EINPROGRESS) return Failed("cannot connect");
    EST_RETURN_IF_ERROR(Wait(POLLOUT, deadline));
    // A connection that is refused makes the socket writable too. SO_ERROR tells the difference.
    int error = 0;
    socklen_t size = sizeof(error);
    if (getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) == 0) errno = error;
    return errno == 0 ? absl::OkStatus() : Failed("cannot connect");
  }

  absl::Status Wait(short events, Clock::time_point deadline) {
    while (true) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return absl::DeadlineExceededError("no answer in time");
      pollfd one = {fd_, events, 0};
      const int ready = poll(&one, 1, static_cast<int>(std::min<int64_t>(left, 1000000)));
      if (ready > 0) return absl::OkStatus();
      if (ready < 0 && errno != EINTR) return Failed("cannot wait");
    }
  }

  int fd_ = -1;
};

// The body of an answer. Errors: as of HttpGet for its status.
absl::StatusOr<std::string> BodyOf(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  const std::vector<std::string> words =
      absl::StrSplit(answer.substr(0, answer.find("\r\n")), absl::MaxSplits(' ', 2));
  int code = 0;
  if (end == std::string::npos || words.size() < 2 || !absl::StartsWith(words[0], "HTTP/") ||
      !absl::SimpleAtoi(words[1], &code)) {
    return absl::UnavailableError("the answer is not HTTP");
  }
  std::string body = answer.substr(end + 4);
  if (code == 200) return body;
  const std::string message = absl::StrCat(
      "status ", code, words.size() > 2 ? " " : "", words.size() > 2 ? words[2] : "",
      body.empty() ? "" : ": ", absl::StripAsciiWhitespace(absl::string_view(body).substr(0, 300)));
  if (code == 404) return NotFound(message);
  if (code == 401 || code == 403) return absl::PermissionDeniedError(message);
  return absl::UnavailableError(message);
}

absl::StatusOr<std::string> Get(absl::string_view text, const HttpGetOptions& options) {
  EST_ASSIGN_OR_RETURN(const Url url, ParseUrl(text));
  const auto deadline =
      Clock::now() + std::chrono::milliseconds(static_cast<int64_t>(options.timeout_seconds * 1e3));
  Socket socket;
  EST_RETURN_IF_ERROR(socket.Connect(url, deadline));
  // Under HTTP/1.0 the server closes the connection after the answer, which is never in chunks.
  std::string request =
      absl::StrCat("GET ", url.path, " HTTP/1.0\r\nHost: ", url.server.ToString(), "\r\n");
  for (const auto& [name, value] : options.headers)
    absl::StrAppend(&request, name, ": ", value, "\r\n");
  absl::StrAppend(&request, "\r\n");
  EST_RETURN_IF_ERROR(socket.Send(request, deadline));
  EST_ASSIGN_OR_RETURN(const std::string answer, socket.ReceiveAll(deadline));
  return BodyOf(answer);
}

}  // namespace

absl::StatusOr<std::string> HttpGet(StringArg url, const HttpGetOptions& options) {
  const absl::string_view text = url;
  absl::StatusOr<std::string> body = Get(text, options);
  if (!body.ok()) return Annotate(body.status(), absl::StrCat("GET ", text));
  return body;
}

}  // namespace estimator::tpu
