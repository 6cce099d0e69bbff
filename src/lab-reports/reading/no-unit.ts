// What is no unit, though it was read as one.
import { dateIn } from '../layout/dates.ts'
import { isUnit } from '../../lab-values/units.ts'
import { boundOf, intervalOf, isResultWord, numberOf } from '../../lab-values/values.ts'

/** A text that is a time of day; `1:40` is a titer. */
export const TIME = /^(?!1:)\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?$/iu

/** Whether what was read as a unit is a number, a range, a date, a time or a result. */
export const isNoUnit = (unit: string): boolean =>
  !isUnit(unit) &&
  (intervalOf(unit) !== undefined ||
    boundOf(unit) !== undefined ||
    numberOf(unit) !== undefined ||
    /\d\s?(?:-|–|to)\s?\d/u.test(unit) ||
    TIME.test(unit) ||
    dateIn(unit) !== undefined ||
    isResultWord(unit))
