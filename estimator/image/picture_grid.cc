#include "estimator/image/picture_grid.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "estimator/base/status.h"

namespace estimator::image {
namespace {

void Paste(const Array& image, int64_t x, int64_t y, Array& sheet) {
  const int64_t row_bytes = image.shape()[1] * 3;
  for (int64_t row = 0; row < image.shape()[0]; ++row) {
    std::memcpy(sheet.data<uint8_t>() + ((y + row) * sheet.shape()[1] + x) * 3,
                image.data<uint8_t>() + row * row_bytes, static_cast<size_t>(row_bytes));
  }
}

}  // namespace

Array FitIntoSquare(const Array& image, int64_t side) {
  const int64_t height = image.shape()[0], width = image.shape()[1];
  const int64_t longest = std::max(height, width);
  int64_t new_height = height * std::max<int64_t>(1, side / longest);
  int64_t new_width = width * std::max<int64_t>(1, side / longest);
  if (longest > side) {
    new_height = std::max<int64_t>(1, height * side / longest);
    new_width = std::max<int64_t>(1, width * side / longest);
  }
  Array result(DType::kUint8, {new_height, new_width, 3});
  const uint8_t* const in = image.data<uint8_t>();
  uint8_t* out = result.data<uint8_t>();
  for (int64_t row = 0; row < new_height; ++row) {
    const int64_t top = row * height / new_height;
    const int64_t bottom = std::max(top + 1, (row + 1) * height / new_height);
    for (int64_t column = 0; column < new_width; ++column) {
      const int64_t left = column * width / new_width;
      const int64_t right = std::max(left + 1, (column + 1) * width / new_width);
      int64_t sums[3] = {0, 0, 0};
      for (int64_t y = top; y < bottom; ++y) {
        for (int64_t x = left; x < right; ++x) {
          for (int64_t c = 0; c < 3; ++c) sums[c] += in[(y * width + x) * 3 + c];
        }
      }
      const int64_t count = (bottom - top) * (right - left);
      for (const int64_t sum : sums) *out++ = static_cast<uint8_t>((sum + count / 2) / count);
    }
  }
  return result;
}

absl::StatusOr<Array> DrawPictureGrid(const std::vector<GridPicture>& pictures,
                                      const PictureGridOptions& options) {
  if (pictures.empty()) return InvalidArgument("there are no pictures to draw");
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<TextFont> font, TextFont::Open(options.font_pixels));
  size_t lines = 0;
  for (const GridPicture& picture : pictures) lines = std::max(lines, picture.lines.size());
  const auto count = static_cast<int64_t>(pictures.size());
  const int64_t columns =
      options.columns > 0 ? std::min(options.columns, count)
                          : static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  const int64_t rows = (count + columns - 1) / columns;
  const int64_t tile_width = options.side + kPictureGap;
  const int64_t tile_height = tile_width + static_cast<int64_t>(lines) * font->line_height();
  const int64_t height = rows * tile_height + kPictureGap;
  const int64_t width = columns * tile_width + kPictureGap;
  if (height * width > kMaxGridPixels)
    return InvalidArgument("a sheet of ", width, " x ", height, " pixels is too large");
  Array sheet(DType::kUint8, {height, width, 3});
  std::memset(sheet.raw(), 255, sheet.num_bytes());
  for (int64_t i = 0; i < count; ++i) {
    const GridPicture& picture = pictures[static_cast<size_t>(i)];
    const Array small = FitIntoSquare(picture.image, options.side);
    const int64_t x = kPictureGap + i % columns * tile_width;
    int64_t y = kPictureGap + i / columns * tile_height + options.side;
    Paste(small, x + (options.side - small.shape()[1]) / 2, y - small.shape()[0], sheet);
    for (const auto& [text, color] : picture.lines) {
      font->Draw(text, x, y, options.side, color, sheet);
      y += font->line_height();
    }
  }
  return sheet;
}

}  // namespace estimator::image
