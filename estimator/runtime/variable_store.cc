#include "estimator/runtime/variable_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "glog/logging.h"

namespace estimator {
namespace {

void CopyInto(const Array& from, Array& to) {
  if (from.dtype() == DType::kString) {
    const absl::Span<const std::string> strings = from.values<std::string>();
    std::copy(strings.begin(), strings.end(), to.values<std::string>().begin());
  } else if (from.num_bytes() > 0 && from.raw() != to.raw()) {
    std::memmove(to.raw(), from.raw(), from.num_bytes());
  }
}

}  // namespace

bool VariableStore::Has(absl::string_view name) const {
  return entries_.find(name) != entries_.end();
}

VariableStore::Entry& VariableStore::Existing(absl::string_view name) const {
  const auto it = entries_.find(name);
  CHECK(it != entries_.end()) << "no variable " << name;
  return it->second;
}

absl::StatusOr<Array*> VariableStore::Allocate(absl::string_view name, const TensorSpec& spec) {
  const auto it = entries_.find(name);
  if (it == entries_.end()) {
    Entry entry;
    entry.value = Array(spec.dtype, spec.shape);
    return &entries_.emplace(std::string(name), std::move(entry)).first->second.value;
  }
  Array& value = it->second.value;
  if (value.dtype() == spec.dtype && value.shape() == spec.shape) return &value;
  return InvalidArgument("variable '", name, "' is ", spec.ToString(),
                         " in this model, but the store has it as ", value.TypeString());
}

absl::Status VariableStore::Set(absl::string_view name, const Array& value) {
  EST_ASSIGN_OR_RETURN(Array * storage, Allocate(name, {value.dtype(), value.shape()}));
  // Programs hold the address of the storage, so the value is copied into it.
  CopyInto(value, *storage);
  MarkInitialized(name);
  return absl::OkStatus();
}

absl::StatusOr<Array> VariableStore::Get(absl::string_view name) const {
  if (const Array* value = Peek(name)) return value->Clone();
  const std::vector<std::string> names = Names();
  return NotFound("there is no variable '", name, "' among the ", names.size(), " of the store",
                  DidYouMean(name, names));
}

const Array* VariableStore::Peek(absl::string_view name) const {
  const auto it = entries_.find(name);
  if (it == entries_.end()) return nullptr;
  // The device may have a newer value than the host's storage.
  if (it->second.device != nullptr) DownloadEntry(it->first, it->second);
  return &it->second.value;
}

void VariableStore::MarkNewerOnDevice(absl::string_view name,
                                      std::shared_ptr<DeviceValues> device) {
  Entry& entry = Existing(name);
  if (entry.device == nullptr) ++num_newer_on_device_;
  entry.device = std::move(device);
  entry.initialized = true;
  ForgetLoss(entry);
}

bool VariableStore::newer_on(absl::string_view name, const DeviceValues* device) const {
  const auto it = entries_.find(name);
  return it != entries_.end() && device != nullptr && it->second.device.get() == device;
}

absl::Status VariableStore::Download() const {
  // The counters spare a walk over all variables, because a program asks before each step.
  if (num_newer_on_device_ > 0) {
    for (auto& [name, entry] : entries_) {
      if (entry.device != nullptr) DownloadEntry(name, entry);
    }
  }
  if (num_lost_ == 0) return absl::OkStatus();
  for (const auto& [name, entry] : entries_) EST_RETURN_IF_ERROR(entry.lost);
  return absl::OkStatus();
}

void VariableStore::DownloadEntry(const std::string& name, Entry& entry) const {
  // Whatever the outcome, the device is not asked a second time.
  const std::shared_ptr<DeviceValues> device = std::move(entry.device);
  entry.device = nullptr;
  --num_newer_on_device_;
  // The version changes before the copy: one that fails may have written a part of the storage.
  const absl::Status status = device->Download(name, ++entry.version, entry.value);
  if (status.ok()) return;
  // The storage has an old value, which must not pass for the newest one.
  entry.initialized = false;
  if (entry.lost.ok()) ++num_lost_;
  entry.lost = Annotate(status, absl::StrCat("variable '", name, "'"));
  LOG(ERROR) << "cannot copy variable '" << name << "' from its device: " << status;
}

uint64_t VariableStore::version(absl::string_view name) const {
  const auto it = entries_.find(name);
  return it == entries_.end() ? 0 : it->second.version;
}

uint64_t* VariableStore::VersionCounter(absl::string_view name) { return &Existing(name).version; }

bool VariableStore::initialized(absl::string_view name) const {
  const auto it = entries_.find(name);
  return it != entries_.end() && it->second.initialized;
}

const bool* VariableStore::InitializedFlag(absl::string_view name) const {
  return &Existing(name).initialized;
}

void VariableStore::MarkInitialized(absl::string_view name) { SetOnHost(Existing(name), true); }

void VariableStore::MarkUninitialized(absl::string_view name) {
  const auto it = entries_.find(name);
  if (it != entries_.end()) SetOnHost(it->second, false);
}

void VariableStore::SetOnHost(Entry& entry, bool initialized) {
  entry.initialized = initialized;
  ++entry.version;
  ForgetLoss(entry);
  if (entry.device == nullptr) return;
  entry.device = nullptr;
  --num_newer_on_device_;
}

void VariableStore::ForgetLoss(Entry& entry) {
  if (entry.lost.ok()) return;
  entry.lost = absl::OkStatus();
  --num_lost_;
}

std::vector<std::string> VariableStore::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

size_t VariableStore::TotalBytes() const {
  size_t bytes = 0;
  for (const auto& [name, entry] : entries_) bytes += entry.value.num_bytes();
  return bytes;
}

}  // namespace estimator
