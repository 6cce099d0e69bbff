// docs/COMMANDS.md: the usage and the purpose of every command, in the order of the program's own list. `--help` has the rest.
import { ALL_CELLS, json, remoteOptions, someCells, type Group, type Leaf, type OptionText } from '../../src/cli/command-tree.ts'

/** The words for the options of a command that sends requests to a server. */
const REMOTE = '[server options]'

const list = (options: OptionText[]): string => options.map(([flags, about]) => `- \`${flags}\`: ${about}`).join('\n')

const INTRODUCTION = `# Commands

Generated from the program's list of commands. \`--help\` after a command describes its options and prints examples. A command exits with 0, with 1 if it failed, or with 2 for invalid usage. [OPERATING.md](OPERATING.md) explains settings and keys.

Options in brackets can be omitted; those with three dots can be repeated. Options of many commands:

${list([json, ...remoteOptions])}

\`<cell|${ALL_CELLS}>\` is a cell, or \`${ALL_CELLS}\` for every served cell. \`${REMOTE}\` are \`--cell\`, \`--url\`, and \`--key\`. Before a command on the database, \`--as NAME\` sets the person that the access log names.
`

export function commandPage(tree: Group): string {
  const tasks = Map.groupBy(tree.commands, ({ task }) => task ?? 'Other commands')
  const sections = [...tasks].map(([task, nodes]) => `## ${task}\n\n${nodes.flatMap((node) => describe(node, [])).join('\n')}\n`)
  return [INTRODUCTION, ...sections].join('\n')
}

/** A line for each command of a node. */
function describe(node: Leaf | Group, groups: string[]): string[] {
  const words = [...groups, node.usage]
  if ('commands' in node) return node.commands.flatMap((child) => describe(child, words))
  const about = node.details === undefined ? node.summary : `${node.summary}. ${node.details.replaceAll('\n', ' ')}`
  return [`- \`${[...words, ...optionsOf(node.options ?? [])].join(' ')}\`: ${about}`]
}

function optionsOf(options: OptionText[]): string[] {
  const isRemote = remoteOptions.every((option) => options.includes(option))
  const own = isRemote ? options.filter((option) => !remoteOptions.includes(option)) : options
  return [...own.map(usageOf), ...(isRemote ? [REMOTE] : [])]
}

/** `[--port=<port>]`; without brackets for an option that is required. */
function usageOf(text: OptionText): string {
  if (text === someCells) return `[--cell=<cell|${ALL_CELLS}>]`
  const [flags, about] = text
  const option = flags.replace(' ', '=')
  return about.includes('(required') ? option : `[${option}]`
}
