// docs/COMMANDS.md: the help of every command, in the order of the program's own list.
import { parse, walk, type Group } from '../../src/cli/command-tree.ts'

const INTRODUCTION = `# Commands

Generated from the help of the program, which \`--help\` prints after each command and group. [OPERATING.md](OPERATING.md) explains settings and keys. A command ends with 0, with 1 when it failed, or with 2 when it was asked for wrongly; what lists or shows something prints JSON with \`--json\`.
`

export function commandPage(tree: Group): string {
  const parts = [INTRODUCTION]
  for (const { path, node } of walk(tree)) {
    if (path.length === 0 || 'commands' in node) continue
    const parsed = parse(tree, [...path, '--help'])
    if (!('help' in parsed)) throw new Error(`${path.join(' ')} has no help`)
    parts.push(`## ${path.join(' ')}\n\n\`\`\`text\n${parsed.help.trim()}\n\`\`\`\n`)
  }
  return parts.join('\n')
}
