// A row of results, as the layout of a page shows it.
import type { Box } from '../pages/page.ts'
import type { Flag } from '../../lab-values/values.ts'

export interface Row {
  page: number
  /** Of the whole row, and of the result in it. */
  box: Box
  value_box: Box
  name: string
  value: string
  unit: string | null
  /** The lines of the reference range as printed. */
  range_lines: string[]
  flag: Flag | null
  panel: string | null
  /** The heading above the headings of parts such as `Microscopic examination`: it tells the specimen. */
  section: string | null
  /** What was examined, how it was measured and when it was taken, as printed for this row. */
  specimen: string | null
  method: string | null
  date: string | null
  /** From 0 to 1: the least certain word of the row. */
  confidence: number
  /** Notes on this result alone. */
  comments: string[]
}

export interface ReadRowsOptions {
  /** Whether a text is the name of something that laboratories measure: it makes a row of a line that has nothing else to show for it. */
  isAnalyte: (name: string) => boolean
  /** Whether a text is, word for word, such a name: it is one even where it looks like a label. */
  isNamed: (name: string) => boolean
  /** Texts that are no headings, though they look like some: the name of the laboratory. */
  isLetterhead?: (text: string) => boolean
  /** Whether a text names a specimen, and not its number. */
  isSpecimen?: (text: string) => boolean
}
