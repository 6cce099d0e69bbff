// The command line in the process of a test, on the cells of the test.
import type { ProgramContext } from '../../src/cli/execute.ts'
import { runOnDatabase } from './commands.ts'
import { runToEnd as endedLocally, type Ended } from './local-command.ts'
import { cells } from './server.ts'

/** How a command ends. @param env its environment: nothing of the test's own @param changes of what it gets otherwise */
export async function runToEnd(
  words: string[],
  env: Record<string, string> = {},
  changes: Partial<ProgramContext> = {},
): Promise<Ended> {
  let printedByCommand = ''
  const result = await endedLocally(words, env, {
    async administer() {
      const { output, failure } = await runOnDatabase(cells, words, undefined, env.DRAWBRIDGE_CELL)
      printedByCommand = output
      if (failure !== undefined) throw new Error(failure)
    },
    ...changes,
  })
  return { ...result, stdout: result.stdout + printedByCommand }
}
