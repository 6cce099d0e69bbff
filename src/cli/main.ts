// The command line of a process: its streams and signals, its exit code, and errors that nothing expects.
import { execute, type ProgramContext } from './execute.ts'
import { firstSignal, print } from './terminal.ts'
import { errorFields } from '../platform/telemetry/error-fields.ts'

const ofProcess: ProgramContext = {
  env: process.env,
  printNow: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  print,
  untilStopped() {
    const stopping = new AbortController()
    void firstSignal().then(() => stopping.abort())
    return stopping.signal
  },
  isTerminal: process.stdout.isTTY,
  administer: async (leaf, input, context) => (await import('./administer.ts')).administer(leaf, input, context),
}

/** Files that the program creates are for its account alone, whatever umask it has inherited. */
const UMASK = 0o077

/** Runs a command. Errors are printed on standard error; then the process exits with 1, or with 2 after a usage error. */
export async function main(words: string[]): Promise<void> {
  process.umask(UMASK)
  const code = await execute(words, ofProcess)
  if (code) process.exit(code)
}

/** The error is unexpected, so its message may quote patient data: it is not printed. */
function reportUnexpectedError(error: unknown): void {
  process.stderr.write(`drawbridge: Unexpected error; exiting. ${JSON.stringify(errorFields(error))}\n`)
  process.exit(1)
}
process.on('uncaughtException', reportUnexpectedError)
process.on('unhandledRejection', reportUnexpectedError)
// The reader of our output has closed the pipe, or the terminal is closed.
process.stdout.on('error', () => {})
