// What a picture of a page shows without any network: where ink forms texts, and which lines are ruled.
import type { Picture } from './picture.ts'

/** In pixels of the picture. */
interface InkBox {
  left: number
  top: number
  right: number
  bottom: number
}

export interface Ink {
  /** Letters that stand as close to each other as those of a word. */
  texts: InkBox[]
  /** Ruled lines along the edges of the page. */
  rules: InkBox[]
}

/** Pixels: the shade of the paper is taken from squares of this side. */
const SQUARE = 32
/** Position, among the pixels of a square from dark to light, of the one that shows the paper. */
const PAPER_SHARE = 0.85
/** Shares of the shade of the paper by which ink and ruled lines are darker. */
const [INK_CONTRAST, RULE_CONTRAST] = [0.3, 0.1]
/** Darker ground is not that of paper: a shade, and a share of the usual shade of the page, which a shadow on it does not reach. */
const [PAPER_MIN, GROUND_MIN] = [60, 0.45]
/** Shares of the longer side of the page: shorter lines are strokes of letters, thicker ones are areas. */
const [RULE_LENGTH, RULE_THICKNESS] = [0.03, 0.004]
/** Shares of the page: longer upright lines are streaks of the scanner, also in pieces next to each other. */
const [STREAK_LENGTH, STREAK_WIDTH] = [0.8, 0.01]
/** Pixels: gaps in a ruled line, and the distance from it at which the paper is seen. */
const [RULE_GAP, RULE_MARGIN] = [2, 2]
/** Share of the length of a ruled line: texts that touch it are above or below less of it. */
const BESIDE_RULE_MAX = 0.35
/** Pixels: lower or higher shapes are not letters. */
const [LETTER_MIN, LETTER_MAX] = [6, 70]
/** Multiples of the usual height of letters: dots, dashes and specks are lower, pictures higher, and wider than letters that touch each other. */
const [HEIGHT_MIN, HEIGHT_MAX, WIDTH_MAX] = [0.6, 2.2, 16]
/**
 * A drawn bar, also one with a marker on it: a multiple of its height from which on a shape is wider than a letter, and the share of its rows of
 * pixels that are dark over the share of its width that no letters have.
 */
const [BAR_WIDTH, BAR_ROWS, BAR_FILL] = [2, 0.5, 0.75]
/** Share of the usual height of letters: wider gaps separate words. */
const TEXT_GAP = 0.35
/** A page has some thousand letters and some hundred texts; more are noise, which tells nothing. */
const [SHAPES_MAX, TEXTS_MAX] = [20_000, 3_000]
/** A page full of cells has some hundred pieces of ruled lines; more are noise as well. */
const RULES_MAX = 3_000

export function inkOfPage(page: Picture): Ink {
  const paper = shadesOfPaper(page)
  const rules = ruledLines(darkPixels(page, paper, RULE_CONTRAST), page)
  const dark = darkPixels(page, paper, INK_CONTRAST)
  for (const { left, top, right, bottom } of rules)
    for (let y = Math.max(0, top - 1); y < Math.min(page.height, bottom + 1); y++)
      dark.fill(0, y * page.width + Math.max(0, left - 1), y * page.width + Math.min(page.width, right + 1))
  return { texts: textsOf(findShapes(dark, page)), rules: rules.length > RULES_MAX ? [] : rules }
}

/** The shade of the paper in each square of the page, by rows. */
function shadesOfPaper({ width, height, pixels }: Picture): Uint8Array {
  const [columns, rows] = [Math.ceil(width / SQUARE), Math.ceil(height / SQUARE)]
  const shades = new Uint8Array(columns * rows)
  const counts = new Uint32Array(256)
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      counts.fill(0)
      const [right, bottom] = [Math.min(width, (column + 1) * SQUARE), Math.min(height, (row + 1) * SQUARE)]
      for (let y = row * SQUARE; y < bottom; y++) for (let x = column * SQUARE; x < right; x++) counts[pixels[y * width + x]!]!++
      let left = (right - column * SQUARE) * (bottom - row * SQUARE) * (1 - PAPER_SHARE)
      let shade = 255
      while (shade > 0 && (left -= counts[shade]!) > 0) shade--
      shades[row * columns + column] = shade
    }
  return shades
}

function darkPixels({ width, height, pixels }: Picture, paper: Uint8Array, contrast: number): Uint8Array {
  const dark = new Uint8Array(pixels.length)
  const columns = Math.ceil(width / SQUARE)
  const usual = paper.toSorted()[paper.length >> 1] ?? 0
  const least = Math.max(PAPER_MIN, usual * GROUND_MIN)
  for (let y = 0; y < height; y++) {
    const square = Math.trunc(y / SQUARE) * columns
    for (let x = 0, index = y * width; x < width; x++, index++) {
      const shade = paper[square + Math.trunc(x / SQUARE)]!
      if (shade >= least && pixels[index]! < shade * (1 - contrast)) dark[index] = 1
    }
  }
  return dark
}

function ruledLines(dark: Uint8Array, { width, height }: Picture): InkBox[] {
  const longer = Math.max(width, height)
  const least = longer * RULE_LENGTH
  const thick = Math.max(3, longer * RULE_THICKNESS)
  const level = { count: height, length: width, step: 1, stride: width, least, thick }
  const upright = { count: width, length: height, step: width, stride: 1, least, thick }
  const columns = linesAlong(dark, upright)
  const lengthBeside = (item: Stack) =>
    columns
      .filter(({ first }) => Math.abs(first - item.first) < width * STREAK_WIDTH)
      .reduce((sum, { start, end }) => sum + end - start, 0)
  return [
    ...linesAlong(dark, level).map(({ start, end, first, last }) => ({ left: start, right: end, top: first, bottom: last + 1 })),
    ...columns
      .filter((item) => lengthBeside(item) < height * STREAK_LENGTH)
      .map(({ start, end, first, last }) => ({ top: start, bottom: end, left: first, right: last + 1 })),
  ]
}

/** The rows of a picture, or its columns: how many they are, how long, and the steps between pixels of one and between them. */
interface Direction {
  count: number
  length: number
  step: number
  stride: number
  /** Shorter runs are not lines, thicker ones neither. */
  least: number
  thick: number
}

/** Thin lines with paper on both sides. */
function linesAlong(dark: Uint8Array, direction: Direction): Stack[] {
  const { count, step, stride, thick } = direction
  const share = (line: number, { start, end }: Stack) => {
    if (line < 0 || line >= count) return 0
    let sum = 0
    for (let index = start; index < end; index++) sum += dark[line * stride + index * step]!
    return sum / (end - start)
  }
  return stackRuns(runsIn(dark, direction), thick).filter(
    (item) => share(item.first - RULE_MARGIN, item) < BESIDE_RULE_MAX && share(item.last + RULE_MARGIN, item) < BESIDE_RULE_MAX,
  )
}

interface Run {
  line: number
  start: number
  end: number
}

/** Long runs of dark pixels along the lines of a picture, which are its rows or its columns. */
function runsIn(dark: Uint8Array, { count, length, step, stride, least }: Direction): Run[] {
  const runs: Run[] = []
  for (let line = 0; line < count; line++) {
    let [start, end] = [-1, -1]
    for (let index = 0, pixel = line * stride; index <= length; index++, pixel += step) {
      if (index < length && dark[pixel]) {
        if (start < 0) start = index
        end = index + 1
      } else if (start >= 0 && (index === length || index - end >= RULE_GAP)) {
        if (end - start >= least) runs.push({ line, start, end })
        start = -1
      }
    }
  }
  return runs
}

interface Stack {
  start: number
  end: number
  first: number
  last: number
}

/** Runs of neighboring lines that overlap, as one; a line that is not quite level is several. Thick ones are left out. */
function stackRuns(runs: readonly Run[], thick: number): Stack[] {
  const whole: Stack[] = []
  let open: Stack[] = []
  for (const { line, start, end } of runs) {
    open = open.filter(({ last }) => line - last <= 1)
    const stack = open.find((candidate) => Math.min(candidate.end, end) - Math.max(candidate.start, start) > (end - start) / 2)
    if (stack) Object.assign(stack, { start: Math.min(stack.start, start), end: Math.max(stack.end, end), last: line })
    else {
      const next = { start, end, first: line, last: line }
      open.push(next)
      whole.push(next)
    }
  }
  return whole.filter(({ first, last }) => last - first < thick)
}

/** Dark pixels that touch each other and may be letters; none if there are too many. */
function findShapes(dark: Uint8Array, { width, height }: Picture): InkBox[] {
  const shapes: InkBox[] = []
  const stack: number[] = []
  /** Of the shape, by rows of pixels. */
  const counts = new Uint32Array(height)
  for (let start = 0; start < dark.length; start++) {
    if (!dark[start]) continue
    const box = { left: width, top: height, right: 0, bottom: 0 }
    dark[start] = 0
    stack.push(start)
    while (stack.length) {
      const index = stack.pop()!
      const [x, y] = [index % width, Math.trunc(index / width)]
      if (x < box.left) box.left = x
      if (x >= box.right) box.right = x + 1
      if (y < box.top) box.top = y
      if (y >= box.bottom) box.bottom = y + 1
      counts[y]!++
      for (let v = Math.max(0, y - 1); v <= Math.min(height - 1, y + 1); v++)
        for (let u = Math.max(0, x - 1); u <= Math.min(width - 1, x + 1); u++) {
          const next = v * width + u
          if (!dark[next]) continue
          dark[next] = 0
          stack.push(next)
        }
    }
    const [shapeWidth, shapeHeight] = [box.right - box.left, box.bottom - box.top]
    const filled = counts.subarray(box.top, box.bottom).reduce((sum, count) => sum + Number(count > shapeWidth * BAR_FILL), 0)
    counts.fill(0, box.top, box.bottom)
    if (shapeHeight < LETTER_MIN || shapeHeight > LETTER_MAX) continue
    if (shapeWidth > shapeHeight * BAR_WIDTH && filled > shapeHeight * BAR_ROWS) continue
    if (shapes.push(box) > SHAPES_MAX) return []
  }
  return shapes
}

/** Shapes of the height of letters, put together where they stand close in a line. */
function textsOf(shapes: readonly InkBox[]): InkBox[] {
  const heights = shapes.map(({ top, bottom }) => bottom - top).toSorted((a, b) => a - b)
  const usual = heights[heights.length >> 1] ?? 0
  const letters = shapes.filter(({ left, top, right, bottom }) => {
    const height = bottom - top
    return height >= usual * HEIGHT_MIN && height <= usual * HEIGHT_MAX && right - left <= usual * WIDTH_MAX
  })
  const texts: InkBox[] = []
  // A box that begins further to the left can continue only if it has not ended long ago.
  let open: InkBox[] = []
  for (const letter of letters.toSorted((a, b) => a.left - b.left)) {
    open = open.filter(({ right }) => letter.left - right < usual * TEXT_GAP)
    const text = open.find((item) => Math.min(item.bottom, letter.bottom) - Math.max(item.top, letter.top) > usual * 0.4)
    if (text)
      Object.assign(text, {
        right: Math.max(text.right, letter.right),
        top: Math.min(text.top, letter.top),
        bottom: Math.max(text.bottom, letter.bottom),
      })
    else {
      const next = { ...letter }
      open.push(next)
      texts.push(next)
    }
  }
  return texts.length > TEXTS_MAX ? [] : texts
}
