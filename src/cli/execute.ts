// Runs the command that words mean, and reports its outcome. It touches nothing of the process.
import { helpHint, parse, programTitle, UsageError, type CommandContext, type Leaf, type Typed } from './command-tree.ts'
import { tree } from './command-list.ts'
import { reasonOf } from './network-errors.ts'
import { errorFields } from '../platform/telemetry/error-fields.ts'
import { NoRowSecurity } from '../platform/db/no-row-security.ts'
import { version } from '../platform/runtime/version.ts'

/** What the program gets of its process. */
export interface ProgramContext extends CommandContext {
  /** Prints on standard error. */
  err: (text: string) => void
  /** Runs a command on the database of the settings. */
  administer: (leaf: Leaf, input: Typed, context: CommandContext) => Promise<void>
}

/**
 * Runs a command. Errors are printed.
 * @returns the exit code: 0, 1 if the command failed, or 2 if it was asked for wrongly
 */
export async function execute(words: string[], context: ProgramContext): Promise<0 | 1 | 2> {
  try {
    await runCommand(words, context)
    return 0
  } catch (error) {
    context.err(`drawbridge: ${errorMessage(error)}\n`)
    if (error instanceof UsageError) return 2
    if (context.env.LOG_LEVEL === 'debug') context.err(`${JSON.stringify(errorFields(error), null, 2)}\n`)
    return 1
  }
}

async function runCommand(words: string[], context: ProgramContext): Promise<void> {
  if (words.length === 1 && words[0] === '--version') return context.print(`${version}\n`)
  // Node replaces what is not UTF-8 in arguments: two names would become one.
  if (words.some((word) => word.includes('\uFFFD'))) throw new UsageError('Arguments must be UTF-8.')
  const parsed = parse(tree, words)
  if ('help' in parsed) {
    const isWhole = words.length === 0 || (words.length === 1 && /^(help|--help|-h)$/.test(words[0]!))
    return context.print(isWhole ? `${programTitle()}\n\n${parsed.help}` : parsed.help)
  }
  const { leaf, path, input } = parsed
  try {
    await (leaf.run ? leaf.run(input, context) : context.administer(leaf, input, context))
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${error.message} ${helpHint(path)}`)
    throw error
  }
}

/** Codes of Node and PostgreSQL for a database that does not exist or denies access. */
const CONNECTION_ERROR_CODES =
  /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|28000|28P01|3D000|57P03)$/
/** What the driver says, without a code, when there is no answer in time or the peer is not PostgreSQL. */
const CONNECTION_ERROR_TEXT = /^(timeout e|Connection terminated )/

/** The error as a sentence, if the user can act on it. */
function errorMessage(error: unknown): string {
  const { code = '', message, name, cause } = error as { code?: string; message?: string; name?: string; cause?: unknown }
  if (cause instanceof NoRowSecurity) return cause.message
  // An error of the database module, which is not loaded for this.
  if (name === 'Unreachable' && cause) return errorMessage(cause)
  const reason = connectionReason(error as Error)
  if (reason !== undefined) return `Cannot connect to the database (${reason}). Check DATABASE_URL.`
  if (code === 'EACCES') return `Permission denied: ${message}`
  return message || `unknown error ${code}`
}

/** Why there is no connection to the database; undefined for other errors. */
function connectionReason({ code = '', message, syscall }: Error & { code?: string; syscall?: string }): string | undefined {
  if (CONNECTION_ERROR_CODES.test(code) || syscall === 'connect') return reasonOf(code)
  if (!CONNECTION_ERROR_TEXT.test(message)) return undefined
  return reasonOf(message.includes('timeout') ? 'ETIMEDOUT' : 'ECONNRESET')
}
