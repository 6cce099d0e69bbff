// PDFs that are made to harm, byte by byte: each has a page with some drawing, and little more than what harms.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { deflateSync } from 'node:zlib'

type Objects = Record<number, string | Buffer>

/** A page of US Letter that draws object 4 with the resources of object 5. */
const PAGE = '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources 5 0 R>>'
const GROUP = '/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Group<</S/Transparency/CS/DeviceGray/I true>>'

const stream = (data: string | Buffer, entries = ''): Buffer =>
  Buffer.concat([Buffer.from(`<</Length ${data.length}${entries}>> stream\n`), Buffer.from(data), Buffer.from('\nendstream')])

function createPdf(objects: Objects, trailer = '<</Root 1 0 R>>'): Buffer {
  const all: Objects = {
    1: '<</Type/Catalog/Pages 2 0 R>>',
    2: '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    3: PAGE,
    5: '<<>>',
    ...objects,
  }
  const parts = Object.entries(all).flatMap(([number, object]) => [
    Buffer.from(`${number} 0 obj `),
    Buffer.from(object),
    Buffer.from(' endobj\n'),
  ])
  return Buffer.concat([Buffer.from('%PDF-1.7\n'), ...parts, Buffer.from(`trailer ${trailer}\n%%EOF`)])
}

const masks = (count: number): Objects => ({
  4: stream('/M gs 0 0 612 792 re f /N gs\n'.repeat(count)),
  5: '<</ExtGState<</M 6 0 R/N 7 0 R>>>>',
  6: '<</SMask<</S/Luminosity/G 8 0 R>>>>',
  7: '<</SMask/None>>',
  8: stream('1 g 0 0 612 792 re f', GROUP),
})

/** A picture of a page, decoded by a filter. */
const picture = (data: string | Buffer, entries: string): Buffer =>
  createPdf({
    4: stream('612 0 0 792 0 0 cm /I Do'),
    5: '<</XObject<</I 6 0 R>>>>',
    6: stream(data, `/Type/XObject/Subtype/Image/ColorSpace/DeviceGray${entries}`),
  })

const uint32 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4)
  return bytes
}

/** A page of JBIG2 with so many pixels on a side. */
const jbig2 = (side: number): Buffer =>
  Buffer.concat([uint32(0), Buffer.from([0x30, 0, 1]), uint32(19, side, side, 0, 0), Buffer.from([0, 0, 0])])

/** A codestream of JPEG 2000 with one tile of so many pixels on a side. */
function jpeg2000(side: number): Buffer {
  const sizes = Buffer.concat([uint32(side, side, 0, 0, side, side, 0, 0), Buffer.from([0, 1, 7, 1, 1])])
  return Buffer.concat([
    Buffer.from([0xff, 0x4f, 0xff, 0x51, 0, 41, 0, 0]),
    sizes,
    Buffer.from([0xff, 0x52, 0, 12, 0, 0, 0, 1, 0, 5, 4, 4, 0, 1]),
    Buffer.from([0xff, 0x5c, 0, 19, 0x40, ...Array.from({ length: 16 }, () => 0x48)]),
    Buffer.from([0xff, 0x90, 0, 10, 0, 0, 0, 0, 0, 14, 0, 1, 0xff, 0x93, 0xff, 0xd9]),
  ])
}

/** A font whose tables say that they have far more than the file holds. */
function hugeFont(): Buffer {
  const path = createRequire(import.meta.url).resolve('@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf')
  const font = Buffer.from(readFileSync(path))
  for (let table = 0; table < font.readUInt16BE(4); table++) {
    const entry = 12 + table * 16
    const start = font.readUInt32BE(entry + 8)
    const tag = font.toString('latin1', entry, entry + 4)
    if (tag === 'maxp') font.writeUInt16BE(0xffff, start + 4)
    if (tag === 'hhea') font.writeUInt16BE(0xffff, start + 34)
    // One subtable, of format 12, with 268 million groups of all characters.
    if (tag === 'cmap')
      Buffer.concat([uint32(1, 0x3_000a, 12, 0xc_0000, 0xffff_ffff, 0, 0x1000_0000, 0, 0xffff_ffff, 0)]).copy(font, start)
  }
  return font
}

const withFont = (objects: Objects): Buffer =>
  createPdf({
    4: stream('BT /F 9 Tf 40 700 Td (Glucose 95 mg/dL 70-99) Tj ET'),
    5: '<</Font<</F 6 0 R>>>>',
    6: '<</Type/Font/Subtype/TrueType/BaseFont/Arimo/FirstChar 32/LastChar 32/Widths[250]/FontDescriptor 7 0 R/ToUnicode 9 0 R>>',
    7: '<</Type/FontDescriptor/FontName/Arimo/Flags 4/FontFile2 8 0 R>>',
    ...objects,
  })

const deflate = (data: Buffer): Buffer => deflateSync(data, { level: 9 })
const zeros = (count: number): Buffer => deflate(Buffer.alloc(count))

const RANGES = Array.from({ length: 100 }, () => '<00000000> <FFFFFFFF> <0000>').join('\n')
const TO_UNICODE = `/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00000000> <FFFFFFFF> endcodespacerange
100 beginbfrange\n${RANGES}\nendbfrange endcmap`

const PATTERN = '/Type/Pattern/PatternType 1/PaintType 1/TilingType 1'

/** Each by what it does. */
export const hostileDocuments: Record<string, () => Buffer> = {
  'a page that draws over a soft mask 100 times': () => createPdf(masks(100)),
  'a page with 400 groups of its size': () =>
    createPdf({
      4: stream('/X Do\n'.repeat(400)),
      5: '<</XObject<</X 6 0 R>>>>',
      6: stream('0.5 g 0 0 612 792 re f', GROUP),
    }),
  'ten pages with as many layers as a page may have': () =>
    createPdf({
      ...masks(4),
      2: `<</Type/Pages/Kids[${'3 0 R '.repeat(10)}]/Count 10>>`,
    }),
  'a page of a billion points': () =>
    createPdf({ 3: PAGE.replace('612 792', '1000000000 1000000000'), 4: stream('0 0 1000000000 1000000000 re f') }),
  'a pattern of a million tiles, each larger than the page': () =>
    createPdf({
      4: stream('/Pattern cs /P scn 0 0 612 792 re f'),
      5: '<</Pattern<</P 6 0 R>>>>',
      6: stream('0 0 99999 99999 re f', `${PATTERN}/BBox[0 0 99999 99999]/XStep 0.6/YStep 0.8/Resources<<>>`),
    }),
  'a shading over a mesh of a million points': () =>
    createPdf({
      4: stream('/S sh'),
      5: '<</Shading<</S 6 0 R>>>>',
      6: stream(
        zeros(20_000_000),
        '/Filter/FlateDecode/ShadingType 5/ColorSpace/DeviceRGB/BitsPerCoordinate 32/BitsPerComponent 8/VerticesPerRow 1000/Decode[0 612 0 792 0 1 0 1 0 1]',
      ),
    }),
  'a function as a shading over all pixels of the page': () =>
    createPdf({
      4: stream('/S sh'),
      5: '<</Shading<</S 6 0 R>>>>',
      6: '<</ShadingType 1/ColorSpace/DeviceGray/Domain[0 1000000000 0 1000000000]/Matrix[0.000001 0 0 0.000001 0 0]/Function 7 0 R>>',
      7: stream(`{ ${'dup mul '.repeat(20)} pop }`, '/FunctionType 4/Domain[0 1000000000 0 1000000000]/Range[0 1]'),
    }),
  'an inline picture of 10 billion pixels': () =>
    createPdf({ 4: stream('612 0 0 792 0 0 cm BI /W 100000 /H 100000 /BPC 8 /CS /G ID \0\0\0\0 EI') }),
  'a picture of 4 billion pixels': () =>
    picture(zeros(1_000_000), '/Filter/FlateDecode/Width 65535/Height 65535/BitsPerComponent 8'),
  '200 pictures of 39 million pixels': () => {
    const names = Array.from({ length: 200 }, (_, index) => index)
    const head = '/Type/XObject/Subtype/Image/ColorSpace/DeviceRGB/Width 6200/Height 6200/BitsPerComponent 8/Filter/FlateDecode'
    const data = zeros(6200 * 6200 * 3)
    return createPdf({
      4: stream(names.map((name) => `q 612 0 0 792 0 0 cm /I${name} Do Q`).join('\n')),
      5: `<</XObject<<${names.map((name) => `/I${name} ${name + 6} 0 R`).join(' ')}>>>>`,
      ...Object.fromEntries(names.map((name) => [name + 6, name < 40 ? stream(data, head) : '6 0 R'])),
    })
  },
  'JBIG2 with a page of 4 billion pixels': () =>
    picture(jbig2(65_535), '/Filter/JBIG2Decode/Width 100/Height 100/BitsPerComponent 1'),
  'JPEG 2000 with 3.6 billion pixels': () =>
    picture(jpeg2000(60_000), '/Filter/JPXDecode/Width 100/Height 100/BitsPerComponent 8'),
  'objects in half a million lists': () => createPdf({ 2: '['.repeat(500_000), 4: stream('') }),
  'a table of objects that continues in itself': () => {
    const text = createPdf({ 4: stream('') }, '<</Root 1 0 R/Size 9/Prev 9>>').toString('latin1')
    const body = text.slice(0, text.indexOf('trailer'))
    const table = `xref\n0 1\n0000000000 65535 f \ntrailer <</Root 1 0 R/Size 9/Prev ${body.length}>>\nstartxref\n${body.length}\n%%EOF`
    return Buffer.from(body + table, 'latin1')
  },
  'a table of a billion objects': () => {
    const body = createPdf({ 4: stream('') })
      .toString('latin1')
      .split('trailer')[0]!
    const table = `xref\n0 1000000000\n0000000000 65535 f \ntrailer <</Root 1 0 R/Size 1000000000>>\nstartxref\n${body.length}\n%%EOF`
    return Buffer.from(body + table, 'latin1')
  },
  'a page of a billion nested forms': () =>
    createPdf({
      4: stream('/X Do\n'.repeat(10)),
      5: '<</XObject<</X 10 0 R>>>>',
      ...Object.fromEntries(
        Array.from({ length: 9 }, (_, depth) => [
          depth + 10,
          stream(
            depth < 8 ? '/X Do\n'.repeat(10) : '0 0 1 1 re f',
            `/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</XObject<</X ${depth + 11} 0 R>>>>`,
          ),
        ]),
      ),
    }),
  'a page of a thousand patterns of its size': () => {
    const names = Array.from({ length: 1000 }, (_, index) => index)
    const tile = stream('0 0 612 792 re f', `${PATTERN}/BBox[0 0 612 792]/XStep 700/YStep 900/Resources<<>>`)
    return createPdf({
      4: stream(`/Pattern cs\n${names.map((name) => `/P${name} scn 0 0 612 792 re f`).join('\n')}`),
      5: `<</Pattern<<${names.map((name) => `/P${name} ${name + 6} 0 R`).join(' ')}>>>>`,
      ...Object.fromEntries(names.map((name) => [name + 6, tile])),
    })
  },
  'a page of 200 MB that are packed twice': () =>
    createPdf({ 4: stream(deflate(deflate(Buffer.alloc(200_000_000, '0 0 m\n'))), '/Filter[/FlateDecode/FlateDecode]') }),
  'a page of 300 MB of letters': () => {
    const text = Buffer.alloc(300_000_000, `(${'a'.repeat(97)})Tj\n`)
    Buffer.from('BT /F 9 Tf 40 700 Td\n').copy(text)
    return createPdf({
      4: stream(deflate(text), '/Filter/FlateDecode'),
      5: '<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>',
    })
  },
  'a font whose tables say that they are huge': () => withFont({ 8: stream(hugeFont()), 9: stream('') }),
  'a font with 400 billion characters': () => withFont({ 8: stream(''), 9: stream(TO_UNICODE) }),
}
