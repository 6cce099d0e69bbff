// Sites of laboratories by command.
import { parseArgs } from 'node:util'
import { UsageError } from './bootstrap.ts'
import { placesOf, usable } from './places-command.ts'
import type { Cells } from './platform/cells.ts'
import type { CellName, Db } from './platform/db.ts'
import { importSites, labOf } from './psc/import.ts'
import { countSites, listSites, setActive } from './psc/sites.ts'
import { labSlugs } from './wire/enums.ts'

const LISTED = 1000

/**
 * Carry out `psc import`, `psc list`, `psc activate` or `psc deactivate`: in the cell that is named, else in all that are served; an import
 * without a cell goes to those of production, since the sandbox has sites of its own.
 * @returns what to print
 */
export async function pscCommand(cells: Cells, words: string[]): Promise<string> {
  const { positionals, values } = read(words)
  const [, command, ...named] = positionals
  if (!['import', 'list', 'activate', 'deactivate'].includes(command ?? ''))
    throw new UsageError('Say "psc import", "psc list", "psc activate" or "psc deactivate"; "bin/drawbridge help" explains them.')
  if (command === 'list' && values.lab === undefined) return eachCell(cells, values.cell, counts)
  const lab = labSlugs.find((slug) => slug === values.lab)
  if (!lab) throw new UsageError(`--lab must be one of ${labSlugs.join(', ')}.`)
  if (command === 'list') return eachCell(cells, values.cell, async (db) => list(db, await labIn(db, lab)))
  if (command === 'import') {
    const [file] = named
    if (!file) throw new UsageError('psc import needs a file.')
    const strict = values.strict ?? false
    return eachCell(cells, values.cell, async (db) => take(db, await labIn(db, lab), file, strict), isProduction)
  }
  if (named.length === 0) throw new UsageError(`psc ${command} needs the codes of sites.`)
  return eachCell(cells, values.cell, async (db) => activate(db, await labIn(db, lab), named, command === 'activate'))
}

function read(words: string[]) {
  const text = { type: 'string' } as const
  try {
    const options = { cell: text, lab: text, strict: { type: 'boolean' } } as const
    return parseArgs({ args: words, allowPositionals: true, options })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

const isProduction = (name: CellName): boolean => name.startsWith('production')

async function eachCell(
  cells: Cells,
  named: string | undefined,
  work: (db: Db) => Promise<string>,
  wanted?: (name: CellName) => boolean,
): Promise<string> {
  const places = placesOf(cells, named, wanted)
  if (places.length === 0) throw new UsageError('No cell of production is served here; name one with --cell.')
  let printed = ''
  for (const name of places) printed += `${name}\n${await usable(work(cells.of(name)))}`
  return printed
}

async function labIn(db: Db, slug: string): Promise<number> {
  const lab_id = await labOf(db.queries, slug)
  if (lab_id === undefined) throw new UsageError('There is no such lab in the cell.')
  return lab_id
}

async function take(db: Db, lab_id: number, file: string, strict: boolean): Promise<string> {
  const { sites, rejections } = await importSites(db, lab_id, file, strict)
  return `${sites} taken\n${rejections.text()}`
}

async function counts(db: Db): Promise<string> {
  const labs = await countSites(db.queries)
  return labs.map(({ slug, active, inactive }) => `  ${slug.padEnd(13)} ${active} active, ${inactive} inactive\n`).join('')
}

async function list(db: Db, lab_id: number): Promise<string> {
  const sites = await listSites(db.queries, lab_id, { after: '', limit: LISTED + 1 })
  const lines = sites.slice(0, LISTED).map(({ site_code, active, state, zip_code, name, capabilities }) => {
    const can = capabilities.length ? `  [${capabilities.join(' ')}]` : ''
    return `  ${site_code.padEnd(12)} ${active ? 'active  ' : 'inactive'} ${state} ${zip_code.padEnd(10)} ${name}${can}\n`
  })
  return [...lines, ...(sites.length > LISTED ? ['  … and more\n'] : [])].join('')
}

async function activate(db: Db, lab_id: number, codes: string[], active: boolean): Promise<string> {
  const lines: string[] = []
  await db.plainTx(async (tx) => {
    lines.length = 0
    for (const code of codes) {
      const known = await setActive(tx, lab_id, code, active)
      lines.push(`  ${code}  ${known ? (active ? 'active' : 'inactive') : 'no such site'}\n`)
    }
  })
  return lines.join('')
}
