#include "estimator/distributed/socket.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

absl::StatusOr<AddressList> Resolve(const HostPort& address) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = absl::StrCat(address.port);
  const int error = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("the name ", address.host, " is not known: ", ::gai_strerror(error)));
  }
  return AddressList(found, &::freeaddrinfo);
}

HostPort Numeric(const sockaddr* address, socklen_t size) {
  std::array<char, NI_MAXHOST> host = {};
  std::array<char, NI_MAXSERV> port = {};
  HostPort result;
  if (::getnameinfo(address, size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
    result.host = host.data();
    if (!absl::SimpleAtoi(port.data(), &result.port)) result.port = 0;
  }
  return result;
}

// The address of one end: ::getsockname or ::getpeername.
HostPort EndOf(int fd, int (*name)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage storage = {};
  socklen_t size = sizeof(storage);
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  return name(fd, address, &size) == 0 ? Numeric(address, size) : HostPort();
}

void SetNoDelay(int fd) {
  // The messages are small, and each is answered.
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

// One attempt. Returns 0 and the socket, or an errno.
int TryConnect(const addrinfo& address, Clock::time_point deadline, Socket* result) {
  Socket socket(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.fd() < 0) return errno;
  if (::connect(socket.fd(), address.ai_addr, address.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return errno;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd waiting = {socket.fd(), POLLOUT, 0};
    if (::poll(&waiting, 1, static_cast<int>(std::max<int64_t>(left.count(), 1))) <= 0)
      return ETIMEDOUT;
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return error;
  }
  // A port of this machine that nobody listens at can be connected with itself.
  if (socket.Local().ToString() == socket.Remote().ToString()) return ECONNREFUSED;
  ::fcntl(socket.fd(), F_SETFL, ::fcntl(socket.fd(), F_GETFL) & ~O_NONBLOCK);
  SetNoDelay(socket.fd());
  *result = std::move(socket);
  return 0;
}

}  // namespace

absl::StatusOr<HostPort> HostPort::Parse(absl::string_view text) {
  HostPort result;
  const size_t colon = text.rfind(':');
  absl::string_view host = text.substr(0, colon);
  if (absl::StartsWith(host, "[") && absl::EndsWith(host, "]")) {
    host = host.substr(1, host.size() - 2);
  } else if (absl::StrContains(host, ":")) {
    host = "";
  }
  if (colon == absl::string_view::npos || host.empty() ||
      !absl::SimpleAtoi(text.substr(colon + 1), &result.port) || result.port < 0 ||
      result.port > 65535) {
    return InvalidArgument("an address is HOST:PORT or [IPV6]:PORT, given \"", text, "\"");
  }
  result.host = std::string(host);
  return result;
}

std::string HostPort::ToString() const {
  return absl::StrContains(host, ":") ? absl::StrCat("[", host, "]:", port)
                                      : absl::StrCat(host, ":", port);
}

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (fd_ >= 0 && this != &other) ::close(fd_);
  fd_ = other.Release();
  return *this;
}

int Socket::Release() { return std::exchange(fd_, -1); }

HostPort Socket::Local() const { return EndOf(fd_, &::getsockname); }
HostPort Socket::Remote() const { return EndOf(fd_, &::getpeername); }

absl::StatusOr<Socket> ListenAt(const HostPort& address) {
  EST_ASSIGN_OR_RETURN(const AddressList addresses, Resolve(address));
  const HostPort number = Numeric(addresses->ai_addr, addresses->ai_addrlen);
  const bool every =
      IsLoopback(number.host) && !IsLoopback(address.host) && address.host != "localhost";
  sockaddr_storage storage = {};
  std::memcpy(&storage, addresses->ai_addr, addresses->ai_addrlen);
  if (every && addresses->ai_family == AF_INET) {
    reinterpret_cast<sockaddr_in*>(&storage)->sin_addr.s_addr = htonl(INADDR_ANY);
  } else if (every) {
    reinterpret_cast<sockaddr_in6*>(&storage)->sin6_addr = in6addr_any;
  }
  Socket socket(::socket(addresses->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  SetNoDelay(socket.fd());  // accepted connections inherit it
  const int on = 1;
  if (socket.fd() < 0 ||
      ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      ::bind(socket.fd(), reinterpret_cast<sockaddr*>(&storage), addresses->ai_addrlen) != 0 ||
      ::listen(socket.fd(), 512) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen at ", address.ToString(), ": ", std::strerror(errno),
                     "; the address must be that of this machine, and the port must be free"));
  }
  return socket;
}

absl::StatusOr<Socket> ConnectTo(const HostPort& address, Clock::time_point deadline) {
  std::string reason = "the time is over";
  do {
    const absl::StatusOr<AddressList> addresses = Resolve(address);
    if (!addresses.ok()) reason = std::string(addresses.status().message());
    for (const addrinfo* i = addresses.ok() ? addresses->get() : nullptr; i; i = i->ai_next) {
      Socket socket;
      const int error = TryConnect(*i, deadline, &socket);
      if (error == 0) return socket;
      reason = std::strerror(error);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  } while (Clock::now() < deadline);
  return absl::UnavailableError(
      absl::StrCat("cannot connect to ", address.ToString(), ": ", reason));
}

std::string HostName() {
  std::array<char, 256> name = {};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0' ? name.data()
                                                                             : "localhost";
}

std::string HostAddress() {
  ifaddrs* first = nullptr;
  std::string result;
  if (::getifaddrs(&first) != 0) return "127.0.0.1";
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* i = first; i != nullptr && result.empty(); i = i->ifa_next) {
      if (i->ifa_addr == nullptr || i->ifa_addr->sa_family != family) continue;
      if ((i->ifa_flags & IFF_UP) == 0 || (i->ifa_flags & IFF_LOOPBACK) != 0) continue;
      const std::string host =
          Numeric(i->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6)).host;
      if (!absl::StartsWith(host, "fe80:")) result = host;  // link-local: of one cable
    }
  }
  ::freeifaddrs(first);
  return result.empty() ? "127.0.0.1" : result;
}

bool IsLoopback(absl::string_view host) { return absl::StartsWith(host, "127.") || host == "::1"; }

bool WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace estimator
