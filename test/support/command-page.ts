// docs/COMMANDS.md: the help of every command, in the order of the program's own list. Options of many commands are described once.
import { json, oneCell, parse, remoteOptions, someCells, walk, type Group, type OptionText } from '../../src/cli/command-tree.ts'

const [, url, key] = remoteOptions as [OptionText, OptionText, OptionText]

/** The options that the page describes once, and the words by which a command names them. */
const COMMON: [option: OptionText, name: string][] = [
  [json, '--json'],
  [oneCell, '--cell'],
  [someCells, '--cell (or all)'],
  [url, '--url'],
  [key, '--key'],
]

const INTRODUCTION = `# Commands

Generated from the help that \`--help\` prints after a command or group. [OPERATING.md](OPERATING.md) explains settings and keys. A command exits with 0, with 1 if it failed, or with 2 for invalid usage. The indented lines at the end of each help are examples.

Options that many commands have in common:

\`\`\`text
${[json, someCells, url, key, ['-h, --help', 'print this help'] as const].map(([flags, about]) => `${flags.padEnd(15)}${about}`).join('\n')}
\`\`\`

\`--as NAME\` before a command on the database is the person whom the access log names.
`

export function commandPage(tree: Group): string {
  const parts = [INTRODUCTION]
  for (const { path, node } of walk(tree)) {
    if (path.length === 0 || 'commands' in node) continue
    const parsed = parse(tree, [...path, '--help'])
    if (!('help' in parsed)) throw new Error(`${path.join(' ')} has no help`)
    const options = node.options ?? []
    const common = COMMON.filter(([option]) => options.includes(option)).map(([, name]) => name)
    const lines = parsed.help.trim().split('\n')
    const text = lines.filter(
      (line) =>
        !COMMON.some(([[flags, about]]) => isOption(line, flags, about)) && !isOption(line, '-h, --help', 'print this help'),
    )
    const shown = text
      .join('\n')
      .replace(/\n\nOptions:\n(?=\n|$)/, '\n')
      .replace(/\n\nExamples:\n/, common.length ? `\n\nCommon options: ${common.join(', ')}\n\n` : '\n\n')
    parts.push(`## ${path.join(' ')}\n\n\`\`\`text\n${shown}\n\`\`\`\n`)
  }
  return parts.join('\n')
}

const isOption = (line: string, flags: string, about: string): boolean =>
  line.trim().startsWith(flags) && line.trim().slice(flags.length).trim() === about
