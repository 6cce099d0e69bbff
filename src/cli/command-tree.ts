// The structure of the command line: groups and commands as data, read by commander. Parsing and help open nothing and import no module of
// the server, so that a typing error is reported before anything happens.
import { Command, CommanderError, Option, type OutputConfiguration } from 'commander'
import type { Cells } from '../platform/db/cells.ts'
import type { Config } from '../settings/config.ts'
import { version } from '../platform/runtime/version.ts'

/** The spelling of commands in texts: from the folder of Drawbridge. */
export const PROGRAM = 'bin/drawbridge'

/** The command line is invalid, regardless of the database and the files; the message gives the reason. The exit code is 2. */
export class UsageError extends Error {}

/** What was typed after the words of a command: its arguments, and its options by their names in camel case. */
// oxlint-disable-next-line typescript/no-explicit-any -- each command knows its own options
export interface Typed<V = any> {
  args: string[]
  values: V
  /** The person who runs the command (`--as`). */
  person?: string | undefined
}

/** The output of a command; with `failure`, a part of the work was rejected: standard error says so, and the exit code is 1. */
export type Outcome = string | { output: string; failure: string | undefined }

/** What a command on the database gets. */
// oxlint-disable-next-line typescript/no-explicit-any -- as above
export interface Call<V = any> extends Typed<V> {
  cells: Cells
  config: Config
  /** Prints a text; resolves when it was written. */
  write: (text: string) => Promise<void>
  /** Who runs the command, as the access log names them. */
  actor: string
  /** The cell that the environment names for commands without `--cell` (DRAWBRIDGE_CELL). */
  default_cell: string | undefined
  /** Asks the user on the terminal; undefined without a terminal. */
  ask: ((question: string) => Promise<boolean>) | undefined
}

/** What a command that opens no database itself gets. */
export interface CommandContext {
  env: Record<string, string | undefined>
  /** Prints a text without waiting. */
  printNow: (text: string) => void
  /** Prints a text; resolves when it was written. */
  print: (text: string) => Promise<void>
  /** Aborts at the first request to stop, for a command that runs until then. */
  untilStopped: () => AbortSignal
  /** Standard output is a terminal: progress and colors are of use. */
  isTerminal: boolean
}

/** What a command gets that only reads from a server and prints. */
export type ClientContext = Pick<CommandContext, 'env' | 'printNow'>

interface Named {
  /** Word and arguments in commander's syntax: `import <file>`, `activate <code...>`, `trigger [type]`. */
  usage: string
  summary: string
  /** Further help text, after the summary. */
  details?: string
}

/** `[flags, description]`; `--unit <text>...` may be repeated. */
export type OptionText = [flags: string, about: string]

/** The cell of every command without `--cell`, if DRAWBRIDGE_CELL names no other: a forgotten option never reaches production. */
export const DEFAULT_CELL = 'sandbox-us'
/** Instead of a cell: every cell that is served. */
export const ALL_CELLS = 'all'
export const ABOUT_CELL = `(default: DRAWBRIDGE_CELL or ${DEFAULT_CELL})`

/** The option of a command that works in one cell. */
export const oneCell: OptionText = ['--cell <cell>', `cell ${ABOUT_CELL}`]
/** The option of a command that works in one cell or in every one. */
export const someCells: OptionText = ['--cell <cell>', `cell, or "${ALL_CELLS}" for every served cell ${ABOUT_CELL}`]

export const json: OptionText = ['--json', 'print JSON']
/** The option of commands that always print JSON, so that a script may pass it to every command that shows something. */
export const alwaysJson: OptionText = ['--json', 'accepted; the output is always JSON']

/** The options of a command that sends requests to a server. */
export const remoteOptions: OptionText[] = [
  oneCell,
  ['--url <url>', 'server URL (default: DRAWBRIDGE_URL, or the server of DATA_DIR)'],
  ['--key <key>', 'API key (default: DRAWBRIDGE_KEY, or the demo key of DATA_DIR)'],
]

/** What the help of the program lists together: one task of its user. */
interface Task {
  /** The heading in the help of the program; only commands and groups at the top have one. */
  task?: string
}

export interface Leaf extends Named, Task {
  options?: OptionText[]
  /** The command line after the program's name. */
  examples: string[]
  /** Runs on an open database, with schemas that this program can use. Resolves with what is to be printed. */
  onCells?: (call: Call) => Promise<Outcome>
  /** Any other command. */
  run?: (input: Typed, context: CommandContext) => Promise<void>
}

export interface Group extends Named, Task {
  commands: Leaf[] | Group[] | (Leaf | Group)[]
}

export type Parsed = { help: string } | { leaf: Leaf; path: string[]; input: Typed }

type Work = NonNullable<Leaf['onCells']>

/** Describes commands on the database that functions of one file carry out. The file is imported when one of them runs. */
export const commandsOf =
  <F extends object>(load: () => Promise<F>) =>
  (
    run: { [K in keyof F]: F[K] extends Work ? K : never }[keyof F],
    usage: string,
    summary: string,
    examples: string[],
    options: OptionText[] = [],
  ): Leaf => ({ usage, summary, examples, options, onCells: async (call) => ((await load())[run] as Work)(call) })

/** A name that stays one word in the access log. */
const PERSON = /^[\w.@+-]{1,100}$/

const isGroup = (node: Leaf | Group): node is Group => 'commands' in node

/**
 * Parses the command line and does nothing else.
 * @throws UsageError for a command, an option or an argument that is unrecognized, missing or superfluous
 */
export function parse(tree: Group, words: string[]): Parsed {
  let [said, found] = ['', undefined as Parsed | undefined]
  const program = build(tree, (result) => (found = result), {
    writeOut: (text) => (said += text),
    writeErr: () => {},
  })
  program.name(PROGRAM).option('--as <person>', 'the person who runs a command on the database, named in the access log')
  if (words.length === 0) return { help: program.helpInformation() }
  try {
    program.parse(words[0] === '-h' ? ['--help', ...words.slice(1)] : words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) {
      refuseUnknown(tree, words)
      return { help: said }
    }
    // A group alone.
    if (error.code === 'commander.help') return parse(tree, [...words, '--help'])
    throw new UsageError(`${sentence(error)} ${helpHint(findPath(tree, words))}`)
  }
  if (!found) throw new UsageError(`"${words.join(' ')}" is not a whole command. ${helpHint(findPath(tree, words))}`)
  return found
}

/** The command or group that the words name, as far as they name one. */
function findPath(tree: Group, words: string[]): string[] {
  const path: string[] = []
  let node: Leaf | Group | undefined = tree
  for (const word of words) {
    node = isGroup(node) ? node.commands.find(({ usage }) => usage.split(' ')[0] === word) : undefined
    if (!node) break
    path.push(word)
  }
  return path
}

/** Where the user reads on: the help of the command or group, or the list of commands. */
export const helpHint = (path: string[]): string =>
  path.length ? `See "${PROGRAM} ${path.join(' ')} --help".` : `"${PROGRAM} help" lists the commands.`

/** commander handles a request for help before it checks the words that precede it. */
function refuseUnknown(tree: Group, words: string[]): void {
  const path = findPath(tree, words)
  const next = words[path.length]
  const named = [...walk(tree)].find(({ path: one }) => one.join(' ') === path.join(' '))!.node
  if (isGroup(named) && next !== undefined && !next.startsWith('-') && next !== 'help')
    throw new UsageError(`Unknown command '${next}'. ${helpHint(path)}`)
}

function sentence({ message }: CommanderError): string {
  const text = message
    .replace(/^error: /, '')
    // The text after an unknown option may be a secret.
    .replace(/'(--[^'=]*)=[^']*'/, "'$1'")
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/\.$/, '')
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`
}

function build(node: Leaf | Group, onParsed: (result: Parsed) => void, output: OutputConfiguration): Command {
  const [word, ...args] = node.usage.split(' ')
  const command = new Command(word!)
    .exitOverride()
    .configureOutput({ ...output, getOutHelpWidth: () => 120, getErrHelpWidth: () => 120 })
    .summary(node.summary)
    .description(
      [`${node.summary[0]!.toUpperCase()}${node.summary.slice(1)}.`, ...(node.details ? [node.details] : [])].join('\n'),
    )
    .helpOption('-h, --help', 'print this help')
    .allowExcessArguments(false)
  if (node.task !== undefined) command.helpGroup(`${node.task}:`)
  if (isGroup(node)) {
    const task = node.commands.at(-1)?.task
    // That of `help`.
    if (task !== undefined) command.commandsGroup(`${task}:`)
    for (const child of node.commands) command.addCommand(build(child, onParsed, output))
    return command.helpCommand('help [command]', 'print the help of a command')
  }
  for (const text of args) command.argument(text)
  for (const [flags, about] of node.options ?? []) command.addOption(createOption(flags, about))
  const examples = node.examples.map((line) => `  ${PROGRAM} ${line}\n`)
  command.addHelpText('after', `\nExamples:\n${examples.join('').trimEnd()}`)
  command.action(() => {
    const path: string[] = []
    for (let at: Command | null = command; at?.parent; at = at.parent) path.unshift(at.name())
    const { as: person } = command.optsWithGlobals<{ as?: string }>()
    if (person !== undefined && !node.onCells) throw new UsageError(`--as is for commands on the database. ${helpHint(path)}`)
    if (person !== undefined && !PERSON.test(person))
      throw new UsageError('--as must be a name of at most 100 letters, digits and the characters . _ @ + -.')
    onParsed({ leaf: node, path, input: { args: command.args, values: command.opts(), ...(person !== undefined && { person }) } })
  })
  return command
}

function createOption(flags: string, description: string): Option {
  if (!flags.endsWith('...')) return new Option(flags, description)
  // Not commander's variadic option, which takes the following words too.
  return new Option(flags.slice(0, -3), `${description}; any number of times`).argParser((value: string, previous?: string[]) => [
    ...(previous ?? []),
    value,
  ])
}

/** Every command and group, with its full name. */
export function* walk(node: Leaf | Group, path: string[] = []): Generator<{ path: string[]; node: Leaf | Group }> {
  yield { path, node }
  if (isGroup(node)) for (const child of node.commands) yield* walk(child, [...path, child.usage.split(' ')[0]!])
}

export const programTitle = (): string => `drawbridge ${version}: self-hosted server for laboratory testing and health data`
