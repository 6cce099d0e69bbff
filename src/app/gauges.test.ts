// Metrics as operators use them: their names follow the rules of Prometheus, and alerts and the dashboard name metrics and labels that the
// server has.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { parse } from 'yaml'
import { createMetrics } from '../platform/telemetry/metrics.ts'
import { sql } from '../platform/db/sql.ts'
import { cells, createTestTeam } from '../../test/support/server.ts'
import { pipe } from '../../test/support/brokers.ts'
import { emitEvents, endpoint } from '../../test/support/webhook-receiver.ts'
import { addGauges } from './gauges.ts'

const RULES = 'deploy/prometheus/alerts.yaml'
const folder = mkdtempSync(join(tmpdir(), 'drawbridge-metrics-'))
after(() => rmSync(folder, { recursive: true }))

/** Metrics as the server makes them, with a value of each. */
function serverMetrics() {
  const metrics = createMetrics(() => cells)
  metrics.connections(() => ({ open: 2, rejections: 1 }))
  addGauges(metrics.registry, cells, { unlimited: ['users.erase'], mail: true, sms: true, fresh_ms: 0 })
  metrics.request('get_order', 200, 0.01)
  metrics.countJob('orders.dispatch', 'completed', 0.1)
  metrics.countDelivery('sandbox-us', 'success', 0.1)
  metrics.countPipelineEvents('sandbox-us', 'rabbitmq', { acknowledged: 1 })
  metrics.unreadable('sandbox-us', 'webhook')
  metrics.countRepeatedPosts('sandbox-us')
  metrics.countRejectedRecords('sandbox-us', 'heartrate', 2)
  metrics.overdue('sandbox-us', 'mail', 1)
  metrics.countRemovedRows('sandbox-us', 'mail', 1)
  return metrics.registry
}

/** Runs promtool. Skips the test where it is not installed. */
function promtool(t: TestContext, args: string[], input = '') {
  const { error, status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8', timeout: 30_000 })
  if (error) {
    assert.notEqual(process.env.CI_PROMTOOL, 'required', 'CI has no promtool')
    return void t.skip('promtool is not installed')
  }
  return { status, said: stdout + stderr }
}

describe('metrics', () => {
  let text: string
  /** Name of a series → its labels. */
  const series = new Map<string, Set<string>>()
  before(async () => {
    text = await serverMetrics().metrics()
    for (const [, name = '', labels = ''] of text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? \S+$/gm)) {
      const of = series.get(name) ?? new Set()
      for (const [, label] of labels.matchAll(/(\w+)="/g)) of.add(label!)
      series.set(name, of)
    }
  })

  test('have names, types and descriptions in which promtool finds no fault', (t) => {
    const checked = promtool(t, ['check', 'metrics'], text)
    if (checked) assert.deepEqual(checked, { status: 0, said: '' })
  })

  test('say which version runs', () => {
    assert.match(text, /^drawbridge_build_info\{version="\d+\.\d+\.\d+"\} 1$/m)
  })

  /** Labels that Prometheus adds, and functions and words of its language. */
  const ADDED = ['job', 'instance', 'le']
  const assertKnown = (expression: string) => {
    const names = [...expression.matchAll(/\b(?:drawbridge|process|nodejs)_\w+/g)].map(([name]) => name)
    assert(names.length, `${expression} names no metric`)
    const labels = new Set([...names.flatMap((name) => [...(series.get(name) ?? [])]), ...ADDED])
    for (const name of names) assert(series.has(name), `${expression}: there is no ${name}`)
    const named = [
      ...[...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(',')),
      ...[...expression.matchAll(/\{([^}]*)\}/g)].flatMap(([, matchers]) =>
        matchers!.split(',').map((matcher) => matcher.split(/[=!]/)[0]!),
      ),
    ]
    for (const label of named) assert(labels.has(label.trim()), `${expression}: there is no label ${label}`)
  }

  test('that alerts name exist, and promtool accepts the rules', (t) => {
    const { groups } = parse(readFileSync(RULES, 'utf8')) as {
      groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[]
    }
    const rules = groups.flatMap((group) => group.rules)
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length)
    for (const { expr, annotations } of rules) {
      assertKnown(expr)
      assert.deepEqual(Object.keys(annotations), ['summary', 'description'])
    }
    const checked = promtool(t, ['check', 'rules', RULES])
    if (checked) assert.equal(checked.status, 0, checked.said)
  })

  test('that the dashboard shows exist, and each expression is one of Prometheus', (t) => {
    const dashboard = JSON.parse(readFileSync('deploy/grafana/drawbridge.json', 'utf8')) as {
      panels: { id: number; title: string; targets?: { expr: string }[] }[]
      templating: { list: { name: string; query: string | { query: string } }[] }
    }
    const targets = dashboard.panels.flatMap((panel) => panel.targets ?? [])
    assert(targets.length > 30)
    assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length)
    const variables = dashboard.templating.list.map(({ name }) => name)
    for (const { expr } of targets) {
      assertKnown(expr)
      for (const [, name] of expr.matchAll(/\$(\w+)/g)) assert([...variables, '__rate_interval'].includes(name!), expr)
    }
    for (const { query } of dashboard.templating.list) {
      const [, metric, label] = /^label_values\((\w+), (\w+)\)$/.exec(typeof query === 'string' ? query : query.query) ?? []
      if (metric) assert([...series.get(metric)!, ...ADDED].includes(label!), metric)
    }
    const rules = targets.map(({ expr }, n) => ({ record: `panel:${n}`, expr: expr.replaceAll('$__rate_interval', '5m') }))
    const file = join(folder, 'panels.yaml')
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }))
    const checked = promtool(t, ['check', 'rules', file])
    if (checked) assert.equal(checked.status, 0, checked.said)
  })

  test('of every queue, of webhooks and of brokers are on the dashboard', () => {
    const dashboard = readFileSync('deploy/grafana/drawbridge.json', 'utf8')
    for (const name of series.keys())
      if (/_(waiting|waiting_seconds|failed|retrying)$/.test(name)) assert(dashboard.includes(name), name)
  })
})

test('the backlog counts deliveries that are due, outbox entries and events that wait for a broker, with the age of the oldest', async () => {
  const registry = serverMetrics()
  const read = async () => {
    const text = await registry.metrics()
    const value = (name: string) => Number(new RegExp(`^drawbridge_${name}\\{cell="sandbox-eu"\\} (.*)$`, 'm').exec(text)?.[1])
    return {
      outbox: value('event_outbox_entries'),
      deliveries: value('webhook_deliveries_waiting'),
      deliveries_s: value('webhook_deliveries_waiting_seconds'),
      events: value('pipeline_events_waiting'),
      events_s: value('pipeline_events_waiting_seconds'),
    }
  }
  const team = await createTestTeam('sandbox-eu')
  const hook = await endpoint(team, { url: 'https://hooks.example.com/' })
  await emitEvents(team)
  const before = await read()
  assert(before.outbox >= 1)
  await team.db.queries.run(sql`
    insert into delivery (team_id, destination_id, message_id, queue_position, state, due_at, leased_until, trigger, created_at)
    select e.team_id, ${hook.id}, given.id, nextval('delivery_queue_position'), 'pending', now() + given.due, now() + given.leased, 'scheduled', now()
    from event e, (values
      (gen_random_uuid(), interval '-2 days', null::interval),
      (gen_random_uuid(), interval '1 hour', null),
      (gen_random_uuid(), interval '-9 days', interval '1 minute')) as given (id, due, leased)
    where e.team_id = ${team.team}`)
  await pipe(team, { cloud_pubsub: { project: 'fictional-clinic', topic: 'backlog', message_ordering: false } })
  await team.db.queries.run(sql`
    insert into delivery (team_id, destination_id, message_id, state, due_at, trigger, created_at)
    select e.team_id, d.id, e.id, 'pending', now(), 'scheduled', now() - interval '3 days'
    from event e join destination d on d.team_id = e.team_id and d.kind = 'cloud_pubsub' where e.team_id = ${team.team}`)
  const found = await read()
  assert.deepEqual([found.deliveries - before.deliveries, found.events - before.events], [1, 1])
  assert(found.deliveries_s >= 2 * 86_400 && found.deliveries_s < 2 * 86_400 + 600, String(found.deliveries_s))
  assert(found.events_s >= 3 * 86_400 && found.events_s < 3 * 86_400 + 600, String(found.events_s))
  await team.manage.patch(hook.path, { disabled: true })
  assert.equal((await read()).deliveries, before.deliveries)
})
