// A command that needs neither a process nor a database of its own: words in, exit code and texts out.
import { execute } from '../../src/cli/execute.ts'

/** How it ends. @param env its environment: nothing of the test's own */
export async function ended(words: string[], env: Record<string, string> = {}) {
  let [out, err] = ['', '']
  const code = await execute(words, {
    env,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    print: async (text) => void (out += text),
    untilStopped: () => AbortSignal.abort(),
    isTerminal: false,
    administer: () => Promise.reject(new Error('it works on a database')),
  })
  return { code, out, err }
}
