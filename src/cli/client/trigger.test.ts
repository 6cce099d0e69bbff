// Every emitted event type has a scenario in `trigger`, and each scenario works.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { labAccount } from '../../../test/support/lab-accounts.ts'
import { advanceClock } from '../../../test/support/orders.ts'
import { createTestTeam, url, type TestTeam } from '../../../test/support/server.ts'
import { applyOverrides, parseOverrides } from './overrides.ts'
import { reasonsNotTriggerable, scenarios } from './scenarios.ts'
import { trigger } from './trigger.ts'
import { UsageError } from '../command-tree.ts'
import { contents } from '../../app/contents.ts'

interface Emitted {
  type: string
  body: { data: { status: string } }
}

test('every type of event has a scenario, or a reason why it cannot be triggered', async () => {
  const types = contents.eventTypes.map(({ name }) => name)
  assert.deepEqual([...Object.keys(scenarios), ...Object.keys(reasonsNotTriggerable)].sort(), types.toSorted())
  // Those about endpoints are sent to endpoints alone.
  const operational = contents.eventTypes.filter(({ family }) => family === 'operational').map(({ name }) => name)
  assert.deepEqual(Object.keys(reasonsNotTriggerable).sort(), operational.toSorted())
  const run = (...args: string[]) => trigger({ args, values: { url, key: 'none' } }, { env: {}, printNow: () => {} })
  for (const [type, reason] of Object.entries(reasonsNotTriggerable))
    await assert.rejects(run(type), { message: `Event type ${type} cannot be triggered: ${reason}.` })
  await assert.rejects(run('labtest.order.painted'), UsageError)
})

test('an override sets a field of the request that creates the object, and the request is checked as any other', async () => {
  const team = await createTestTeam()
  const order = async (...override: string[]) => {
    let text = ''
    const values = { url, key: team.key, json: true, override }
    await trigger({ args: ['labtest.order.created'], values }, { env: {}, printNow: (part) => void (text += part) })
    return JSON.parse(text)[0].body.data
  }
  const made = await order('passthrough=blue', 'shipping_details.city=Sampleton')
  const { passthrough, shipping_details } = (await team.api.get(`/v3/order/${made.id}`)).body
  assert.deepEqual([passthrough, shipping_details.city], ['blue', 'Sampleton'])
  await assert.rejects(order('shipping_details.state=7'), /The server rejected \/v3\/order\/testkit: 422/)
  for (const text of ['passthrough', '=blue', '__proto__.polluted=1', 'a..b=1', 'constructor.name=x'])
    await assert.rejects(order(text), UsageError)
  await assert.rejects(order('user_id.x=1'), /user_id is not an object/)
  assert.deepEqual(applyOverrides({ data: [{ value: 1 }] }, parseOverrides(['data.0.value=72', 'more={"a":[true]}'])), {
    data: [{ value: 72 }],
    more: { a: [true] },
  })
})

/** The status that a scenario waits for is that of the object by the API, or of an event about it. */
async function assertReached(team: TestTeam, type: string, user: string): Promise<void> {
  const { finalStatus: status } = scenarios[type]!
  if (type.startsWith('labtest.match_review.')) {
    assert.equal((await team.api.get(`/v3/unmatched_result/${user}`)).body.status, status)
  } else if (/^labtest\.(order|result)\./.test(type)) {
    const events = (await team.api.get(`/v3/order/${user}`)).body.events as { status: string }[]
    assert(events.some((event) => event.status.startsWith(`${status}.`)))
  } else if (/^(daily|historical|continuous_query)\./.test(type)) {
    const { data } = (await team.api.get(`/v1/events?type=${type}`)).body as { data: Emitted[] }
    assert.ok(data.length > 0 && data.every((event) => event.type === type))
  } else {
    const { data } = (await team.api.get(`/v1/events?object_id=${user}`)).body as { data: Emitted[] }
    assert(data.some((event) => (type.startsWith('provider.') ? event.type === type : event.body.data.status === status)))
    assert(!type.startsWith('lab_report.') || data.some((event) => event.type === type && event.body.data.status === status))
  }
}

/** Lab accounts of the team's organization that require its own physicians. */
async function createLabAccounts(team: TestTeam): Promise<void> {
  for (const method of ['testkit', 'walk_in_test']) {
    const { lab } = (await team.api.get(`/v3/lab_tests/${await team.test(method)}`)).body
    await labAccount(team, { lab: lab.slug, delegated_flow: 'order_delegated', provider_account_id: method })
  }
}

const demoTeams = new Map<string, Promise<TestTeam>>()

/** A team of its own; for samples of demos one for each kind of demo, since each history costs seconds. */
function teamFor(type: string): Promise<TestTeam> {
  const demo = /^record .* of a demo of (\w+)/.exec(scenarios[type]!.tells)?.[1]
  const team = (demo === undefined ? undefined : demoTeams.get(demo)) ?? createTestTeam()
  if (demo !== undefined) demoTeams.set(demo, team)
  return team
}

for (const type of Object.keys(scenarios)) {
  const needsLabs = type.startsWith('labtest.')
  test(`triggers ${type}${needsLabs ? " under lab accounts that require the customer's own physicians" : ''}`, async () => {
    const team = await teamFor(type)
    if (needsLabs) await createLabAccounts(team)
    const lines: string[] = []
    let isOver = false
    const managed = { managementKey: team.orgKey, org: team.org_id, team: team.team }
    const words = { args: [type], values: { url, key: team.key, ...managed } }
    const playing = trigger(words, { env: {}, printNow: (line) => lines.push(line) }).finally(() => (isOver = true))
    // The work of a worker.
    while (!isOver) {
      await team.settle()
      // A query waits for further data first.
      if (type.startsWith('continuous_query.')) await advanceClock(team, 10)
      await Promise.race([playing.catch(() => {}), sleep(20)])
    }
    await playing
    const printed = lines.join('').trim().split('\n')
    assert(
      printed.some((line) => line.includes(`  ${type}  `)),
      lines.join(''),
    )
    const [, , about = ''] = printed[0]!.split(/\s+/)
    for (const line of printed) assert.match(line, new RegExp(`^\\S+  \\w+\\.\\S+  ${about}$`))
    await assertReached(team, type, about)
  })
}
