// Commands of a page that tests run as they stand there.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './program.ts'

/** The shell commands that follow the mark `<!-- drill: … -->` of a page. */
export function readCommands(path: string, mark: string): string {
  const page = readFileSync(join(root, path), 'utf8')
  const commands = new RegExp(`<!-- drill: ${mark} -->\n\n\`\`\`sh\n([^]*?)\n\`\`\``).exec(page)?.[1]
  assert.ok(commands, `${path} has no commands for "${mark}"`)
  return commands
}
