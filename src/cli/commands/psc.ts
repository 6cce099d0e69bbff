// Sites of laboratories by command.
import type { Call, Outcome } from '../command-tree.ts'
import { chosenCells, requireFound, requireText } from '../command-input.ts'
import { loadPages, printEach, printOfEach, printRowsOfCells } from '../command-output.ts'
import { importIntoEach, requireFile } from '../file-import.ts'
import type { Db } from '../../platform/db/database.ts'
import { importSites, findLabId } from '../../visits/psc/site-import.ts'
import { countSites, listSites, setActive } from '../../visits/psc/sites.ts'

type Options = { cell?: string; lab?: string; strict?: boolean; json?: boolean }

/** The slug of `--lab`; each cell has laboratories of its own. */
export const requireLab = ({ values: { lab } }: Call<Options>): string =>
  requireText(lab, '--lab is required: the slug of a laboratory').toLowerCase()

/** The id of a laboratory in a cell. Errors: Error if the cell has no such laboratory. */
export const labIn = async (db: Db, slug: string): Promise<number> =>
  requireFound(await findLabId(db.queries, slug), 'Lab not found in the cell; "bin/drawbridge lab list" prints its laboratories.')

/** `psc import`. */
export async function importFile(call: Call<Options>): Promise<Outcome> {
  const { args, values } = call
  const lab = requireLab(call)
  const file = requireFile(args[0], 'psc import')
  return importIntoEach(chosenCells(call), async ({ name, db }) => {
    const { sites, rejections } = await importSites(db, await labIn(db, lab), file, values.strict ?? false)
    return { summary: `${name}\n${sites} imported`, rejections }
  })
}

/** `psc list`: how many sites each laboratory has, or the sites of one. */
export async function printSites(call: Call<Options>): Promise<string> {
  const lab = call.values.lab === undefined ? undefined : requireLab(call)
  const where = { json: call.values.json, places: chosenCells(call) }
  if (lab === undefined)
    return printRowsOfCells(
      where,
      ({ db }) => countSites(db.queries),
      ({ slug, active, inactive }) => `  ${slug.padEnd(13)} ${active} active, ${inactive} inactive`,
    )
  return printRowsOfCells(
    where,
    async ({ db }) => {
      const lab_id = await labIn(db, lab)
      return loadPages(
        (page) => listSites(db.queries, lab_id, page),
        ({ site_code }) => site_code,
      )
    },
    ({ site_code, active, state, zip_code, name, capabilities }) => {
      const can = capabilities.length ? `  [${capabilities.join(' ')}]` : ''
      return `  ${site_code.padEnd(12)} ${active ? 'active  ' : 'inactive'} ${state} ${zip_code.padEnd(10)} ${name}${can}`
    },
  )
}

/** `psc activate` and `psc deactivate`. */
const setAllActive = (active: boolean) => async (call: Call<Options>) => {
  const lab = requireLab(call)
  return printEach(chosenCells(call), async ({ db }) => {
    const lab_id = await labIn(db, lab)
    return printOfEach(db, call.args, async (tx, code) =>
      (await setActive(tx, lab_id, code, active)) ? (active ? 'active' : 'inactive') : 'not found',
    )
  })
}
export const activate = setAllActive(true)
export const deactivate = setAllActive(false)
