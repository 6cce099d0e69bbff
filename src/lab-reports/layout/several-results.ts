// Lines that hold several results: `Na 140 mmol/L K 4.0 mmol/L`, or two lists next to each other without names of columns.
import { heightOf } from '../pages/page.ts'
import { splitCell, type TypedCell } from './cells.ts'
import { CELL_GAP, cellOf, type Cell } from './lines.ts'
import { cleanName, isPossibleName } from './names.ts'
import { intervalOf, isComparator, numberOf, partFlag } from '../../lab-values/values.ts'

type IsNamed = (name: string) => boolean

/** Words of a name within a line of several results. */
const NAME_WORDS_MAX = 6
/** A line of more words is not searched for results. */
const WORDS_MAX = 120
/** What a laboratory prints of an earlier result. */
const FORMER = /^(?:prev(?:ious)?|prior|last|old|former|earlier|baseline)\b/iu

/**
 * Cuts a cell that holds several results into the name of each and what follows it; any other cell stays whole. Each name has to be one that
 * laboratories measure, word for word, with a number behind it.
 */
export function resultsInCell(cell: Cell, isNamed: IsNamed): Cell[] {
  const { words } = cell
  const numbers = words.map(({ text }) => isNumber(text.replace(/[,;]$/u, '')))
  if (words.length > WORDS_MAX || numbers.filter(Boolean).length < 2) return [cell]
  const nameLength = (start: number): number => {
    if (!/^[\p{L}\d]/u.test(words[start]!.text) || numbers[start] || intervalOf(words[start]!.text)) return 0
    for (let count = Math.min(NAME_WORDS_MAX, words.length - 1 - start); count > 0; count--)
      if (numbers[start + count] && isNamed(cellOf(words.slice(start, start + count)).text)) return count
    return 0
  }
  const results: { start: number; behindName: number }[] = []
  let start = 0
  for (let length = nameLength(0); length > 0; length = start < words.length ? nameLength(start) : 0) {
    results.push({ start, behindName: start + length })
    for (start += length + 1; start < words.length && nameLength(start) === 0;) start++
  }
  if (results.length < 2) return [cell]
  return results.flatMap(({ start: from, behindName }, index) => [
    cellOf(words.slice(from, behindName)),
    cellOf(withoutCommas(words.slice(behindName, behindName + 1))),
    ...withoutRest(withoutCommas(words.slice(behindName + 1, results[index + 1]?.start))),
  ])
}

const isNumber = (text: string): boolean => {
  const { value } = partFlag(text)
  return numberOf(value) !== undefined || isComparator(value)
}

const withoutCommas = (words: Cell['words']): Cell['words'] =>
  words.map((word) => ({ ...word, text: word.text.replace(/[,;]$/u, '') || word.text }))

/** What follows a number as far as it can be read, and what cannot be read behind it. */
function withoutRest(words: Cell['words']): Cell[] {
  let count = words.length
  while (count > 0 && splitCell(cellOf(words.slice(0, count))).some(({ kind }) => kind === 'text')) count--
  return [words.slice(0, count), words.slice(count)].filter((part) => part.length > 0).map(cellOf)
}

/** The cells of a line without names of columns, by result: a name behind a result, with a number behind it, begins another one. */
export function resultsInLine(cells: readonly TypedCell[], isNamed: IsNamed): TypedCell[][] {
  const results: TypedCell[][] = [[]]
  for (const [index, cell] of cells.entries()) {
    if (results.at(-1)!.some(isMeasured) && beginsResult(cells.slice(index), isNamed)) results.push([])
    results.at(-1)!.push(cell)
  }
  return results
}

const isMeasured = ({ kind, value }: TypedCell): boolean => kind === 'value' && value !== 'word'

function beginsResult([cell, next, afterNext]: readonly TypedCell[], isNamed: IsNamed): boolean {
  if (!next || !isMeasured(next)) return false
  const name = cleanName(cell!.text)
  if (isNamed(name)) return cell!.kind === 'text' || cell!.kind === 'flag' || cell!.kind === 'unit'
  const isMeasurement = afterNext?.kind === 'unit' || afterNext?.kind === 'range'
  return cell!.kind === 'text' && isMeasurement && !FORMER.test(name) && isPossibleName(name, isNamed)
}

/** A letter that could be a flag is the end of the name in front of it where the name is known with it, or not known without it: `Vitamin C`. */
export function withLettersOfNames(cells: readonly TypedCell[], isNamed: IsNamed): TypedCell[] {
  const result: TypedCell[] = []
  for (const [index, cell] of cells.entries()) {
    const name = result.at(-1)
    const isLetter = cell.kind === 'flag' && /^\p{L}{1,2}$/u.test(cell.text) && cells[index + 1]?.kind === 'value'
    if (isLetter && name?.kind === 'text' && isNext(name, cell) && (isNamed(`${name.text} ${cell.text}`) || !isNamed(name.text)))
      result[result.length - 1] = { ...name, ...cellOf([...name.words, ...cell.words]) }
    else result.push(cell)
  }
  return result
}

const isNext = (a: Cell, b: Cell): boolean => b.box.left - a.box.right < heightOf(b.box) * CELL_GAP
