// The shape of the command line: groups and commands as data, read by commander. Parsing and help open nothing and import no module of
// the server, so that a wrong word is refused before anything happens.
import { Command, CommanderError, Option, type OutputConfiguration } from 'commander'
import type { Cells } from '../platform/db/cells.ts'
import type { Config } from '../platform/config/config.ts'
import { UsageError } from './usage-error.ts'
import { version } from '../app/version.ts'

/** How commands are spelled in texts: from the folder of Drawbridge. */
export const PROGRAM = 'bin/drawbridge'

/** A command as it was typed: its own words and its arguments, and its options by their names in camel case. */
// oxlint-disable-next-line typescript/no-explicit-any -- each command knows its own options
export interface Typed<V = any> {
  positionals: string[]
  values: V
}

/** What a command prints; with `failure`, a part of the work was refused: that is said on standard error, and the command ends with 1. */
export type Outcome = string | { printed: string; failure: string | undefined }

/** What a command on the database may use beside its cells. */
export interface Surroundings {
  config: Pick<Config, 'encryption_keys' | 'data_dir' | 'public_url' | 'sms'>
  /** Prints; the next text is taken when this one has been. */
  write: (text: string) => Promise<void>
  /** Asks a person, who answers on a terminal; undefined where there is no terminal. */
  ask: ((question: string) => Promise<boolean>) | undefined
}

interface Named {
  /** Word and arguments as commander writes them: `import <file>`, `activate <code...>`, `trigger [type]`. */
  usage: string
  summary: string
  /** More for its help, after the summary. */
  about?: string
}

export interface Leaf extends Named {
  /** `[flags, what it does]`; `--unit <text>...` may be given any number of times. */
  options?: [flags: string, about: string][]
  /** What may be typed after the program's name. */
  examples: string[]
  /** Works on a database that has been opened, with schemas that this program can use. */
  onCells?: (cells: Cells, typed: Typed, surroundings: Surroundings) => Promise<Outcome>
  /** Anything else. */
  run?: (typed: Typed) => Promise<void>
}

export interface Group extends Named {
  commands: Leaf[] | Group[] | (Leaf | Group)[]
}

export type Parsed = { help: string } | { leaf: Leaf; typed: Typed }

const isGroup = (node: Leaf | Group): node is Group => 'commands' in node

/**
 * Read what was typed. Does nothing else.
 * @throws UsageError for a command, an option or an argument that is not there, is missing or is one too many
 */
export function parse(tree: Group, words: string[]): Parsed {
  let [said, found] = ['', undefined as Parsed | undefined]
  const program = build(tree, (parsed) => (found = parsed), {
    writeOut: (text) => (said += text),
    writeErr: () => {},
  })
  program.name(PROGRAM)
  if (words.length === 0) return { help: program.helpInformation() }
  try {
    program.parse(words[0] === '-h' ? ['--help', ...words.slice(1)] : words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) {
      refuseUnknown(tree, words)
      return { help: said }
    }
    throw new UsageError(sentence(error, words))
  }
  if (!found) throw new UsageError(`"${words.join(' ')}" is not a whole command. ${SEE}`)
  return found
}

/** commander answers a request for help before it looks at the words that precede it. */
function refuseUnknown(tree: Group, words: string[]): void {
  let node: Leaf | Group | undefined = tree
  for (const word of words) {
    if (!isGroup(node) || word.startsWith('-') || word === 'help') return
    node = node.commands.find(({ usage }) => usage.split(' ')[0] === word)
    if (!node) throw new UsageError(`Unknown command '${word}'. ${SEE}`)
  }
}

const SEE = `"${PROGRAM} help" lists the commands.`

function sentence({ code, message }: CommanderError, words: string[]): string {
  if (code === 'commander.help') return `"${words.join(' ')}" needs a command after it. ${SEE}`
  const text = message
    .replace(/^error: /, '')
    // What follows an unknown option may be a secret.
    .replace(/'(--[^'=]*)=[^']*'/, "'$1'")
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/\.$/, '')
  return `${text[0]!.toUpperCase()}${text.slice(1)}. ${SEE}`
}

function build(node: Leaf | Group, found: (parsed: Parsed) => void, output: OutputConfiguration): Command {
  const [word, ...args] = node.usage.split(' ')
  const command = new Command(word!)
    .exitOverride()
    .configureOutput({ ...output, getOutHelpWidth: () => 120, getErrHelpWidth: () => 120 })
    .summary(node.summary)
    .description([`${node.summary[0]!.toUpperCase()}${node.summary.slice(1)}.`, ...(node.about ? [node.about] : [])].join('\n'))
    .helpOption('-h, --help', 'print this text, and do nothing else')
    .allowExcessArguments(false)
  if (isGroup(node)) {
    for (const child of node.commands) command.addCommand(build(child, found, output))
    return command.helpCommand('help [command]', 'print the help of a command')
  }
  for (const text of args) command.argument(text)
  for (const [flags, about] of node.options ?? []) command.addOption(optionOf(flags, about))
  const examples = node.examples.map((line) => `  ${PROGRAM} ${line}\n`)
  command.addHelpText('after', `\nExamples:\n${examples.join('').trimEnd()}`)
  command.action(() => {
    const path: string[] = []
    for (let at: Command | null = command; at?.parent; at = at.parent) path.unshift(at.name())
    found({ leaf: node, typed: { positionals: [...path, ...command.args], values: command.opts() } })
  })
  return command
}

function optionOf(flags: string, about: string): Option {
  if (!flags.endsWith('...')) return new Option(flags, about)
  // Not commander's variadic option, which takes the words after it too.
  return new Option(flags.slice(0, -3), `${about}; any number of times`).argParser((value: string, before?: string[]) => [
    ...(before ?? []),
    value,
  ])
}

/** Every command and group, with the words that lead to it. */
export function* walk(node: Leaf | Group, path: string[] = []): Generator<{ path: string[]; node: Leaf | Group }> {
  yield { path, node }
  if (isGroup(node)) for (const child of node.commands) yield* walk(child, [...path, child.usage.split(' ')[0]!])
}

export const titleOf = (): string => `drawbridge ${version}: self-hosted server for laboratory testing and health data`
