#include "estimator/image/line_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "absl/strings/str_format.h"
#include "estimator/base/status.h"
#include "estimator/image/text.h"

namespace estimator::image {
namespace {

constexpr int64_t kFontPixels = 11;
constexpr Color kFrame = {96, 96, 96}, kGrid = {224, 224, 224};
constexpr std::array<Color, 5> kCurves = {
    {{31, 119, 180}, {214, 39, 40}, {44, 160, 44}, {255, 127, 14}, {148, 103, 189}}};
constexpr int64_t kLeft = 76, kRight = 16, kTop = 26, kBottom = 40;  // margins, in pixels

// An axis from `low` to `high`, which are pixels `begin` and `end`.
struct ChartAxis {
  double low, high;
  int64_t begin, end;
  bool logarithmic = false;

  double Pixel(double value) const {
    const double at =
        logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return static_cast<double>(begin) + at * static_cast<double>(end - begin);
  }
  // Round values on the axis, 4 to 10 of them where it is linear.
  std::vector<double> Ticks() const {
    std::vector<double> ticks;
    if (logarithmic) {
      for (double tick = std::pow(10, std::ceil(std::log10(low) - 1e-9)); tick <= high * (1 + 1e-9);
           tick *= 10)
        ticks.push_back(tick);
      return ticks;
    }
    const double power = std::pow(10, std::floor(std::log10((high - low) / 4)));
    double step = power;
    for (const double factor : {2, 5}) {
      if ((high - low) / (factor * power) >= 4) step = factor * power;
    }
    for (double tick = std::ceil(low / step - 1e-9) * step; tick <= high + step * 1e-9;
         tick += step)
      ticks.push_back(std::fabs(tick) < step * 1e-9 ? 0 : tick);
    return ticks;
  }
};

class ChartCanvas {
 public:
  ChartCanvas(int64_t width, int64_t height, TextFont& font)
      : image_(DType::kUint8, {height, width, 3}), font_(font) {
    for (uint8_t& value : image_.values<uint8_t>()) value = 255;
  }

  void Line(double x0, double y0, double x1, double y1, const Color& color, int64_t thickness = 1) {
    const double length = std::max({std::fabs(x1 - x0), std::fabs(y1 - y0), 1.0});
    for (double at = 0; at <= length; ++at) {
      const auto x = std::llround(x0 + (x1 - x0) * at / length);
      const auto y = std::llround(y0 + (y1 - y0) * at / length);
      for (int64_t dy = 0; dy < thickness; ++dy)
        for (int64_t dx = 0; dx < thickness; ++dx) Set(x + dx, y + dy, color);
    }
  }
  //   y: of the middle of the line.  align: the part of the text left of x.
  void Text(const std::string& text, double x, int64_t y, double align) {
    const int64_t width = font_.Width(text);
    font_.Draw(text, std::max<int64_t>(0, std::llround(x - align * static_cast<double>(width))),
               y - font_.line_height() / 2, width, kBlack, image_);
  }
  const Array& image() const { return image_; }

 private:
  void Set(int64_t x, int64_t y, const Color& color) {
    if (x < 0 || y < 0 || x >= image_.shape()[1] || y >= image_.shape()[0]) return;
    std::copy(color.begin(), color.end(), image_.data<uint8_t>() + (y * image_.shape()[1] + x) * 3);
  }
  Array image_;
  TextFont& font_;
};

bool IsFinite(const std::pair<double, double>& point) {
  return std::isfinite(point.first) && std::isfinite(point.second);
}

}  // namespace

absl::StatusOr<Array> DrawLineChart(const LineChart& chart) {
  if (chart.width < 200 || chart.height < 120) {
    return InvalidArgument("a chart needs 200 x 120 pixels, not ", chart.width, " x ",
                           chart.height);
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ChartAxis x{kInfinity, -kInfinity, kLeft, chart.width - kRight, chart.log_x};
  ChartAxis y{0, -kInfinity, chart.height - kBottom, kTop};
  for (const auto& curve : chart.curves) {
    for (const auto& point : curve) {
      if (!IsFinite(point)) continue;
      if (chart.log_x && point.first <= 0)
        return InvalidArgument("x is ", point.first, " on a logarithmic axis");
      x.low = std::min(x.low, point.first);
      x.high = std::max(x.high, point.first);
      y.low = std::min(y.low, point.second);
      y.high = std::max(y.high, point.second);
    }
  }
  if (x.high < x.low) return InvalidArgument("a chart needs a finite point");
  if (x.high == x.low) x.high = x.low + (x.low == 0 ? 1 : std::fabs(x.low));
  if (y.high == y.low) y.high = y.low + 1;
  y.high += (y.high - y.low) * 0.04;

  EST_ASSIGN_OR_RETURN(const std::unique_ptr<TextFont> font, TextFont::Open(kFontPixels));
  ChartCanvas canvas(chart.width, chart.height, *font);
  for (const double tick : x.Ticks()) {
    canvas.Line(x.Pixel(tick), kTop, x.Pixel(tick), static_cast<double>(y.begin), kGrid);
    canvas.Text(absl::StrFormat("%.6g", tick), x.Pixel(tick), y.begin + 9, 0.5);
  }
  for (const double tick : y.Ticks()) {
    canvas.Line(kLeft, y.Pixel(tick), static_cast<double>(x.end), y.Pixel(tick), kGrid);
    canvas.Text(absl::StrFormat("%.4g", tick), kLeft - 6, std::llround(y.Pixel(tick)), 1);
  }
  const auto left = static_cast<double>(x.begin), right = static_cast<double>(x.end);
  const auto bottom = static_cast<double>(y.begin), top = static_cast<double>(y.end);
  canvas.Line(left, top, left, bottom, kFrame);
  canvas.Line(left, bottom, right, bottom, kFrame);
  canvas.Text(chart.title, (left + right) / 2, 12, 0.5);
  canvas.Text(chart.x_label, (left + right) / 2, chart.height - 11, 0.5);
  for (size_t i = 0; i < chart.curves.size(); ++i) {
    const auto& curve = chart.curves[i];
    const Color& color = kCurves[i % kCurves.size()];
    for (size_t p = 0; p < curve.size(); ++p) {
      const auto& from = curve[p == 0 ? 0 : p - 1];
      if (!IsFinite(from) || !IsFinite(curve[p])) continue;
      canvas.Line(x.Pixel(from.first), y.Pixel(from.second), x.Pixel(curve[p].first),
                  y.Pixel(curve[p].second), color, 2);
    }
  }
  return canvas.image();
}

}  // namespace estimator::image
