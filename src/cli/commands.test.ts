// Every command, from one table: a call that succeeds, one that fails with its exit code, and JSON of what lists or shows. The table is
// compared with the commands of the program.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runToEnd } from '../../test/support/command-line.ts'
import { tree } from './command-list.ts'
import { walk, type Leaf } from './command-tree.ts'
import { commandData, makeTableData } from '../../test/support/command-data.ts'
import { table } from '../../test/support/command-table.ts'

before(makeTableData)

const workNow = <R>(work: Promise<R>): Promise<R> => work

/** What a command waits for on the server: no worker runs here. */
async function whileJobsRun<R>(work: Promise<R>): Promise<R> {
  let isOver = false
  const finished = work.finally(() => (isOver = true))
  while (!isOver) {
    await commandData.team.settle()
    await Promise.race([finished.catch(() => {}), sleep(20)])
  }
  return finished
}

const commands = [...walk(tree)].flatMap(({ path, node }) => ('commands' in node ? [] : [{ path, leaf: node as Leaf }]))
const LISTS_SHOWS_OR_CREATES = /^(list|show|status|failed|keys|operations|explain|create|seed|trigger)$/
/** Commands that wait for jobs. */
const NEEDS_WORKER = new Set(['import', 'seed'])
/** Commands that print JSON alone, and are named by the form that they write. */
const isJson = new Set(['catalog export', 'openapi'])

test('the table has a row for every command and no other', () => {
  assert.deepEqual(Object.keys(table).toSorted(), commands.map(({ path }) => path.join(' ')).toSorted())
})

for (const { path, leaf } of commands)
  describe(path.join(' '), () => {
    const { words, env, prints, startedIn, fails } = table[path.join(' ')]!
    const hasJson = leaf.options?.some(([flags]) => flags === '--json')
    const ids = (text: string) => text.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? []

    test('prints its help with examples, and does nothing else', async () => {
      const { code, stdout, err } = await runToEnd([...path, '--help'])
      assert.deepEqual([code, err], [0, ''])
      assert.match(stdout, /^Usage: /)
      for (const example of leaf.examples)
        assert.ok(stdout.includes(`\n  bin/drawbridge ${example}\n`) || stdout.endsWith(`  bin/drawbridge ${example}`), stdout)
    })

    test('refuses an option that it does not have with 2', async () => {
      const needed = leaf.usage.split(' ').filter((word) => word.startsWith('<'))
      const { code, stdout, err } = await runToEnd([...path, ...needed, '--no-such-option'])
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(err, /^drawbridge: Unknown option '--no-such-option'\. .*\n$/)
    })

    test(`ends with ${fails[1]} when it fails, and says why`, async () => {
      const [wrong, code, says, otherEnv] = fails
      const failed = await runToEnd([...path, ...wrong], otherEnv)
      assert.equal(failed.code, code, failed.err)
      assert.match(failed.err, says)
      assert.match(failed.err, /^drawbridge: /)
    })

    if (words)
      test(`succeeds${hasJson ? ', and prints the same as JSON' : ''}`, async () => {
        const own = await words()
        const run = (words: string[]) =>
          (NEEDS_WORKER.has(path[0]!) ? whileJobsRun : workNow)(runToEnd([...path, ...words], env?.()))
        const { code, stdout, err } = await run(own)
        assert.deepEqual([code, err], [0, ''])
        assert.match(stdout, prints!)
        if (isJson.has(path.join(' '))) JSON.parse(stdout)
        if (!hasJson) return
        // What is to be tried again has to have failed again.
        const again = path.at(-1) === 'retry' ? await words() : own
        const json = await run([...again, '--json'])
        assert.deepEqual([json.code, json.err], [0, ''])
        assert.equal(typeof JSON.parse(json.stdout), 'object')
        // What it creates has other ids.
        if (path.at(-1) === 'create') return assert.ok(ids(json.stdout).length >= ids(stdout).length, json.stdout)
        for (const id of path.at(-1) === 'retry' ? ids(again.join(' ')) : ids(stdout))
          assert.ok(json.stdout.includes(id), `${id} is in ${json.stdout}`)
      })
    else
      test('is started by another test', () => {
        const text = readFileSync(startedIn!, 'utf8')
        assert.ok(text.includes(path.at(-1)!), startedIn)
      })

    if (LISTS_SHOWS_OR_CREATES.test(path.at(-1)!)) test('has --json', () => assert.ok(hasJson))
  })
