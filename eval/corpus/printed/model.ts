// A report as a browser or an office program prints it: blocks of text and tables, and how they look. `html.ts` and `open-document.ts` write it.

export type Align = 'left' | 'center' | 'right'

export interface Cell {
  /** Each begins a line of its own; a printer may wrap it further. */
  lines: string[]
  /** Columns and rows that the cell covers; default 1. */
  columns?: number
  rows?: number
  align?: Align
  isBold?: boolean
  color?: string
  /** Lines below, in smaller letters. */
  small?: string[]
}

export interface Grid {
  kind: 'grid'
  /** Of the columns, in percent of the text width; undefined: as wide as their contents. */
  widths: number[] | undefined
  /** Repeated on each page. */
  header: Cell[][]
  rows: Cell[][]
  isOfResults: boolean
}

export type PrintedBlock =
  | Grid
  | { kind: 'title' | 'heading' | 'text' | 'small'; text: string }
  | { kind: 'page break' }
  | { kind: 'columns'; blocks: PrintedBlock[][] }

export interface Look {
  page: 'a4' | 'letter'
  isLandscape: boolean
  margin_pt: number
  font: string
  size_pt: number
  /** Of the cells of results, and of the names of their columns. */
  vertical: 'top' | 'middle' | 'bottom'
  verticalOfHeader: 'top' | 'middle' | 'bottom'
  /** Around the text of a cell: above and below, left and right. */
  padding_pt: [vertical: number, horizontal: number]
  rules: 'grid' | 'rows' | 'header' | 'none'
  /** Fill of every second row. */
  zebra: string | undefined
  /** Fill of the names of columns. */
  band: string | undefined
}

export interface PrintedSheet {
  look: Look
  blocks: PrintedBlock[]
}

/** Points, upright. */
export const PAGE_SIZES = { a4: [595, 842], letter: [612, 792] } as const
