#include "tpu/cluster/host_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"

namespace estimator::tpu {
namespace {

// Whether this is an IPv6 address without brackets, with or without the zone of "fe80::1%eth0".
bool IsIPv6(absl::string_view host) {
  const std::string address(host.substr(0, host.find('%')));
  in6_addr parsed;
  return inet_pton(AF_INET6, address.c_str(), &parsed) == 1;
}

absl::Status Invalid(absl::string_view text, absl::string_view problem) {
  return InvalidArgument("the address \"", text, "\" ", problem);
}

}  // namespace

std::string HostPort::ToString() const { return absl::StrCat(BracketHost(host), ":", port); }

absl::StatusOr<HostPort> ParseHostPort(StringArg text, StringArg default_port) {
  const absl::string_view whole = text;
  absl::string_view host = whole, port = default_port;
  if (absl::ConsumePrefix(&host, "[")) {
    const size_t bracket = host.find(']');
    if (bracket == absl::string_view::npos) return Invalid(whole, "has no closing bracket");
    absl::string_view rest = host.substr(bracket + 1);
    host = host.substr(0, bracket);
    if (!IsIPv6(host)) return Invalid(whole, "has no IPv6 address in its brackets");
    const bool has_port = absl::ConsumePrefix(&rest, ":");
    if (!has_port && !rest.empty())
      return Invalid(whole, "has text after its bracket that is no :PORT");
    if (has_port) port = rest;
  } else if (IsIPv6(host)) {
    // The last group of such an address could also be a port.
    return Invalid(whole,
                   "is an IPv6 address without brackets; write it as [ADDRESS] or "
                   "[ADDRESS]:PORT");
  } else if (const size_t colon = host.find(':'); colon != absl::string_view::npos) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  int number = 0;
  if (host.empty()) return Invalid(whole, "has no host");
  if (!absl::SimpleAtoi(port, &number) || number < 1 || number > 65535) {
    return Invalid(whole, absl::StrCat("has the port \"", port, "\"; a port is in [1, 65535]"));
  }
  return HostPort{.host = std::string(host), .port = absl::StrCat(number)};
}

std::string BracketHost(StringArg host) {
  const absl::string_view text = host;
  return IsIPv6(text) ? absl::StrCat("[", text, "]") : std::string(text);
}

}  // namespace estimator::tpu
