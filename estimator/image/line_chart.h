// Draws curves, such as a learning rate by step, into an image.
#ifndef ESTIMATOR_IMAGE_LINE_CHART_H_
#define ESTIMATOR_IMAGE_LINE_CHART_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/array/array.h"

namespace estimator::image {

struct LineChart {
  std::string title = "";    // above the chart
  std::string x_label = "";  // below it
  // Each curve is a line through its points, which are drawn in this order.
  std::vector<std::vector<std::pair<double, double>>> curves = {};
  bool log_x = false;  // a logarithmic axis; all x must be positive then
  int64_t width = 720, height = 420;
};

// Returns u8 [height, width, 3]. The vertical axis begins at 0 unless a value is negative. Points
// with a NaN or an infinity interrupt their curve.
// Errors: INVALID_ARGUMENT if no curve has a finite point, for a size below 200 x 120, or for an x
// that is not positive on a logarithmic axis; NOT_FOUND if the font is not installed.
absl::StatusOr<Array> DrawLineChart(const LineChart& chart);

}  // namespace estimator::image

#endif  // ESTIMATOR_IMAGE_LINE_CHART_H_
