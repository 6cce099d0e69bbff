/** The PDF canvas: paper, colors, fonts, measuring, drawing, and the structure that reading programs follow. It knows nothing of orders and results. */
import PDFDocument from 'pdfkit'
import { embeddableFont, extraFonts, chooseFont, fontStyles, type ExtraFont, type FontStyle } from './fonts.ts'
import { truncate, wrap, type Measure } from './text.ts'

/** The coordinates of US Letter in points. On other paper the same width is in the middle of the page. */
export const pageSize = { width: 612, left: 42, right: 570, top: 40 }
export const contentWidth = pageSize.right - pageSize.left
/** Below the body of a page: the footer and the margin. */
const FOOT_HEIGHT = 54

const PAPERS = { letter: [612, 792], a4: [595.28, 841.89] } as const
/** The paper of a document: US Letter, or A4 in the European Union. */
export type Paper = keyof typeof PAPERS

export interface Style {
  font: FontStyle
  size: number
  color: string
}

export const colors = { text: '#16202b', gray: '#5c6773', hairline: '#d5dae0', navy: '#1d3a5c', red: '#a8121f' }

const body: Style = { font: 'regular', size: 9, color: colors.text }
export const styles = {
  body,
  bold: { ...body, font: 'bold' },
  small: { ...body, size: 8, color: colors.gray },
  tiny: { ...body, size: 6.5, color: colors.gray },
  label: { ...body, size: 7.5, color: colors.gray },
  capital: { font: 'bold', size: 7, color: colors.gray },
  heading: { font: 'bold', size: 10.5, color: colors.navy },
  comment: { font: 'italic', size: 8, color: '#3b4652' },
  long: { ...body, size: 8.5 },
} satisfies Record<string, Style>

/** Elements of the structure of a document, by their names in PDF. */
type Tag = 'P' | 'H1' | 'H2' | 'L' | 'LI' | 'Lbl' | 'LBody' | 'Table' | 'TR' | 'TH' | 'TD' | 'Figure'

/** An element that several blocks fill, such as a table whose rows are on several pages. Blocks that name the same object are in it. */
export interface Container {
  tag: Tag
  /** Its parent, if it is not the document. */
  container?: Container
}

export interface PdfCanvas {
  /** Where the body of a page ends. */
  readonly bottom: number
  measure(style: Style): Measure
  wrap(text: string, style: Style, width: number, lines_max: number): string[]
  /** One line on the baseline `y`; `x` is its left end, its middle or its right end. No wrapping. */
  drawText(text: string, x: number, y: number, style: Style, align?: 'left' | 'center' | 'right'): void
  /** As `drawText`, but text wider than `width` ends with an ellipsis. */
  drawTextFitted(text: string, x: number, y: number, style: Style, width: number, align?: 'left' | 'right'): void
  drawRule(y: number, color: string, weight: number, left?: number, right?: number): void
  fillBox(x: number, y: number, width: number, height: number, color: string, radius?: number): void
  /** Bars and gaps, alternating; `widths` in modules that are `module` wide each. The caller adds the quiet zone. `alt` says what it is. */
  drawBarcode(widths: readonly number[], x: number, y: number, height: number, module: number, alt: string): void
  /** The outline of a box. */
  strokeBox(x: number, y: number, width: number, height: number, color: string, weight?: number): void
  /** What `draw` draws is an element of the structure. A text outside of elements is a paragraph. */
  tag(tag: Tag, draw: () => void): void
  /** What `draw` draws is in an element that other calls fill too. */
  fill(container: Container | undefined, draw: () => void): void
  /** What `draw` draws is for the eye only, such as what is repeated on each page. Not nested. */
  decorate(draw: () => void): void
  page(): void
  end(): Promise<Uint8Array>
}

/** `paper`: default US Letter. `size`: another size in points, with coordinates of its own. */
export interface CanvasOptions {
  compress: boolean
  paper?: Paper
  size?: [width: number, height: number]
}

interface Element {
  tag: Tag | 'Document'
  node: PDFKit.PDFStructureElement
}

/** The text in parts that one font prints. */
function splitRuns(text: string, style: FontStyle): { font: FontStyle | ExtraFont; text: string }[] {
  const runs: { font: FontStyle | ExtraFont; text: string }[] = []
  for (const char of text) {
    const [font] = chooseFont(style, char.codePointAt(0)!)
    const last = runs.at(-1)
    if (last?.font === font) last.text += char
    else runs.push({ font, text: char })
  }
  return runs
}

/**
 * A canvas on a new document, tagged and with embedded fonts. The same calls give the same bytes: nothing depends on the clock or on random
 * values.
 */
export function createPdfCanvas(
  info: { Title: string; Author: string; CreationDate: Date },
  { compress, paper = 'letter', size }: CanvasOptions,
): PdfCanvas {
  const sheet = size ?? PAPERS[paper]
  const shift = size ? 0 : (sheet[0] - pageSize.width) / 2
  const doc = new PDFDocument({
    size: [...sheet],
    margin: 0,
    autoFirstPage: false,
    compress,
    pdfVersion: '1.7',
    lang: 'en-US',
    displayTitle: true,
    tagged: true,
    font: '',
    info: { ...info, Creator: 'Drawbridge', Producer: 'PDFKit' },
  })
  // pdfkit takes opened fonts; its types name only their files.
  for (const style of fontStyles) doc.registerFont(style, embeddableFont(style) as unknown as Uint8Array)
  for (const [name, font] of extraFonts()) doc.registerFont(name, font as unknown as Uint8Array)
  const chunks: Uint8Array[] = []
  doc.on('data', (chunk: Uint8Array) => chunks.push(chunk))
  const finished = new Promise<void>((resolve, reject) => doc.on('end', resolve).on('error', reject))

  const root: Element = { tag: 'Document', node: doc.struct('Document') }
  doc.addStructure(root.node)
  const containers = new Map<Container, Element>()
  let current = root
  let decorating = false

  const addElement = (tag: Tag, parent: Element, options: { alt?: string; scope?: 'Column' } = {}): Element => {
    const node = doc.struct(tag, options as { alt?: string })
    parent.node.add(node)
    return { tag, node }
  }
  const within = (element: Element, draw: () => void) => {
    const outer = current
    current = element
    draw()
    current = outer
  }
  const containerOf = (container: Container): Element => {
    const known = containers.get(container)
    if (known) return known
    const added = addElement(container.tag, container.container ? containerOf(container.container) : root)
    containers.set(container, added)
    return added
  }
  const markDecoration = (draw: () => void) => {
    doc.markContent('Artifact', { type: 'Layout' })
    draw()
    doc.endMarkedContent()
  }
  /** Marks what is drawn as part of the current element. */
  const mark = (draw: () => void) => {
    if (decorating) return markDecoration(draw)
    const { tag, node } = current === root ? addElement('P', root) : current
    const content = doc.markStructureContent(tag)
    draw()
    doc.endMarkedContent()
    node.add(content)
  }

  const measure = ({ font, size }: Style): Measure => {
    return (text) => {
      let width = 0
      for (const char of text) {
        const codePoint = char.codePointAt(0)!
        width += chooseFont(font, codePoint)[1].widthOf(codePoint)
      }
      return (width * size) / 1000
    }
  }

  const canvas: PdfCanvas = {
    bottom: sheet[1] - FOOT_HEIGHT,
    measure,
    wrap: (text, style, width, lines_max) => wrap(text, width, measure(style), lines_max),
    drawText(text, x, y, style, align = 'left') {
      if (!text) return
      const back = align === 'left' ? 0 : measure(style)(text) / (align === 'center' ? 2 : 1)
      mark(() => {
        doc.fontSize(style.size).fillColor(style.color)
        let left = x - back
        for (const { font, text: part } of splitRuns(text, style.font)) {
          doc.font(font).text(part, left, y, { lineBreak: false, baseline: 'alphabetic' })
          left += measure(style)(part)
        }
      })
    },
    drawTextFitted: (text, x, y, style, width, align) =>
      canvas.drawText(truncate(text, width, measure(style)), x, y, style, align),
    drawRule(y, color, weight, left = pageSize.left, right = pageSize.right) {
      markDecoration(() => doc.lineWidth(weight).strokeColor(color).moveTo(left, y).lineTo(right, y).stroke())
    },
    fillBox(x, y, width, height, color, radius = 0) {
      markDecoration(() => doc.fillColor(color).roundedRect(x, y, width, height, radius).fill())
    },
    drawBarcode(modules, x, y, height, module, alt) {
      within(addElement('Figure', current, { alt }), () =>
        mark(() => {
          let at = x
          doc.fillColor('#000000')
          for (const [index, width] of modules.entries()) {
            if (index % 2 === 0) doc.rect(at, y, width * module, height)
            at += width * module
          }
          doc.fill()
        }),
      )
    },
    strokeBox(x, y, width, height, color, weight = 0.7) {
      markDecoration(() => doc.lineWidth(weight).strokeColor(color).rect(x, y, width, height).stroke())
    },
    tag(tag, draw) {
      if (decorating) return draw()
      within(addElement(tag, current, tag === 'TH' ? { scope: 'Column' } : {}), draw)
    },
    fill: (container, draw) => (container && !decorating ? within(containerOf(container), draw) : draw()),
    decorate(draw) {
      decorating = true
      draw()
      decorating = false
    },
    page() {
      doc.addPage()
      if (shift) doc.translate(shift, 0)
    },
    async end() {
      doc.end()
      await finished
      return new Uint8Array(Buffer.concat(chunks))
    },
  }
  return canvas
}
