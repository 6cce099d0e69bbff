// The language in which the layouts of reports are described. A layout says what a laboratory prints and where; `content.ts` makes the
// content for a seed, `compose/` places it on pages, `pdf.ts` writes the file.
//
// Templates: `{token}` is replaced; `[ … ]` vanishes with all its text if one of the tokens in it is empty; `\[` is a printed bracket; `\n` begins a line.
// Tokens of a report: name first last sex age dob collected received reported printed specimen mrn order account physician lab address
// phone page pages; of dates: `{collected:DD/MM/YYYY}` prints another form than the layout's. Tokens of a panel: panel sample. Tokens of
// a row: name value units flag word range previous in out method code panel number; of a cumulative report: `{value@0}` for each date.
// A token that a layout never prints is not expected from the parser: a report without `{dob}` has no date of birth in its truth.
import type { Dialect } from './analytes.ts'
import type { PanelKey } from './panels.ts'
import type { Origin } from './people.ts'

export interface Layout {
  name: string
  country: string
  page?: 'letter' | 'a4' | 'letter-landscape' | 'a4-landscape'
  /** Points on all sides; default 40. */
  margin?: number
  /** `embedded` is a TrueType font inside the file, needed for ↑ ↓ ≥ ≤; the others are standard fonts. Default: helvetica. */
  font?: Font
  /** Of body text, in points; default 9. */
  size?: number
  lab: { name: string; address: string; phone: string; /** Other names on the page that are as right. */ alsoNamed?: string[] }
  people: Origin
  /** How a person is printed, from Title First Middle Last FIRST LAST, with optional parts as in templates. */
  names: string
  sexes: { male: string; female: string }
  dates: { day: string; time: string }
  /** Of specimen numbers; # is a digit, @ a letter. */
  specimen: string
  dialect: Dialect
  nameCase?: 'upper' | 'lower'
  /** SI units in place of conventional ones, where an analyte has both. */
  si?: boolean
  /** How units are printed that this laboratory spells in its own way, by their UCUM-like spelling. */
  units?: Record<string, string | ScaledUnit>
  ranges: RangeStyle
  flags: FlagStyle
  panels: PanelKey[]
  /** How many of the panels a report has; default all. */
  panelCount?: number
  /** Printed values such as `<0.01` and `>90`. */
  comparators?: boolean
  /** Share of rows with a remark below. */
  remarks?: number
  /** Number of dates with results; above 1 for previous results and cumulative reports. */
  dateCount?: number
  /** Top of the first page. */
  first: Block[]
  /** Top of each page, above `first` on the first one. */
  head?: Block[]
  /** Bottom of each page. */
  foot?: Block[]
  body: Body
  /** After the last panel. */
  last?: Block[]
  watermark?: string
  emission?: Emission
}

export type Font = 'helvetica' | 'times' | 'courier' | 'embedded'

/** A unit whose numbers are larger by `factor`. `grouping`: 7,500 or 2,45,000. */
export interface ScaledUnit {
  print: string
  factor: number
  decimals: number
  grouping?: 'western' | 'indian'
}

/** `{l}` and `{h}` are the bounds. */
export interface RangeStyle {
  bothSexes: string
  /** Upper bound alone. Default `< {h}`. */
  max?: string
  /** Lower bound alone. Default `> {l}`. */
  min?: string
  /** A lower bound of 0 is left out. */
  dropsZero?: boolean
  /** Lines for both sexes and children where the ranges differ, in place of the one that fits; `{m}`, `{f}`, `{c}` are the ranges. */
  bySex?: string[]
  /** Where clinical decision limits exist (HbA1c, lipids, vitamin D), print them as lines in place of the range. */
  decisionLimits?: boolean
  /** Text in place of a range that does not exist. */
  noRange?: string
}

/** Texts; default empty. `critical`: far outside the range. */
export interface FlagStyle {
  normal?: string
  low?: string
  high?: string
  criticalLow?: string
  criticalHigh?: string
  /** Of a text that is not the expected one. */
  abnormal?: string
}

export interface TextStyle {
  size?: number
  bold?: boolean
  italic?: boolean
  align?: 'left' | 'center' | 'right'
  color?: string
}

export type Block =
  | ({ kind: 'text'; text: string } & TextStyle)
  | { kind: 'rule'; weight?: number; color?: string }
  | { kind: 'space'; height: number }
  | ({ kind: 'band'; text: string; fill: string } & TextStyle)
  | Fields
  | { kind: 'columns'; shares: number[]; columns: Block[][] }
  /** A table that holds no results, such as classes of risk. */
  | { kind: 'grid'; shares: number[]; rows: string[][]; size?: number; ruled?: boolean }

/** Labels with values, row by row. */
export interface Fields {
  kind: 'fields'
  rows: [label: string, value: string][][]
  /** Between label and value; default ': '. */
  separator?: string
  /** Points from label to value; default: the value follows its label. */
  labelWidth?: number
  /** The label stands above its value. */
  stacked?: boolean
  frame?: 'box' | 'grid'
  size?: number
  boldValues?: boolean
  boldLabels?: boolean
  /** Shares of the columns; default equal. */
  shares?: number[]
}

export type Body = Table | Cards | Sentences

interface PanelStyle {
  /** Template of the heading; no heading if it is absent. */
  heading?: string
  style?: 'bold' | 'band' | 'center' | 'underlined' | 'plain'
  size?: number
  /** Lines below the heading, such as the specimen. */
  subheading?: string
  /** Points that rows of a panel are indented. */
  indent?: number
  /** Each panel begins a page. */
  breaks?: boolean
  /** Blocks after the rows of a panel; `interpretation` is a text and `guideline` a table about one of its analytes. */
  notes?: ('interpretation' | 'guideline')[]
}

export interface Table {
  kind: 'table'
  columns: Column[]
  /** Where the titles of the columns are printed; default above each page's first row. */
  header?: 'page' | 'panel' | 'once' | 'none'
  headerStyle?: { bold?: boolean; fill?: string; color?: string; size?: number }
  rules?: 'none' | 'header' | 'rows' | 'grid'
  /** Fill of every second row. */
  zebra?: string
  /** Points between rows. */
  spacing?: number
  panel: PanelStyle
  /** Tables side by side on a page; default 1. */
  sideBySide?: number
  /** Column that remarks begin in; default: the first. */
  remarkIndent?: number
}

export interface Column {
  title: string
  /** Relative width. */
  width: number
  /** Template. */
  cell: string
  align?: 'left' | 'center' | 'right'
  bold?: boolean | 'abnormal'
  color?: string
  /** Color of values out of range. */
  abnormalColor?: string
  /** Characters that lead to the next column. */
  leader?: string
  size?: number
  /** Size of the lines after the first, in a cell with several. */
  smallLines?: number
}

/** A frame for each row. */
export interface Cards {
  kind: 'cards'
  columns: number
  height: number
  parts: (TextStyle & { text: string; x: number; y: number })[]
  /** A bar with a mark where the value is in its range. */
  bar?: { x: number; y: number; width: number }
  frame?: boolean
  panel: PanelStyle
}

/** One line of running text for each row. */
export interface Sentences {
  kind: 'sentences'
  text: string
  indent?: number
  panel: PanelStyle
}

/** How a producer of PDFs writes text: in which pieces and in which order. Default: pieces as composed, in reading order. */
export interface Emission {
  /** `line`: all of a line in one piece, with spaces between (courier alone). */
  pieces?: 'runs' | 'words' | 'glyphs' | 'line'
  /** `columns`: page by page from left to right. `values-last`: a form first, then what is filled in. */
  order?: 'reading' | 'columns' | 'shuffled' | 'values-last'
}
