// The commands that look at a running server, against a server; and the scripts of completion, in a shell.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { kit } from '../../../test/support/orders.ts'
import { createTestTeam, url, type TestTeam } from '../../../test/support/server.ts'
import { delivering, emitEvents, endpoint, receiver } from '../../../test/support/webhook-receiver.ts'
import { tree } from '../command-list.ts'
import { UsageError } from '../command-tree.ts'
import { completionScript } from '../completion.ts'
import { publishDemo } from '../demo-file.ts'
import { printEvents, printEvent } from './events.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { listen } from './listen.ts'
import { uuidFromId } from '../../events/catalog/message-id.ts'
import { keptSecret } from './listen-secrets.ts'
import { resend } from './resend.ts'
import { keys, status } from './status.ts'

const folder = mkdtempSync(join(tmpdir(), 'drawbridge-look-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** What a command prints, and the error with which it ends. */
async function printedBy(
  command: (context: { env: Record<string, string>; printNow: (text: string) => void }) => unknown,
  env = {},
) {
  let text = ''
  let error: Error | undefined
  try {
    await command({ env, printNow: (part) => void (text += part) })
  } catch (thrown) {
    error = thrown as Error
  }
  return { text, error }
}

describe('drawbridge status', () => {
  test('says that a server is ready and takes the key', async () => {
    const { key } = await createTestTeam()
    const found = await printedBy((context) => status({ url, key }, context))
    assert.equal(found.error, undefined)
    assert.equal(found.text, `Server  ${url}  ready\nKey     valid\n`)
    const { text } = await printedBy((context) => status({ url, key, json: true }, context))
    assert.deepEqual(JSON.parse(text), { url, is_ready: true, is_key_valid: true })
  })

  test('fails with a key that is not valid, and without a server', async () => {
    const wrong = await printedBy((context) => status({ url, key: `sk_us_${'x'.repeat(43)}` }, context))
    assert.match(wrong.text, /^Server {2}\S+ {2}ready\nKey {5}not accepted \(401\)\n$/)
    assert.match(wrong.error!.message, /does not accept the key/)
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    server.close()
    await once(server, 'close')
    const absent = await printedBy((context) => status({ url: `http://127.0.0.1:${port}`, key: 'x' }, context))
    assert.match(absent.text, /not ready \(connection refused: nothing listens there\)\nKey {5}not checked\n$/)
    assert.match(absent.error!.message, /^No server answers at /)
  })

  test('prints variables that a shell takes as they are', async () => {
    const key = `it's $HOME "quoted"`
    const { text } = await printedBy((context) => status({ url, key, env: true }, context))
    const shell = execFileSync('bash', ['-c', `${text}printf '%s|%s' "$DRAWBRIDGE_URL" "$DRAWBRIDGE_KEY"`], { encoding: 'utf8' })
    assert.equal(shell, `${url}|${key}`)
  })
})

test('drawbridge keys prints the keys of the demo, and fails without a demo', async () => {
  const id = randomUUID()
  const cells = ['production-eu', 'production-us', 'sandbox-eu', 'sandbox-us'] as const
  const api_keys = Object.fromEntries(cells.map((cell) => [cell, `key of ${cell}`])) as Record<(typeof cells)[number], string>
  publishDemo(folder, { base_url: url, org_id: id, management_key: 'mg', teams: { us: id, eu: id }, api_keys })
  const env = { DATA_DIR: folder }
  const { text } = await printedBy((context) => keys({}, context), env)
  assert.deepEqual(text.trimEnd().split('\n'), [
    ...cells.map((cell) => `${cell.padEnd(14)}  key of ${cell}`),
    'management      mg',
  ])
  const json = await printedBy((context) => keys({ json: true }, context), env)
  assert.deepEqual(JSON.parse(json.text), { api_keys, management_key: 'mg' })
  const none = await printedBy((context) => keys({}, context), { DATA_DIR: join(folder, 'none') })
  assert.match(none.error!.message, /No demo data found/)
})

describe('drawbridge events', () => {
  const remote = ({ key }: TestTeam) => ({ url, key })

  test('lists an event whose body is deleted, without a status, and listen names it without forwarding it', async () => {
    const team = await createTestTeam()
    const stop = new AbortController()
    let printed = ''
    const target = await receiver()
    const context = { env: { DATA_DIR: folder }, signal: stop.signal, printNow: (text: string) => (printed += text) }
    const listening = listen({ ...remote(team), forwardTo: target.url }, context)
    await eventually(() => Promise.resolve(printed.includes('Listening at')))
    await emitEvents(team, ['daily.data.activity.created', 'labtest.order.created'])
    await team.db.pool.query('delete from event_body where team_id = $1', [team.team])
    await delivering().drain()
    await eventually(() => Promise.resolve(target.received.length > 0))
    stop.abort()
    await listening
    assert.match(printed, /daily\.data\.activity\.created {2}\S+ {2}its body is deleted/)
    assert.deepEqual(
      target.received.map(({ body }) => JSON.parse(body).event_type),
      ['labtest.order.created'],
    )
    const { text, error } = await printedBy((context) => printEvents({ values: remote(team) }, context))
    assert.equal(error, undefined)
    assert.match(text, /daily\.data\.activity\.created {2}- {2}/)
  })

  test('lists the newest events of the team, and shows one', async () => {
    const team = await createTestTeam()
    const empty = await printedBy((context) => printEvents({ values: remote(team) }, context))
    assert.equal(empty.text, 'There is no event.\n')
    const orders = [await kit(team), await kit(team)]
    const lines = (await printedBy((context) => printEvents({ values: remote(team) }, context))).text.trimEnd().split('\n')
    assert.deepEqual(new Set(lines.map((line) => line.split('  ').at(-1))), new Set(orders.map(({ id }) => id)))
    const values = { ...remote(team), object: orders[0]!.id, type: 'labtest.order.created', json: true }
    const found = JSON.parse((await printedBy((context) => printEvents({ values }, context))).text)
    assert.deepEqual(
      found.map(({ object_id, type }: Record<string, string>) => [object_id, type]),
      [[orders[0]!.id, 'labtest.order.created']],
    )
    const shown = await printedBy((context) => printEvent({ args: [found[0].id], values: remote(team) }, context))
    assert.deepEqual(JSON.parse(shown.text), found[0])
    const one = await printedBy((context) => printEvents({ values: { ...remote(team), limit: '1' } }, context))
    assert.equal(one.text.trimEnd().split('\n').length, 1)
  })

  test('fails for an unknown event, a wrong limit and a wrong key', async () => {
    const [team, other] = [await createTestTeam(), await createTestTeam()]
    await kit(other)
    const [event] = JSON.parse(
      (await printedBy((context) => printEvents({ values: { ...remote(other), json: true } }, context))).text,
    )
    const absent = await printedBy((context) => printEvent({ args: [event.id], values: remote(team) }, context))
    assert.match(absent.error!.message, /no such event/)
    for (const limit of ['0', '1001', 'x', '1.5'])
      assert(
        (await printedBy((context) => printEvents({ values: { ...remote(team), limit } }, context))).error instanceof UsageError,
        limit,
      )
    const wrong = await printedBy((context) => printEvents({ values: { url, key: 'none' } }, context))
    assert.match(wrong.error!.message, /The server responded 401/)
  })
})

describe('drawbridge events resend', () => {
  const delivery = delivering({ schedule_s: [0] })

  test('sends an event again to all its endpoints or to one, and prints the result for each', async () => {
    const team = await createTestTeam()
    const [first, second] = [await receiver(), await receiver()]
    const hooks = [await endpoint(team, { url: first.url }), await endpoint(team, { url: second.url })]
    await emitEvents(team)
    await delivery.drain()
    const id = first.received[0]!.headers['webhook-id'] as string
    const managed = { url, managementKey: team.orgKey, org: team.org_id, team: team.team }
    const both = await printedBy((context) => resend({ args: [id], values: managed }, context))
    assert.equal(both.error, undefined)
    assert.deepEqual(
      both.text.trimEnd().split('\n').toSorted(),
      [`${hooks[0]!.id}  ${first.url}  resent`, `${hooks[1]!.id}  ${second.url}  resent`].toSorted(),
    )
    await delivery.drain()
    const values = { ...managed, endpoint: hooks[0]!.id, json: true }
    const one = await printedBy((context) => resend({ args: [uuidFromId(id)!], values }, context))
    assert.deepEqual(JSON.parse(one.text), [{ endpoint: hooks[0]!.id, url: first.url, outcome: 'resent' }])
    await delivery.drain()
    assert.deepEqual([first.received.length, second.received.length], [3, 2])
    const late = await receiver()
    const added = await endpoint(team, { url: late.url })
    const again = await printedBy((context) => resend({ args: [id], values: managed }, context))
    assert.ok(!again.text.includes(added.id))
    const named = await printedBy((context) => resend({ args: [id], values: { ...managed, endpoint: added.id } }, context))
    assert.equal(named.text, `${added.id}  ${late.url}  resent\n`)
    await team.manage.patch(hooks[0]!.path, { disabled: true })
    const refused = await printedBy((context) => resend({ args: [id], values }, context))
    assert.match(JSON.parse(refused.text)[0].outcome, /^400 /)
    assert.match(refused.error!.message, /Not every endpoint/)
  })

  test('fails for an unknown event or endpoint, and an invalid key', async () => {
    const team = await createTestTeam()
    const managed = { url, managementKey: team.orgKey, org: team.org_id, team: team.team }
    const failure = async (values: object) =>
      (await printedBy((context) => resend({ args: [randomUUID()], values: { ...managed, ...values } }, context))).error!.message
    assert.match(await failure({}), /sent to no endpoint/)
    assert.match(await failure({ endpoint: randomUUID() }), /no such endpoint/)
    assert.match(await failure({ managementKey: 'none' }), /rejected the request: 401/)
    assert.match(await failure({ cell: 'moon' }), /--cell must be one of/)
  })
})

test('a listener has the same secret in every run, another team or address another one, and only its owner reads the file', () => {
  const [key, forward_to] = ['key', 'http://localhost:3000/hook']
  const secret = keptSecret(folder, { key, forward_to })
  const others = [
    keptSecret(folder, { key: 'other', forward_to }),
    keptSecret(folder, { key, forward_to: `${forward_to}s` }),
    keptSecret(join(folder, 'none'), { key, forward_to }),
  ]
  assert.equal(keptSecret(folder, { key, forward_to }), secret)
  assert.equal(new Set([secret, ...others]).size, 4)
  assert.equal(statSync(join(folder, 'listen.json')).mode & 0o777, 0o600)
  assert.ok(!readFileSync(join(folder, 'listen.json'), 'utf8').includes('"key"'))
  assert.ok(!existsSync(join(folder, 'none')))
  for (let i = 0; i < 101; i++) keptSecret(folder, { key: `${i}`, forward_to })
  assert.equal(JSON.parse(readFileSync(join(folder, 'listen.json'), 'utf8')).length, 100)
  writeFileSync(join(folder, 'listen.json'), 'damaged')
  assert.notEqual(keptSecret(folder, { key, forward_to }), secret)
})

describe('drawbridge completion', () => {
  const complete = (...words: string[]): string[] => {
    const script = `${completionScript(tree, 'bash')}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})\nCOMP_CWORD=${words.length - 1}\n_drawbridge\necho "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split(' ')
  }

  test('completes groups, commands and options in bash', () => {
    assert.deepEqual(complete('drawbridge', 'st'), ['start', 'status'])
    assert.deepEqual(complete('drawbridge', 'events', ''), ['list', 'show', 'resend'])
    assert.deepEqual(complete('drawbridge', 'events', 'list', '--li'), ['--limit'])
    assert.deepEqual(complete('drawbridge', 'events', 'list', '--json', '--ty'), ['--type'])
  })

  test('has a script for zsh and fish', () => {
    assert.match(completionScript(tree, 'zsh'), /bashcompinit/)
    const fish = completionScript(tree, 'fish')
    assert.match(fish, /= "events list"' -l limit\n/)
    assert.match(fish, /= ""' -f -a status\n/)
  })
})
