// Codes that reports print behind names: `Hemoglobin (LOINC: 718-7): 11.8 g/dL`.
import { cellOf, lineOf, type Cell, type Line } from './lines.ts'

/** Longer texts are no rows. */
const LETTERS_MAX = 400
const CODE = /\s?[([]LOINC(?: code)?:?\s?\d{1,7}-\d[)\]]/iu

/** The line without the LOINC codes in brackets, whose colons and numbers would part names and results. */
export function withoutPrintedCodes(line: Line): Line {
  if (!line.cells.some(({ text }) => CODE.test(text))) return line
  const cells = line.cells.map(withoutCode).filter(({ words }) => words.length > 0)
  return cells.length ? lineOf(line.page, cells) : line
}

function withoutCode(cell: Cell): Cell {
  const match = cell.text.length > LETTERS_MAX ? null : CODE.exec(cell.text)
  if (!match) return cell
  const [from, to] = [match.index, match.index + match[0].length]
  let index = 0
  const words = cell.words.flatMap((word) => {
    const [start, end] = [index, index + word.text.length]
    index = end + 1
    if (end <= from || start >= to) return [word]
    const text = word.text.slice(0, Math.max(0, from - start)) + word.text.slice(Math.max(0, to - start))
    return text ? [{ ...word, text }] : []
  })
  return withoutCode({ ...cellOf(words), ...(cell.band && { band: cell.band }) })
}
