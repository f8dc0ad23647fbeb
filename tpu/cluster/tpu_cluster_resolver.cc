#include "tpu/cluster/tpu_cluster_resolver.h"

#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "tpu/cluster/host_port.h"
#include "tpu/cluster/http_get.h"

namespace estimator::tpu {
namespace {

using Json = nlohmann::json;

constexpr char kLocal[] = "local";
constexpr char kGrpc[] = "grpc://";
constexpr char kDefaultPort[] = "8470";

// The text of a string or number field; "" if it is absent.
std::string Field(const Json& object, const char* name) {
  if (!object.is_object()) return "";
  const auto found = object.find(name);
  if (found == object.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  if (found->is_number_integer()) return absl::StrCat(found->get<int64_t>());
  return "";
}

absl::StatusOr<Json> ParseObject(const std::string& text, const std::string& what) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return InvalidArgument(what, " is not a JSON object: ", text);
  return json;
}

// "grpc://10.0.0.2, 10.0.0.3:8471, [::1]" -> {"10.0.0.2:8470", "10.0.0.3:8471", "[::1]:8470"}
absl::StatusOr<std::vector<std::string>> ParseAddresses(const std::string& text) {
  std::vector<std::string> addresses;
  for (absl::string_view address : absl::StrSplit(text, ',')) {
    address = absl::StripAsciiWhitespace(address);
    absl::ConsumePrefix(&address, kGrpc);
    const absl::StatusOr<HostPort> parsed = ParseHostPort(address, kDefaultPort);
    if (!parsed.ok()) {
      return InvalidArgument("\"", text, "\" has the address \"", address,
                             "\"; an address of a TPU is grpc://HOST or grpc://HOST:PORT (",
                             parsed.status().message(), ")");
    }
    addresses.push_back(parsed->ToString());
  }
  return addresses;
}

// Names have letters, digits and '-' only.
bool IsAddress(const std::string& text) {
  return absl::StartsWith(text, kGrpc) || absl::StrContains(text, ':') ||
         absl::StrContains(text, '.') || absl::StrContains(text, ',');
}

class Search {
 public:
  explicit Search(const TPUClusterResolver& resolver)
      : machine_(resolver.machine),
        name_(resolver.tpu),
        zone_(resolver.zone),
        project_(resolver.project),
        source_("the name that was given") {}

  absl::StatusOr<TPUCluster> Run() {
    if (name_.empty()) EST_RETURN_IF_ERROR(NameFromEnvironment());
    if (name_.empty()) {
      if (const auto hosts = machine_.variable("TPU_WORKER_HOSTNAMES"); hosts.has_value())
        return Local("TPU_WORKER_HOSTNAMES");
      if (Metadata("instance/attributes/accelerator-type").ok())
        return Local("the metadata server");
      return NotFound(
          "no TPU is named: give the name or the address of a TPU (--tpu), or set TPU_NAME; on a "
          "Cloud TPU VM the name is \"local\"");
    }
    if (name_ == kLocal) return Local(source_);
    if (IsAddress(name_)) {
      TPUCluster cluster = {.name = name_, .source = source_};
      EST_ASSIGN_OR_RETURN(cluster.workers, ParseAddresses(name_));
      return cluster;
    }
    if (IsThisMachine()) return Local(absl::StrCat(source_, ", and the metadata server"));
    return FromApi();
  }

 private:
  absl::Status NameFromEnvironment() {
    for (const char* variable : {"KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TPU_NAME"}) {
      if (const auto value = machine_.variable(variable); value.has_value()) {
        name_ = *value;
        source_ = variable;
        return absl::OkStatus();
      }
    }
    const auto config = machine_.variable("TPU_CONFIG");
    if (!config.has_value()) return absl::OkStatus();
    EST_ASSIGN_OR_RETURN(const Json json, ParseObject(*config, "TPU_CONFIG"));
    name_ = Field(json, "tpu_node_name");
    if (name_.empty())
      return InvalidArgument("TPU_CONFIG has no tpu_node_name, the name of the TPU");
    if (project_.empty()) project_ = Field(json, "project");
    if (zone_.empty()) zone_ = Field(json, "zone");
    source_ = "TPU_CONFIG";
    return absl::OkStatus();
  }

  // Asks the metadata server. Errors: NOT_FOUND without a request if this machine has none.
  absl::StatusOr<std::string> Metadata(const std::string& path) const {
    // The look-up of the server's name has no time limit, so it must not begin on other machines.
    if (!HasMetadataServer(machine_)) return NotFound("this machine has no metadata server");
    std::string host = "metadata.google.internal";
    for (const char* variable : {"GCE_METADATA_HOST", "GCE_METADATA_IP"}) {
      if (const auto value = machine_.variable(variable); value.has_value()) host = *value;
    }
    EST_ASSIGN_OR_RETURN(
        const std::string text,
        HttpGet(absl::StrCat("http://", BracketHost(host), "/computeMetadata/v1/", path),
                {.headers = {{"Metadata-Flavor", "Google"}}, .timeout_seconds = 3}));
    return std::string(absl::StripAsciiWhitespace(text));
  }

  // Whether the metadata server says that this machine is a host of the TPU `name_`.
  bool IsThisMachine() const {
    const absl::StatusOr<std::string> environment = Metadata("instance/attributes/tpu-env");
    if (!environment.ok()) return false;
    for (absl::string_view line : absl::StrSplit(*environment, '\n')) {  // NODE_ID: 'my-tpu'
      line = absl::StripAsciiWhitespace(line);
      if (!absl::ConsumePrefix(&line, "NODE_ID:")) continue;
      line = absl::StripAsciiWhitespace(line);
      absl::ConsumePrefix(&line, "'");
      absl::ConsumeSuffix(&line, "'");
      return line == name_;
    }
    return false;
  }

  TPUCluster Local(const std::string& source) const {
    TPUCluster cluster = {.name = name_.empty() ? kLocal : name_, .local = true, .source = source};
    if (const auto type = machine_.variable("TPU_ACCELERATOR_TYPE"); type.has_value()) {
      cluster.accelerator_type = *type;
    } else {
      cluster.accelerator_type = Metadata("instance/attributes/accelerator-type").value_or("");
    }
    if (const auto hosts = machine_.variable("TPU_WORKER_HOSTNAMES"); hosts.has_value()) {
      cluster.workers = absl::StrSplit(*hosts, ',');
    } else if (const auto endpoints = Metadata("instance/attributes/worker-network-endpoints");
               endpoints.ok()) {
      for (const absl::string_view endpoint : absl::StrSplit(*endpoints, ',')) {  // ID:PORT:IP
        const std::vector<std::string> parts = absl::StrSplit(endpoint, absl::MaxSplits(':', 2));
        // Split at two colons only, because an IPv6 address has colons of its own.
        cluster.workers.push_back(parts.back());
      }
    }
    return cluster;
  }

  // Sets `value` from the metadata server if it is empty.
  absl::Status Complete(std::string& value, const char* what, const char* flag,
                        const std::string& path) {
    if (!value.empty()) return absl::OkStatus();
    const absl::StatusOr<std::string> found = Metadata(path);
    if (!found.ok()) {
      return InvalidArgument("the ", what, " of the TPU \"", name_, "\" is not known: give it (",
                             flag, "), or give the address of the TPU in place of its name (",
                             found.status().message(), ")");
    }
    value = found->substr(found->rfind('/') + 1);
    return absl::OkStatus();
  }

  absl::StatusOr<TPUCluster> FromApi() {
    EST_RETURN_IF_ERROR(Complete(project_, "project", "--gcp_project", "project/project-id"));
    EST_RETURN_IF_ERROR(Complete(zone_, "zone", "--tpu_zone", "instance/zone"));
    std::string endpoint =
        machine_.variable("TPU_API_DISCOVERY_URL").value_or("https://tpu.googleapis.com");
    // The variable names a discovery document, of which only the server is used.
    if (const size_t scheme = endpoint.find("://"); scheme != std::string::npos)
      endpoint = endpoint.substr(0, endpoint.find('/', scheme + 3));
    const std::string where =
        absl::StrCat("the TPU \"", name_, "\" of project ", project_, ", zone ", zone_);
    if (absl::StartsWithIgnoreCase(endpoint, "https://")) {
      return Unimplemented(
          where, ": its address is known to ", endpoint,
          ", which needs https, and this program speaks only http. Run on the TPU VM itself with "
          "--tpu=local, or give the address: --tpu=grpc://HOST:8470, or set TPU_API_DISCOVERY_URL "
          "to an http endpoint that forwards to it");
    }
    const absl::StatusOr<std::string> text = HttpGet(
        absl::StrCat(endpoint, "/v1/projects/", project_, "/locations/", zone_, "/nodes/", name_));
    if (!text.ok()) return Annotate(text.status(), where);
    EST_ASSIGN_OR_RETURN(const Json json, ParseObject(*text, "the answer of the TPU API"));
    if (const std::string state = Field(json, "state"); state != "READY") {
      return FailedPrecondition(where, " is not ready; its state is \"", state,
                                "\". Wait until it is, or create it again if it was preempted");
    }
    TPUCluster cluster = {.name = name_,
                          .accelerator_type = Field(json, "acceleratorType"),
                          .source = absl::StrCat(source_, ", and the TPU API of project ", project_,
                                                 ", zone ", zone_)};
    const auto add = [&cluster](const Json& endpoint_json) {
      const std::string address = Field(endpoint_json, "ipAddress");
      const std::string port = Field(endpoint_json, "port");
      if (!address.empty())
        cluster.workers.push_back(
            absl::StrCat(BracketHost(address), ":", port.empty() ? kDefaultPort : port));
    };
    // As TensorFlow's resolver does: a node without a list has its address in itself.
    if (const auto list = json.find("networkEndpoints"); list != json.end() && list->is_array()) {
      for (const Json& one : *list) add(one);
    } else {
      add(json);
    }
    if (cluster.workers.empty())
      return NotFound(where, ": the answer of the TPU API has no address");
    return cluster;
  }

  const Machine& machine_;
  std::string name_, zone_, project_;
  std::string source_;  // of name_
};

}  // namespace

std::string TPUCluster::Master() const {
  return local || workers.empty() ? kLocal : absl::StrCat(kGrpc, workers[0]);
}

std::map<std::string, std::vector<std::string>> TPUCluster::ClusterSpec(
    const std::string& job_name) const {
  if (local) return {};
  return {{job_name, workers}};
}

absl::StatusOr<TPUCluster> TPUClusterResolver::Resolve() const { return Search(*this).Run(); }

}  // namespace estimator::tpu
