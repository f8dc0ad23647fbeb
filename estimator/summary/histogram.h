// Histograms of tensors for TensorBoard.
#ifndef ESTIMATOR_SUMMARY_HISTOGRAM_H_
#define ESTIMATOR_SUMMARY_HISTOGRAM_H_

#include <vector>

#include "estimator/array/array.h"

namespace estimator {

// Bucket i counts the values in [limits[i-1], limits[i]). Bucket 0 counts those below limits[0].
struct Histogram {
  double min = 0;
  double max = 0;
  double num = 0;
  double sum = 0;
  double sum_squares = 0;
  std::vector<double> limits;   // increasing
  std::vector<double> buckets;  // one for each limit
};

// Counts the elements in TensorFlow's buckets. Their limits are 1e-12 * 1.1^k up to 1e20, the same
// numbers below zero, zero itself, and the largest double. Runs of empty buckets are merged into
// one. NaN and infinities are not counted.
//   values: numeric, of any shape. An empty histogram has one bucket, which is empty.
// Source: TF 2.15 tsl/lib/histogram.
Histogram MakeHistogram(const Array& values);

}  // namespace estimator

#endif  // ESTIMATOR_SUMMARY_HISTOGRAM_H_
