// The command line: parses it, runs the command, and reports the outcome.
import { parse, titleOf, UsageError, type Leaf, type Typed } from './command-tree.ts'
import { tree } from './command-list.ts'
import { print } from './terminal.ts'
import { errorFields } from '../platform/telemetry/error-fields.ts'
import { NoRowSecurity } from '../platform/db/no-row-security.ts'
import { version } from '../platform/runtime/version.ts'

/** Runs a command. Errors are printed on standard error; then the process exits with 1, or with 2 after a usage error. */
export const main = (words: string[]): Promise<void> => execute(words).catch(exitWithError)

async function execute(words: string[]): Promise<void> {
  if (words.length === 1 && words[0] === '--version') return print(`${version}\n`)
  const parsed = parse(tree, words)
  if ('help' in parsed) {
    const isWhole = words.length === 0 || (words.length === 1 && /^(help|--help|-h)$/.test(words[0]!))
    return print(isWhole ? `${titleOf()}\n\n${parsed.help}` : parsed.help)
  }
  await carryOut(parsed.leaf, parsed.typed)
}

async function carryOut(leaf: Leaf, typed: Typed): Promise<void> {
  if (leaf.run) return leaf.run(typed)
  const { administer: runDatabaseCommand } = await import('./administer.ts')
  await runDatabaseCommand(leaf, typed)
}

/** Codes of Node and PostgreSQL for a database that does not exist or denies access. */
const CONNECTION_ERROR_CODES =
  /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|28000|28P01|3D000|57P03)$/

/** The error as a sentence, if the user can act on it. */
function errorMessage(error: unknown): string {
  const { code = '', message, syscall, cause } = error as { code?: string; message?: string; syscall?: string; cause?: unknown }
  if (cause instanceof NoRowSecurity) return cause.message
  if (CONNECTION_ERROR_CODES.test(code) || syscall === 'connect')
    return `Cannot connect to the database (${code}). Check DATABASE_URL.`
  if (code === 'EACCES') return `Permission denied: ${message}`
  return message || `unknown error ${code}`
}

function exitWithError(error: unknown): void {
  process.stderr.write(`drawbridge: ${errorMessage(error)}\n`)
  if (error instanceof UsageError) process.exit(2)
  if (process.env.LOG_LEVEL === 'debug') process.stderr.write(`${JSON.stringify(errorFields(error), null, 2)}\n`)
  process.exit(1)
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
