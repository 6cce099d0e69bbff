// The command line in the process of a test: words in, exit code and texts out, on the cells of the test and in its environment.
import { execute } from '../../src/cli/execute.ts'
import type { CommandContext } from '../../src/cli/command-tree.ts'
import { outcomeOf } from './commands.ts'
import { cells } from './server.ts'

export interface Ended {
  code: 0 | 1 | 2
  out: string
  err: string
}

/** How a command ends. @param env its environment: nothing of the test's own @param changes of what it gets otherwise */
export async function ended(
  words: string[],
  env: Record<string, string> = {},
  changes: Partial<CommandContext> = {},
): Promise<Ended> {
  let [out, err] = ['', '']
  const code = await execute(words, {
    env,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    print: async (text) => void (out += text),
    untilStopped: () => AbortSignal.abort(),
    isTerminal: false,
    async administer() {
      const { printed, failure } = await outcomeOf(cells, words)
      out += printed
      if (failure !== undefined) throw new Error(failure)
    },
    ...changes,
  })
  return { code, out, err }
}
