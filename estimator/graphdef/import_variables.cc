#include "estimator/graphdef/import_variables.h"

#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/part_rows.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/import/flat_graph.h"
#include "estimator/graphdef/node_attr.h"
#include "estimator/graphdef/tensor_proto.h"

namespace estimator {
namespace {

constexpr int64_t kMaxNameBytes = 1 << 26;

absl::StatusOr<std::vector<std::string>> ConstStrings(FlatTensor tensor, const FlatGraph& flat) {
  const FlatNode& node = flat.node(flat.BehindIdentities(tensor).node);
  const proto::AttrValue* const value = FindAttr(*node.def, "value");
  if (node.op != "Const" || value == nullptr) {
    return InvalidArgument("'", node.name, "' is a ", node.op, ", not a constant with names");
  }
  EST_ASSIGN_OR_RETURN(const Array strings, ReadTensorProto(value->tensor(), kMaxNameBytes));
  if (strings.dtype() != DType::kString) {
    return InvalidArgument("'", node.name, "' holds ", strings.TypeString(), ", not strings");
  }
  return std::vector<std::string>(strings.values<std::string>().begin(),
                                  strings.values<std::string>().end());
}

absl::StatusOr<CheckpointSlice> RestoredSlice(FlatTensor restored, const FlatGraph& flat) {
  const std::vector<FlatTensor>& inputs = flat.node(restored.node).inputs;
  if (inputs.size() != 3) return InvalidArgument("RestoreV2 takes 3 inputs");
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> names, ConstStrings(inputs[1], flat));
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> slices, ConstStrings(inputs[2], flat));
  const auto k = static_cast<size_t>(restored.output);
  if (k >= names.size() || k >= slices.size()) {
    return InvalidArgument("RestoreV2 restores ", names.size(), " tensors, so it has no output ",
                           k);
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
  std::vector<SliceExtent> extents;
  for (const int64_t start : begin) extents.push_back({.start = start});
  const PartRows rows(whole.shape(), extents, part.shape());
  const size_t item = DTypeSize(whole.dtype()), run = static_cast<size_t>(rows.run()) * item;
  for (int64_t i = 0; i < rows.num_runs(); ++i) {
    std::memcpy(static_cast<char*>(part.raw()) + static_cast<size_t>(i) * run,
                static_cast<const char*>(whole.raw()) + static_cast<size_t>(rows.Begin(i)) * item,
                run);
  }
}

}  // namespace

absl::Status ParseShapeAndSlice(absl::string_view text, CheckpointSlice& slice) {
  if (text.empty()) return absl::OkStatus();
  const auto bad = [text] {
    return InvalidArgument("'", text,
                           "' is not a slice of a variable; expected the sizes of the whole, then "
                           "begin,size for each axis");
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
  EST_ASSIGN_OR_RETURN(const int root, flat.FindOp(restore.restore_op_name));
  // The restore op groups its Assigns (tf.group), so only control inputs lead to them.
  EST_RETURN_IF_ERROR(flat.Resolve({root}, /*controls=*/true));
  for (const int i : flat.Reached({root}, /*controls=*/true)) {
    const absl::string_view op = flat.op(i);
    // Other nodes that run are not assignments of restored values: file names, NoOps, Identities.
    if ((op != "Assign" && op != "AssignVariableOp") || flat.node(i).inputs.size() != 2) continue;
    const FlatTensor variable = flat.node(i).inputs[0];
    const FlatTensor value = flat.BehindIdentities(flat.node(i).inputs[1]);
    if (flat.op(value.node) != "RestoreV2") continue;
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
    return InvalidArgument(
        "variable '", name, "' is ", spec.ToString(), ", but the checkpoint ", reader.prefix(),
        " holds '", source.name, "' as ", stored.ToString(),
        source.begin.empty()
            ? ""
            : absl::StrCat(", of which the graph takes the part [", absl::StrJoin(source.size, ","),
                           "] of [", absl::StrJoin(source.full_shape, ","), "]"));
  }
  EST_ASSIGN_OR_RETURN(const Array whole, reader.Read(source.name));
  if (source.begin.empty() || whole.shape() == spec.shape) return whole;
  if (DTypeSize(spec.dtype) == 0) {
    return Unimplemented(
        "variable '", name,
        "' is a part of a string variable; only whole string variables can be read");
  }
  Array part(spec.dtype, spec.shape);
  CopySlice(whole, source.begin, part);
  return part;
}

}  // namespace estimator
