// Messages over links as members and operators look at them and deal with them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { eventually } from '../../../test/support/eventually.ts'
import { linesInDatabase } from '../../../test/support/access-lines.ts'
import {
  labLink,
  messageFor,
  observation,
  observedTest,
  receiveBytes,
  storeMessage,
  toBytes,
} from '../../../test/support/link-messages.ts'
import { linkedOrder } from '../../../test/support/linked-orders.ts'
import { sql } from '../../platform/db/sql.ts'
import { access, createTestTeam, guard, type TestTeam } from '../../../test/support/server.ts'
import { reportIssue } from './issues.ts'
import { createProcessing } from './message-processing.ts'
import { queueOutgoing } from './message-store.ts'
import { saveAnswer } from './outgoing-messages.ts'
import { BIRTH_YEAR } from '../../../test/support/people.ts'

const PATH = '/lab_message/sandbox/us'
const ISSUES = '/lab_link_issue/sandbox/us'

/** Queues a message to the laboratory about an order. */
async function queueMessage(team: TestTeam, account: string, order_id: string): Promise<string> {
  let id = ''
  await team.db.tx(team.tenant, async (tx) => {
    id = queueOutgoing(tx, {
      link_account_id: account,
      order_id,
      control_id: randomUUID(),
      message_type: 'OML^O21',
      bytes: Buffer.from('MSH|^~\\&|DRAWBRIDGE\rPID|1\r'),
    })
    await Promise.resolve()
  })
  return id
}

describe('the list of messages', () => {
  test('has the messages of the organization by filters and in pages, without what they say', async () => {
    const { team, account, order, send, complete } = await linkedOrder()
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.unshift((await send(complete(`${i}`, { control_id: `C${i}` }))).message_id)
    const failed = await receiveBytes(team, account, Buffer.from('no message'))
    const out = await queueMessage(team, account, order.id)
    const list = async (query: string) => {
      const { status, body } = await team.manage.get(`${PATH}?${query}`)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }
    const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)
    assert.deepEqual(idsOf(await list(`account_id=${account}`)), [out, failed.message_id, ...ids])
    assert.deepEqual(idsOf(await list(`order_id=${order.id}&direction=in`)), ids)
    assert.deepEqual(idsOf(await list(`account_id=${account}&state=failed`)), [failed.message_id])
    assert.deepEqual(idsOf(await list(`account_id=${account}&control_id=C1`)), [ids[1]])
    const first = await list(`account_id=${account}&limit=3`)
    const second = await list(`account_id=${account}&limit=3&next_cursor=${first.next_cursor}`)
    assert.deepEqual([...idsOf(first), ...idsOf(second)], [out, failed.message_id, ...ids])
    assert.equal(second.next_cursor, null)
    assert.doesNotMatch(JSON.stringify(await list(`account_id=${account}`)), new RegExp(String.raw`Testa|${BIRTH_YEAR}`))
    const [message] = (await list(`account_id=${account}&control_id=C1`)).data
    assert.deepEqual(
      [message.lab, message.team_id, message.order_id, message.state, message.source, message.sender],
      ['quest', team.team, order.id, 'applied', 'command', 'FICTIONAL-LIS'],
    )
  })

  test('has no message whose result may be of deleted users alone, also if no deleted user has an order', async () => {
    const { team, account, send, complete } = await linkedOrder()
    const { message_id, state } = await send(complete('5', { numbers: { placer: ['NOBODY'], filler: ['NOTHING'] } }))
    assert.equal(state, 'review')
    const user_id = await team.user()
    await team.db.queries.run(sql`
      update raw_result set candidate_user_ids = array[${user_id}::uuid]
      where id = (select raw_result_id from lab_message where id = ${message_id})`)
    const list = async () =>
      (await team.manage.get(`${PATH}?account_id=${account}`)).body.data.map(({ id }: { id: string }) => id)
    assert.deepEqual(await list(), [message_id])
    assert.equal((await team.api.delete(`/v2/user/${user_id}`)).status, 200)
    assert.deepEqual(await list(), [])
    assert.equal((await team.manage.get(`${PATH}/${message_id}`)).status, 404)
  })

  test('has nothing of other organizations, and neither has any other operation', async () => {
    const { team, send, complete } = await linkedOrder()
    const { message_id } = await send(complete())
    const { message_id: failed } = await send('no message')
    const other = await createTestTeam()
    assert.deepEqual((await other.manage.get(PATH)).body.data, [])
    assert.deepEqual((await other.manage.get(ISSUES)).body.data, [])
    for (const [method, path] of [
      ['GET', `${PATH}/${message_id}`],
      ['POST', `${PATH}/${message_id}/replay`],
      ['POST', `${PATH}/${message_id}/resend`],
      ['POST', `${PATH}/${message_id}/done`],
      ['POST', `${ISSUES}/${failed}/done`],
    ] as const)
      assert.equal((await other.manage.call(method, path)).status, 404, path)
    assert.equal((await team.manage.get(`${PATH}/${message_id}`)).body.state, 'applied')
    assert.equal((await team.manage.get(`${PATH}/${failed}`)).body.state, 'failed')
  })
})

describe('one message', () => {
  test('is shown as text and downloaded as the bytes that came, and each look is in the access log', async () => {
    const { team, account, order, complete } = await linkedOrder()
    const bytes = Buffer.concat([Buffer.from('\n  '), toBytes(complete('1,234')), Buffer.from('\r\n')])
    const { message_id } = await receiveBytes(team, account, bytes)
    const shown = await team.manage.get(`${PATH}/${message_id}`)
    assert.equal(shown.body.text, bytes.toString())
    const file = await team.manage.get(`${PATH}/${message_id}`, { accept: 'application/octet-stream' })
    assert.equal(file.headers.get('content-type'), 'application/octet-stream')
    assert(bytes.equals(file.body))
    await access.flush()
    for (const { headers } of [shown, file]) {
      const [line] = await linesInDatabase(team, headers.get('x-request-id')!)
      assert.deepEqual([line!.operation, line!.users, line!.objects], ['get_lab_message', [order.user_id], [message_id]])
    }
  })

  test('whose bytes are not of its character set is not shown with other characters', async () => {
    const { team, account } = await linkedOrder()
    const bytes = Buffer.from('MSH|^~\\&|LIS|FICTIONAL|||20300104||ORU^R01|1|P|2.5.1\rPID|1||||M\xfcller\r', 'latin1')
    const { message_id } = await receiveBytes(team, account, bytes)
    const { text } = (await team.manage.get(`${PATH}/${message_id}`)).body
    assert.match(text, /M<FC>ller/)
    const [issue] = (await team.manage.get(`${ISSUES}?account_id=${account}`)).body.data
    assert.deepEqual([issue.reason, issue.message_id], ['undecodable', message_id])
    assert(bytes.equals((await team.manage.get(`${PATH}/${message_id}`, { accept: 'application/octet-stream' })).body))
  })

  test('is replayed by the worker and applied once', async () => {
    const { team, order, send, complete, result } = await linkedOrder()
    const { message_id } = await send(complete())
    const { events } = (await team.api.get(`/v3/order/${order.id}`)).body
    const before = await result()
    const replayed = await team.manage.post(`${PATH}/${message_id}/replay`)
    assert.deepEqual([replayed.status, replayed.body.state], [200, 'received'])
    await createProcessing({ cell: 'sandbox-us', db: team.db, findTenant: guard.tenant }).tryOne(message_id)
    await eventually(async () => (await team.manage.get(`${PATH}/${message_id}`)).body.state === 'applied')
    assert.deepEqual((await team.api.get(`/v3/order/${order.id}`)).body.events, events)
    assert.deepEqual(await result(), before)
    assert.equal((await team.manage.post(`${PATH}/${message_id}/resend`)).status, 400)
  })

  test('to a laboratory is resent with the same bytes unless the laboratory has it', async () => {
    const { team, account, order } = await linkedOrder()
    const id = await queueMessage(team, account, order.id)
    const answer = (state: 'refused' | 'accepted') =>
      team.db.tx(team.tenant, (tx) => {
        saveAnswer(
          tx,
          { id, team_id: team.team },
          {
            state,
            isAwaited: false,
            answer: Buffer.from('MSH|^~\\&|LIS\rMSA|AE|1\r'),
            error: 'The laboratory answered AE',
          },
        )
        return Promise.resolve()
      })
    await answer('refused')
    const shown = (await team.manage.get(`${PATH}/${id}`)).body
    assert.deepEqual([shown.state, shown.reason], ['refused', 'refused_order'])
    assert.match(shown.answer, /MSA-1 Code: AE/)
    const { control_id, bytes } = shown
    const resent = await team.manage.post(`${PATH}/${id}/resend`)
    assert.deepEqual([resent.status, resent.body.state], [200, 'queued'])
    const again = (await team.manage.get(`${PATH}/${id}`)).body
    assert.deepEqual([again.control_id, again.bytes, again.text], [control_id, bytes, shown.text])
    assert.notEqual(again.next_attempt_at, null)
    await answer('accepted')
    assert.equal((await team.manage.post(`${PATH}/${id}/resend`)).status, 400)
    assert.equal((await team.manage.post(`${PATH}/${id}/replay`)).status, 400)
  })
})

describe('issues', () => {
  test('have a reason, what to do, and a state that ends with the message', async () => {
    const { team, account } = await linkedOrder()
    const { message_id } = await receiveBytes(team, account, Buffer.from('no message'))
    await receiveBytes(team, account, Buffer.from('no message'))
    const open = async () => (await team.manage.get(`${ISSUES}?account_id=${account}&state=open`)).body.data
    const count = async () => (await team.manage.get('/lab_link_issue_count/sandbox/us')).body
    const [issue] = await open()
    assert.deepEqual(await count(), { count: 1, is_exact: true })
    assert.deepEqual((await (await createTestTeam()).manage.get('/lab_link_issue_count/sandbox/us')).body, {
      count: 0,
      is_exact: true,
    })
    assert.deepEqual(
      [issue.id, issue.message_id, issue.reason, issue.count, issue.state, issue.lab],
      [message_id, message_id, 'unreadable', 2, 'open', 'quest'],
    )
    assert(issue.text && issue.remedy && issue.detail)
    const comment = 'Sent again as <b>HL7</b>'
    const done = await team.manage.post(`${ISSUES}/${message_id}/done`, { comment })
    assert.deepEqual([done.status, done.body.state, done.body.comment], [200, 'done', comment])
    assert.equal((await team.manage.post(`${ISSUES}/${message_id}/done`)).body.comment, comment)
    assert.equal((await team.manage.post(`${ISSUES}/${message_id}/done`, { comment: 'x'.repeat(501) })).status, 422)
    assert.deepEqual(await open(), [])
    assert.deepEqual(await count(), { count: 0, is_exact: true })
    assert.equal((await team.manage.get(`${PATH}/${message_id}`)).body.state, 'done')
    assert.equal((await team.manage.get(`${ISSUES}?account_id=${account}&state=done`)).body.data.length, 1)
  })

  test('of an applied message are separate from it, and are counted once however often it is processed', async () => {
    const { team, account, order, send } = await linkedOrder()
    const message = (value: string) =>
      messageFor(order, [observedTest({ code: 'X1', observations: [observation('X1', value)] })], { control_id: '17' })
    await send(message('5'))
    const { message_id, state } = await send(message('6'))
    assert.equal(state, 'applied')
    await team.manage.post(`${PATH}/${message_id}/replay`)
    await createProcessing({ cell: 'sandbox-us', db: team.db, findTenant: guard.tenant }).tryOne(message_id)
    const { data } = (await team.manage.get(`${ISSUES}?account_id=${account}`)).body
    assert.deepEqual(
      data.map((issue: Record<string, unknown>) => [issue.reason, issue.message_id, issue.count]),
      [
        ['control_id_conflict', message_id, 1],
        ['unknown_code', null, 1],
      ],
    )
    assert.equal((await team.manage.post(`${ISSUES}/${data[0].id}/done`)).body.state, 'done')
    assert.equal((await team.manage.get(`${PATH}/${message_id}`)).body.state, 'applied')
  })

  test('name the order of their message, and end with its replay or resending', async () => {
    const { team, account, order } = await linkedOrder()
    const id = await queueMessage(team, account, order.id)
    await team.db.tx(team.tenant, (tx) => {
      saveAnswer(
        tx,
        { id, team_id: team.team },
        { state: 'refused', answer: Buffer.from('MSH|^~\\&|LIS\r'), error: 'Refused', isAwaited: false },
      )
      return Promise.resolve()
    })
    const list = async () => team.manage.get(`${ISSUES}?account_id=${account}`)
    const listed = await list()
    const [issue] = listed.body.data
    assert.deepEqual([issue.order_id, issue.team_id, issue.comment], [order.id, team.team, null])
    assert.match(issue.account_number, /^FICTIONAL-/)
    await access.flush()
    const [line] = await linesInDatabase(team, listed.headers.get('x-request-id')!)
    assert.deepEqual([line!.operation, line!.users, line!.objects], ['list_lab_link_issues', [order.user_id], [id]])
    await team.manage.post(`${PATH}/${id}/done`, { comment: 'Called the laboratory' })
    assert.deepEqual((await list()).body.data[0].comment, 'Called the laboratory')
    await team.manage.post(`${PATH}/${id}/resend`)
    assert.deepEqual((await list()).body.data, [])
    assert.equal((await team.manage.get(`${PATH}/${id}`)).body.comment, null)
  })

  test('of an order that cannot be sent name the order by their source', async () => {
    const { team, account, order } = await linkedOrder()
    const report = (source: string) =>
      reportIssue(team.db.queries, {
        reason: 'unsendable_order',
        link_account_id: account,
        source,
        order_team_id: team.team,
        detail: 'PID-5 is too long',
      })
    await report(`order ${order.id}`)
    await report('order ------------------------------------')
    const { data } = (await team.manage.get(`${ISSUES}?account_id=${account}`)).body
    assert.deepEqual(new Set(data.map((issue: Record<string, unknown>) => issue.order_id)), new Set([order.id, null]))
    await team.api.delete(`/v2/user/${order.user_id}`)
    const after = (await team.manage.get(`${ISSUES}?account_id=${account}`)).body.data
    assert.deepEqual(
      after.map((issue: Record<string, unknown>) => [issue.order_id, issue.team_id]),
      [
        [null, null],
        [null, null],
      ],
    )
  })

  test('of messages without a link are for the operator alone', async () => {
    const team = await createTestTeam()
    const account = await labLink(team)
    const { message_id } = await storeMessage(team, {
      bytes: Buffer.from(`MSH|${randomUUID()}`),
      link_account_id: null,
      source: 'mllp 192.0.2.1:2575',
    })
    assert.deepEqual((await team.manage.get(`${ISSUES}?account_id=${account}`)).body.data, [])
    assert.equal((await team.manage.get(`${PATH}/${message_id}`)).status, 404)
  })
})
