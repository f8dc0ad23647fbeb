#include "tools/checkpoint/diff.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "tools/checkpoint/damage.h"
#include "tools/checkpoint/elements.h"
#include "tools/checkpoint/tensor_stream.h"

namespace estimator {
namespace {

// The difference of one variable: a row of the table. Elements within the tolerances do not count.
struct Finding {
  int64_t num_different = 0;
  int64_t worst = -1;
  std::string a, b;  // the values of the element that differs most
  Number max_absolute = 0;
  Number max_relative = 0;
};

std::string TypeText(const BundleEntry& entry) {
  return absl::StrCat(DTypeOnDiskName(entry.dtype_on_disk), " ", entry.spec.shape.ToString());
}

// Returns for example "[1,0,7]".
std::string IndexText(const Shape& shape, int64_t element) {
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()));
  for (size_t axis = index.size(); axis-- > 0;) {
    const int64_t size = shape.dim(static_cast<int>(axis));
    index[axis] = element % size;
    element /= size;
  }
  return absl::StrCat("[", absl::StrJoin(index, ","), "]");
}

// Returns the absolute and the relative difference. For complex numbers it is that of the part that
// differs most.
std::pair<Number, Number> AbsoluteAndRelative(const Number* a, const Number* b, int parts,
                                              const DiffOptions& options, bool* close) {
  Number absolute = 0, relative = 0;
  for (int i = 0; i < parts; ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const Number difference = std::abs(a[i] - b[i]), size = std::abs(b[i]);
    if (!(difference <= options.atol + options.rtol * size) || std::isinf(difference)) {
      *close = false;
    }
    const Number infinite = HUGE_VALL;
    absolute = std::max(absolute, std::isnan(difference) ? infinite : difference);
    relative =
        std::max(relative, size > 0 && !std::isnan(difference) ? difference / size : infinite);
  }
  return {absolute, relative};
}

absl::StatusOr<Finding> DiffNumbers(const BundleReader& a, const BundleReader& b,
                                    const std::string& name, const DiffOptions& options) {
  const int dtype_a = a.index().tensors.at(name).dtype_on_disk;
  const int dtype_b = b.index().tensors.at(name).dtype_on_disk;
  EST_ASSIGN_OR_RETURN(TensorStream stream_a, TensorStream::Open(a, name));
  EST_ASSIGN_OR_RETURN(TensorStream stream_b, TensorStream::Open(b, name));
  const int64_t total = a.index().tensors.at(name).spec.shape.num_elements();
  const auto bytes_a = static_cast<size_t>(DTypeOnDiskSize(dtype_a));
  const auto bytes_b = static_cast<size_t>(DTypeOnDiskSize(dtype_b));
  const int parts = NumbersPerElement(dtype_a);
  std::string buffer_a, buffer_b;
  std::vector<Number> numbers_a, numbers_b;
  Finding finding;
  for (int64_t done = 0; done < total;) {
    EST_RETURN_IF_ERROR(CheckInterrupt());
    const int64_t count = std::min(kElementsAtOnce, total - done);
    buffer_a.resize(static_cast<size_t>(count) * bytes_a);
    buffer_b.resize(static_cast<size_t>(count) * bytes_b);
    EST_RETURN_IF_ERROR(stream_a.Read(buffer_a.size(), buffer_a.data()));
    EST_RETURN_IF_ERROR(stream_b.Read(buffer_b.size(), buffer_b.data()));
    // Equal bytes are equal numbers, and need not be decoded.
    if (dtype_a != dtype_b || buffer_a != buffer_b) {
      DecodeElements(dtype_a, buffer_a, &numbers_a);
      DecodeElements(dtype_b, buffer_b, &numbers_b);
      for (int64_t i = 0; i < count; ++i) {
        bool close = true;
        const Number* const at_a = &numbers_a[static_cast<size_t>(i * parts)];
        const Number* const at_b = &numbers_b[static_cast<size_t>(i * parts)];
        const auto [absolute, relative] = AbsoluteAndRelative(at_a, at_b, parts, options, &close);
        if (close) continue;
        finding.max_relative = std::max(finding.max_relative, relative);
        if (absolute > finding.max_absolute) {
          finding.max_absolute = absolute;
          finding.worst = done + i;
          finding.a = ElementText(dtype_a, at_a);
          finding.b = ElementText(dtype_b, at_b);
        }
        ++finding.num_different;
      }
    }
    done += count;
  }
  return finding;
}

// Whether both are stored in the same bytes. Verifies all of them.
absl::StatusOr<bool> SameStoredBytes(const BundleReader& a, const BundleReader& b,
                                     const BundleEntry& entry_a, const BundleEntry& entry_b) {
  const auto parts_a = a.index().PartsOf(entry_a), parts_b = b.index().PartsOf(entry_b);
  bool same = parts_a.size() == parts_b.size();
  for (const BundleEntry* const part : parts_b) {
    EST_RETURN_IF_ERROR(b.values().Read(*part, nullptr));
  }
  std::string other;
  for (size_t i = 0; i < parts_a.size(); ++i) {
    same = same && parts_a[i]->size == parts_b[i]->size &&
           parts_a[i]->spec.shape == parts_b[i]->spec.shape;
    int64_t position = 0;
    EST_RETURN_IF_ERROR(a.values().Read(*parts_a[i], [&](absl::string_view piece) -> absl::Status {
      EST_RETURN_IF_ERROR(CheckInterrupt());
      if (!same) return absl::OkStatus();
      other.resize(piece.size());
      EST_RETURN_IF_ERROR(b.values().ReadRange(*parts_b[i], position, piece.size(), other.data()));
      same = other == piece;
      position += static_cast<int64_t>(piece.size());
      return absl::OkStatus();
    }));
  }
  return same;
}

std::string Quoted(const std::string& text) {
  return absl::StrCat("'", absl::CEscape(absl::string_view(text).substr(0, 40)),
                      text.size() > 40 ? "..." : "", "'");
}

absl::StatusOr<Finding> DiffOthers(const BundleReader& a, const BundleReader& b,
                                   const std::string& name) {
  const BundleEntry& entry_a = a.index().tensors.at(name);
  const BundleEntry& entry_b = b.index().tensors.at(name);
  EST_ASSIGN_OR_RETURN(const bool same, SameStoredBytes(a, b, entry_a, entry_b));
  if (same) return Finding();
  if (!StringsFitInMemory(a, entry_a) || !StringsFitInMemory(b, entry_b)) {
    return Finding{.num_different = -1, .a = "", .b = ""};
  }
  EST_ASSIGN_OR_RETURN(const Array strings_a, a.Read(name));
  EST_ASSIGN_OR_RETURN(const Array strings_b, b.Read(name));
  Finding finding;
  for (int64_t i = 0; i < strings_a.num_elements(); ++i) {
    const std::string& text_a = strings_a.data<std::string>()[i];
    const std::string& text_b = strings_b.data<std::string>()[i];
    if (text_a == text_b) continue;
    if (finding.num_different++ > 0) continue;
    finding.worst = i;
    finding.a = Quoted(text_a);
    finding.b = Quoted(text_b);
  }
  return finding;
}

bool IsStep(const BundleEntry& entry) {
  return IsInteger(entry.spec.dtype) && entry.spec.shape.rank() == 0 &&
         entry.variable == "global_step";
}

// Returns the reason why the two cannot be compared element by element, or "" if they can.
std::string Incomparable(const BundleEntry& a, const BundleEntry& b, const DiffOptions& options) {
  if (!(a.spec.shape == b.spec.shape)) return "shapes differ";
  if (a.dtype_on_disk == b.dtype_on_disk || (IsStep(a) && IsStep(b))) return "";
  const int numbers = NumbersPerElement(a.dtype_on_disk);
  if (options.ignore_dtype && numbers > 0 && numbers == NumbersPerElement(b.dtype_on_disk)) {
    return "";
  }
  return "dtypes differ";
}

std::string Short(Number number) {
  return number == 0 ? "-" : absl::StrFormat("%.3g", static_cast<double>(number));
}

// Appends the damage of a variable on one side to `damage`. Returns whether there is any.
absl::StatusOr<bool> AddDamage(const BundleReader& side, const std::string& name,
                               std::vector<std::string>* damage) {
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> lines, DamageOf(side, name));
  damage->insert(damage->end(), lines.begin(), lines.end());
  return !lines.empty();
}

// For a variable whose comparison failed: returns where it is damaged, or that it cannot be read
// for another reason. Appends the damage to `damage`.
absl::StatusOr<std::string> DamagedWhere(const BundleReader& a, const BundleReader& b,
                                         const std::string& name, const absl::Status& failure,
                                         std::vector<std::string>* damage) {
  if (absl::IsCancelled(failure)) return failure;
  EST_ASSIGN_OR_RETURN(const bool in_a, AddDamage(a, name, damage));
  EST_ASSIGN_OR_RETURN(const bool in_b, AddDamage(b, name, damage));
  if (in_a) return in_b ? "damaged in both" : "damaged in A";
  if (!in_b) damage->push_back(absl::StrCat(name, ": ", failure.message()));
  return in_b ? "damaged in B" : "not readable";
}

}  // namespace

absl::StatusOr<DiffReport> Diff(const BundleReader& a, const BundleReader& b,
                                const DiffOptions& options) {
  if (!(options.rtol >= 0) || !(options.atol >= 0)) {
    return InvalidArgument("--rtol and --atol must be >= 0, got ", options.rtol, " and ",
                           options.atol);
  }
  const auto names_a = SelectNames(a, options.filter), names_b = SelectNames(b, options.filter);
  if (!names_a.ok() && !names_b.ok()) return names_a.status();
  std::set<std::string> names;
  if (names_a.ok()) names.insert(names_a->begin(), names_a->end());
  if (names_b.ok()) names.insert(names_b->begin(), names_b->end());
  for (const auto* const side : {&names_a, &names_b}) {
    if (!side->ok() && !absl::IsNotFound(side->status())) return side->status();
  }
  std::vector<std::vector<std::string>> rows = {
      {"variable", "A", "B", "differ", "of", "worst at", "in A", "in B", "max abs", "max rel"}};
  int num_equal = 0, num_different = 0, num_only_a = 0, num_only_b = 0, num_damaged = 0;
  std::vector<std::string> damage;
  for (const std::string& name : names) {
    const auto in_a = a.index().tensors.find(name), in_b = b.index().tensors.find(name);
    if (in_a == a.index().tensors.end()) {
      ++num_only_b;
      rows.push_back({name, "-", TypeText(in_b->second), "only in B"});
      EST_RETURN_IF_ERROR(AddDamage(b, name, &damage).status());
      continue;
    }
    const BundleEntry& entry_a = in_a->second;
    if (in_b == b.index().tensors.end()) {
      ++num_only_a;
      rows.push_back({name, TypeText(entry_a), "-", "only in A"});
      EST_RETURN_IF_ERROR(AddDamage(a, name, &damage).status());
      continue;
    }
    const BundleEntry& entry_b = in_b->second;
    if (const std::string why = Incomparable(entry_a, entry_b, options); !why.empty()) {
      ++num_different;
      rows.push_back({name, TypeText(entry_a), TypeText(entry_b), why});
      EST_RETURN_IF_ERROR(AddDamage(a, name, &damage).status());
      EST_RETURN_IF_ERROR(AddDamage(b, name, &damage).status());
      continue;
    }
    const bool numbers = NumbersPerElement(entry_a.dtype_on_disk) > 0;
    absl::StatusOr<Finding> found =
        numbers ? DiffNumbers(a, b, name, options) : DiffOthers(a, b, name);
    if (!found.ok()) {
      EST_ASSIGN_OR_RETURN(const std::string where,
                           DamagedWhere(a, b, name, found.status(), &damage));
      ++num_damaged;
      rows.push_back({name, TypeText(entry_a), TypeText(entry_b), where});
      continue;
    }
    if (found->num_different == 0) {
      ++num_equal;
      continue;
    }
    ++num_different;
    rows.push_back({name, TypeText(entry_a), TypeText(entry_b),
                    found->num_different < 0 ? "some" : absl::StrCat(found->num_different),
                    absl::StrCat(entry_a.spec.shape.num_elements()),
                    found->worst < 0 ? "-" : IndexText(entry_a.spec.shape, found->worst), found->a,
                    found->b, Short(found->max_absolute), Short(found->max_relative)});
  }
  DiffReport report{.equal = rows.size() == 1, .damage = std::move(damage), .text = ""};
  if (!report.equal) report.text = FormatTable(rows);
  absl::StrAppend(&report.text, "variables: ", num_equal,
                  options.rtol > 0 || options.atol > 0 ? " close" : " equal");
  if (num_different > 0) absl::StrAppend(&report.text, ", ", num_different, " different");
  if (num_damaged > 0) absl::StrAppend(&report.text, ", ", num_damaged, " damaged");
  if (num_only_a > 0) absl::StrAppend(&report.text, ", ", num_only_a, " only in A");
  if (num_only_b > 0) absl::StrAppend(&report.text, ", ", num_only_b, " only in B");
  absl::StrAppend(&report.text, " (A: ", a.prefix(), ", B: ", b.prefix(),
                  absl::StrFormat("; rtol %g, atol %g)\n", options.rtol, options.atol));
  return report;
}

}  // namespace estimator
