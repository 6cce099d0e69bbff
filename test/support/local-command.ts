// The command line in the process of a test: words in, exit code and texts out. Commands on a database: command-line.ts.
import { administer } from '../../src/cli/administer.ts'
import { execute, type ProgramContext } from '../../src/cli/execute.ts'

export interface Ended {
  code: 0 | 1 | 2
  stdout: string
  err: string
}

/**
 * How a command ends. A command that works on a database fails, unless `changes` say how it does.
 * @param env its environment: nothing of the test's own
 * @param changes of what it gets otherwise
 */
export async function runToEnd(
  words: string[],
  env: Record<string, string> = {},
  changes: Partial<ProgramContext> = {},
): Promise<Ended> {
  let [stdout, err] = ['', '']
  const code = await execute(words, {
    env,
    printNow: (text) => void (stdout += text),
    err: (text) => void (err += text),
    print: async (text) => void (stdout += text),
    untilStopped: () => AbortSignal.abort(),
    isTerminal: false,
    administer: () => Promise.reject(new Error('it works on a database')),
    ...changes,
  })
  return { code, stdout, err }
}

/** How a command ends that may work on the database of its environment. */
export const endedOnDatabase = (words: string[], env: Record<string, string>): Promise<Ended> =>
  runToEnd(words, env, { administer })
