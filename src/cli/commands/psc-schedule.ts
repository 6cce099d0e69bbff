// Schedules of sites by command: the operator maintains the calendars.
import type { Call, Outcome } from '../command-tree.ts'
import { chosenCells, chosenProductionCells, requireOneOf } from '../command-input.ts'
import { printEach, printFirst, printJson, printOfEach } from '../command-output.ts'
import { importIntoEach } from '../file-import.ts'
import { labIn } from './psc.ts'
import { importSchedules } from '../../visits/psc-booking/schedule-import.ts'
import { formatSchedule } from '../../visits/psc-booking/schedule-row.ts'
import { listSchedules, loadSchedules, removeSchedule } from '../../visits/psc-booking/schedules.ts'
import { bookableLabs } from '../../visits/psc-booking/schema.ts'

type Options = { cell?: string; lab?: string; strict?: boolean }

const requireLab = ({ values: { lab } }: Call<Options>): string => requireOneOf(bookableLabs, lab, '--lab')

/** `psc schedule import`. */
export async function importFile(call: Call<Options>): Promise<Outcome> {
  const { args, values } = call
  const lab = requireLab(call)
  return importIntoEach(chosenProductionCells(call), async ({ name, db }) => {
    const { schedules, rejections } = await importSchedules(db, await labIn(db, lab), args[0]!, values.strict ?? false)
    return { imported: `${name}\n${schedules} imported`, rejections }
  })
}

/** `psc schedule list`. */
export async function list(call: Call<Options>): Promise<string> {
  const lab = requireLab(call)
  return printEach(chosenCells(call), async ({ db }) => {
    const lab_id = await labIn(db, lab)
    return printFirst(
      (page) => listSchedules(db.queries, lab_id, page),
      ({ site_code, schedule: { slot_minutes, places, confirms } }) => {
        const how = confirms === 'by_hand' ? '  confirmed by hand' : ''
        return `  ${site_code.padEnd(12)} ${String(slot_minutes).padStart(3)} minutes  ${places} at a time${how}`
      },
    )
  })
}

/** `psc schedule show`: the output can be edited and imported again. */
export async function show(call: Call<Options>): Promise<string> {
  const lab = requireLab(call)
  let printed = ''
  for (const { db } of chosenCells(call)) {
    const found = await loadSchedules(db.queries, await labIn(db, lab), call.args)
    printed += printJson([...found].map(([site_code, schedule]) => formatSchedule({ site_code, schedule })))
  }
  return printed
}

/** `psc schedule remove`. */
export async function remove(call: Call<Options>): Promise<string> {
  const lab = requireLab(call)
  return printEach(chosenCells(call), async ({ db }) => {
    const lab_id = await labIn(db, lab)
    return printOfEach(db, call.args, async (tx, code) =>
      (await removeSchedule(tx, lab_id, code)) ? 'removed' : 'has no schedule',
    )
  })
}
