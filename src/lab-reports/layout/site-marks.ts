// Raised numbers behind names, which tell the laboratory that did the test: `Glucose⁰¹`. Text recognition puts them on the line of the name.
import type { Row } from './row.ts'

/** Fewer rows with the same number may be names that end with it: `Vitamin B 12`. */
const MARKED_MIN = 4
/** Of all rows. */
const SHARE_MIN = 0.5
const MARK = /^(.*\S)\s+[0oO]?(\d)$/u

/** Rows without the number that most of their names end with. */
export function withoutSiteMarks(rows: readonly Row[]): Row[] {
  const counts = new Map<string, number>()
  for (const { name } of rows) {
    const number = MARK.exec(name)?.[2]
    if (number) counts.set(number, (counts.get(number) ?? 0) + 1)
  }
  const [mostUsed] = [...counts].toSorted(([, one], [, other]) => other - one)
  if (!mostUsed || mostUsed[1] < MARKED_MIN || mostUsed[1] < rows.length * SHARE_MIN) return [...rows]
  return rows.map((row) => {
    const [, name, number] = MARK.exec(row.name) ?? []
    return number === mostUsed[0] ? { ...row, name: name! } : row
  })
}
