// Sites of laboratories by command.
import type { Outcome, Typed } from '../command-tree.ts'
import { UsageError } from './org.ts'
import { importIntoCells, reportInvalidFile } from './places.ts'
import type { Cells } from '../../platform/db/cells.ts'
import type { CellName } from '../../platform/db/cell-names.ts'
import type { Db } from '../../platform/db/database.ts'
import { taken } from '../../platform/files/rejected-rows.ts'
import { importSites, findLabId } from '../../visits/psc/site-import.ts'
import { countSites, listSites, setActive } from '../../visits/psc/sites.ts'
import { labSlugs } from '../../people/users/sources.ts'

const LISTED = 1000

/**
 * Runs `psc import`, `psc list`, `psc activate` or `psc deactivate` in the named cell; default: all cells that are served. An import
 * without a cell goes to the production cells, because the sandbox has sites of its own.
 * @returns what to print
 */
export async function pscCommand(
  cells: Cells,
  { positionals, values }: Typed<{ cell?: string; lab?: string; strict?: boolean }>,
): Promise<Outcome> {
  const [, command, ...named] = positionals
  if (!['import', 'list', 'activate', 'deactivate'].includes(command ?? ''))
    throw new UsageError(
      'Usage: bin/drawbridge psc import | psc list | psc activate | psc deactivate. See "bin/drawbridge help".',
    )
  if (command === 'list' && values.lab === undefined) return eachCell(cells, values.cell, listCounts)
  const lab = labSlugs.find((slug) => slug === values.lab)
  if (!lab) throw new UsageError(`--lab must be one of ${labSlugs.join(', ')}.`)
  if (command === 'list') return eachCell(cells, values.cell, async (db) => list(db, await requireLab(db, lab)))
  if (command === 'import') {
    const [file] = named
    if (!file) throw new UsageError('psc import requires a file.')
    const strict = values.strict ?? false
    return eachCell(cells, values.cell, async (db) => importFile(db, await requireLab(db, lab), file, strict), isProduction)
  }
  if (named.length === 0) throw new UsageError(`psc ${command} requires at least one site code.`)
  return eachCell(cells, values.cell, async (db) => activate(db, await requireLab(db, lab), named, command === 'activate'))
}

const isProduction = (name: CellName): boolean => name.startsWith('production')

interface Done {
  text: string
  /** The number of rejected rows of a file. */
  rejected: number
}

async function eachCell(
  cells: Cells,
  named: string | undefined,
  run: (db: Db) => Promise<Done>,
  requireLabSlug?: (name: CellName) => boolean,
): Promise<Outcome> {
  const places = importIntoCells(cells, named, requireLabSlug)
  if (places.length === 0) throw new Error('This process serves no production cell; specify --cell.')
  let [printed, rejected] = ['', 0]
  for (const name of places) {
    const done = await reportInvalidFile(run(cells.of(name)))
    printed += `${name}\n${done.text}`
    rejected += done.rejected
  }
  return taken(printed, rejected)
}

const whole = (lines: string[]): Done => ({ text: lines.join(''), rejected: 0 })

async function requireLab(db: Db, slug: string): Promise<number> {
  const lab_id = await findLabId(db.queries, slug)
  if (lab_id === undefined) throw new Error('Lab not found in the cell.')
  return lab_id
}

async function importFile(db: Db, lab_id: number, file: string, strict: boolean): Promise<Done> {
  const { sites, rejections } = await importSites(db, lab_id, file, strict)
  return { text: `${sites} imported\n${rejections.text()}`, rejected: rejections.count }
}

async function listCounts(db: Db): Promise<Done> {
  const labs = await countSites(db.queries)
  return whole(labs.map(({ slug, active, inactive }) => `  ${slug.padEnd(13)} ${active} active, ${inactive} inactive\n`))
}

async function list(db: Db, lab_id: number): Promise<Done> {
  const sites = await listSites(db.queries, lab_id, { after: '', limit: LISTED + 1 })
  const lines = sites.slice(0, LISTED).map(({ site_code, active, state, zip_code, name, capabilities }) => {
    const can = capabilities.length ? `  [${capabilities.join(' ')}]` : ''
    return `  ${site_code.padEnd(12)} ${active ? 'active  ' : 'inactive'} ${state} ${zip_code.padEnd(10)} ${name}${can}\n`
  })
  return whole([...lines, ...(sites.length > LISTED ? ['  … and more\n'] : [])])
}

async function activate(db: Db, lab_id: number, codes: string[], active: boolean): Promise<Done> {
  const lines: string[] = []
  await db.plainTx(async (tx) => {
    lines.length = 0
    for (const code of codes) {
      const known = await setActive(tx, lab_id, code, active)
      lines.push(`  ${code}  ${known ? (active ? 'active' : 'inactive') : 'not found'}\n`)
    }
  })
  return whole(lines)
}
