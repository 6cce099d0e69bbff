// docs/COMMANDS.md: the help of every command, in the order of the program's own list. Options of many commands are described once.
import {
  json,
  oneCell,
  parse,
  PROGRAM,
  remoteOptions,
  someCells,
  walk,
  type Group,
  type OptionText,
} from '../../src/cli/command-tree.ts'

const help: OptionText = ['-h, --help', 'print this help']
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

Generated from the help that \`--help\` prints after a command or group. [OPERATING.md](OPERATING.md) explains settings and keys. A command exits with 0, with 1 if it failed, or with 2 for invalid usage. Lines with \`${PROGRAM}\` are examples.

"Common options" are:

\`\`\`text
${[json, someCells, url, key, help].map(([flags, about]) => `${flags.padEnd(15)}${about}`).join('\n')}
\`\`\`

Before a command on the database, \`--as NAME\` sets the person that the access log names.
`

export function commandPage(tree: Group): string {
  const groups = new Map<string, string[]>()
  for (const { path, node } of walk(tree)) {
    if (path.length === 0 || 'commands' in node) continue
    const parsed = parse(tree, [...path, '--help'])
    if (!('help' in parsed)) throw new Error(`${path.join(' ')} has no help`)
    groups.set(path[0]!, [...(groups.get(path[0]!) ?? []), shorten(parsed.help, node.options ?? [], node.examples)])
  }
  const sections = [...groups].map(([word, texts]) => `## ${word}\n\n\`\`\`text\n${texts.join('\n\n')}\n\`\`\`\n`)
  return [INTRODUCTION, ...sections].join('\n')
}

/** The help of a command without common options, headings, and examples that only repeat the usage. */
function shorten(text: string, options: OptionText[], examples: string[]): string {
  const common = COMMON.filter(([option]) => options.includes(option)).map(([, name]) => name)
  const [usage = '', ...lines] = text.trim().split('\n')
  const words = usage.replace(`Usage: ${PROGRAM} `, '').replace(' [options]', '')
  const listed = [...COMMON.map(([option]) => option), help]
  const kept = lines
    .slice(0, lines.indexOf('Examples:'))
    .filter((line) => line && line !== 'Options:' && !listed.some((option) => isOption(line, option)))
  const shown = examples.filter((example) => example !== words).map((example) => `  ${PROGRAM} ${example}`)
  return [words, ...kept, ...(common.length ? [`  Common options: ${common.join(', ')}`] : []), ...shown].join('\n')
}

const isOption = (line: string, [flags, description]: OptionText): boolean =>
  line.trim().startsWith(flags) && line.trim().slice(flags.length).trim() === description
