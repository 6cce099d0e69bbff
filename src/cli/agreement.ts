// Imports that remove what their file does not have need consent.
import type { Surroundings } from './command-tree.ts'

/**
 * Ask on a terminal whether an import may remove what it says. Errors: the answer was no, or there is no terminal.
 * @param losses what is removed, where, in words
 */
export async function agree(losses: string, ask: Surroundings['ask']): Promise<void> {
  const what = `The import removes ${losses}, which the file does not have.`
  if (!ask) throw new Error(`${what} Say --yes for that, or --dry-run to see more. Nothing was changed.`)
  if (!(await ask(`${what} Go on?`))) throw new Error('Nothing was changed.')
}
