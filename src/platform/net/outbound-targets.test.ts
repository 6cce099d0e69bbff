import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readConfig } from '../../settings/config.ts'
import { cells, createTestTeam, hosts } from '../../../test/support/server.ts'
import { delivering, endpoint, receiver, deliveryStates, emitEvents } from '../../../test/support/webhook-receiver.ts'
import { isPublicAddress, TargetPolicy } from './outbound-targets.ts'

const refused = `
  0.0.0.0 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 127.0.0.1 127.1.2.3 169.254.169.254 172.16.0.1 172.31.255.255
  192.0.0.192 192.168.1.1 198.18.0.1 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255 168.63.129.16 192.0.2.1 203.0.113.7
  :: ::1 fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 ff02::1 fec0::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:7f00:1 ::127.0.0.1
  ::ffff:0:127.0.0.1 64:ff9b::a00:1 64:ff9b::169.254.169.254 64:ff9b:1::a00:1 2002:7f00:1:: 2002:a00:1::1 2001::1 2001:db8::1 100::1
`
const allowed =
  '1.1.1.1 8.8.8.8 172.15.0.1 172.32.0.1 100.128.0.1 192.167.1.1 2606:4700::1111 2a00:1450::1 64:ff9b::808:808 2002:808:808::1 ::ffff:8.8.8.8'
const words = (text: string) => text.split(/\s+/).filter(Boolean)

describe('an address', () => {
  for (const address of words(refused)) test(`${address} is not public`, () => assert.equal(isPublicAddress(address), false))
  for (const address of words(allowed)) test(`${address} is public`, () => assert.equal(isPublicAddress(address), true))
  test('that is malformed is not public', () => assert.equal(isPublicAddress('nonsense'), false))
})

describe('a target', () => {
  const to = (addresses: string[], allow: string[] = [], loopback = true) =>
    new TargetPolicy({ allow, loopback, resolve: async () => addresses })

  test('is rejected if one of its addresses is', async () => {
    await assert.rejects(to(['1.1.1.1', '10.0.0.1']).addresses('two.example', false), { code: 'REFUSED_ADDRESS' })
    assert.deepEqual(await to(['1.1.1.1']).addresses('one.example', false), ['1.1.1.1'])
  })

  test('on this machine is allowed for the sandbox; other private networks are not', async () => {
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
      assert.deepEqual(await to([address]).addresses('here.example', true), [address])
      await assert.rejects(to([address]).addresses('here.example', false))
    }
    for (const sandbox of [true, false]) await assert.rejects(to(['10.0.0.1']).addresses('near.example', sandbox))
  })

  test('on this machine is allowed for the sandbox only while the server listens on loopback, or if the operator allows it', async () => {
    for (const HOST of ['127.0.0.1', '::1', 'localhost']) assert.equal(readConfig({ HOST }).loopback, true)
    for (const HOST of ['0.0.0.0', '::', '192.168.1.7']) assert.equal(readConfig({ HOST, DEMO: 'off' }).loopback, false)
    for (const address of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1']) {
      await assert.rejects(to([address], [], false).addresses('here.example', true), { code: 'REFUSED_ADDRESS' })
      await assert.rejects(to([address], [], false).addresses(address, true), { code: 'REFUSED_ADDRESS' })
      assert.deepEqual(await to([address], ['127.0.0.0/8', '::1'], false).addresses('here.example', true), [address])
    }
    for (const url of ['http://localhost:3000/', 'http://a.localhost/', 'http://127.0.0.1/', 'http://[::1]/', 'http://0x7f.1/']) {
      assert.throws(() => to([], [], false).check(url, true), { status: 422 }, url)
      to([], [], true).check(url, true)
    }
    to([], ['localhost'], false).check('http://localhost:3000/', true)
  })

  test("is allowed by the operator's networks, addresses, names and suffixes", async () => {
    const { webhook_allow } = readConfig({ WEBHOOK_ALLOW: '10.1.0.0/16, fd12::/16, 192.168.7.7, Inside.example, *.near.example' })
    const targets = (address: string) => to([address], webhook_allow)
    for (const [host, address] of [
      ['x.example', '10.1.2.3'],
      ['x.example', 'fd12::7'],
      ['x.example', '192.168.7.7'],
      ['INSIDE.example', '10.9.9.9'],
      ['inside.example.', '10.9.9.9'],
      ['a.b.near.example', '10.9.9.9'],
    ] as const)
      assert.deepEqual(await targets(address).addresses(host, false), [address])
    for (const [host, address] of [
      ['x.example', '10.2.0.1'],
      ['x.example', '192.168.7.8'],
      ['notinside.example', '10.9.9.9'],
      ['near.example', '10.9.9.9'],
    ] as const)
      await assert.rejects(targets(address).addresses(host, false), { code: 'REFUSED_ADDRESS' })
  })

  for (const text of ['10.0.0.0/33', '300.1.1.1', 'a b', '10.0.0.0/8/8', 'x/8', 'fd00::/129'])
    test(`"${text}" cannot be allowed`, () => assert.throws(() => readConfig({ WEBHOOK_ALLOW: text }), /WEBHOOK_ALLOW/))
})

for (const text of ['', 'x', '1,,2', '-1', '1,2,1e9', Array(21).fill('1').join()])
  test(`the schedule "${text.slice(0, 20)}" is ${text ? 'refused' : 'the default'}`, () => {
    if (text) assert.throws(() => readConfig({ WEBHOOK_SCHEDULE: text }), /WEBHOOK_SCHEDULE/)
    else assert.equal(readConfig({ WEBHOOK_SCHEDULE: text }).webhook_schedule_s.length, 8)
  })

describe('a delivery', () => {
  const once = { schedule_s: [0] }
  const errorOf = async (team: Awaited<ReturnType<typeof createTestTeam>>, path: string) => {
    const [{ id }] = (await team.manage.get(`${path}/message`)).body.data
    return (await team.manage.get(`${path}/message/${id}/attempt`)).body.data[0].error
  }

  test('of production does not reach this machine, by name or by address, even after its creation was allowed', async () => {
    const team = await createTestTeam('production-us')
    const target = await receiver()
    const named = await endpoint(team, { url: `https://here.example:${target.port}/` }, 'production')
    hosts.set('here.example', () => ['127.0.0.1'])
    const literal = await endpoint(team, { url: 'https://receiver.example.com/' }, 'production')
    await cells.db('production-us').pool.query('update webhook set url = $2 where id = $1', [literal.id, target.url])
    await emitEvents(team)
    let connections = 0
    target.server.on('connection', () => connections++)
    await delivering(once).drain()
    for (const { path, id } of [named, literal]) {
      assert.equal(await errorOf(team, path), 'address refused')
      assert.deepEqual(await deliveryStates(team, id), { 'failed after 1': 1 })
    }
    assert.equal(connections, 0)
  })

  test('is not redirected inside by a name that changes its addresses', async () => {
    const team = await createTestTeam()
    const target = await receiver()
    const { path } = await endpoint(team, { url: `http://moving.example:${target.port}/` })
    const asked: string[][] = []
    const answers = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1', '169.254.169.254']]
    hosts.set('moving.example', () => {
      asked.push(answers[asked.length] ?? ['10.0.0.1'])
      return asked.at(-1)!
    })
    await emitEvents(team)
    await delivering(once).drain()
    assert.deepEqual([target.received.length, asked.length], [1, 1])
    for (const more of [2, 3]) {
      await emitEvents(team)
      await delivering(once).drain()
      assert.equal(await errorOf(team, path), 'address refused')
      assert.deepEqual([target.received.length, asked.length], [1, more])
    }
  })

  test('to a name uses an allowed address', async () => {
    const team = await createTestTeam()
    const target = await receiver()
    await endpoint(team, { url: `http://localhost:${target.port}/by-name` })
    await emitEvents(team)
    await delivering(once).drain()
    assert.deepEqual(
      target.received.map(({ path, headers }) => [path, headers.host]),
      [['/by-name', `localhost:${target.port}`]],
    )
  })
})
