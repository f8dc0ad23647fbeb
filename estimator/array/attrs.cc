#include "estimator/array/attrs.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/array/compare.h"
#include "glog/logging.h"

namespace estimator {
namespace {

struct Printer {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return absl::StrCat(value); }
  std::string operator()(float value) const { return absl::StrCat(value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(DType value) const { return std::string(DTypeName(value)); }
  std::string operator()(const Shape& value) const { return value.ToString(); }
  std::string operator()(const Array& value) const {
    return absl::StrCat(value.TypeString(), " ", value.ToString());
  }
  template <typename T>
  std::string operator()(const std::vector<T>& values) const {
    return absl::StrCat("[", absl::StrJoin(values, ","), "]");
  }
};

bool SameValue(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Array>) {
          return SameBits(value, std::get<T>(b));
        } else {
          return value == std::get<T>(b);
        }
      },
      a);
}

}  // namespace

std::string AttrToString(const AttrValue& value) { return std::visit(Printer(), value); }

const AttrValue& Attrs::Find(absl::string_view name) const {
  const auto found = values_.find(std::string(name));
  CHECK(found != values_.end()) << "no attribute '" << name << "' among: " << ToString();
  return found->second;
}

bool operator==(const Attrs& a, const Attrs& b) {
  if (a.values_.size() != b.values_.size()) return false;
  for (auto i = a.values_.begin(), j = b.values_.begin(); i != a.values_.end(); ++i, ++j) {
    if (i->first != j->first || !SameValue(i->second, j->second)) return false;
  }
  return true;
}

std::string Attrs::ToString() const {
  return absl::StrJoin(values_, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first, "=", AttrToString(entry.second));
  });
}

}  // namespace estimator
