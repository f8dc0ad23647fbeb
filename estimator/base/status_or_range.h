// StatusOrRange: an absl::StatusOr of a container that a range-for may read from a call's result.
#ifndef ESTIMATOR_BASE_STATUS_OR_RANGE_H_
#define ESTIMATOR_BASE_STATUS_OR_RANGE_H_

#include <absl/status/statusor.h>

#include <utility>

namespace estimator {

// Converts from and to absl::StatusOr<T>. The difference is in the value of a temporary:
//   for (const std::string& name : *estimator.GetVariableNames()) ...
// With absl::StatusOr the loop reads memory that was freed before its first iteration, because `*`
// returns a reference into the temporary. Here `*` and value() of a temporary return the container
// itself, which lives as long as the loop.
template <typename T>
class [[nodiscard]] StatusOrRange : public absl::StatusOr<T> {
 public:
  using absl::StatusOr<T>::StatusOr;
  StatusOrRange(absl::StatusOr<T> result) : absl::StatusOr<T>(std::move(result)) {}  // NOLINT

  const T& operator*() const& { return *Base(*this); }
  T& operator*() & { return *Base(*this); }
  T operator*() && { return *Base(std::move(*this)); }
  const T& value() const& { return Base(*this).value(); }
  T& value() & { return Base(*this).value(); }
  T value() && { return Base(std::move(*this)).value(); }

 private:
  static const absl::StatusOr<T>& Base(const absl::StatusOr<T>& base) { return base; }
  static absl::StatusOr<T>& Base(absl::StatusOr<T>& base) { return base; }
  static absl::StatusOr<T>&& Base(absl::StatusOr<T>&& base) { return std::move(base); }
};

}  // namespace estimator

#endif  // ESTIMATOR_BASE_STATUS_OR_RANGE_H_
