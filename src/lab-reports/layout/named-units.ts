// Units that are printed once for many results: in the name of a column, or behind the name of what was measured.
import type { Column } from './headers.ts'
import { heightOf, type PageText } from '../pages/page.ts'
import type { Row } from './row.ts'
import { isUnit } from '../../lab-values/units.ts'

/** The unit that the columns of results or ranges name. */
export const unitOfColumns = (columns: readonly Column[]): string | undefined =>
  [...columns]
    .sort((a, b) => Number(a.kind !== 'value') - Number(b.kind !== 'value'))
    .find(({ kind, unit }) => unit && UNITS_OF.has(kind))?.unit

const UNITS_OF = new Set(['value', 'normal_value', 'abnormal_value', 'dated_value', 'range'])

/** Units that are names as well: `Reaction (pH)`, `Prothrombin time (INR)`. */
const NAMES_TOO = /^(?:[a-z]|ph|inr|isr|ratio|index|score|calc|mom|sd|ai|coi|titre|titer|hpf|lpf|phpf)$/iu

/** A row of numbers without a unit of its own with that of its name, `Glucose (mg/dL)`, else with that of its column. */
export function withNamedUnit(row: Row, ofColumns?: string): Row {
  if (row.unit !== null || !/\d/u.test(row.value)) return row
  const [, name, unit = ''] = /^(.*\p{L}.*?)\s?[([]([^()[\]]+)[)\]]$/u.exec(row.name) ?? []
  if (name && isUnit(unit) && !NAMES_TOO.test(unit)) return { ...row, name, unit }
  return ofColumns === undefined ? row : { ...row, unit: ofColumns }
}

/** `mL/min/1.73` whose `m2` stands in the line below: alone it can be nothing else. */
export function withRestOfArea(row: Row, pages: readonly { page: PageText }[]): Row {
  if (!row.unit || !/\/\s?1[.,]73$/u.test(row.unit)) return row
  const { words } = pages.find(({ page }) => page.number === row.page)!.page
  const { left, right, bottom } = row.box
  const rest = words.find(
    ({ text, box }) =>
      /^m(?:2|²|\^2)$/u.test(text) &&
      box.left > row.value_box.right - heightOf(box) &&
      left <= box.left &&
      box.right <= right &&
      Math.abs(box.top - bottom) < heightOf(box),
  )
  return rest ? { ...row, unit: `${row.unit} ${rest.text}` } : row
}
