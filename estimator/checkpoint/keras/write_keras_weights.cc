#include "estimator/checkpoint/keras/write_keras_weights.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/keras/hdf5_handle.h"

namespace estimator {
namespace {

using Variables = std::vector<std::pair<std::string, Array>>;

// The order of a layer's weights, trainable ones first.
constexpr absl::string_view kWeightOrder[] = {"gamma",
                                              "beta",
                                              "depthwise_kernel",
                                              "pointwise_kernel",
                                              "kernel",
                                              "recurrent_kernel",
                                              "alpha",
                                              "embeddings",
                                              "bias",
                                              "mean",
                                              "variance",
                                              "count",
                                              "moving_mean",
                                              "moving_variance"};
constexpr absl::string_view kPartOrder[] = {"query", "key", "value", "attention_output"};
constexpr absl::string_view kCells[] = {"lstm_cell", "gru_cell", "simple_rnn_cell"};

template <size_t n>
std::optional<size_t> PlaceIn(const absl::string_view (&list)[n], absl::string_view word) {
  const auto* const found = std::find(std::begin(list), std::end(list), word);
  if (found == std::end(list)) return std::nullopt;
  return static_cast<size_t>(found - std::begin(list));
}

bool IsDirection(absl::string_view part) {
  return absl::StartsWith(part, "forward_") || absl::StartsWith(part, "backward_");
}

// The layer of a variable; empty if it has none.
std::string LayerOf(const std::string& name, const std::set<std::string>& names) {
  std::vector<std::string> parts = absl::StrSplit(name, '/');
  parts.pop_back();
  if (parts.size() > 1 && PlaceIn(kCells, parts.back())) {
    parts.pop_back();
    if (parts.size() > 1 && IsDirection(parts.back())) parts.pop_back();
  } else if (parts.size() > 1 && PlaceIn(kPartOrder, parts.back())) {
    const std::string layer = absl::StrJoin(parts.begin(), parts.end() - 1, "/");
    if (names.count(layer + "/query/kernel") > 0 && names.count(layer + "/value/kernel") > 0)
      parts.pop_back();
  }
  return absl::StrJoin(parts, "/");
}

// A weight's place in its layer: the part of the layer, and the weight in that.
using Place = std::pair<size_t, size_t>;

// The place of a weight in its layer; nullopt if it is not known.
std::optional<Place> PlaceInLayer(const std::string& name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  const std::optional<size_t> place = PlaceIn(kWeightOrder, parts.back());
  if (!place) return std::nullopt;
  size_t part = 0;
  for (const absl::string_view word : parts) {
    if (const auto found = PlaceIn(kPartOrder, word)) part = *found;
    if (absl::StartsWith(word, "backward_")) part = 1;
  }
  return Place{part, *place};
}

struct Layer {
  std::string name;
  struct Weight {
    const std::pair<std::string, Array>* variable;
    std::optional<Place> place;
  };
  std::vector<Weight> weights = {};

  // If the place of one is not known, they keep their order.
  void Sort() {
    if (std::any_of(weights.begin(), weights.end(), [](const Weight& w) { return !w.place; }))
      return;
    std::stable_sort(weights.begin(), weights.end(),
                     [](const Weight& a, const Weight& b) { return *a.place < *b.place; });
  }
};

absl::StatusOr<std::vector<Layer>> SplitIntoLayers(const Variables& variables) {
  std::set<std::string> names;
  for (const auto& [name, value] : variables) {
    if (!names.insert(name).second) return InvalidArgument(name, " is given twice");
    const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
    if (absl::StartsWith(name, ".") || std::find(parts.begin(), parts.end(), "") != parts.end() ||
        std::find(parts.begin(), parts.end(), ".") != parts.end())
      return InvalidArgument("'", name, "' cannot be the name of a weight in HDF5");
    if (DTypeSize(value.dtype()) == 0) {
      return InvalidArgument(name, " is ", value.TypeString(),
                             "; Keras' .h5 files have only numbers: leave it out");
    }
  }
  std::vector<Layer> layers;
  std::map<std::string, size_t> numbers;  // of layers
  std::vector<std::string> homeless;
  for (const auto& variable : variables) {
    const std::string name = LayerOf(variable.first, names);
    if (name.empty()) {
      homeless.push_back(variable.first);
      continue;
    }
    const auto [number, is_new] = numbers.emplace(name, layers.size());
    if (is_new) layers.push_back({.name = name});
    layers[number->second].weights.push_back({&variable, PlaceInLayer(variable.first)});
  }
  if (!homeless.empty()) {
    return InvalidArgument("no layer has ", JoinSome(homeless, 10),
                           "; Keras' names are LAYER/WEIGHT: leave these out");
  }
  for (Layer& layer : layers) layer.Sort();
  return layers;
}

// Writes with the library; the first error is kept.
class Hdf5Writer {
 public:
  explicit Hdf5Writer(hid_t file) : file_(file) {}

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }

  // Creates a group and those around it that do not exist.
  void Group(const std::string& path) {
    for (size_t end = path.find('/'); ok(); end = path.find('/', end + 1)) {
      const std::string part = path.substr(0, end);
      if (H5Lexists(file_, part.c_str(), H5P_DEFAULT) <= 0) {
        const Hdf5Handle group(
            H5Gcreate2(file_, part.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
        Check(group.ok(), part);
      }
      if (end == std::string::npos) return;
    }
  }

  // A text, or a list of texts.
  void Attribute(const std::string& group, const char* name, const char* text) {
    const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    WriteAttribute(group, name, space.get(), &text);
  }
  void Attribute(const std::string& group, const char* name, const std::vector<std::string>& list) {
    std::vector<const char*> texts;
    for (const std::string& text : list) texts.push_back(text.c_str());
    const hsize_t count = texts.size();
    const Hdf5Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    WriteAttribute(group, name, space.get(), texts.data());
  }

  void Dataset(const std::string& path, const Array& value) {
    std::vector<hsize_t> dims(value.shape().dims().begin(), value.shape().dims().end());
    const int type_number = static_cast<int>(value.dtype());
    const Hdf5Handle type(Hdf5MemoryType(type_number), H5Tclose);
    const Hdf5Handle space(dims.empty()
                               ? H5Screate(H5S_SCALAR)
                               : H5Screate_simple(value.shape().rank(), dims.data(), nullptr),
                           H5Sclose);
    const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    // The same weights give the same bytes.
    Check(H5Pset_obj_track_times(creation.get(), false) >= 0, path);
    const Hdf5Handle dataset(H5Dcreate2(file_, path.c_str(), type.get(), space.get(), H5P_DEFAULT,
                                        creation.get(), H5P_DEFAULT),
                             H5Dclose);
    Check(dataset.ok(), path);
    if (!ok() || value.num_elements() == 0) return;
    Check(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, value.raw()) >= 0,
          path);
  }

 private:
  void Check(bool success, const std::string& what) {
    if (!success && ok()) error_ = absl::StrCat(what, ": ", Hdf5Guard::Error());
  }

  void WriteAttribute(const std::string& group, const char* name, hid_t space,
                      const char* const* texts) {
    const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.get(), H5T_VARIABLE);
    const Hdf5Handle attribute(H5Acreate_by_name(file_, group.c_str(), name, type.get(), space,
                                                 H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                               H5Aclose);
    Check(attribute.ok() && H5Awrite(attribute.get(), type.get(), texts) >= 0,
          absl::StrCat(group, ": ", name));
  }

  const hid_t file_;
  std::string error_;  // the first
};

void WriteLayers(const std::vector<Layer>& layers, Hdf5Writer& writer) {
  std::vector<std::string> names;
  for (const Layer& layer : layers) names.push_back(layer.name);
  writer.Attribute("/", "layer_names", names);
  writer.Attribute("/", "backend", "tensorflow");
  // Keras transposes what a version 1 wrote, or a file without a version.
  writer.Attribute("/", "keras_version", "2.15.0");
  for (const Layer& layer : layers) {
    std::vector<std::string> weights;
    writer.Group(layer.name);
    for (const Layer::Weight& weight : layer.weights) {
      const auto& [variable, value] = *weight.variable;
      weights.push_back(absl::StrCat(variable, ":0"));
      const std::string path = absl::StrCat(layer.name, "/", weights.back());
      writer.Group(path.substr(0, path.rfind('/')));
      writer.Dataset(path, value.dtype() == DType::kBfloat16 ? value.Cast(DType::kFloat32) : value);
    }
    writer.Attribute(layer.name, "weight_names", weights);
  }
}

absl::StatusOr<std::string> FileOf(const std::string& path, const std::vector<Layer>& layers) {
  size_t num_bytes = 0;
  for (const Layer& layer : layers) {
    for (const Layer::Weight& weight : layer.weights)
      num_bytes += weight.variable->second.num_bytes();
  }
  const Hdf5Guard guard;
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const size_t grow_bytes = std::max<size_t>(1 << 16, num_bytes / 8);
  H5Pset_fapl_core(access.get(), grow_bytes, /*backing_store=*/false);
  // In memory only. With the name of a file that exists, the library would read that file first.
  const Hdf5Handle file(
      H5Fcreate(absl::StrCat(path, "#new").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()),
      H5Fclose);
  if (!file.ok()) return absl::InternalError(absl::StrCat(path, ": ", Hdf5Guard::Error()));
  Hdf5Writer writer(file.get());
  WriteLayers(layers, writer);
  if (!writer.ok()) return InvalidArgument(path, ": cannot write ", writer.error());
  H5Fflush(file.get(), H5F_SCOPE_GLOBAL);
  const ssize_t size = H5Fget_file_image(file.get(), nullptr, 0);
  std::string contents(static_cast<size_t>(std::max<ssize_t>(size, 0)), '\0');
  if (size <= 0 || H5Fget_file_image(file.get(), contents.data(), contents.size()) != size)
    return absl::InternalError(absl::StrCat(path, ": ", Hdf5Guard::Error()));
  return contents;
}

}  // namespace

absl::Status WriteKerasWeights(StringArg path, const Variables& variables) {
  const std::string file(path);
  if (absl::EndsWith(file, ".weights.h5")) {
    return InvalidArgument(file, ": Keras expects its layout without names in .weights.h5; choose ",
                           "a name such as ", file.substr(0, file.size() - 11), ".h5");
  }
  if (!absl::EndsWith(file, ".h5") && !absl::EndsWith(file, ".hdf5")) {
    return InvalidArgument(file, ": Keras loads weights by name only from .h5 and .hdf5; use ",
                           file, ".h5");
  }
  const auto layers = SplitIntoLayers(variables);
  if (!layers.ok()) return Annotate(layers.status(), file);
  EST_ASSIGN_OR_RETURN(const std::string contents, FileOf(file, *layers));
  if (const absl::string_view directory = Dirname(file); !directory.empty())
    EST_RETURN_IF_ERROR(CreateDirectories(directory));
  return WriteFileAtomically(file, contents);
}

}  // namespace estimator
