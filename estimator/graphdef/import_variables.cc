#include "estimator/graphdef/import_variables.h"

#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/tensor_proto.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

constexpr int64_t kMaxNameBytes = 1 << 26;

// The node that computes `tensor`, after skipping Identity nodes.
absl::StatusOr<FlatTensor> Source(FlatTensor tensor, FlatGraph& flat) {
  for (int steps = 0; steps < 100; ++steps) {
    const FlatNode& node = flat.node(tensor.node);
    if (node.def->op() != "Identity") break;
    EST_RETURN_IF_ERROR(flat.Resolve(tensor.node));
    if (flat.node(tensor.node).inputs.empty()) break;
    tensor = flat.node(tensor.node).inputs[0];
  }
  return tensor;
}

absl::StatusOr<std::vector<std::string>> ConstStrings(FlatTensor tensor, FlatGraph& flat) {
  EST_ASSIGN_OR_RETURN(tensor, Source(tensor, flat));
  const FlatNode& node = flat.node(tensor.node);
  const auto value = node.def->attr().find("value");
  if (node.def->op() != "Const" || value == node.def->attr().end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", node.name, "' is a ", node.def->op(), ", not a constant with names"));
  }
  EST_ASSIGN_OR_RETURN(const Array strings, ReadTensorProto(value->second.tensor(), kMaxNameBytes));
  if (strings.dtype() != DType::kString) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", node.name, "' holds ", strings.TypeString(), ", not strings"));
  }
  return std::vector<std::string>(strings.values<std::string>().begin(),
                                  strings.values<std::string>().end());
}

absl::StatusOr<CheckpointSlice> RestoredSlice(FlatTensor restored, FlatGraph& flat) {
  EST_RETURN_IF_ERROR(flat.Resolve(restored.node));
  const std::vector<FlatTensor> inputs = flat.node(restored.node).inputs;
  if (inputs.size() != 3) return absl::InvalidArgumentError("RestoreV2 takes 3 inputs");
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> names, ConstStrings(inputs[1], flat));
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> slices, ConstStrings(inputs[2], flat));
  const auto k = static_cast<size_t>(restored.output);
  if (k >= names.size() || k >= slices.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("RestoreV2 restores ", names.size(), " tensors, so it has no output ", k));
  }
  CheckpointSlice slice{.name = names[k]};
  EST_RETURN_IF_ERROR(ParseShapeAndSlice(slices[k], slice));
  return slice;
}

bool ParseSizes(absl::Span<const absl::string_view> words, std::vector<int64_t>& sizes) {
  for (const absl::string_view word : words) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(word, &size) || size < 0) return false;
    sizes.push_back(size);
  }
  return true;
}

// Copies the part of `whole` that begins at `begin` and has the shape of `part`.
void CopySlice(const Array& whole, const std::vector<int64_t>& begin, Array& part) {
  const std::vector<int64_t> strides = whole.shape().strides();
  const int rank = part.shape().rank();
  const int64_t row = rank == 0 ? 1 : part.shape().dim(-1);
  const size_t item = DTypeSize(whole.dtype());
  std::vector<int64_t> at(begin.size(), 0);  // the current index within the part
  // Rows along the last axis are contiguous in both, so each is one copy.
  for (int64_t done = 0; done < part.num_elements(); done += row) {
    int64_t from = 0;
    for (size_t axis = 0; axis < begin.size(); ++axis)
      from += (begin[axis] + at[axis]) * strides[axis];
    std::memcpy(static_cast<char*>(part.raw()) + static_cast<size_t>(done) * item,
                static_cast<const char*>(whole.raw()) + static_cast<size_t>(from) * item,
                static_cast<size_t>(row) * item);
    for (int axis = rank - 2; axis >= 0; --axis) {
      if (++at[static_cast<size_t>(axis)] < part.shape().dim(axis)) break;
      at[static_cast<size_t>(axis)] = 0;
    }
  }
}

}  // namespace

absl::Status ParseShapeAndSlice(absl::string_view text, CheckpointSlice& slice) {
  if (text.empty()) return absl::OkStatus();
  const auto bad = [text] {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text,
                     "' is not a slice of a variable; expected the sizes of the whole, then "
                     "begin,size for each axis"));
  };
  // The text is "SIZE SIZE ... AXIS:AXIS:...", where each AXIS is "begin,size" or "-".
  const std::vector<absl::string_view> words = absl::StrSplit(text, ' ');
  if (words.size() < 2 ||
      !ParseSizes(absl::MakeSpan(words).first(words.size() - 1), slice.full_shape))
    return bad();
  const std::vector<absl::string_view> axes = absl::StrSplit(words.back(), ':');
  if (axes.size() != slice.full_shape.size()) return bad();
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t whole = slice.full_shape[i];
    if (axes[i] == "-") {
      slice.begin.push_back(0);
      slice.size.push_back(whole);
      continue;
    }
    std::vector<int64_t> part;
    const std::vector<absl::string_view> numbers = absl::StrSplit(axes[i], ',');
    // part[1] is compared with whole - part[0], because their sum may overflow.
    if (numbers.size() != 2 || !ParseSizes(numbers, part) || part[0] > whole ||
        part[1] > whole - part[0])
      return bad();
    slice.begin.push_back(part[0]);
    slice.size.push_back(part[1]);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::map<int, CheckpointSlice>> FindCheckpointSlices(const RestoreOps& restore,
                                                                    FlatGraph& flat) {
  std::map<int, CheckpointSlice> slices;
  EST_ASSIGN_OR_RETURN(const std::vector<int> nodes, flat.AllThatRuns(restore.restore_op_name));
  for (const int i : nodes) {
    const std::string& op = flat.node(i).def->op();
    // Other nodes that run are not assignments of restored values: file names, NoOps, Identities.
    if ((op != "Assign" && op != "AssignVariableOp") || flat.node(i).inputs.size() != 2) continue;
    const FlatTensor variable = flat.node(i).inputs[0];
    EST_ASSIGN_OR_RETURN(const FlatTensor value, Source(flat.node(i).inputs[1], flat));
    if (flat.node(value.node).def->op() != "RestoreV2") continue;
    const absl::StatusOr<CheckpointSlice> slice = RestoredSlice(value, flat);
    if (!slice.ok()) return Annotate(slice.status(), flat.node(value.node).name);
    slices.emplace(variable.node, *slice);
  }
  return slices;
}

absl::StatusOr<Array> ReadVariable(const ImportedVariable& variable, const BundleReader& reader) {
  const TensorSpec& spec = variable.variable.spec();
  const CheckpointSlice& source = variable.source;
  const std::string& name = variable.variable.node()->name();
  EST_ASSIGN_OR_RETURN(const TensorSpec stored, reader.Spec(source.name));
  // The checkpoint has the whole of a partitioned variable, so the shape of the whole is compared.
  const TensorSpec expected = {spec.dtype,
                               source.begin.empty() ? spec.shape : Shape(source.full_shape)};
  const bool fits = source.begin.empty() || Shape(source.size) == spec.shape;
  if (!(stored == expected) || !fits) {
    return absl::InvalidArgumentError(absl::StrCat(
        "variable '", name, "' is ", spec.ToString(), ", but the checkpoint ", reader.prefix(),
        " holds '", source.name, "' as ", stored.ToString(),
        source.begin.empty()
            ? ""
            : absl::StrCat(", of which the graph takes the part [", absl::StrJoin(source.size, ","),
                           "] of [", absl::StrJoin(source.full_shape, ","), "]")));
  }
  EST_ASSIGN_OR_RETURN(const Array whole, reader.Read(source.name));
  if (source.begin.empty() || whole.shape() == spec.shape) return whole;
  if (DTypeSize(spec.dtype) == 0) {
    return absl::UnimplementedError(
        absl::StrCat("variable '", name,
                     "' is a part of a string variable; only whole string variables can be read"));
  }
  Array part(spec.dtype, spec.shape);
  CopySlice(whole, source.begin, part);
  return part;
}

}  // namespace estimator
