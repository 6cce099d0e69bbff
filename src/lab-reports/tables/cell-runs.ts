// The texts of the cells of a table, which may have several lines: whether a text goes on in the next line, and what is a note.
import { isResultWord } from '../../lab-values/values.ts'
import { boxAround, heightOf, widthOf, type Word } from '../pages/page.ts'
import { type Cell, cellOf } from './table-cells.ts'
import { type Run, textOf } from './runs.ts'
import { isMethod, namesSpecimen } from './statements.ts'
import type { TableColumn } from './table-columns.ts'
import * as tolerances from './tolerances.ts'

/** A text of a table: one line of one cell. */
export interface Part {
  run: Run
  column: TableColumn
}

export interface TableRow {
  parts: Part[]
  top: number
  bottom: number
}

/** Whether a text goes on in the next line because it had no room in its own. */
export function isBroken(upper: Run, lower: Run, column: TableColumn): boolean {
  const [last, first] = [upper.words.at(-1)!, lower.words[0]!]
  const tolerance = last.font === undefined ? tolerances.CELL_HEIGHT_IN_PICTURE : tolerances.CELL_HEIGHT_IN_TEXT
  if (last.font !== first.font || Math.abs(heightOf(last.box) - heightOf(first.box)) > heightOf(last.box) * tolerance)
    return false
  if (isTitleOfNote(textOf(lower)) || BEGINS_WITH_LABEL.test(textOf(lower))) return false
  const isJoined = /[\p{L}\p{N}][-–/]$/u.test(last.text)
  if (isJoined || isUnfinished(textOf(upper))) return true
  if (areTwoResults(textOf(upper), textOf(lower))) return false
  // Numbers below each other are as wide as their column.
  if (BEGINS_WITH_NUMBER.test(textOf(upper)) && BEGINS_WITH_NUMBER.test(textOf(lower)) && !/[-–—]$/u.test(textOf(upper)))
    return false
  // A word with a hyphen is broken where its first part has no room. Browsers do not part words at a slash.
  const part = /^.+?[-–](?=\S)/u.exec(first.text)?.[0] ?? first.text
  const wide = (widthOf(first.box) * part.length) / first.text.length + heightOf(last.box) * 0.25
  return widthOf(upper.box) + wide > column.width - tolerances.BREAK_ROOM
}

/** `Not Detected` above `Not Detected`, but not `None` above `Seen`. */
const areTwoResults = (upper: string, lower: string): boolean =>
  isResultWord(upper) && isResultWord(lower) && !isResultWord(`${upper} ${lower}`)

/** `Method: Dipstick`; in pictures the space may be lost: `Method:Dipstick` */
const BEGINS_WITH_LABEL = /^\p{L}[\p{L} ]{2,20}:(?:\s|$)|^(?:method|technique|principle|specimen|sample)\p{L}*\s?:/iu
const BEGINS_WITH_NUMBER = /^[([]?[<>≤≥]?\s?\d/u

/** A specimen or method that is stated, and a text with a label. */
export const isNote = (text: string): boolean =>
  /^\(?(?:method|methodology|serum|plasma|urine|calculated|specimen|sample)\b|:/iu.test(text) ||
  isMethod(text) ||
  namesSpecimen(text)

/** The title of an explanation below a row. */
export const isTitleOfNote = (text: string): boolean => /^(?:interpretation|comments?|notes?|remarks?):?$/iu.test(text)

/** `Protein, Total,`, `Protein in`, `Ratio, Random`: the next line is part of the name. */
export const goesOn = (name: string): boolean => /[,–-]$|\b(?:in|of|random|spot)$/iu.test(name)

/** Whether a text below a name is a note on it; `Urine` below `Creatinine, Random` is part of the name. */
export const isNoteBelow = (name: string, text: string): boolean => isNote(text) && !(goesOn(name) && namesSpecimen(text))

/** An open bracket, and a range without its end. */
export const isUnfinished = (text: string): boolean =>
  /[([][^)\]]*$|\d\s?(?:[-–—]|to)$|^(?:less|greater|more) than$|^[<>≤≥]$/u.test(text)

export const inOrder = (runs: readonly Run[]): Run[] => runs.toSorted((a, b) => a.box.top - b.box.top || a.box.left - b.box.left)

/** The letters of a text, in which a picture may have other spaces than another one. */
export const lettersOnly = (text: string): string => text.replaceAll(/\P{L}/gu, '').toLowerCase()

/** Whether a text has smaller letters, as notes have. */
export function isSmaller(note: Run, { box }: Run): boolean {
  const share = note.words[0]!.font === undefined ? tolerances.NOTE_HEIGHT_IN_PICTURE : tolerances.NOTE_HEIGHT
  return heightOf(note.box) < heightOf(box) * share
}

/** The lines of a cell that had no room in one. */
export function segmentsOf(parts: readonly Part[]): Run[][] {
  const segments: Run[][] = []
  for (const { run, column } of parts.toSorted((a, b) => a.run.box.top - b.run.box.top)) {
    const last = segments.at(-1)?.at(-1)
    if (last && isBroken(last, run, column)) segments.at(-1)!.push(run)
    else segments.push([run])
  }
  return segments
}

/** The lines of a cell as one text; a word that was parted at a hyphen or slash is one again. */
export function cellOfRuns(runs: readonly Run[]): Cell {
  const words: Word[] = []
  for (const run of runs)
    for (const [index, word] of run.words.entries()) {
      const last = words.at(-1)
      if (last && index === 0 && /[\p{L}\p{N})][-–/]$/u.test(last.text))
        words[words.length - 1] = {
          ...last,
          text: last.text + word.text,
          box: boxAround([last.box, word.box]),
          confidence: Math.min(last.confidence, word.confidence),
        }
      else words.push(word)
    }
  return cellOf(words)
}
