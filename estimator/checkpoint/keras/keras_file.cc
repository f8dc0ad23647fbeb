#include "estimator/checkpoint/keras/keras_file.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/keras/hdf5_file.h"
#include "estimator/checkpoint/keras/layer_names.h"
#include "estimator/checkpoint/keras/slot_names.h"
#include "estimator/checkpoint/keras/zip_file.h"

namespace estimator {
namespace {

constexpr absl::string_view kHdf5Signature("\x89HDF\r\n\x1a\n", 8);
constexpr absl::string_view kZipSignature("PK\x03\x04", 4);
constexpr int64_t kMaxConfigBytes = int64_t{64} << 20;

bool HasKerasEnding(absl::string_view path) {
  return absl::EndsWith(path, ".h5") || absl::EndsWith(path, ".hdf5") ||
         absl::EndsWith(path, ".keras");
}

absl::StatusOr<std::string> FirstBytes(absl::string_view path) {
  EST_ASSIGN_OR_RETURN(const auto file, RandomAccessFile::Open(path));
  std::string bytes(kHdf5Signature.size(), '\0');
  EST_ASSIGN_OR_RETURN(const size_t count, file->Read(0, bytes.size(), bytes.data()));
  bytes.resize(count);
  return bytes;
}

// "dense/kernel" of "dense/kernel:0".
std::string WithoutOutput(absl::string_view name) {
  const size_t colon = name.rfind(':');
  const bool is_number =
      colon != absl::string_view::npos && colon + 1 < name.size() &&
      name.substr(colon + 1).find_first_not_of("0123456789") == absl::string_view::npos;
  return std::string(is_number ? name.substr(0, colon) : name);
}

// Names the weights of the layout with groups of named weights, by the dataset's path.
std::map<std::string, std::string> NamesOfGroups(const std::vector<Hdf5Dataset>& datasets) {
  std::map<std::string, std::string> names;
  std::map<std::string, int> uses;
  for (const Hdf5Dataset& dataset : datasets) {
    const size_t begin = dataset.group.empty() ? 0 : dataset.group.size() + 1;
    const std::string name = WithoutOutput(absl::string_view(dataset.path).substr(begin));
    ++uses[name];
    names[dataset.path] = name;
  }
  for (const Hdf5Dataset& dataset : datasets) {
    std::string& name = names[dataset.path];
    absl::string_view layer = dataset.group;
    absl::ConsumePrefix(&layer, "model_weights/");
    // Keras 3 names weights "kernel", which every layer has; Keras 1 "block1_conv1_W_1".
    const bool is_own =
        absl::StrContains(name, "/") || absl::StartsWith(name, absl::StrCat(layer, "_")) ||
        layer == "top_level_model_weights" || layer == "optimizer_weights" || layer.empty();
    if (uses[name] > 1 || !is_own) name = absl::StrCat(layer, "/", name);
  }
  return names;
}

class KerasValues : public ValueSource {
 public:
  explicit KerasValues(std::unique_ptr<Hdf5File> file) : file_(std::move(file)) {}

  void Add(const std::string& name, Hdf5Dataset dataset) {
    datasets_.emplace(name, std::move(dataset));
  }

  absl::Status Read(const BundleEntry& entry, const Sink& sink) const override {
    std::string bytes(static_cast<size_t>(entry.size), '\0');
    EST_RETURN_IF_ERROR(ReadInto(entry, bytes.data()));
    for (size_t at = 0; sink && at < bytes.size(); at += kPieceBytes)
      EST_RETURN_IF_ERROR(sink(absl::string_view(bytes).substr(at, kPieceBytes)));
    return absl::OkStatus();
  }
  absl::Status ReadInto(const BundleEntry& entry, char* bytes) const override {
    return file_->Read(datasets_.at(entry.variable), bytes);
  }
  absl::Status ReadRange(const BundleEntry& entry, int64_t begin, size_t n,
                         char* bytes) const override {
    // Ranges are read one after the other, so the last dataset is kept.
    const std::lock_guard<std::mutex> lock(mutex_);
    if (last_name_ != entry.variable) {
      last_name_.clear();
      last_.resize(static_cast<size_t>(entry.size));
      EST_RETURN_IF_ERROR(ReadInto(entry, last_.data()));
      last_name_ = entry.variable;
    }
    std::copy_n(last_.data() + begin, n, bytes);
    return absl::OkStatus();
  }
  std::string Path(int) const override { return file_->path(); }

 private:
  const std::unique_ptr<Hdf5File> file_;
  std::map<std::string, Hdf5Dataset> datasets_;  // by the variable's name
  mutable std::mutex mutex_;                     // guards what follows
  mutable std::string last_name_, last_;
};

// The HDF5 file of the weights, and the contents of config.json.
struct Opened {
  std::unique_ptr<Hdf5File> file;
  std::string config = {};
};

absl::StatusOr<Opened> OpenWeights(absl::string_view path) {
  EST_ASSIGN_OR_RETURN(const std::string first, FirstBytes(path));
  Opened opened;
  if (!absl::StartsWith(first, kZipSignature)) {
    EST_ASSIGN_OR_RETURN(opened.file, Hdf5File::Open(path));
    return opened;
  }
  constexpr char kWeights[] = "model.weights.h5";
  const auto weights = ReadZipFile(path, kWeights);
  if (absl::IsNotFound(weights.status())) {
    return InvalidArgument(weights.status().message(),
                           "; a model of Keras has its weights there: save it with "
                           "model.save(\"NAME.keras\")");
  }
  EST_RETURN_IF_ERROR(weights.status());
  EST_ASSIGN_OR_RETURN(opened.file,
                       Hdf5File::OpenContents(absl::StrCat(path, "/", kWeights), *weights));
  const auto config = ReadZipFile(path, "config.json", kMaxConfigBytes);
  if (!absl::IsNotFound(config.status())) EST_RETURN_IF_ERROR(config.status());
  if (config.ok()) opened.config = *config;
  return opened;
}

}  // namespace

absl::StatusOr<bool> IsKerasFile(absl::string_view path) {
  EST_ASSIGN_OR_RETURN(const bool has_index, Exists(IndexPath(path)));
  if (has_index) return false;
  EST_ASSIGN_OR_RETURN(const bool is_file, Exists(path));
  const bool has_ending = HasKerasEnding(path);
  if (!is_file) {
    if (!has_ending) return false;
    return NotFound("there is no file ", path);
  }
  EST_ASSIGN_OR_RETURN(const bool is_directory, DirectoryExists(path));
  if (is_directory) return false;
  EST_ASSIGN_OR_RETURN(const std::string first, FirstBytes(path));
  if (first == kHdf5Signature || absl::StartsWith(first, kZipSignature)) return true;
  if (!has_ending) return false;
  return InvalidArgument(
      path, " is neither an HDF5 file nor a zip archive: it begins with \"",
      absl::CHexEscape(first),
      "\". Text instead of a file comes from a failed download, or from Git LFS (git lfs pull)");
}

absl::StatusOr<KerasFile> OpenKerasFile(absl::string_view path) {
  EST_ASSIGN_OR_RETURN(Opened opened, OpenWeights(path));
  EST_ASSIGN_OR_RETURN(Hdf5File::Contents contents, opened.file->Walk("weight_names"));
  if (!contents.has_names && !contents.datasets.empty() &&
      std::none_of(contents.datasets.begin(), contents.datasets.end(),
                   [](const auto& dataset) { return absl::StrContains(dataset.path, "vars/"); })) {
    return InvalidArgument(path, " is an HDF5 file, but not of Keras: no group has the attribute ",
                           "weight_names, and no dataset is in a group vars; the first dataset is ",
                           contents.datasets.front().path);
  }
  const std::map<std::string, std::string> names =
      contents.has_names ? NamesOfGroups(contents.datasets)
                         : NamesOfLayers(contents.datasets, opened.config);
  std::set<std::string> all;
  for (const auto& [dataset, name] : names) all.insert(name);
  const std::map<std::string, std::string> slots = OurSlotNames(all);
  KerasFile result;
  auto values = std::make_unique<KerasValues>(std::move(opened.file));
  for (Hdf5Dataset& dataset : contents.datasets) {
    const auto found = names.find(dataset.path);
    if (found == names.end()) continue;
    const auto slot = slots.find(found->second);
    const std::string& name = slot == slots.end() ? found->second : slot->second;
    if (name.empty()) return DataLoss(path, ": ", dataset.path, ": a weight without a name");
    BundleEntry entry;
    entry.variable = name;
    entry.dtype_on_disk = dataset.dtype_on_disk;
    entry.spec = {DTypeFromDisk(dataset.dtype_on_disk), dataset.shape};
    entry.offset = dataset.offset;
    entry.size = dataset.size_bytes;
    if (!result.index.tensors.emplace(name, std::move(entry)).second)
      return DataLoss(path, ": two weights have the name ", name);
    values->Add(name, std::move(dataset));
  }
  result.values = std::move(values);
  return result;
}

}  // namespace estimator
