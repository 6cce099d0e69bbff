// A team that has used everything, for tests of what is left of it, or of its users, after their erasure.
import assert from 'node:assert/strict'
import { contents } from '../../../src/app/contents.ts'
import { saveLink, setLinkMode } from '../../../src/lab/accounts/account-links.ts'
import type { Order } from '../../../src/lab/orders/schema.ts'
import { grant } from '../../support/grants.ts'
import { createOrder, kit } from '../../support/orders.ts'
import { messageFor, observation, observedTest, profile, receiveBytes, toBytes } from '../../support/link-messages.ts'
import { acceptedOrder } from '../../support/results.ts'
import { signIn } from '../../support/phones.ts'
import { sentSample, post } from '../../support/samples.ts'
import { createTestTeam, type TestTeam } from '../../support/server.ts'
import { delivering, receiver } from '../../support/webhook-receiver.ts'
import { describeReply, success } from './operation-cases.ts'
import { send, valid } from './requests.ts'

const { operations } = contents

/** Receives messages about an order over the link of its account: one while the link is live, and one in mode `shadow`. */
async function receiveOverItsLink(team: TestTeam, order: Order): Promise<void> {
  const account = order.lab_account_id!
  const receive = (value: string) =>
    receiveBytes(
      team,
      account,
      toBytes(messageFor(order, [observedTest({ code: 'X1', observations: [observation('X1', value)] })])),
    )
  await team.db.plainTx(async (tx) => {
    await saveLink(tx, account, profile)
    await setLinkMode(tx, account, 'shadow')
  })
  assert.equal((await receive('4')).state, 'shadow')
  await team.db.plainTx((tx) => setLinkMode(tx, account, 'live'))
  assert.equal((await receive('5')).state, 'applied')
}

/** A team that has done everything there is to do, so that every table has something of it. */
export async function busyTeam(): Promise<TestTeam> {
  const team = await createTestTeam()
  const doing = operations.filter(({ method, auth }) => !['GET', 'DELETE'].includes(method) && auth !== 'none')
  for (const operation of doing) {
    const reply = await send(team, operation, await valid(team, operation))
    assert(success(reply), `${operation.id} ${describeReply(reply)}`)
  }
  await team.settle()
  const repeating = await team.user()
  for (let i = 0; i < 2; i++) await post(team, repeating, 'heartrate', [sentSample('09:30:00', 61)])
  await post(team, repeating, 'heartrate', [sentSample('09:30:00', -61)])
  await valid(
    team,
    operations.find(({ id }) => id === 'get_phlebotomy_appointment')!,
  )
  // A file whose upload has not ended: that of an import that has ended is deleted.
  await valid(
    team,
    operations.find(({ id }) => id === 'continue_file_import')!,
  )
  const { url } = await receiver()
  await team.manage.post(`/team/${team.team}/sandbox/webhook`, { url })
  await createOrder(team)
  // The endpoints of the examples have no address: each of their deliveries fails once, and that is enough.
  await delivering({ schedule_s: [0], attempt_ms_max: 50 }).drain()
  const endpoint = await team.manage.post(`/team/${team.team}/sandbox/webhook`, { url })
  await team.manage.delete(`/team/${team.team}/sandbox/webhook/${endpoint.body.id}`)
  await receiveOverItsLink(team, await acceptedOrder(team))
  const { id } = await kit(team)
  await team.api.post(`/v3/order/${id}/test`)
  await team.settle()
  const user_id = await team.user()
  await signIn(team, user_id)
  await grant(team, repeating)
  await team.api.delete(`/v2/user/${user_id}`)
  await team.db.pool.query('insert into data_retention_check (team_id, next_at) values ($1, now())', [team.team])
  await team.db.pool.query(
    `insert into patient_message_opt_out (team_id, user_id, channel, created_at) values ($1, $2, 'sms', now())`,
    [team.team, repeating],
  )
  await team.db.pool.query(`insert into provider_watermark (team_id, user_id, provider) values ($1, $2, 'oura')`, [
    team.team,
    repeating,
  ])
  await team.db.pool.query(
    `insert into provider_pull (team_id, user_id, provider, resource) values ($1, $2, 'oura', 'sleep') on conflict do nothing`,
    [team.team, repeating],
  )
  await team.db.pool.query(
    `insert into provider_limit (team_id, provider, tokens, refilled_at) values ($1, 'oura', '{1}', clock_timestamp())`,
    [team.team],
  )
  await team.db.pool.query(
    `insert into revoked_lease (destination_id, team_id, owner, leased_until) values ('ep_of ' || $1::text, $1::uuid, gen_random_uuid(), clock_timestamp())`,
    [team.team],
  )
  await team.db.pool.query(
    `insert into delivery (team_id, destination_id, message_id, state, due_at, trigger, created_at)
     select e.team_id, l.id, e.id, 'pending', e.created_at, 'scheduled', e.created_at
     from event e join destination l on l.team_id = e.team_id and l.kind <> 'webhook' where e.team_id = $1
     on conflict do nothing`,
    [team.team],
  )
  return team
}
