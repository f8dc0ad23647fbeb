"""Small pictures, and files of every kind that JPEG, PNG and BMP have. generate.py and
testdata/interop/check_images.py use them. Needs tensorflow-cpu 2.15.1; the files are the same at
every run."""

import struct
import zlib

import numpy as np
import tensorflow as tf

raw = tf.raw_ops


def crc32c(data):
    """CRC-32C of bytes."""
    if not hasattr(crc32c, "table"):
        table = np.arange(256, dtype=np.uint32)
        for _ in range(8):
            table = np.where(table & 1, np.uint32(0x82F63B78) ^ (table >> 1), table >> 1)
        crc32c.table = table.tolist()
    crc, table = 0xFFFFFFFF, crc32c.table
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def draw(height, width, channels, seed=0, dtype=np.uint8):
    """Slopes, a disc with a sharp edge and a little noise, so that neither edges nor colors are
    trivial."""
    rng = np.random.default_rng(seed)
    most = np.iinfo(dtype).max
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    planes = []
    for c in range(channels):
        plane = 0.5 + 0.3 * np.sin(x * (0.11 + 0.07 * c) + seed) * np.cos(y * (0.09 + 0.05 * c))
        disc = (y - height * 0.45) ** 2 + (x - width * (0.3 + 0.15 * c)) ** 2 < (min(height, width)
                                                                                 * 0.3) ** 2
        plane = np.where(disc, 1 - plane, plane) + rng.normal(0, 0.02, plane.shape)
        planes.append(plane)
    return np.clip(np.stack(planes, axis=2) * most, 0, most).astype(dtype)


def arrays():
    """Images to encode, by name."""
    images = {f"u8_{channels}": draw(13, 18, channels, channels) for channels in (1, 2, 3, 4)}
    images |= {f"u16_{channels}": draw(7, 9, channels, channels, np.uint16)
               for channels in (1, 2, 3, 4)}
    return {**images, "pixel": draw(1, 1, 3), "row": draw(1, 40, 1), "column": draw(33, 1, 3)}


def segments(contents):
    """The marker segments of a JPEG file before its data: [(marker, body)], and the rest."""
    position, result = 2, []
    while True:
        marker, length = contents[position
                                  + 1], struct.unpack(">H", contents[position + 2:position + 4])[0]
        if marker == 0xDA:
            return result, contents[position:]
        result.append((marker, contents[position + 4:position + 2 + length]))
        position += 2 + length


def join(parts, rest):
    return b"\xff\xd8" + b"".join(struct.pack(">BBH", 255, marker, len(body) + 2) + body for marker,
                                  body in parts) + rest


def with_orientation(contents, orientation):
    """Adds EXIF data with an orientation."""
    tiff = b"MM\x00\x2a\x00\x00\x00\x08" + struct.pack(">HHHIHHI", 1, 0x0112, 3, 1, orientation, 0,
                                                       0)
    parts, rest = segments(contents)
    return join([(0xE1, b"Exif\x00\x00" + tiff), *parts], rest)


def with_sampling(contents, sampling):
    """Changes the sampling factors of a grey file (one component may have any)."""
    parts, rest = segments(contents)
    return join([(m, b[:7] + bytes([sampling]) + b[8:] if m in (0xC0, 0xC2) else b) for m,
                 b in parts], rest)


class BitWriter:
    def __init__(self):
        self.value, self.count, self.data = 0, 0, bytearray()

    def write(self, value, count):
        self.value, self.count = (self.value << count) | value, self.count + count
        while self.count >= 8:
            self.count -= 8
            byte = (self.value >> self.count) & 255
            self.data += bytes([byte, 0]) if byte == 255 else bytes([byte])
        self.value &= (1 << self.count) - 1

    def finish(self):
        if self.count:
            self.write((1 << (8 - self.count)) - 1, 8 - self.count)
        return bytes(self.data)


def flat_jpeg(height, width, samplings, transform=None, restart=0):
    """A JPEG file of flat blocks of 8x8, with any number of components and any sampling factors
    [(h, v), ...]: it has only DC coefficients, whose differences have 0 to 7 bits. transform: that
    of an Adobe marker."""
    rng = np.random.default_rng(len(samplings) + height)
    h_most, v_most = max(h for h, _ in samplings), max(v for _, v in samplings)
    parts = [] if transform is None else [(0xEE, b"Adobe\x00\x64\x00\x00\x00\x00"
                                           + bytes([transform]))]
    parts.append((0xDB, b"\x00" + bytes([8] * 64)))
    components = b"".join(bytes([c + 1, h << 4 | v, 0]) for c, (h, v) in enumerate(samplings))
    parts.append((0xC0, struct.pack(">BHHB", 8, height, width, len(samplings)) + components))
    # DC: 8 codes of 4 bits
    parts.append((0xC4, b"\x00" + bytes([0, 0, 0, 8] + [0] * 12) + bytes(range(8))))
    parts.append((0xC4, b"\x10" + bytes([1] + [0] * 15) + b"\x00"))  # AC: "end of block" is 0
    if restart:
        parts.append((0xDD, struct.pack(">H", restart)))
    scan = bytes([len(samplings)]) + b"".join(bytes([c + 1, 0])
                                              for c in range(len(samplings))) + b"\x00\x3f\x00"
    bits, data, last = BitWriter(), b"", [0] * len(samplings)
    mcus = -(-height // (8 * v_most)) * -(-width // (8 * h_most))
    for mcu in range(mcus):
        if restart and mcu and mcu % restart == 0:
            data += bits.finish() + bytes([255, 0xD0 + (mcu // restart - 1) % 8])
            bits, last = BitWriter(), [0] * len(samplings)
        for c, (h, v) in enumerate(samplings):
            for _ in range(h * v):
                value = int(rng.integers(-100, 101))
                difference = value - last[c]
                while abs(difference) > 127:
                    difference //= 2
                last[c] += difference
                size = abs(difference).bit_length()
                bits.write(size, 4)
                bits.write(difference if difference >= 0 else difference + (1 << size) - 1, size)
                bits.write(0, 1)
    data += bits.finish()
    return join(parts, b"\xff\xda" + struct.pack(">H", len(scan) + 2) + scan + data + b"\xff\xd9")


def jpegs():
    """JPEG files by name."""
    def encode(image, **options):
        return raw.EncodeJpeg(image=image, **options).numpy()

    rgb, grey = draw(45, 61, 3), draw(37, 50, 1)
    files = {
        "rgb_420": encode(rgb),
        "rgb_444": encode(rgb, chroma_downsampling=False),
        "progressive": encode(rgb, progressive=True),
        "quality_20": encode(rgb, quality=20, optimize_size=True),
        "grey": encode(grey),
        "grey_progressive": encode(grey, progressive=True),
        "grey_2x2": with_sampling(encode(grey), 0x22),
        "one_pixel": encode(draw(1, 1, 3)),
        "one_row": encode(draw(1, 70, 3)),
        "one_column": encode(draw(70, 1, 3)),
        "wide": encode(draw(16, 200, 3)),
        "orientation_6": with_orientation(encode(rgb), 6),
        "rgb_422": flat_jpeg(33, 47, [(2, 1), (1, 1), (1, 1)]),
        "rgb_440": flat_jpeg(33, 47, [(1, 2), (1, 1), (1, 1)]),
        "rgb_411": flat_jpeg(33, 75, [(4, 1), (1, 1), (1, 1)]),
        "rgb_420_restarts": flat_jpeg(50, 70, [(2, 2), (1, 1), (1, 1)], restart=3),
        "rgb_untransformed": flat_jpeg(20, 30, [(1, 1)] * 3, transform=0),
        "cmyk": flat_jpeg(20, 30, [(1, 1)] * 4),
        "cmyk_adobe": flat_jpeg(20, 30, [(1, 1)] * 4, transform=0),
        "ycck": flat_jpeg(40, 50, [(2, 2), (1, 1), (1, 1), (2, 2)], transform=2),
        "two_components": flat_jpeg(20, 30, [(1, 1)] * 2),
    }
    return {**files, "bytes_after_the_end": files["grey"] + b"\xff\xd8more"}


def jpegs_to_cut():
    files = jpegs()
    small = raw.EncodeJpeg(image=draw(40, 33, 3), quality=50).numpy()
    progressive = raw.EncodeJpeg(image=draw(20, 17, 3), quality=30, progressive=True).numpy()
    return {"baseline": small, "progressive": progressive, "cmyk": files["cmyk_adobe"],
            "restarts": files["rgb_420_restarts"]}


def options_of_cut(name):
    """Options to decode a cut-off file with. To recover some of the others, TensorFlow reads on
    forever."""
    return [{}, {"acceptable_fraction": 0.3}] + ([{"try_recover_truncated": True}]
                                                 if name == "baseline" else [])


def first_cut(contents, options):
    """The first length to cut to. TensorFlow reads on forever to recover a file that ends in its
    header."""
    return contents.index(b"\xff\xda") + 14 if options.get("try_recover_truncated") else 0


def png_chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


ADAM7 = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
         (1, 0, 2, 1))


def png(image, depth, color_type, interlaced=False, before_data=b""):
    """A PNG file of any kind. image: [height, width, numbers of a pixel]; the filter of row n is n
    % 5."""
    height, width, _ = image.shape

    def packed(row):
        numbers = row.reshape(-1)
        if depth == 16:
            return numbers.astype(">u2").tobytes()
        bits = np.unpackbits(numbers.astype(np.uint8)[:, None], axis=1)[:, 8 - depth:]
        return np.packbits(bits.reshape(-1)).tobytes()

    def filtered(rows, bytes_per_pixel):
        result, above = b"", None
        for number, row in enumerate(rows):
            kind = number % 5
            up = np.frombuffer(above or bytes(len(row)), np.uint8).astype(int)
            now = np.frombuffer(row, np.uint8).astype(int)
            left = np.concatenate([np.zeros(bytes_per_pixel, int), now])[:len(row)]
            corner = np.concatenate([np.zeros(bytes_per_pixel, int), up])[:len(row)]
            guess = left + up - corner
            a, b, c = abs(guess - left), abs(guess - up), abs(guess - corner)
            paeth = np.where((a <= b) & (a <= c), left, np.where(b <= c, up, corner))
            predicted = (0 * now, left, up, (left + up) // 2, paeth)[kind]
            result += bytes([kind]) + ((now - predicted) % 256).astype(np.uint8).tobytes()
            above = row
        return result

    bytes_per_pixel = max(1, depth * image.shape[2] // 8)
    passes = [image[y::down, x::right] for y, x, down, right in ADAM7] if interlaced else [image]
    data = b"".join(filtered([packed(row) for row in part], bytes_per_pixel) for part in passes
                    if part.size)
    header = struct.pack(">IIBBBBB", width, height, depth, color_type, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + before_data
            + png_chunk(b"IDAT", zlib.compress(data, 9)) +
            png_chunk(b"IEND", b""))


def pngs():
    """PNG files by name."""
    files = {}
    for interlaced in (False, True):
        tail = "_interlaced" if interlaced else ""
        for depth in (1, 2, 4, 8, 16):
            dtype = np.uint16 if depth == 16 else np.uint8
            most = 2**depth - 1
            grey = (draw(11, 13, 1, depth, dtype).astype(int)
                    * most // np.iinfo(dtype).max).astype(dtype)
            files[f"grey_{depth}{tail}"] = png(grey, depth, 0, interlaced)
            files[f"grey_{depth}_transparent{tail}"] = png(
                grey, depth, 0, interlaced,
                png_chunk(b"tRNS", struct.pack(">H", int(grey[5, 6, 0]))))
            if depth <= 8:
                palette = draw(1, 2**depth, 3, 9).tobytes()
                chunk = png_chunk(b"PLTE", palette)
                files[f"palette_{depth}{tail}"] = png(grey, depth, 3, interlaced, chunk)
                files[f"palette_{depth}_transparent{tail}"] = png(
                    grey, depth, 3, interlaced, chunk + png_chunk(b"tRNS", bytes([40, 200])))
            if depth >= 8:
                for color_type, channels in ((4, 2), (2, 3), (6, 4)):
                    image = draw(11, 13, channels, depth, dtype)
                    files[f"channels_{channels}_{depth}{tail}"] = png(image, depth, color_type,
                                                                      interlaced)
                rgb = draw(11, 13, 3, depth, dtype)
                color = struct.pack(">HHH", *(int(n) for n in rgb[5, 6]))
                files[f"rgb_{depth}_transparent{tail}"] = png(rgb, depth, 2, interlaced,
                                                              png_chunk(b"tRNS", color))
    rgb = draw(9, 10, 3)
    files["gamma"] = png(rgb, 8, 2, False, png_chunk(b"gAMA", struct.pack(">I", 45455)))
    files["srgb"] = png(rgb, 8, 2, False, png_chunk(b"sRGB", b"\x00"))
    files["significant_bits"] = png(rgb, 8, 2, False, png_chunk(b"sBIT", b"\x05\x06\x05"))
    files["background"] = png(rgb, 8, 2, False, png_chunk(b"bKGD", bytes(6)))
    return files


def bmps():
    """BMP files by name."""
    def bmp(image, top_down=False):
        height, width, channels = image.shape
        order = {1: [0], 3: [2, 1, 0], 4: [2, 1, 0, 3]}[channels]
        rows = [row[:, order].tobytes() for row in image]
        rows = [row + bytes(-len(row) % 4) for row in (rows if top_down else rows[::-1])]
        info = struct.pack("<IiiHHIIiiII", 40, width, -height if top_down else height, 1,
                           8 * channels, 0, 0, 0, 0, 0, 0)
        data = b"".join(rows)
        return b"BM" + struct.pack("<IHHI", 54 + len(data), 0, 0, 54) + info + data

    files = {f"channels_{channels}": bmp(draw(5, 7, channels, channels)) for channels in (1, 3, 4)}
    return {**files, "top_down": bmp(draw(6, 3, 3), True)}
