// The version of the project. This line is its only place: BUILD files and tools that are not C++
// read it from here. CHANGELOG.md has the versions, docs/compatibility.md what a number promises.
#ifndef ESTIMATOR_BASE_VERSION_H_
#define ESTIMATOR_BASE_VERSION_H_

namespace estimator {

inline constexpr char kVersion[] = "1.0.0";

}  // namespace estimator

#endif  // ESTIMATOR_BASE_VERSION_H_
