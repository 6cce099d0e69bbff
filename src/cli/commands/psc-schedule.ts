// Schedules of sites by command: the operator maintains the calendars.
import type { Call, Outcome } from '../command-tree.ts'
import { chosenCells } from '../command-input.ts'
import { loadPages, printEach, printJson, printOfEach, printRowsOfCells } from '../command-output.ts'
import { importIntoEach } from '../file-import.ts'
import { labIn, requireLab } from './psc.ts'
import { importSchedules } from '../../visits/psc-booking/schedule-import.ts'
import { formatSchedule } from '../../visits/psc-booking/schedule-row.ts'
import { listSchedules, loadSchedules, removeSchedule } from '../../visits/psc-booking/schedules.ts'

type Options = { cell?: string; lab?: string; strict?: boolean; json?: boolean }

/** `psc schedule import`. */
export async function importFile(call: Call<Options>): Promise<Outcome> {
  const { args, values } = call
  const lab = requireLab(call)
  return importIntoEach(chosenCells(call), async ({ name, db }) => {
    const { schedules, rejections } = await importSchedules(db, await labIn(db, lab), args[0]!, values.strict ?? false)
    return { summary: `${name}\n${schedules} imported`, rejections }
  })
}

/** `psc schedule list`. */
export async function printSchedules(call: Call<Options>): Promise<string> {
  const lab = requireLab(call)
  return printRowsOfCells(
    { json: call.values.json, places: chosenCells(call) },
    async ({ db }) => {
      const lab_id = await labIn(db, lab)
      const found = await loadPages(
        (page) => listSchedules(db.queries, lab_id, page),
        ({ site_code }) => site_code,
      )
      return found.map(formatSchedule)
    },
    ({ site_code, slot_minutes, places, confirms }) => {
      const how = confirms === 'by_hand' ? '  confirmed by hand' : ''
      return `  ${String(site_code).padEnd(12)} ${String(slot_minutes).padStart(3)} minutes  ${places} at a time${how}`
    },
  )
}

/**
 * `psc schedule show`: the output can be edited and imported again. Errors: Error if a site has different schedules in the cells that are
 * shown.
 */
export async function exportSchedules(call: Call<Options>): Promise<string> {
  const lab = requireLab(call)
  const shown = new Map<unknown, string>()
  for (const { db } of chosenCells(call))
    for (const [site_code, schedule] of await loadSchedules(db.queries, await labIn(db, lab), call.args)) {
      const text = JSON.stringify(formatSchedule({ site_code, schedule }))
      if ((shown.get(site_code) ?? text) !== text)
        throw new Error(`The schedule of ${site_code} is not the same in every cell; specify --cell.`)
      shown.set(site_code, text)
    }
  return printJson([...shown.values()].map((text) => JSON.parse(text)))
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
