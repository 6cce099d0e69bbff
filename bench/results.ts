// bench/RESULTS.md: the figures of one run.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { rows } from './measure.ts'

const FILE = new URL('RESULTS.md', import.meta.url)

/**
 * Writes the rows of this run with its machine, commit and command.
 * @param parts the parts that were chosen; none: all of them
 */
export function writeResults(parts: string[]): void {
  const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
  const changed = git('status', '--porcelain', '--untracked-files=no') ? ', with uncommitted changes' : ''
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  const command = ['npm run bench --', ...parts, '--write'].join(' ')
  const cell = (text: string) => text.replaceAll('|', '\\|').trim()
  const table = rows.map((row) => `| ${row.map(cell).join(' | ')} |`)
  table.splice(1, 0, '| --- | --- | --- | --- | --- |')
  const text = `# Results of the bench

Each part is measured next to a mechanism that does the same durable work without the program (the limit). Ratios can be compared between
machines; rates cannot. Earlier figures are in the history of this file.

- Machine: ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${gigabytes} GB, Node ${process.versions.node}
- Commit: \`${git('rev-parse', '--short=8', 'HEAD')}\`${changed}
- Command: \`${command}\`, ${new Date().toISOString().slice(0, 10)}

${table.join('\n')}
`
  writeFileSync(FILE, text)
  execFileSync('prettier', ['--write', '--log-level', 'warn', FILE.pathname])
}
