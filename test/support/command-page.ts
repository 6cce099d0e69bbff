// docs/COMMANDS.md: the help of every command, in the order of the program's own list. Options of many commands are earlierOptions once.
import {
  alwaysJson,
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

/** Commands that send a request, in one section. */
const REQUESTS = ['get', 'post', 'put', 'patch', 'delete']
const help: OptionText = ['-h, --help', 'print this help']
const [, url, key] = remoteOptions as [OptionText, OptionText, OptionText]

/** The options that the page describes once, and the words by which a command names them. */
const COMMON: [option: OptionText, name: string][] = [
  [json, '--json'],
  [alwaysJson, '--json'],
  [oneCell, '--cell'],
  [someCells, '--cell (or all)'],
  [url, '--url'],
  [key, '--key'],
]

const INTRODUCTION = `# Commands

Generated from the help that \`--help\` prints after a command or group. [OPERATING.md](OPERATING.md) explains settings and keys. A command exits with 0, with 1 if it failed, or with 2 for invalid usage. Lines with \`${PROGRAM}\` are examples; \`--help\` prints more.

"Common options" are:

\`\`\`text
${[json, someCells, url, key, help].map(([flags, about]) => `${flags.padEnd(15)}${about}`).join('\n')}
\`\`\`

Before a command on the database, \`--as NAME\` sets the person that the access log names.
`

export function commandPage(tree: Group): string {
  const sections = new Map<string, { texts: string[]; earlierOptions: OptionText[] }>()
  for (const { path, node } of walk(tree)) {
    if (path.length === 0 || 'commands' in node) continue
    const parsed = parse(tree, [...path, '--help'])
    if (!('help' in parsed)) throw new Error(`${path.join(' ')} has no help`)
    const section = REQUESTS.includes(path[0]!) ? REQUESTS.join(', ') : path[0]!
    const { texts, earlierOptions } = sections.get(section) ?? { texts: [], earlierOptions: [] }
    texts.push(shorten(parsed.help, node.options ?? [], node.examples, earlierOptions))
    sections.set(section, { texts, earlierOptions: [...earlierOptions, ...(node.options ?? [])] })
  }
  const pages = [...sections].map(([words, { texts }]) => `## ${words}\n\n\`\`\`text\n${texts.join('\n\n')}\n\`\`\`\n`)
  return [INTRODUCTION, ...pages].join('\n')
}

/** The help of a command without common options, headings, examples that only repeat the usage, and options that its section describes. */
function shorten(text: string, options: OptionText[], examples: string[], earlierOptions: OptionText[]): string {
  const repeated = options.filter((option) => earlierOptions.some((earlier) => earlier.join() === option.join()))
  const common = COMMON.filter(([option]) => options.includes(option)).map(([, name]) => name)
  const above = repeated.filter((option) => !COMMON.some(([common]) => common === option)).map(([flags]) => flags.split(' ')[0]!)
  const [usage = '', ...lines] = text.trim().split('\n')
  const words = usage.replace(`Usage: ${PROGRAM} `, '').replace(' [options]', '')
  const listed = [...COMMON.map(([option]) => option), help, ...repeated]
  const kept = lines
    .slice(0, lines.indexOf('Examples:'))
    .filter((line) => line && line !== 'Options:' && !listed.some((option) => isOption(line, option)))
  const shown = examples
    .filter((example) => example !== words)
    .slice(0, 1)
    .map((example) => `  ${PROGRAM} ${example}`)
  return [
    words,
    ...kept,
    ...(above.length ? [`  As above: ${above.join(', ')}`] : []),
    ...(common.length ? [`  Common options: ${common.join(', ')}`] : []),
    ...shown,
  ].join('\n')
}

function isOption(line: string, [flags, description]: OptionText): boolean {
  const [shown, times] = flags.endsWith('...') ? [flags.slice(0, -3), '; any number of times'] : [flags, '']
  return line.trim().startsWith(shown) && line.trim().slice(shown.length).trim() === `${description}${times}`
}
