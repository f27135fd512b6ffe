#!/usr/bin/env python3
"""Writes pictures with Pillow, and pictures.json: the sizes of each and the SHA-256 of the values that Pillow reads."""
import hashlib
import json
import pathlib

import numpy as np
from PIL import Image

here = pathlib.Path(__file__).parent
y, x = np.mgrid[0:33, 0:45]
colours = np.stack([x * 5, y * 7, (x * y) % 251], 2).astype(np.uint8)
gray = ((x * 3 + y * 5) % 256).astype(np.uint8)
alpha = ((x + y) * 3).astype(np.uint8)

Image.fromarray(gray).save(here / 'gray.png')
Image.fromarray(colours).save(here / 'colours.png')
Image.fromarray(np.dstack([colours, alpha])).save(here / 'alpha.png')
Image.fromarray(np.dstack([gray, alpha]), 'LA').save(here / 'gray_alpha.png')
Image.fromarray(colours).quantize(7).save(here / 'palette.png', transparency=0)
Image.fromarray(gray > 100).save(here / 'bits.png')
Image.fromarray((gray.astype(np.uint16) * 257 + 3)).save(here / 'gray16.png')
Image.fromarray(gray).save(here / 'gray.jpg')
Image.fromarray(colours).save(here / 'colours.jpg')
Image.fromarray(colours).save(here / 'progressive.jpg', progressive=True, quality=90, subsampling=0)
Image.fromarray(np.dstack([colours, alpha]), 'CMYK').save(here / 'cmyk.jpg')

found = []
for path in sorted(here.iterdir()):
    if path.suffix not in ('.png', '.jpg') or path.stem == 'cmyk':
        continue
    picture = Image.open(path)
    picture = picture.convert({'P': 'RGB', '1': 'L'}.get(picture.mode, picture.mode))
    values = np.asarray(picture)
    if values.dtype != np.uint8:
        values = values.astype(np.int32)
    found.append({'name': path.name, 'dtype': str(values.dtype), 'shape': list(values.shape),
                  'sha256': hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()})
(here / 'pictures.json').write_text('[\n' + ',\n'.join(json.dumps(one) for one in found) + '\n]\n', encoding='utf-8')
