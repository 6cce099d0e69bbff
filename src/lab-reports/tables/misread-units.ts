// Units that were read with lost letters, next to a range that prints them.
import { isUnit, unitBehind } from '../../lab-values/units.ts'

/** So many letters or slashes are lost at most: `mgd` for `mg/dL`. */
const LOST_MAX = 2

/** `1.84 mlun`, `214 mgd`: a number and letters that were read from its unit. */
const WITH_MISREAD_UNIT = /^[<>≤≥]?\d[\d.,]*\s\p{L}[\p{L}/]{0,7}$/u

/** Whether a text is a number with letters that may be what was read of its unit. */
export const hasMisreadUnit = (text: string): boolean => WITH_MISREAD_UNIT.test(text)

/** The unit that a range prints, if a unit was read from it with lost letters: `mgd`, `ug/d`, `uU/mL`; null for other units of results. */
export function unitOfRange(read: string, range: string): string | null {
  const printed = unitBehind(range)
  if (printed === null || !isUnit(printed) || read === printed || !isPart(read, printed)) return null
  // `mg/L` next to `mg/dL` may be either.
  return !isUnit(read) || printed.startsWith(read) || printed.replace('IU', 'U') === read ? printed : null
}

/** Whether a text begins as another one and has its letters in their order, but for a few. */
function isPart(text: string, whole: string): boolean {
  if (text[0] !== whole[0] || text.length < 2 || whole.length - text.length > LOST_MAX) return false
  let index = 0
  for (const letter of whole) if (letter.toLowerCase() === text[index]?.toLowerCase()) index++
  return index === text.length
}
