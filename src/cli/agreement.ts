// Asks for consent to imports that delete rows which are missing in their file.
import type { CommandContext } from './command-tree.ts'

/**
 * Asks on a terminal whether an import may delete rows. Errors: the answer was no, or there is no terminal.
 * @param losses what is deleted and in which cells, as text
 */
export async function agree(losses: string, ask: CommandContext['ask']): Promise<void> {
  const what = `The import removes ${losses}, which the file does not have.`
  if (!ask) throw new Error(`${what} Say --yes for that, or --dry-run to see more. Nothing was changed.`)
  if (!(await ask(`${what} Go on?`))) throw new Error('Nothing was changed.')
}
