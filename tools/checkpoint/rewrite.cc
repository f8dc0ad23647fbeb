#include "tools/checkpoint/rewrite.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/input_file.h"
#include "estimator/checkpoint/keras/write_keras_weights.h"

namespace estimator {
namespace {

// Returns how a part is stored. A variable that is not partitioned has no extents.
BundleWriter::Stored StoredLike(const BundleEntry& variable, size_t part) {
  return {.dtype_on_disk = variable.dtype_on_disk,
          .shape = variable.spec.shape,
          .extents =
              variable.slices.empty() ? std::vector<SliceExtent>() : variable.slices[part].extents,
          .crc32c = std::nullopt};
}

bool IsStepDType(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64; }

// Whether both are floating, or both integers.
bool CastsTo(DType from, DType to) {
  return IsFloating(to) ? IsFloating(from) : IsStepDType(from) && IsStepDType(to);
}

absl::Status CheckFits(const Array& numbers, const std::string& name, DType to) {
  if (numbers.dtype() != DType::kInt64 || to != DType::kInt32) return absl::OkStatus();
  using Limits = std::numeric_limits<int32_t>;
  for (const int64_t number : numbers.values<int64_t>()) {
    if (number >= Limits::min() && number <= Limits::max()) continue;
    return OutOfRange(
        name, ": ", number,
        " does not fit into int32; leave the variable out with --include or --exclude");
  }
  return absl::OkStatus();
}

// Writes a part of variable `name` in another dtype. Counts finite numbers that become infinite.
absl::Status CastPart(const BundleReader& reader, const std::string& name, const BundleEntry& part,
                      DType to, const BundleWriter::Append& append, int64_t* num_overflows) {
  const size_t element_bytes = DTypeSize(part.spec.dtype);
  return reader.values().Read(part, [&](absl::string_view piece) -> absl::Status {
    EST_RETURN_IF_ERROR(CheckInterrupt());
    const auto count = static_cast<int64_t>(piece.size() / element_bytes);
    // The array shares the buffer's memory. Array::Cast only reads it.
    const Array from =
        Array::Wrap(part.spec.dtype, {count}, const_cast<char*>(piece.data()), nullptr);
    EST_RETURN_IF_ERROR(CheckFits(from, name, to));
    const Array cast = from.Cast(to);
    if (IsFloating(to) && (DTypeSize(to) < element_bytes || to == DType::kFloat16)) {
      for (int64_t i = 0; i < count; ++i) {
        *num_overflows += std::isinf(cast.AsDouble(i)) && !std::isinf(from.AsDouble(i));
      }
    }
    return append({static_cast<const char*>(cast.raw()), cast.num_bytes()});
  });
}

std::string Wrote(const std::string& output, size_t num_variables) {
  return absl::StrCat("wrote ", output, ", ", num_variables, " variables\n");
}

// Whether WriteKerasWeights writes such a file, or says why it does not.
bool IsKerasPath(absl::string_view path) {
  return absl::EndsWith(path, ".h5") || absl::EndsWith(path, ".hdf5") ||
         absl::EndsWith(path, ".keras");
}

// Whether a name is a counter or a slot of another variable: ours, as "dense/kernel/Adam", or
// Keras', as "SGD/m/dense/kernel" and "optimizer/3".
bool IsOfOptimizer(const BundleReader& reader, const std::string& name) {
  const size_t last = name.rfind('/');
  if (last == std::string::npos || reader.Has(name.substr(0, last))) return true;
  const size_t second = name.find('/', name.find('/') + 1);
  return absl::StartsWith(name, "optimizer/") ||
         (second != std::string::npos && reader.Has(name.substr(second + 1)));
}

absl::StatusOr<std::string> ConvertToKeras(const BundleReader& reader,
                                           const std::vector<std::string>& names,
                                           const std::string& output) {
  std::vector<std::pair<std::string, Array>> weights;
  size_t num_others = 0;
  for (const std::string& name : names) {
    if (IsOfOptimizer(reader, name)) {
      ++num_others;
      continue;
    }
    EST_RETURN_IF_ERROR(CheckInterrupt());
    EST_ASSIGN_OR_RETURN(Array value, reader.Read(name));
    weights.emplace_back(name, std::move(value));
  }
  EST_RETURN_IF_ERROR(WriteKerasWeights(output, weights));
  return absl::StrCat(Wrote(output, weights.size()), num_others > 0 ? "note: left out " : "",
                      num_others > 0 ? absl::StrCat(num_others, " slots and counters\n") : "",
                      "note: layers are sorted by name: model.load_weights(path, by_name=True)\n");
}

}  // namespace

absl::Status CopyVariable(const BundleReader& reader, const std::string& name,
                          const std::string& new_name, BundleWriter& writer) {
  const BundleEntry& entry = reader.index().tensors.at(name);
  const std::vector<const BundleEntry*> parts = reader.index().PartsOf(entry);
  for (size_t i = 0; i < parts.size(); ++i) {
    BundleWriter::Stored stored = StoredLike(entry, i);
    stored.crc32c = parts[i]->crc32c();
    EST_RETURN_IF_ERROR(writer.AddStored(new_name, stored, [&](const BundleWriter::Append& append) {
      return reader.values().Read(*parts[i], [&](absl::string_view piece) -> absl::Status {
        EST_RETURN_IF_ERROR(CheckInterrupt());
        return append(piece);
      });
    }));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> ReadInputState(const std::string& prefix) {
  EST_ASSIGN_OR_RETURN(const bool exists, Exists(InputStatePath(prefix)));
  if (!exists) return std::nullopt;
  EST_ASSIGN_OR_RETURN(const InputFile file, ReadInputFile(prefix));
  return file.state;  // without the checksum of the graph, which is not copied
}

absl::StatusOr<std::string> FinishCheckpoint(BundleWriter& writer, const std::string& output,
                                             const std::optional<std::string>& input_state) {
  const std::string path = InputStatePath(output), graph = MetaGraphPath(output);
  std::string note;
  if (FileExists(graph)) {
    EST_RETURN_IF_ERROR(RemoveFile(graph));
    note = absl::StrCat("note: removed ", graph, ", the graph of the replaced checkpoint\n");
  }
  if (input_state.has_value()) {
    EST_RETURN_IF_ERROR(WriteDerivedFile(path, *input_state));
    absl::StrAppend(&note, "note: ", path, ", the input position, is a copy of the source's\n");
  } else if (FileExists(path)) {
    EST_RETURN_IF_ERROR(RemoveFile(path));
    absl::StrAppend(&note, "note: removed ", path,
                    ", the input position of the replaced checkpoint: training from the new "
                    "checkpoint reads its input from the start\n");
  }
  // Last: it writes the index, with which the checkpoint exists.
  EST_RETURN_IF_ERROR(writer.Finish());
  return note;
}

absl::StatusOr<std::string> Rename(const BundleReader& reader, const NameMap& map,
                                   const std::string& output) {
  EST_ASSIGN_OR_RETURN(const auto new_names, map.Apply(reader.names()));
  EST_ASSIGN_OR_RETURN(const auto input_state, ReadInputState(reader.prefix()));
  EST_ASSIGN_OR_RETURN(const auto writer, BundleWriter::Open(output));
  std::vector<std::vector<std::string>> rows = {{"variable", "new name"}};
  for (const auto& [name, new_name] : new_names) {
    EST_RETURN_IF_ERROR(CopyVariable(reader, name, new_name, *writer));
    if (name != new_name) rows.push_back({name, new_name});
  }
  EST_ASSIGN_OR_RETURN(const std::string note, FinishCheckpoint(*writer, output, input_state));
  return absl::StrCat(FormatTable(rows), Wrote(output, new_names.size()), note);
}

bool IsCastDType(DType dtype) { return IsFloating(dtype) || IsStepDType(dtype); }

absl::StatusOr<std::string> Cast(const BundleReader& reader, const CastOptions& options,
                                 const std::string& output) {
  for (const DType from : options.from) {
    if (CastsTo(from, options.to)) continue;
    return InvalidArgument(
        "cannot cast ", DTypeName(from), " to ", DTypeName(options.to),
        ": floating variables stay floating, integers (int32, int64) stay integers");
  }
  EST_ASSIGN_OR_RETURN(const auto selected, SelectNames(reader, options.filter));
  const std::set<std::string> names(selected.begin(), selected.end());
  EST_ASSIGN_OR_RETURN(const auto input_state, ReadInputState(reader.prefix()));
  EST_ASSIGN_OR_RETURN(const auto writer, BundleWriter::Open(output));
  int num_cast = 0;
  std::string notes;
  for (const auto& [name, entry] : reader.index().tensors) {
    const DType dtype = entry.spec.dtype;
    const bool wanted =
        names.count(name) > 0 && CastsTo(dtype, options.to) && dtype != options.to &&
        (options.from.empty() ||
         std::find(options.from.begin(), options.from.end(), dtype) != options.from.end());
    if (!wanted) {
      EST_RETURN_IF_ERROR(CopyVariable(reader, name, name, *writer));
      continue;
    }
    ++num_cast;
    int64_t num_overflows = 0;
    const std::vector<const BundleEntry*> parts = reader.index().PartsOf(entry);
    for (size_t i = 0; i < parts.size(); ++i) {
      BundleWriter::Stored stored = StoredLike(entry, i);
      stored.dtype_on_disk = static_cast<int>(options.to);
      EST_RETURN_IF_ERROR(writer->AddStored(name, stored, [&](const BundleWriter::Append& append) {
        return CastPart(reader, name, *parts[i], options.to, append, &num_overflows);
      }));
    }
    if (num_overflows > 0) {
      absl::StrAppend(&notes, "warning: ", name, ": ", num_overflows, " of ",
                      entry.spec.shape.num_elements(), " numbers are too large for ",
                      DTypeName(options.to), " and became infinite\n");
    }
  }
  EST_ASSIGN_OR_RETURN(const std::string note, FinishCheckpoint(*writer, output, input_state));
  return absl::StrCat(notes, "cast ", num_cast, " variables to ", DTypeName(options.to), "; ",
                      Wrote(output, reader.names().size()), note);
}

absl::StatusOr<std::string> Extract(const BundleReader& reader,
                                    const std::vector<std::string>& names, const NameFilter& filter,
                                    const std::string& output) {
  std::set<std::string> wanted;
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    wanted.insert(reader.NameOf(name));
    if (reader.Has(name)) continue;
    missing.push_back(absl::StrCat(name, DidYouMean(name, reader.names())));
  }
  if (!missing.empty()) {
    return NotFound("checkpoint ", reader.prefix(), " does not have ",
                    absl::StrJoin(missing, ", "));
  }
  if (!filter.include.empty() || !filter.exclude.empty()) {
    EST_ASSIGN_OR_RETURN(const auto selected, SelectNames(reader, filter));
    wanted.insert(selected.begin(), selected.end());
  }
  if (wanted.empty()) {
    return InvalidArgument(
        "name the variables to extract after the output, or select them with --include or "
        "--exclude");
  }
  EST_ASSIGN_OR_RETURN(const auto writer, BundleWriter::Open(output));
  for (const std::string& name : wanted) {
    EST_RETURN_IF_ERROR(CopyVariable(reader, name, name, *writer));
  }
  EST_ASSIGN_OR_RETURN(const std::string note, FinishCheckpoint(*writer, output, std::nullopt));
  return absl::StrCat(Wrote(output, wanted.size()), note);
}

absl::StatusOr<std::string> Convert(const BundleReader& reader, const NameFilter& filter,
                                    const std::string& output) {
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> names, SelectNames(reader, filter));
  if (IsKerasPath(output)) return ConvertToKeras(reader, names, output);
  EST_ASSIGN_OR_RETURN(const auto input_state, ReadInputState(reader.prefix()));
  EST_ASSIGN_OR_RETURN(const auto writer, BundleWriter::Open(output));
  for (const std::string& name : names) {
    EST_RETURN_IF_ERROR(CopyVariable(reader, name, name, *writer));
  }
  EST_ASSIGN_OR_RETURN(const std::string note, FinishCheckpoint(*writer, output, input_state));
  return absl::StrCat(Wrote(output, names.size()), note);
}

}  // namespace estimator
