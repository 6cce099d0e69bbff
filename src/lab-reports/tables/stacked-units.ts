// Results between two lines, as portals print them: above their units, with the name beside the middle of both, or beside the middle of a name
// and its range.
import { isUnit } from '../../lab-values/units.ts'
import { type Box, centerY, heightOf, overlapX, overlapY, type Word } from '../pages/page.ts'
import * as tolerances from './tolerances.ts'

/** Fewer of them at one place may be anything. */
const STACKS_MIN = 2
/** A page of a report has no more labels of ranges. */
const LABELS_MAX = 300
const NUMBER = /^[<>≤≥]?\d+(?:[.,]\d+)?$/u

/** The words of a page, each unit below a result moved next to it, and both to the middle of the two lines. */
export function withUnitsBeside(words: readonly Word[]): readonly Word[] {
  const units = words.filter(({ text }) => isUnit(text) && !NUMBER.test(text))
  const stacks = words.flatMap((result) => {
    if (!NUMBER.test(result.text) || !isAlone(result, words)) return []
    const unit = units.find((word) => isBelow(word, result) && isAlone(word, words))
    return unit && hasNameBeside(stackMiddle(result, unit), result, words) ? [{ result, unit }] : []
  })
  const isUsual = ({ result }: { result: Word }) =>
    stacks.filter((stack) => Math.abs(stack.result.box.left - result.box.left) < tolerances.STACK_ALIGNED).length >= STACKS_MIN
  const moved = new Map(stacks.filter(isUsual).flatMap(({ result, unit }) => sideBySide(result, unit)))
  return moved.size ? words.map((word) => moved.get(word) ?? word) : words
}

/** `Normal range: 0.2 - 1.2` below a name. */
const RANGE_LABEL = /^(?:normal|ref(?:erence)?|range|standard|optimal|healthy|expected)\b/iu

/** The words of a page, each result beside the middle of a name and the range below it at the height of the name, with what is level with it. */
export function withResultsAtNames(words: readonly Word[]): readonly Word[] {
  const labels = words.filter(({ text }) => RANGE_LABEL.test(text))
  if (labels.length < STACKS_MIN || labels.length > LABELS_MAX) return words
  const moved = new Map<Word, Word>()
  for (const result of words.filter(({ text }) => NUMBER.test(text))) {
    const isBeside = ({ box }: Word) => box.right < result.box.left && overlapY(box, result.box) > 0
    const label = labels.find((word) => isBeside(word) && centerY(word.box) > centerY(result.box))
    const name = label && words.find((word) => isBeside(word) && isAbove(word, label) && centerY(word.box) < centerY(result.box))
    if (!name) continue
    const offset = centerY(name.box) - centerY(result.box)
    for (const word of words)
      if (word.box.left >= result.box.left && overlapY(word.box, result.box) > heightOf(word.box) / 2)
        moved.set(word, { ...word, box: { ...word.box, top: word.box.top + offset, bottom: word.box.bottom + offset } })
  }
  return moved.size ? words.map((word) => moved.get(word) ?? word) : words
}

const isAbove = ({ text, box }: Word, label: Word): boolean =>
  /\p{L}/u.test(text) &&
  Math.abs(box.left - label.box.left) < tolerances.STACK_ALIGNED &&
  label.box.top - box.bottom < heightOf(box) * tolerances.STACK_GAP

const isBelow = ({ box }: Word, result: Word): boolean =>
  Math.abs(box.left - result.box.left) < tolerances.STACK_ALIGNED &&
  box.top > centerY(result.box) &&
  box.top - result.box.bottom < heightOf(box) * tolerances.STACK_GAP

/** Whether no word stands close beside another one. */
const isAlone = (word: Word, words: readonly Word[]): boolean =>
  !words.some(
    (neighbor) =>
      neighbor !== word &&
      overlapY(neighbor.box, word.box) > heightOf(word.box) / 2 &&
      -overlapX(neighbor.box, word.box) < heightOf(word.box) * tolerances.CELL_GAP,
  )

const stackMiddle = (result: Word, unit: Word): number => (result.box.top + unit.box.bottom) / 2

/** In a block the name stands above the result. */
const hasNameBeside = (middle: number, { box: result }: Word, words: readonly Word[]): boolean =>
  words.some(
    ({ text, box }) =>
      box.right < result.left &&
      /\p{L}/u.test(text) &&
      Math.abs(centerY(box) - middle) < heightOf(result) * tolerances.STACK_MIDDLE,
  )

function sideBySide(result: Word, unit: Word): [Word, Word][] {
  const middle = stackMiddle(result, unit)
  const level = (box: Box): Box => {
    const half = heightOf(box) / 2
    return { ...box, top: middle - half, bottom: middle + half }
  }
  const box = level(unit.box)
  const left = result.box.right + heightOf(box) / 4
  return [
    [result, { ...result, box: level(result.box) }],
    [unit, { ...unit, box: { ...box, left, right: left + box.right - box.left } }],
  ]
}
