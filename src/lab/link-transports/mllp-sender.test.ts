// Orders on their way to a laboratory over MLLP: python-hl7 answers, or does not.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { skipWithoutPythonHl7, startLaboratoryServer, type LaboratoryServer } from '../../../test/lab-peers/python-peers.ts'
import { makeCertificate } from '../../../test/support/certificates.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { startLinkRunner } from '../../../test/support/link-runner.ts'
import { answer, linkedTeam, markSent, queuedMessages } from '../../../test/support/link-orders.ts'
import { frame } from '../../../test/support/mllp-socket.ts'
import { createOrder, getOrder } from '../../../test/support/orders.ts'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { findLink, setLinkMode } from '../accounts/account-links.ts'
import type { ProfileOptions } from '../links/profile/link-profile.ts'
import { listIssues } from '../link-messages/issues.ts'
import { expireUnanswered } from '../link-messages/outbox.ts'
import { LinkLeases } from './link-leases.ts'

type Client = NonNullable<NonNullable<ProfileOptions['transport']>['client']>
type Transport = NonNullable<ProfileOptions['transport']>

const profileFor = (port: number, client: Client = {}, transport: Partial<Transport> = {}): ProfileOptions => ({
  transport: { orders: 'mllp', ...transport, client: { host: '127.0.0.1', port, tls: false, answer_timeout_s: 1, ...client } },
})

/** A team whose orders go to a port. */
async function linkTo(port: number, client: Client = {}, transport: Partial<Transport> = {}) {
  const options = profileFor(port, client, transport)
  const { team, account } = await linkedTeam({ options })
  const lab_test_id = await team.test('walk_in_test')
  return {
    team,
    account,
    options,
    order: async () => {
      const order = await createOrder(team, { lab_test_id, lab_account_id: account })
      await team.settle()
      return order
    },
    messages: () => queuedMessages(team, account),
    states: async () => (await queuedMessages(team, account)).map(({ state }) => state),
    link: async () => (await findLink(team.db.queries, account))!,
    status: async (id: string) => (await getOrder(team, id)).last_event.status.split('.').at(-1),
    off: () => team.db.plainTx((tx) => setLinkMode(tx, account, 'off')),
    /** Makes what waits for its next attempt due now. */
    hurry: () =>
      team.db.queries.run(
        sql`update lab_message set due_at = created_at where link_account_id = ${account} and due_at is not null`,
      ),
  }
}

const deliveries = (laboratory: LaboratoryServer, control_id: string) =>
  laboratory.log().filter((line) => line.event === 'received' && line.control_id === control_id)

before(() => startLinkRunner())

describe('an order over MLLP', { skip: skipWithoutPythonHl7 }, () => {
  const peers: LaboratoryServer[] = []
  const laboratory = async (...options: Parameters<typeof startLaboratoryServer>) => {
    const server = await startLaboratoryServer(...options)
    peers.push(server)
    return server
  }
  after(() => Promise.all(peers.map((peer) => peer.remove())))

  test('is sent once, and accepted with the answer of the laboratory', async () => {
    const lab = await laboratory()
    await lab.setMode({ type: 'ORL^O22' })
    const { order, messages, states, status, link } = await linkTo(lab.port)
    const { id } = await order()
    await eventually(async () => (await states())[0] === 'accepted', 'the message is accepted')
    const [message] = await messages()
    const [delivery, ...more] = deliveries(lab, message!.control_id)
    assert.equal(more.length, 0)
    assert.deepEqual(Buffer.from(delivery!.bytes!, 'base64'), message!.bytes)
    assert.equal(await status(id), 'requisition_created')
    assert.equal((await link()).state, 'ok')
    await eventually(async () => (await link()).sent_at !== null, 'the link shows when it sent')
  })

  for (const [what, mode] of [
    ['does not answer', { fault: 'deaf', times: 1 }],
    ['answers with half a message', { fault: 'half_answer', times: 1 }],
    ['ends within its answer', { fault: 'half_answer_then_close', times: 1 }],
    ['closes the connection', { fault: 'close', times: 1 }],
    ['answers to another message', { fault: 'wrong_id', times: 1 }],
  ] as const)
    test(`is sent again with the same bytes and id when the laboratory ${what}`, async () => {
      const lab = await laboratory()
      await lab.setMode(mode)
      const { order, messages, states, link, hurry } = await linkTo(lab.port)
      await order()
      await eventually(async () => (await link()).state === 'failing', 'the link fails')
      assert.match((await link()).state_reason!, /^The laboratory /)
      assert.deepEqual(await states(), ['sent'])
      await hurry()
      await eventually(async () => (await states())[0] === 'accepted', 'the message is accepted')
      const [message] = await messages()
      const seen = deliveries(lab, message!.control_id)
      assert.deepEqual([seen.length, new Set(seen.map(({ digest }) => digest)).size], [2, 1])
      await eventually(async () => (await link()).state === 'ok', 'the link works again')
      const connections = new Set(seen.map(({ connection }) => connection))
      assert.equal(connections.size, 2, 'after a failure there is another connection')
    })

  test('is not sent again when the laboratory has committed it, and accepted with the answer that follows', async () => {
    const lab = await laboratory()
    await lab.setMode({ commit: 'CA', delay_s: 0.3 })
    const { order, messages, states } = await linkTo(lab.port)
    await order()
    await eventually(async () => (await states())[0] === 'committed', 'the message is committed')
    await eventually(async () => (await states())[0] === 'accepted', 'the message is accepted')
    assert.equal(deliveries(lab, (await messages())[0]!.control_id).length, 1)
  })

  test('that the laboratory refuses is not sent again', async () => {
    const lab = await laboratory()
    await lab.setMode({ code: 'AE', error: 'Unknown test' })
    const { order, messages, states, link } = await linkTo(lab.port)
    await order()
    await eventually(async () => (await states())[0] === 'refused', 'the message is refused')
    assert.equal(deliveries(lab, (await messages())[0]!.control_id).length, 1)
    assert.equal((await link()).state, 'ok', 'the link itself works')
  })

  test('waits while the laboratory is away, and its cancellation never overtakes it', async () => {
    const lab = await laboratory()
    await lab.kill()
    const { team, order, states, link, hurry } = await linkTo(lab.port)
    const { id } = await order()
    await eventually(async () => (await link()).state === 'failing', 'the link fails')
    // While it tries to connect it counts as sent.
    await eventually(async () => (await states()).join() === 'queued', 'what was not sent does not count as sent')
    const other = await order()
    const sent = sql`
      update lab_message set state = 'sent', attempts = 1, due_at = due_at + interval '1 hour' where order_id = ${id} and state = 'queued'`
    await eventually(async () => (await team.db.queries.run(sent)) === 1, 'no attempt is under way')
    await team.api.post(`/v3/order/${id}/cancel`)
    await team.settle()
    assert.equal((await states()).length, 3)
    await lab.restart()
    await hurry()
    await eventually(
      async () => (await states()).every((state) => state === 'accepted' || state === 'refused'),
      'all are answered',
    )
    const orders = lab.log().flatMap((line) => (line.event === 'received' ? [Buffer.from(line.bytes!, 'base64').toString()] : []))
    const controls = orders
      .filter((text) => !text.includes(other.id) && text.includes('ORC|'))
      .map((text) => /ORC\|(\w\w)/.exec(text)![1])
    assert.deepEqual(controls.filter((control) => control === 'CA').length, 1)
    assert(controls.indexOf('NW') < controls.indexOf('CA'))
  })

  test('leaves the pause of the profile between messages, and uses the connections of the profile', async () => {
    const lab = await laboratory()
    const { order, states } = await linkTo(lab.port, { connections: 3, gap_ms: 50 })
    for (let i = 0; i < 6; i++) await order()
    await eventually(async () => (await states()).every((state) => state === 'accepted'), 'all are accepted')
    const lines = lab.log()
    for (const connection of new Set(lines.map((line) => line.connection))) {
      const times = lines.filter((line) => line.event === 'received' && line.connection === connection).map(({ time }) => time)
      for (let i = 1; i < times.length; i++) assert(times[i]! - times[i - 1]! >= 0.04, 'a pause is too short')
    }
  })

  test('goes over a new connection each time if the profile keeps none open', async () => {
    const lab = await laboratory()
    const { order, states } = await linkTo(lab.port, { keep_open: false })
    for (const count of [1, 2]) {
      await order()
      await eventually(async () => (await states()).filter((state) => state === 'accepted').length === count, 'it is accepted')
      await lab.waitFor(() => lab.log().filter(({ event }) => event === 'disconnected').length === count)
    }
  })

  test('goes over TLS to the laboratory whose certificate the profile trusts, with a certificate of ours', async () => {
    const [server, client, other] = ['laboratory', 'drawbridge', 'other'].map(makeCertificate)
    const lab = await laboratory({ tls: { cert: server!.certificate, key: server!.key, ca: client!.certificate } })
    const ours = { tls: true, authority: server!.pem, certificate: client!.pem, key: client!.keyPem }
    const good = await linkTo(lab.port, ours)
    await good.order()
    await eventually(async () => (await good.states())[0] === 'accepted', 'it is accepted')
    for (const client of [
      { ...ours, authority: other!.pem },
      { ...ours, server_name: 'another.example' },
    ]) {
      const bad = await linkTo(lab.port, client)
      await bad.order()
      await eventually(async () => (await bad.link()).state === 'failing', 'the link fails')
      assert.match((await bad.link()).state_reason!, /^No secure connection to the laboratory/)
      // While it tries to connect it counts as sent.
      await eventually(async () => (await bad.states())[0] === 'queued', 'it was not sent')
    }
  })

  test('is sent by one process at a time, and by another when that one ends', async () => {
    const lab = await laboratory()
    const second = startLinkRunner()
    const { order, messages, states } = await linkTo(lab.port)
    for (let i = 0; i < 20; i++) {
      await order()
      if (i === 10) await second.stop()
    }
    await eventually(async () => (await states()).every((state) => state === 'accepted'), 'all are accepted')
    for (const { control_id } of await messages()) assert.equal(deliveries(lab, control_id).length, 1)
  })

  test('waits while the secrets of its link cannot be read, and other links go on', async () => {
    const lab = await laboratory()
    const broken = await linkTo(lab.port, { key: 'fictional', certificate: 'fictional' })
    await broken.team.db.queries.run(
      sql`update lab_link set secrets = 'no secret', updated_at = ${new Date()} where account_id = ${broken.account}`,
    )
    await eventually(async () => (await broken.link()).state === 'failing', 'the link fails')
    const good = await linkTo(lab.port)
    await good.order()
    await eventually(async () => (await good.states())[0] === 'accepted', 'the other order is accepted')
    await broken.off()
  })

  test('is not sent any more when its link is switched off', async () => {
    const lab = await laboratory()
    await lab.setMode({ fault: 'deaf' })
    const { order, states, off, hurry, messages } = await linkTo(lab.port)
    await order()
    await eventually(async () => (await states())[0] === 'sent', 'it is sent')
    await off()
    await eventually(async () => (await messages())[0]!.due_at !== null, 'it waits')
    await lab.setMode({})
    await sleep(300)
    await hurry()
    await sleep(500)
    assert.deepEqual(await states(), ['sent'])
  })
})

describe('a laboratory at a raw socket', () => {
  const servers: Server[] = []
  after(() => {
    for (const server of servers) server.close()
  })
  /** A port at which a test answers. */
  async function rawLaboratory(serve: (socket: Socket) => void) {
    const sockets: Socket[] = []
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      sockets.push(socket)
      serve(socket)
    }).listen(0, '127.0.0.1')
    servers.push(server)
    await eventually(() => server.listening)
    after(() => {
      for (const socket of sockets) socket.destroy()
    })
    return { port: (server.address() as AddressInfo).port }
  }
  const idIn = (bytes: Buffer) => bytes.toString('latin1').split('|')[9]
  const ack = (id: string | undefined, code = 'AA') =>
    frame(`MSH|^~\\&|LIS|LAB|||20300102||ACK|A-${id}|P|2.5.1\rMSA|${code}|${id}\r`)

  test('sends results over the connection on which it gets orders, if the profile says so', async () => {
    const result = (id: string) => `MSH|^~\\&|LIS|LAB|||20300102||ORU^R01|${id}|P|2.5.1\rPID|1\rOBR|1|P-1|F-1|100^Glucose\r`
    const received: string[] = []
    const { port } = await rawLaboratory((socket) => {
      socket.write(frame(result('R-1')))
      socket.on('data', (bytes: Buffer) => {
        for (const text of bytes.toString().split('\u001c\r').filter(Boolean)) {
          received.push(text.slice(1))
          // A result comes between the order and its answer.
          if (text.includes('OML^O21')) socket.write(Buffer.concat([frame(result('R-2')), ack(text.split('|')[9])]))
        }
      })
    })
    const { team, order, states, account } = await linkTo(port, {}, { results: 'same_connection' })
    await eventually(() => received.some((text) => text.includes('MSA|AA|R-1')), 'the first result is answered before any order')
    await order()
    await eventually(async () => (await states())[0] === 'accepted', 'the order is accepted')
    await eventually(() => received.some((text) => text.includes('MSA|AA|R-2')), 'the second result is answered')
    const rows = await team.db.queries.many(
      T.Object({ bytes: T.Unsafe<Buffer>({}) }),
      sql`select bytes from lab_message where link_account_id = ${account} and direction = 'in' order by created_at`,
    )
    assert.deepEqual(
      rows.map(({ bytes }) => idIn(bytes)),
      ['R-1', 'R-2'],
    )
  })

  test('that sends results unasked gets no answer, and nothing is stored', async () => {
    const received: string[] = []
    const { port } = await rawLaboratory((socket) => {
      socket.on('data', (bytes: Buffer) => {
        received.push(bytes.toString())
        socket.write(Buffer.concat([frame('MSH|^~\\&|LIS|LAB|||20300102||ORU^R01|R-1|P|2.5.1\r'), ack(idIn(bytes))]))
      })
    })
    const { team, order, states, account } = await linkTo(port)
    await order()
    await eventually(async () => (await states())[0] === 'accepted', 'the order is accepted')
    assert.equal(received.length, 1)
    const { count } = await team.db.queries.one(
      T.Object({ count: T.Integer() }),
      sql`select count(*) from lab_message where link_account_id = ${account} and direction = 'in'`,
    )
    assert.equal(count, 0)
  })

  test('whose answer comes after the time for it keeps the order as sent, and its late answer counts for no other', async () => {
    const ids: (string | undefined)[] = []
    const { port } = await rawLaboratory((socket) => {
      socket.on('data', (bytes: Buffer) => {
        const id = idIn(bytes)
        ids.push(id)
        const isFirst = ids.filter((earlierId) => earlierId === id).length === 1
        setTimeout(() => socket.write(ack(id)), isFirst ? 1300 : 0)
      })
    })
    const { order, states, hurry } = await linkTo(port)
    await order()
    await eventually(() => ids.length === 1, 'it is sent')
    await sleep(1500)
    assert.deepEqual(await states(), ['sent'])
    await hurry()
    await eventually(async () => (await states())[0] === 'accepted', 'it is accepted')
    assert.deepEqual(ids, [ids[0], ids[0]])
  })

  test('whose answer to one of many orders cannot be read gets that one again, and each other once', async () => {
    const deliveries: string[] = []
    const { port } = await rawLaboratory((socket) => {
      socket.on('data', (bytes: Buffer) => {
        const id = idIn(bytes)!
        const isFirst = !deliveries.includes(id)
        deliveries.push(id)
        socket.write(ack(id, isFirst && new Set(deliveries).size === 3 ? 'ZZ' : 'AA'))
      })
    })
    const { team, account, messages, states, link, hurry } = await linkTo(port)
    const lab_test_id = await team.test('walk_in_test')
    for (let n = 0; n < 12; n++) await createOrder(team, { lab_test_id, lab_account_id: account })
    await team.settle()
    await eventually(
      async () => (await states()).filter((state) => state === 'accepted').length === 11,
      'the others are accepted',
    )
    const third = [...new Set(deliveries)][2]!
    const [left] = (await messages()).filter(({ state }) => state !== 'accepted')
    assert.deepEqual([left!.state, left!.control_id], ['sent', third])
    await hurry()
    await eventually(async () => (await states()).every((state) => state === 'accepted'), 'it is accepted')
    assert.deepEqual(deliveries.toSorted(), [...(await messages()).map(({ control_id }) => control_id), third].toSorted())
    await eventually(async () => (await link()).state === 'ok', 'the link works')
  })

  test('at a private address is not connected to unless the operator allows it', async () => {
    const { order, states, link } = await linkTo(2575, { host: '10.0.0.7' })
    await order()
    await eventually(async () => (await link()).state === 'failing', 'the link fails')
    assert.equal((await link()).state_reason, 'The address of the laboratory is not public, and WEBHOOK_ALLOW does not allow it')
    assert.deepEqual(await states(), ['queued'])
  })
})

describe('messages to a laboratory', () => {
  test('end after 72 hours without an answer', async () => {
    const { team, account } = await linkedTeam({ mode: 'live' })
    await createOrder(team, { lab_test_id: await team.test('walk_in_test'), lab_account_id: account })
    await team.settle()
    await team.db.queries.run(
      sql`update lab_message set created_at = created_at - interval '71 hours', queued_at = queued_at - interval '71 hours' where link_account_id = ${account}`,
    )
    await expireUnanswered(team.db.queries)
    assert.deepEqual(
      (await queuedMessages(team, account)).map(({ state }) => state),
      ['queued'],
    )
    await team.db.queries.run(
      sql`update lab_message set created_at = created_at - interval '2 hours', queued_at = queued_at - interval '2 hours' where link_account_id = ${account}`,
    )
    await expireUnanswered(team.db.queries)
    const [message] = await queuedMessages(team, account)
    assert.deepEqual(
      [message!.state, message!.error, message!.due_at],
      ['expired', 'The laboratory has not answered within 72 hours', null],
    )
  })

  for (const [application_condition, state] of [
    ['', 'expired'],
    ['AL', 'expired'],
    ['NE', 'committed'],
  ] as const)
    test(`that the laboratory has only stored end so, too, with "${application_condition}" in MSH-16: ${state}; a later answer is taken`, async () => {
      const options = { acknowledgment: { mode: 'enhanced', accept_condition: 'AL', application_condition } } as const
      const { team, account } = await linkedTeam({ mode: 'live', options })
      const { id } = await createOrder(team, { lab_test_id: await team.test('walk_in_test'), lab_account_id: account })
      await team.settle()
      const age = (hours: number) =>
        team.db.queries.run(
          sql`update lab_message set queued_at = queued_at - make_interval(hours => ${hours}) where link_account_id = ${account}`,
        )
      const only = async () => (await queuedMessages(team, account))[0]!
      const message = await only()
      await markSent(team, message.id)
      await answer(team, message, 'CA')
      await age(71)
      await expireUnanswered(team.db.queries)
      assert.equal((await only()).state, 'committed')
      const shown = await team.manage.get(`/lab_message/production/us/${message.id}`)
      assert.deepEqual([shown.status, shown.body.next_attempt_at], [200, null])
      await age(2)
      await expireUnanswered(team.db.queries)
      assert.equal((await only()).state, state)
      const { data } = await team.db.plainTx((tx) => listIssues(tx, { account_id: account }))
      assert.deepEqual(
        data.map(({ reason, message_id }) => [reason, message_id]),
        state === 'expired' ? [['expired_order', message.id]] : [],
      )
      assert.equal(await answer(team, message, 'AA'), 'accepted')
      assert.equal((await getOrder(team, id)).last_event.status, 'received.walk_in_test.requisition_created')
      const { data: left } = await team.db.plainTx((tx) => listIssues(tx, { account_id: account, state: 'open' }))
      assert.deepEqual(left, [])
    })
})

describe('the lease of a link', () => {
  test('has one owner, until it is released or has ended', async () => {
    const { team, account } = await linkedTeam({ mode: 'off' })
    const errors: unknown[] = []
    const owners = [1, 2].map(() => new LinkLeases(team.db, (error) => errors.push(error), 1))
    const claims = await Promise.all(owners.map((owner) => owner.claim([account])))
    assert.deepEqual(claims.map((leases) => leases.length).sort(), [0, 1])
    const [first, second] = claims[0]!.length ? owners : owners.toReversed()
    const [lease] = claims.find((leases) => leases.length)!
    const isHeld = async () =>
      (await team.db.queries.one(T.Object({ held: T.Boolean() }), sql`select ${first!.isHeld(lease!)} as held`)).held
    assert.equal(await isHeld(), true)
    await first!.release(lease!)
    assert.equal(await isHeld(), false)
    const [taken] = await second!.claim([account])
    assert(taken)
    assert.equal(await isHeld(), false)
    await team.db.queries.run(
      sql`update lab_link_lease set leased_until = leased_until - interval '1 hour' where account_id = ${account}`,
    )
    assert.equal((await first!.claim([account])).length, 1)
    assert.deepEqual(errors, [])
  })
})
