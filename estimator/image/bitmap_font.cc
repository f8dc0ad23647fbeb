#include "estimator/image/bitmap_font.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "glog/logging.h"

namespace estimator {
namespace {

constexpr size_t kGlyphWidth = 5;

// The glyphs of `characters` side by side, with a column of spaces between two of them. A pixel
// that is set is a '#'.
struct Block {
  const char* characters;
  std::array<const char*, kGlyphHeight> rows;
};

// clang-format off
constexpr Block kBlocks[] = {
    {"0123456789",
     {" ###    #    ###  #####    #  #####  ###  #####  ###   ### ",
      "#   #  ##   #   #    #    ##  #     #         # #   # #   #",
      "#  ##   #       #   #    # #  #     #        #  #   # #   #",
      "# # #   #      #     #  #  #  ####  ####    #    ###   ####",
      "##  #   #     #       # #####     # #   #   #   #   #     #",
      "#   #   #    #    #   #    #  #   # #   #   #   #   #     #",
      " ###   ###  #####  ###     #   ###   ###    #    ###   ### "}},
    {"ABCDEFGHIJ",
     {" ###  ####   ###  ####  ##### #####  ###  #   #  ###    ###",
      "#   # #   # #   # #   # #     #     #   # #   #   #      # ",
      "#   # #   # #     #   # #     #     #     #   #   #      # ",
      "##### ####  #     #   # ####  ####  # ### #####   #      # ",
      "#   # #   # #     #   # #     #     #   # #   #   #      # ",
      "#   # #   # #   # #   # #     #     #   # #   #   #   #  # ",
      "#   # ####   ###  ####  ##### #      #### #   #  ###   ##  "}},
    {"KLMNOPQRST",
     {"#   # #     #   # #   #  ###  ####   ###  ####   #### #####",
      "#  #  #     ## ## #   # #   # #   # #   # #   # #       #  ",
      "# #   #     # # # ##  # #   # #   # #   # #   # #       #  ",
      "##    #     # # # # # # #   # ####  #   # ####   ###    #  ",
      "# #   #     #   # #  ## #   # #     # # # # #       #   #  ",
      "#  #  #     #   # #   # #   # #     #  #  #  #      #   #  ",
      "#   # ##### #   # #   #  ###  #      ## # #   # ####    #  "}},
    {"UVWXYZ[\\]^",
     {"#   # #   # #   # #   # #   # #####  ###  #      ###    #  ",
      "#   # #   # #   # #   # #   #     #  #    #        #   # # ",
      "#   # #   # #   #  # #   # #     #   #     #       #  #   #",
      "#   # #   # # # #   #     #     #    #      #      #       ",
      "#   # #   # # # #  # #    #    #     #       #     #       ",
      "#   #  # #  ## ## #   #   #   #      #        #    #       ",
      " ###    #   #   # #   #   #   #####  ###      #  ###       "}},
    {"abcdefghij",
     {"      #               #         ##        #       #      # ",
      "      #               #        #          #                ",
      " ###  # ##   ###   ## #  ###  ####   #### # ##   ##     ## ",
      "    # ##  # #     #  ## #   #  #    #   # ##  #   #      # ",
      " #### #   # #     #   # #####  #    #   # #   #   #      # ",
      "#   # #   # #     #   # #      #     #### #   #   #   #  # ",
      " #### ####   ###   ####  ###   #     ###  #   #  ###   ##  "}},
    {"klmnopqrst",
     {"#      ##                                              #   ",
      "#       #                                              #   ",
      "#  #    #   ## #  # ##   ###  ####   #### # ##   #### ###  ",
      "# #     #   # # # ##  # #   # #   # #   # ##  # #      #   ",
      "##      #   # # # #   # #   # #   # #   # #      ###   #   ",
      "# #     #   # # # #   # #   # ####   #### #         #  #   ",
      "#  #   ###  #   # #   #  ###  #         # #     ####    ## "}},
    {"uvwxyz{|}~",
     {"                                       #    #    #         ",
      "                                      #     #     #        ",
      "#   # #   # #   # #   # #   # #####   #     #     #   #    ",
      "#   # #   # # # #  # #  #   #    #   #      #      # # # # ",
      "#   # #   # # # #   #    ####   #     #     #     #     #  ",
      "#  ##  # #  # # #  # #      #  #      #     #     #        ",
      " ## #   #    # #  #   #  ###  #####    #    #    #         "}},
    {"!\"#$%&'()*",
     {"  #    # #   # #    #   ##     #     #      #   #          ",
      "  #    # #   # #   #### ##  # # #    #     #     #    #    ",
      "  #         ##### # #      #   #          #       # # # #  ",
      "  #          # #   ###    #   # #         #       #  ###   ",
      "  #         #####   # #  #    #  ##       #       # # # #  ",
      "             # #  ####  #  ## #  #         #     #    #    ",
      "  #          # #    #      ##  ## #         #   #          "}},
    {"+,-./:;<=>",
     {"                            #               #       #      ",
      "  #                         #   #     #    #         #     ",
      "  #                        #    #     #   #   #####   #    ",
      "#####       #####         #              #             #   ",
      "  #     #                #      #     #   #   #####   #    ",
      "  #     #           #   #       #     #    #         #     ",
      "       #            #   #            #      #       #      "}},
    {"?@_` ",
     {" ###   ###         #         ",
      "#   # #   #         #        ",
      "    # # ###                  ",
      "  ##  # # #                  ",
      "  #   # ###                  ",
      "      #                      ",
      "  #    #### #####            "}},
};
// clang-format on

// Whether the pixel of a character's glyph is set. A character without a glyph is a box.
bool PixelIsSet(char character, size_t row, size_t column) {
  for (const Block& block : kBlocks) {
    const char* const found =
        character == '\0' ? nullptr : std::strchr(block.characters, character);
    if (found == nullptr) continue;
    const auto index = static_cast<size_t>(found - block.characters);
    return block.rows[row][index * (kGlyphWidth + 1) + column] == '#';
  }
  return row == 0 || row == kGlyphHeight - 1 || column == 0 || column == kGlyphWidth - 1;
}

}  // namespace

void DrawText(absl::string_view text, int64_t x, int64_t y, int64_t max_width, uint8_t gray,
              Array& image) {
  CHECK_EQ(image.shape().rank(), 3);
  const int64_t height = image.shape()[0], width = image.shape()[1];
  uint8_t* const pixels = image.data<uint8_t>();
  const int64_t end = std::min(width, x + max_width);
  for (const char character : text) {
    if (x + static_cast<int64_t>(kGlyphWidth) > end) return;
    for (int64_t row = 0; row < kGlyphHeight; ++row) {
      if (y + row < 0 || y + row >= height) continue;
      for (size_t column = 0; column < kGlyphWidth; ++column) {
        if (!PixelIsSet(character, static_cast<size_t>(row), column)) continue;
        std::memset(pixels + ((y + row) * width + x + static_cast<int64_t>(column)) * 3, gray, 3);
      }
    }
    x += kGlyphAdvance;
  }
}

}  // namespace estimator
