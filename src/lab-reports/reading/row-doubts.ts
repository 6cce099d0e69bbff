// What the texts of a row show that cannot be right. Pure.
import { dateIn } from '../layout/dates.ts'
import { columnKind } from '../layout/headers.ts'
import { rangeFor } from '../../lab-values/ranges.ts'
import type { ReadRowsOptions, Row } from '../layout/row.ts'
import { isUnit } from '../../lab-values/units.ts'
import { flagOf, numberOf } from '../../lab-values/values.ts'
import type { ReadingFinding } from './finding.ts'
import { isNoUnit, TIME } from './no-unit.ts'
import type { ReportResult } from './result.ts'

const COMPARED = /[<>≤≥]\s?\d/u
/** A number which is no part of a name: an interval, a decimal number, a time. */
const VALUE_WITHIN =
  /(?<![\p{L}\d.,-])(?:\d+[.,]\d+|\d+(?:[.,]\d+)?\s?(?:-|–|—|to)\s?\d+(?:[.,]\d+)?|\d{1,2}:\d{2})(?![\p{L}\d-])/u
/** `Non-`, `Antigen/`, `25-Hydroxy,`, `Alkaline and`: something follows. */
const IS_CUT = /\p{Ll}[-–]$|[\p{L}\d)][/,&(]$|\d[-–]$|\s(?:of|and|or|with|by|for)$/u
/** `transferase (GGT)`, `/Creatinine`, `) Ratio`: something came before. */
const CAME_BEFORE = /^[)\]/,&+]|^\p{Ll}{4,}|^\([^)]*\)$/u

/** Times by which values are below or above their range in no patient, but for hormones of pregnancy and copies of viruses. */
const [BELOW, ABOVE] = [500, 10_000]

const CLASS_OF_ANTIBODY = /\bIg[AEGM]\b/u

type Names = Pick<ReadRowsOptions, 'isNamed'>

export function rowDoubts(row: Row, result: ReportResult, names: Names): ReadingFinding[] {
  return [
    unitDoubt(row),
    nameDoubt(row, names),
    valueDoubt(row, result, names),
    rangeDoubt(row, result),
    flagDoubt(row, result),
  ].filter((item) => item !== undefined)
}

function unitDoubt({ unit }: Row): ReadingFinding | undefined {
  return unit !== null && isNoUnit(unit)
    ? { kind: 'unit_is_no_unit', text: 'What was read as the unit looks like a range, a date or a result.' }
    : undefined
}

const hasOpenBracket = (text: string): boolean => text.split(/[([]/u).length !== text.split(/[)\]]/u).length

const HOLDS_VALUE: ReadingFinding = {
  kind: 'name_holds_a_value',
  text: 'The name has a number, a unit, a range, a date or a time in it.',
}
const INCOMPLETE: ReadingFinding = {
  kind: 'name_is_incomplete',
  text: 'The name seems to be cut off: it may go on in the line above or below.',
}

function nameDoubt({ name }: Row, { isNamed }: Names): ReadingFinding | undefined {
  // What tells names apart leaves brackets, signs and small words out.
  if (hasOpenBracket(name) || IS_CUT.test(name)) return INCOMPLETE
  if (COMPARED.test(name)) return HOLDS_VALUE
  if (CAME_BEFORE.test(name)) return INCOMPLETE
  if (isNamed(name)) return undefined
  if (isUnit(name) || VALUE_WITHIN.test(name) || dateIn(name) !== undefined) return HOLDS_VALUE
  if (columnKind(name) !== undefined) return { kind: 'name_holds_a_heading', text: 'The name is one of a column.' }
  const words = name.split(' ')
  // `Phospholipid Ab IgM`: a class of antibodies is the end of a name, and no name behind a heading.
  if (CLASS_OF_ANTIBODY.test(name)) return undefined
  if (words.some((_, index) => index > 0 && index < 4 && isNamed(words.slice(index).join(' '))))
    return { kind: 'name_holds_a_heading', text: 'The name begins with what looks like the name of a panel.' }
  return undefined
}

function valueDoubt(
  { name, value }: Row,
  { min_reference_range: min, max_reference_range: max }: ReportResult,
  { isNamed }: Names,
): ReadingFinding | undefined {
  const isMoment = TIME.test(value) || (dateIn(value)?.index === 0 && numberOf(value) === undefined)
  const isNothing = !/[\p{L}\p{N}+±]|^\(-\)$/u.test(value) || /\p{L}[-–/,]$/u.test(value) || hasOpenBracket(value)
  // `Normal` beside a range of numbers is what the report says of the result.
  const isFlag = (min !== null || max !== null) && flagOf(value) !== undefined
  return isNothing || isFlag || (isMoment && !(isNamed(name) && /\btime\b/iu.test(name)))
    ? {
        kind: 'value_is_no_result',
        text: 'What was read as the result is empty or cut off, or looks like a date, a time or a flag.',
      }
    : undefined
}

function rangeDoubt(row: Row, { min_reference_range: min, max_reference_range: max }: ReportResult): ReadingFinding | undefined {
  const value = numberOf(row.value)
  if (value === undefined) return undefined
  if (min === null && max === null)
    // A table of ranges that has none for the patient is understood.
    return row.range_lines.some((line) => /\d/u.test(line)) && !rangeFor(row.range_lines, { sex: null, age: null })
      ? { kind: 'range_is_not_understood', text: 'What stands in the place of the range was not understood.' }
      : undefined
  const isFar = (min !== null && value > 0 && value * BELOW < min) || (max !== null && max > 0 && value > max * ABOVE)
  return isFar
    ? { kind: 'value_is_far_from_range', text: 'The value is far from its range: a decimal sign may be lost.' }
    : undefined
}

function flagDoubt(
  { flag }: Row,
  { is_above_max_range: isAbove, is_below_min_range: isBelow, min_reference_range, max_reference_range }: ReportResult,
): ReadingFinding | undefined {
  if ((min_reference_range === null && max_reference_range === null) || flag === null || isAbove === null || isBelow === null)
    return undefined
  const contradicts =
    flag === 'normal'
      ? isAbove || isBelow
      : flag.endsWith('high')
        ? !isAbove
        : flag.endsWith('low')
          ? !isBelow
          : !isAbove && !isBelow
  return contradicts
    ? {
        kind: 'flag_contradicts_range',
        text: 'The flag that is printed does not agree with the value and the range that were read.',
      }
    : undefined
}
