// Results above their units, with the name beside the middle of both, as portals print them.
import { isUnit } from '../../lab-values/units.ts'
import { type Box, centerY, heightOf, overlapX, overlapY, type Word } from '../pages/page.ts'
import * as tolerances from './tolerances.ts'

/** Fewer of them at one place may be anything. */
const STACKS_MIN = 2
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
