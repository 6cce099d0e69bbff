// Every emitted event type has a scenario in `trigger`, and each scenario works.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { createTestTeam, url } from '../../../test/support/server.ts'
import { scenarios, trigger } from './trigger.ts'
import { contents } from '../../app/contents.ts'

/** Types that the key of a team alone cannot cause. */
const beyondKeys: Record<string, string> = {
  'continuous_query.result_table.changed': 'continuous queries are created with a management key',
  'provider.connection.error': 'only the cloud of a provider ends a grant',
}

test('trigger supports every emitted event type', () => {
  const sources = globSync('src/**/*.ts').filter((file) => !/\.test\.ts$|\/event-types\.ts$|^src\/(events|app|cli)\//.test(file))
  const texts = sources.map((file) => readFileSync(file, 'utf8').replace(/\/\/.*$|\/\*[\s\S]*?\*\//gm, ''))
  const emitted = contents.eventTypes.map(({ name }) => name).filter((name) => texts.some((text) => text.includes(`'${name}'`)))
  assert(emitted.length > 0)
  assert.deepEqual([...Object.keys(scenarios), ...Object.keys(beyondKeys)].sort(), emitted.sort())
})

for (const type of Object.keys(scenarios))
  test(`triggers ${type} under lab accounts that require the customer's own physicians`, async () => {
    const team = await createTestTeam()
    for (const method of ['testkit', 'walk_in_test']) {
      const { lab } = (await team.api.get(`/v3/lab_tests/${await team.test(method)}`)).body
      await labAccount(team, { lab: lab.slug, delegated_flow: 'order_delegated', provider_account_id: method })
    }
    const lines: string[] = []
    let isOver = false
    const words = { args: [type], values: { url, key: team.key } }
    const playing = trigger(words, { env: {}, out: (line) => lines.push(line) }).finally(() => (isOver = true))
    // The work of a worker.
    while (!isOver) {
      await team.settle()
      await Promise.race([playing.catch(() => {}), sleep(20)])
    }
    await playing
    assert.ok(
      lines.some((line) => line.includes(`  ${type}  `)),
      lines.join(''),
    )
  })
