// The steps from a picture to words that need no network.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { blankPicture, isBlank, type Picture, shrink, thresholdOf, warp } from './picture.ts'
import {
  compose,
  type Corners,
  IDENTITY,
  inverse,
  type Point,
  project,
  quarterTurn,
  rotation,
  scaling,
  toCorners,
} from './projection.ts'
import { alphabetOf, decodeLetters, type Letter, textLikelihood } from './letters.ts'
import { levelBox, placeWords, readPicture, withoutRepeatedLetters, withoutSpecks } from './read-picture.ts'
import { cornersOfPaper, parallel, medianSlant, type Slope, slopeByInk } from './straighten.ts'
import { textBoxes } from './text-boxes.ts'
import { inkOf, wordsOfLine } from './words.ts'

const isClose = (actual: readonly number[], expected: readonly number[], tolerance = 1e-6) =>
  assert(
    actual.length === expected.length && actual.every((value, index) => Math.abs(value - expected[index]!) <= tolerance),
    `${actual.join(' ')} is not ${expected.join(' ')}`,
  )

const slopeOf = ({ slant, convergence }: Slope) => [slant, convergence]

describe('projections', () => {
  test('map the corners of a picture to given corners, and back by their inverse', () => {
    const corners: Corners = [
      [10, 20],
      [110, 5],
      [120, 190],
      [4, 210],
    ]
    const to = toCorners(corners, 200, 100)
    isClose(project(to, [0, 0]), corners[0])
    isClose(project(to, [200, 0]), corners[1])
    isClose(project(to, [200, 100]), corners[2])
    isClose(project(inverse(to), corners[3]), [0, 100])
  })

  test('are applied one after the other; quarters turn clockwise', () => {
    isClose(project(compose(scaling(2), quarterTurn(1, 20, 10)), [0, 0]), [10, 0])
    isClose(project(quarterTurn(2, 20, 10), [0, 0]), [20, 10])
    isClose(project(quarterTurn(3, 20, 10), [20, 0]), [0, 0])
    isClose(project(rotation(Math.PI / 2, [5, 5]), [9, 5]), [5, 9])
  })
})

/** A picture of signs: `#` is dark. */
const drawRows = (...rows: string[]): Picture => ({
  width: rows[0]!.length,
  height: rows.length,
  pixels: Uint8Array.from([...rows.join('')], (sign) => (sign === '#' ? 20 : 220)),
})

describe('pictures', () => {
  test('become smaller by the mean of the pixels that each new pixel covers', () => {
    assert.deepEqual([...shrink(drawRows('#..#', '#..#'), 2, 1).pixels], [120, 120])
    assert.deepEqual([...shrink(drawRows('##....'), 2, 1).pixels], [87, 220])
    const same = drawRows('#.')
    assert.equal(shrink(same, 4, 4), same)
  })

  test('are warped between their pixels, with white beyond them', () => {
    const { pixels } = warp(drawRows('#.#.', '#.#.', '....'), [1, 0, 0.5, 0, 1, 0, 0, 0, 1], 4, 1)
    assert.deepEqual([...pixels], [120, 120, 120, 255])
  })

  test('are blank if their shades differ less than print and paper', () => {
    const paper = blankPicture(40, 30)
    assert.equal(isBlank(paper), true)
    paper.pixels.fill(245, 600, 640)
    assert.equal(isBlank(paper), true)
    paper.pixels[77] = 225
    assert.equal(isBlank(paper), false)
  })

  test('have a threshold between dark and light', () => {
    const threshold = thresholdOf(drawRows('##......').pixels)
    assert(threshold > 20 && threshold <= 220)
  })
})

describe('text boxes', () => {
  const map = (width: number, height: number, isText: (x: number, y: number) => boolean) => ({
    width,
    height,
    values: Float32Array.from({ length: width * height }, (_, index) => Number(isText(index % width, Math.trunc(index / width)))),
  })

  test('lie around connected pixels and reach beyond them; dirt is left out', () => {
    const boxes = textBoxes(map(100, 60, (x, y) => (x >= 20 && x < 70 && y >= 20 && y < 30) || (x === 90 && y < 4)))
    assert.equal(boxes.length, 1)
    const [{ x, y, length, thickness, angle }] = boxes as [(typeof boxes)[0]]
    isClose([x, y, angle], [45, 25, 0])
    assert(length > 55 && thickness > 20 && thickness < 30, `${length} ${thickness}`)
  })

  test('have the slant of their text', () => {
    const slant = 0.1
    const [box] = textBoxes(map(200, 100, (x, y) => x > 20 && x < 180 && Math.abs(y - 40 - (x - 100) * slant) < 6))
    isClose([box!.angle], [Math.atan(slant)], 0.02)
  })

  test('of a single sign are level, and text that runs down the page has no box', () => {
    const box = { x: 5, y: 5, length: 20, thickness: 9, angle: Math.PI / 2 - 0.01 }
    const { length, thickness, angle } = levelBox(box)!
    isClose([length, thickness, angle], [9, 20, -0.01])
    assert.equal(levelBox({ ...box, length: 90 }), undefined)
  })

  test('give the slant of a page by their length', () => {
    const line = (y: number, angle: number, length = 100) => ({ x: 100, y, length, thickness: 10, angle })
    isClose([medianSlant([line(0, 0.02), line(20, 0.021), line(40, 0.5, 30)], [1, 0, 0, 0, 1, 0, 0, 0, 1])], [0.021])
    isClose([medianSlant([line(0, Math.PI / 2)], quarterTurn(1, 200, 200))], [0])
  })

  test('without a slant of their own leave the slant of the page to its ink, also of a page that is turned', () => {
    const page = blankPicture(600, 800)
    const slant = 0.011
    for (let row = 0; row < 20; row++)
      for (let x = 40; x < 560; x++)
        for (let y = 0; y < 8; y++) if (x % 7) page.pixels[(60 + row * 34 + Math.round(x * slant) + y) * 600 + x] = 20
    isClose(slopeOf(slopeByInk(page, IDENTITY, page, 0)), [slant, 0], 0.0015)
    isClose(slopeOf(slopeByInk(page, IDENTITY, page, 0.02)), [slant, 0], 0.0015)
    const turned = warp(page, inverse(quarterTurn(1, 600, 800)), 800, 600)
    isClose(slopeOf(slopeByInk(turned, quarterTurn(3, 800, 600), page, 0)), [slant, 0], 0.0015)
    isClose(slopeOf(slopeByInk(blankPicture(600, 800), IDENTITY, page, 0.004)), [0.004, 0])
  })

  test('of a photo without the edges of its paper show by their ink how they converge', () => {
    const page = blankPicture(600, 800)
    for (const convergence of [-0.06, 0.08]) {
      for (let row = 0; row < 20; row++)
        for (let x = 40; x < 560; x++) for (let y = 0; y < 8; y++) if (x % 7) page.pixels[(60 + row * 34 + y) * 600 + x] = 20
      const photo = warp(page, parallel(convergence, 600, 800), 600, 800)
      const { slant, convergence: found } = slopeByInk(photo, IDENTITY, page, 0)
      isClose([slant, found], [0, convergence], 0.006)
      const flat = warp(photo, inverse(parallel(found, 600, 800)), 600, 800)
      isClose([slopeByInk(flat, IDENTITY, page, 0).convergence], [0], 0.006)
    }
  })
})

describe('paper in a photo', () => {
  const photo = (isPaper: (x: number, y: number) => boolean): Picture => {
    const picture = blankPicture(300, 400)
    picture.pixels.forEach((_, index, pixels) => (pixels[index] = isPaper(index % 300, Math.trunc(index / 300)) ? 230 : 60))
    return picture
  }

  test('has the corners of its four sides', () => {
    // A trapezoid: 20 from both sides above, 40 below.
    const corners = cornersOfPaper(photo((x, y) => y > 10 && y < 390 && x > 20 + y / 20 && x < 280 - y / 20))
    const expected: Point[] = [
      [20, 11],
      [280, 11],
      [260, 390],
      [40, 390],
    ]
    for (const [index, corner] of expected.entries()) isClose(corners![index]!, corner, 3)
  })

  test('is not found if it fills the picture, is small or round', () => {
    assert.equal(cornersOfPaper(blankPicture(300, 400)), undefined)
    assert.equal(cornersOfPaper(photo((x, y) => x > 100 && x < 180 && y > 100 && y < 200)), undefined)
    assert.equal(cornersOfPaper(photo((x, y) => Math.hypot(x - 150, y - 200) < 140)), undefined)
    // A scanner's line from top to bottom has paper on both sides.
    assert.equal(cornersOfPaper(photo((x) => x < 40 || x > 41)), undefined)
  })
})

describe('letters', () => {
  const alphabet = alphabetOf(['A', '1', '.', '中', '％', 'l'])
  const NONE = 0
  /** Of each place the classes that have a share; the rest is that of no letter. */
  const sharesOf = (...places: Record<number, number>[]) => {
    const shares = new Float32Array(places.length * alphabet.length)
    for (const [place, of] of places.entries()) {
      const rest = 1 - Object.values(of).reduce((sum, share) => sum + share, 0)
      for (const [index, share] of Object.entries({ [NONE]: rest, ...of }))
        shares[place * alphabet.length + Number(index)] = share
    }
    return shares
  }
  const read = (...places: Record<number, number>[]) => decodeLetters(sharesOf(...places), alphabet)
  const text = (letters: readonly Letter[]) => letters.map((letter) => letter.text).join('')

  test('are the characters of English reports; wide forms are the same letters', () => {
    assert.deepEqual(alphabet, [undefined, 'A', '1', '.', undefined, '%', 'l', ' '])
  })

  test('that repeat at neighboring places are one, apart from each other two', () => {
    assert.equal(text(read({ 1: 0.9 }, { 1: 0.8 }, {}, { 1: 0.9 }, { 2: 0.9 })), 'AA1')
  })

  test('are at the place where they are clearest', () => {
    const [letter] = read({}, { 1: 0.6 }, { 1: 0.9 }, {})
    isClose([letter!.position, letter!.confidence], [2.5 / 4, 0.9])
  })

  test('that are unlikely are left out, and weak ones between places without a letter have little confidence', () => {
    assert.equal(text(read({ 2: 0.99 }, {}, { 3: 0.25 }, {}, { 2: 0.99 })), '11')
    const [one, point] = read({ 2: 0.99 }, {}, { 3: 0.4 }, {}, { 2: 0.99 })
    assert.deepEqual([one!.text, point!.text], ['1', '.'])
    isClose([point!.confidence], [0.4])
    assert.equal(text(read({ 2: 0.6 }, { 3: 0.4 }, { 2: 0.6 })), '11')
  })

  test('of other scripts are the most similar letter, with little confidence', () => {
    const [letter] = read({ 4: 0.8, 6: 0.1 })
    assert.equal(letter!.text, 'l')
    isClose([letter!.confidence], [0.1])
  })

  test('are as likely as all ways together in which they can stand at the places', () => {
    const shares = sharesOf({ 1: 0.5 }, { 1: 0.5 })
    const likelihood = (text: string) => Math.exp(textLikelihood([...text], shares, alphabet))
    // A1, 1A and AA are impossible but for a rest: two of the same letter need a place between them.
    const cases: [string, number][] = [
      ['A', 0.75],
      ['', 0.25],
      ['AA', 0],
      ['A1', 0],
      ['AAA', 0],
    ]
    for (const [text, share] of cases) assert.ok(Math.abs(likelihood(text) - share) < 0.001, text)
    assert.ok(
      Math.abs(Math.exp(textLikelihood(['A', 'A'], sharesOf({ 1: 0.9 }, { 1: 0.2 }, { 1: 0.9 }), alphabet)) - 0.648) < 0.001,
    )
  })

  test('are as likely with a space between them as without', () => {
    const space = alphabet.length - 1
    const shares = sharesOf({ 1: 1 }, { [space]: 0.6 }, { 2: 1 })
    assert.ok(Math.abs(Math.exp(textLikelihood(['A', '1'], shares, alphabet)) - 1) < 0.01)
  })
})

describe('words', () => {
  const letters = (...positions: [text: string, position: number][]): Letter[] =>
    positions.map(([text, position]) => ({ text, position, confidence: 0.9 }))
  const inkFrom = (line: string) => [...line].map((sign) => sign === '#')

  test('are parted where the ink has a gap, also without a space of the recognizer', () => {
    const ink = inkFrom('.###.###......###.###.')
    const words = wordsOfLine(letters(['a', 2 / 22], ['b', 6 / 22], ['c', 15 / 22], ['d', 19 / 22]), ink, 24)
    assert.deepEqual(
      words.map(({ text, left, right }) => [text, left, right]),
      [
        ['ab', 1, 8],
        ['cd', 14, 21],
      ],
    )
  })

  test('are parted where columns are, also if most gaps of a short line are wide, as next to a dash', () => {
    const ink = inkFrom(
      `...........${'#'.repeat(20)}${'.'.repeat(34)}${'#'.repeat(19)}${'.'.repeat(16)}##########..........${'#'.repeat(18)}.`,
    )
    const positions = [21, 78, 103, 130].map((column) => column / ink.length)
    const words = wordsOfLine(
      letters(['6', positions[0]!], ['0', positions[1]!], ['-', positions[2]!], ['5', positions[3]!]),
      ink,
      48,
    )
    assert.deepEqual(
      words.map(({ text }) => text),
      ['6', '0-5'],
    )
  })

  test('are not parted at a decimal point', () => {
    const ink = inkFrom('.###.#....###.')
    const words = wordsOfLine(letters(['1', 2 / 14], ['.', 5 / 14], [' ', 7 / 14], ['5', 11 / 14]), ink, 24)
    assert.deepEqual(
      words.map(({ text }) => text),
      ['1.5'],
    )
  })

  test('are not divided next to a 1, whose ink is narrower than its place, unless there is a space', () => {
    const usual = `${'.#####'.repeat(4)}`
    const textsOf = (gap: number) => {
      const ink = inkFrom(`${usual}.#${'.'.repeat(gap)}#####`)
      const position = (column: number) => column / ink.length
      const before = ['2', '0', '2', '3'].map((text, index): [string, number] => [text, position(3 + index * 6)])
      return wordsOfLine(letters(...before, ['1', position(25)], ['9', position(28 + gap)]), ink, 48).map(({ text }) => text)
    }
    assert.deepEqual(textsOf(8), ['202319'])
    assert.deepEqual(textsOf(14), ['20231', '9'])
  })

  test('are not parted before a comma or within brackets, but at the gap of columns', () => {
    const ink = inkFrom(`${'.###'.repeat(6)}......#.........###..........................###`)
    const a = [2, 6, 10, 14, 18, 22].map((column): [string, number] => ['a', column / ink.length])
    const rest = letters([',', 30 / ink.length], ['b', 41 / ink.length], [')', 70 / ink.length])
    const words = wordsOfLine([...letters(...a), ...rest], ink, 24)
    assert.deepEqual(
      words.map(({ text }) => text),
      ['aaaaaa,', 'b', ')'],
    )
  })

  test('are parted on both sides of a slash or colon between letters, where the ink has a gap on both sides', () => {
    const textsOf = (sign: string, gap: number) => {
      const ink = inkFrom(`${'.###'.repeat(4)}${'.'.repeat(gap)}##${'.'.repeat(gap)}${'###.'.repeat(4)}`)
      const index = (column: number) => column / ink.length
      const before = [2, 6, 10, 14].map((column): [string, number] => ['a', index(column)])
      const behind = [1, 5, 9, 13].map((column): [string, number] => ['b', index(18 + 2 * gap + column)])
      return wordsOfLine(letters(...before, [sign, index(17 + gap)], ...behind), ink, 48).map(({ text }) => text)
    }
    for (const sign of ['/', ':']) {
      assert.deepEqual(textsOf(sign, 12), ['aaaa', sign, 'bbbb'])
      assert.deepEqual(textsOf(sign, 3), [`aaaa${sign}bbbb`])
    }
  })

  test('are parted behind a comma that was seen where the space behind it is', () => {
    const ink = inkFrom(`${'.###'.repeat(4)}........##${'###.'.repeat(4)}`)
    const index = (column: number) => column / ink.length
    const before = [2, 6, 10, 14].map((column): [string, number] => ['a', index(column)])
    const behind = [27, 31, 35, 39].map((column): [string, number] => ['b', index(column)])
    const words = wordsOfLine(letters(...before, [',', index(24)], ...behind), ink, 48)
    assert.deepEqual(
      words.map(({ text }) => text),
      ['aaaa,', 'bbbb'],
    )
  })

  test('are parted behind the comma of a name, however narrow its space, and not behind that of a number', () => {
    const textsOf = (start: string, end: string, gap: number) => {
      const ink = inkFrom(`${'.####'.repeat(4)}.##${'.'.repeat(gap)}####`)
      const index = (column: number) => column / ink.length
      const first = [2, 7, 12, 17].map((column): [string, number] => [start, index(column)])
      return wordsOfLine(letters(...first, [',', index(22)], [end, index(25 + gap)]), ink, 48).map(({ text }) => text)
    }
    assert.deepEqual(textsOf('a', '4', 4), ['aaaa,', '4'])
    assert.deepEqual(textsOf('a', '4', 2), ['aaaa,4'])
    assert.deepEqual(textsOf('1', '4', 4), ['1111,4'])
  })

  test('have the confidence of their weakest letter', () => {
    const [word] = wordsOfLine([{ text: 'a', position: 0.2, confidence: 0.4 }, ...letters(['b', 0.6])], inkFrom('.##.##.'), 20)
    assert.deepEqual([word!.confidence, word!.clearest], [0.4, 0.9])
  })

  test('have no ink of ruled lines', () => {
    const rows = [
      '............',
      '............',
      '.##..#......',
      '.##..#...##.',
      '.##..#...##.',
      '.##..#......',
      '............',
      '############',
      '............',
      '............',
    ]
    const ruled = rows.map((row) => row.slice(0, 5) + '#' + row.slice(6))
    assert.deepEqual(inkOf(drawRows(...ruled)), inkFrom('.##......##.'))
  })
})

test('words of a line stand where their ink is', () => {
  const isInk = (x: number) =>
    [
      [10, 18],
      [22, 28],
      [54, 59],
    ].some(([left, right]) => x >= left! && x < right!)
  const row = Array.from({ length: 60 }, (_, x) => (isInk(x) ? '#' : '.')).join('')
  const blank = '.'.repeat(60)
  const picture = drawRows(...Array.from({ length: 48 }, (_, y) => (y > 12 && y < 36 ? row : blank)))
  const letters = [14, 25, 56].map((column, index) => ({ text: 'abc'[index]!, position: column / 60, confidence: 0.9 }))
  assert.deepEqual(
    placeWords({ letters, line: { picture, place: IDENTITY, stretch: 1 } }).map(({ text, left, right }) => [text, left, right]),
    [
      ['ab', 10, 28],
      ['c', 54, 59],
    ],
  )
})

test('gray letters next to black ones have ink', () => {
  const shadeAt = (x: number) => (x % 12 < 4 || (x > 110 && x < 160) ? 240 : x < 110 ? 165 : 20)
  const pixels = Uint8Array.from({ length: 230 * 48 }, (_, index) => {
    const y = Math.trunc(index / 230)
    return y > 12 && y < 36 ? shadeAt(index % 230) : 240
  })
  const ink = inkOf({ width: 230, height: 48, pixels })
  assert.deepEqual(
    ink,
    Array.from({ length: 230 }, (_, x) => shadeAt(x) < 240),
  )
})

test('small unsure letters are specks, and no words', () => {
  const word = (text: string, confidence: number, height: number) => ({ text, confidence, top: 10, bottom: 10 + height })
  const words = [word('Sodium', 0.9, 20), word('140', 0.9, 20), word('H', 0.5, 20), word('1', 0.9, 12), word('mmol/L', 0.9, 20)]
  assert.deepEqual(withoutSpecks([...words, word('1', 0.41, 12), word('f', 0.34, 10)]), words)
})

test('a letter that was read again at the edge of the next box of texts is not a word of its own', () => {
  const word = (text: string, left: number, right: number, top = 10) => ({
    text,
    left,
    right,
    top,
    bottom: top + 20,
    confidence: 0.9,
  })
  const words = [word('315', 100, 130), word('-', 135, 140), word('357', 145, 175), word('H', 180, 186), word('3', 100, 110, 40)]
  assert.deepEqual(withoutRepeatedLetters([...words, word('3', 99, 108), word('75', 158, 176)]), words)
})

test('missing networks make text recognition unavailable, with an error that says so', async () => {
  await assert.rejects(readPicture(blankPicture(100, 100), { models: '/nonexistent' }), {
    name: 'OcrUnavailable',
    message: 'detector.onnx of the text recognition cannot be read',
  })
})
