// Commands on the cells of a test, read as the command line reads them.
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, type Call } from '../../src/cli/command-tree.ts'
import { tree } from '../../src/cli/command-list.ts'
import { actorOf } from '../../src/platform/access-log/access-line.ts'
import type { Cells } from '../../src/platform/db/cells.ts'
import { settings } from './server.ts'

type Ask = Call['ask']

/** A folder of this process, for commands that make a key of their own there. */
let folder: string | undefined
async function dataDir(): Promise<string> {
  if (folder === undefined) {
    folder = await mkdtemp(join(tmpdir(), 'drawbridge-commands-'))
    process.once('exit', () => rmSync(folder!, { recursive: true, force: true }))
  }
  return folder
}

/**
 * What a command prints, and what of it failed.
 * @param ask answers for a terminal; without it there is none
 * @param default_cell the cell that the environment names
 */
export async function runOnDatabase(
  cells: Cells,
  words: string[],
  ask?: Ask,
  default_cell?: string,
): Promise<{ output: string; failure: string | undefined }> {
  const parsed = parse(tree, words)
  if ('help' in parsed || !parsed.leaf.onCells) throw new Error(`${words.join(' ')} does not work on cells`)
  let printed = ''
  const write = async (text: string) => void (printed += text)
  const config = {
    ...settings,
    data_dir: await dataDir(),
    sms: undefined,
    webhook_allow: ['127.0.0.0/8'],
    lab_folder: process.env.LAB_FOLDER,
  }
  const outcome = await parsed.leaf.onCells({
    ...parsed.input,
    actor: actorOf(parsed.input.person),
    cells,
    config,
    write,
    default_cell,
    ask,
  })
  if (typeof outcome === 'string') return { output: printed + outcome, failure: undefined }
  return { output: printed + outcome.output, failure: outcome.failure }
}

/** What a command prints. */
export const command = async (cells: Cells, words: string[]): Promise<string> => (await runOnDatabase(cells, words)).output
