// A printed report as a flat OpenDocument text or spreadsheet, for an office program.
import { PAGE_SIZES, type Cell, type Grid, type Look, type PrintedBlock, type PrintedSheet } from './model.ts'

const NAMESPACES = ['office', 'style', 'text', 'table']
  .map((name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(' ')
const FO = 'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"'

/** Styles of one document, each written once. */
class Styles {
  readonly #names = new Map<string, string>()

  name(family: string, properties: string): string {
    const key = `style:family="${family}">${properties}`
    const known = this.#names.get(key) ?? `s${this.#names.size}`
    this.#names.set(key, known)
    return known
  }

  xml(): string {
    return [...this.#names].map(([rest, name]) => `<style:style style:name="${name}" ${rest}</style:style>`).join('\n')
  }
}

export function toText({ look, blocks }: PrintedSheet): string {
  const styles = new Styles()
  const body = blocks.map((printedBlock, index) => block(printedBlock, index, look, styles)).join('\n')
  return document('text', look, styles, `<office:text>${body}</office:text>`)
}

/** All blocks below each other on one sheet; texts run over the cells beside them. */
export function toSpreadsheet({ look, blocks }: PrintedSheet): string {
  const styles = new Styles()
  const widths = blocks
    .filter((printedBlock): printedBlock is Grid => printedBlock.kind === 'grid' && printedBlock.isOfResults)
    .map((grid) => columnWidths(grid, look))
    // The columns of a sheet are those of all its tables.
    .reduce((widest, row) =>
      (widest.length > row.length ? widest : row).map((width, index) => Math.max(width, widest[index] ?? 0, row[index] ?? 0)),
    )
  const columns = widths.map((width) => `<table:table-column table:style-name="${columnStyle(width, styles)}"/>`).join('')
  const rows = blocks.flatMap((printedBlock) => {
    if (printedBlock.kind === 'grid' && printedBlock.isOfResults) return gridRows(printedBlock, look, styles)
    const texts =
      printedBlock.kind === 'grid'
        ? printedBlock.rows.flat().flatMap(({ lines }) => lines)
        : 'text' in printedBlock
          ? [printedBlock.text]
          : []
    const style = styles.name('table-cell', textLook(printedBlock.kind === 'grid' ? 'text' : printedBlock.kind, look))
    return texts.map(
      (text) =>
        `<table:table-row><table:table-cell table:style-name="${style}" office:value-type="string"><text:p>${escape(text)}</text:p></table:table-cell></table:table-row>`,
    )
  })
  const table = `<table:table table:name="Report">${columns}${rows.join('\n')}</table:table>`
  return document('spreadsheet', look, styles, `<office:spreadsheet>${table}</office:spreadsheet>`)
}

const textWidth = ({ page, isLandscape, margin_pt }: Look): number => PAGE_SIZES[page][isLandscape ? 1 : 0] - 2 * margin_pt

function document(kind: 'text' | 'spreadsheet', look: Look, styles: Styles, body: string): string {
  const [short, long] = PAGE_SIZES[look.page]
  const [width, height] = look.isLandscape ? [long, short] : [short, long]
  const empty = '<style:header-style/><style:footer-style/>'
  const page = `<style:page-layout style:name="page"><style:page-layout-properties fo:page-width="${width}pt" fo:page-height="${height}pt" fo:margin="${look.margin_pt}pt" style:print-orientation="${look.isLandscape ? 'landscape' : 'portrait'}"${kind === 'text' ? '' : ' style:scale-to-X="1" style:scale-to-Y="0"'}/>${empty}</style:page-layout>`
  // Spreadsheets print the name of the sheet and the number of the page unless told otherwise.
  const none = '<style:header style:display="false"/><style:footer style:display="false"/>'
  const master = `<style:master-page style:name="${kind === 'text' ? 'Standard' : 'Default'}" style:page-layout-name="page">${kind === 'text' ? '' : none}</style:master-page>`
  return `<?xml version="1.0" encoding="UTF-8"?>
<office:document ${NAMESPACES} ${FO} office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.${kind}">
<office:automatic-styles>${page}${styles.xml()}</office:automatic-styles>
<office:master-styles>${master}</office:master-styles>
<office:body>${body}</office:body></office:document>`
}

function block(printedBlock: PrintedBlock, index: number, look: Look, styles: Styles): string {
  if (printedBlock.kind === 'grid') return table(printedBlock, index, look, styles)
  const text = 'text' in printedBlock ? printedBlock.text : ''
  return `<text:p text:style-name="${textStyle(printedBlock.kind, look, styles)}">${escape(text)}</text:p>`
}

function textStyle(kind: Exclude<PrintedBlock['kind'], 'grid'>, look: Look, styles: Styles): string {
  const paragraph = `<style:paragraph-properties fo:margin-top="${kind === 'heading' ? 8 : 2}pt"${kind === 'page break' ? ' fo:break-before="page"' : ''}/>`
  return styles.name('paragraph', `${paragraph}${textLook(kind, look)}`)
}

const SCALES = { title: 1.5, heading: 1.15, text: 1, small: 0.85, 'page break': 1, columns: 1 }
const textLook = (kind: keyof typeof SCALES, look: Look): string =>
  letters(look, look.size_pt * SCALES[kind], kind === 'title' || kind === 'heading', undefined)

const letters = ({ font }: Look, size_pt: number, isBold: boolean, color: string | undefined): string =>
  `<style:text-properties fo:font-family="${font}" fo:font-size="${size_pt.toFixed(1)}pt"${isBold ? ' fo:font-weight="bold"' : ''}${color ? ` fo:color="${color}"` : ''}/>`

const columnStyle = (width: number, styles: Styles): string =>
  styles.name('table-column', `<style:table-column-properties style:column-width="${width.toFixed(1)}pt"/>`)

const columnCount = ({ header, rows }: Grid): number =>
  [...header, ...rows].slice(0, 1).reduce((_, row) => row.reduce((sum, { columns = 1 }) => sum + columns, 0), 0)

/** Office programs do not measure contents, and break words that are wider than their column. */
function columnWidths(grid: Grid, look: Look): number[] {
  const width_pt = textWidth(look)
  const count = columnCount(grid)
  const widths = grid.widths?.map((width) => (width / 100) * width_pt) ?? Array.from({ length: count }, () => width_pt / count)
  return widths.map((width, column) =>
    Math.max(width, longestWord(grid, column, count) * look.size_pt * 0.68 + 2 * look.padding_pt[1] + 2),
  )
}

/** Letters of the longest word of a column. A row below a cell that covers several has no first cell. */
function longestWord({ header, rows }: Grid, column: number, count: number): number {
  const cells = [...header, ...rows]
    .filter((row) => row.length >= count - 1 && row.every(({ columns = 1 }) => columns === 1))
    .flatMap((row) => row[column - (count - row.length)] ?? [])
  return Math.max(1, ...cells.flatMap(({ lines }) => lines.flatMap((line) => line.split(/[\s-]/u).map(({ length }) => length))))
}

function table(grid: Grid, index: number, look: Look, styles: Styles): string {
  const widths = columnWidths(grid, look)
  const sum = widths.reduce((total, width) => total + width, 0)
  const style = styles.name(
    'table',
    `<style:table-properties style:width="${sum.toFixed(1)}pt" table:align="left" fo:margin-top="4pt"/>`,
  )
  const columns = widths.map((width) => `<table:table-column table:style-name="${columnStyle(width, styles)}"/>`).join('')
  const rows = gridRows(grid, look, styles)
  const header = rows.slice(0, grid.header.length).join('\n')
  const head = header ? `<table:table-header-rows>${header}</table:table-header-rows>` : ''
  return `<table:table table:name="t${index}" table:style-name="${style}">${columns}${head}${rows.slice(grid.header.length).join('\n')}</table:table>`
}

function gridRows(grid: Grid, look: Look, styles: Styles): string[] {
  // Columns that a cell of a row above covers, and for how many rows.
  const covered: number[] = []
  return [...grid.header, ...grid.rows].map((row, index) => {
    const isHeader = index < grid.header.length
    const fill = isHeader ? look.band : (index - grid.header.length) % 2 ? look.zebra : undefined
    const isLast = isHeader ? index === grid.header.length - 1 : true
    const cells: string[] = []
    let column = 0
    const skip = () => {
      while ((covered[column] ?? 0) > 0) {
        covered[column]!--
        column++
        cells.push('<table:covered-table-cell/>')
      }
    }
    for (const one of row) {
      skip()
      const { columns = 1, rows = 1 } = one
      cells.push(
        cell(one, look, { isHeader, fill: grid.isOfResults ? fill : undefined, isRuled: grid.isOfResults, isLast }, styles),
      )
      for (let i = 1; i < columns; i++) cells.push('<table:covered-table-cell/>')
      for (let i = 0; i < columns; i++) covered[column + i] = rows - 1
      column += columns
    }
    skip()
    return `<table:table-row>${cells.join('')}</table:table-row>`
  })
}

function cell(
  { lines, columns, rows, align, isBold = false, color, small }: Cell,
  look: Look,
  { isHeader, fill, isRuled, isLast }: { isHeader: boolean; fill: string | undefined; isRuled: boolean; isLast: boolean },
  styles: Styles,
): string {
  const [above, beside] = look.padding_pt
  const hasRule =
    isRuled && (look.rules === 'grid' || (look.rules === 'rows' && isLast) || (look.rules === 'header' && isHeader && isLast))
  const border = !hasRule
    ? ''
    : look.rules === 'grid'
      ? ' fo:border="0.5pt solid #555555"'
      : ' fo:border-bottom="0.5pt solid #555555"'
  const vertical = isRuled ? (isHeader ? look.verticalOfHeader : look.vertical) : 'top'
  const alignment = `<style:paragraph-properties fo:text-align="${align === 'right' ? 'end' : (align ?? 'start')}"/>`
  const style = styles.name(
    'table-cell',
    // Spreadsheets take letters and alignment from the cell, texts from the paragraph.
    `${alignment}${letters(look, look.size_pt, isBold, color)}<style:table-cell-properties fo:wrap-option="wrap" style:vertical-align="${vertical}" fo:padding-top="${above}pt" fo:padding-bottom="${above}pt" fo:padding-left="${beside}pt" fo:padding-right="${beside}pt"${border}${fill ? ` fo:background-color="${fill}"` : ''}/>`,
  )
  const paragraphStyle = (scale: number) =>
    styles.name('paragraph', `${alignment}${letters(look, look.size_pt * scale, isBold, color)}`)
  const paragraphs = [
    ...lines.map((line) => `<text:p text:style-name="${paragraphStyle(1)}">${escape(line)}</text:p>`),
    ...(small ?? []).map((line) => `<text:p text:style-name="${paragraphStyle(0.85)}">${escape(line)}</text:p>`),
  ]
  const spans = `${columns ? ` table:number-columns-spanned="${columns}"` : ''}${rows ? ` table:number-rows-spanned="${rows}"` : ''}`
  return `<table:table-cell table:style-name="${style}" office:value-type="string"${spans}>${paragraphs.join('')}</table:table-cell>`
}

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
