// Mails and issues about links that fail and work again: once each, whatever the number of processes.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { labLink } from '../../../test/support/link-messages.ts'
import { cells, createTestTeam, type TestTeam } from '../../../test/support/server.ts'
import { sql } from '../../platform/db/sql.ts'
import { T } from '../../platform/schema/schema.ts'
import { createLog } from '../../platform/telemetry/log.ts'
import { setLinkMode, setLinkState } from '../accounts/account-links.ts'
import { listIssues } from './issues.ts'
import { LinkAlerts } from './link-alerts.ts'

const Mail = T.Object({ recipient: T.String(), subject: T.String(), body: T.String() })

/** A link in mode test, whose organization has an administrator and another member. */
async function alertedLink() {
  const team = await createTestTeam()
  const account = await labLink(team)
  await team.db.plainTx((tx) => setLinkMode(tx, account, 'test'))
  const administrator = `${randomUUID()}@example.com`
  for (const [email, role] of [
    [administrator, 'org_admin'],
    [`${randomUUID()}@example.com`, 'team_admin'],
  ] as const)
    await cells.control.queries.run(sql`
      insert into member (id, org_id, name, email, role, team_ids, created_at)
      values (gen_random_uuid(), ${team.org_id}, 'Testa Fictional', ${email}, ${role}, '{}', now())`)
  return {
    team,
    account,
    administrator,
    mails: () =>
      team.db.queries.many(Mail, sql`select recipient, subject, body from mail where body like ${`%${account}%`} order by id`),
    /** Sets the state, as it was so many seconds ago. */
    setState: async (reason: string | null, age_s: number) => {
      await team.db.plainTx((tx) => setLinkState(tx, account, reason))
      await team.db.queries.run(
        sql`update lab_link set state_at = state_at - make_interval(secs => ${age_s}) where account_id = ${account}`,
      )
    },
    issues: async () => (await listIssues(team.db.queries, { account_id: account })).data,
  }
}

/** A round of three processes at once. */
async function report(lab_alert_email = ''): Promise<void> {
  const alerts = [1, 2, 3].map(() => new LinkAlerts({ cells, log: createLog('silent'), settings: { lab_alert_email } }))
  await Promise.all(alerts.map((alert) => alert.runOnce('sandbox-us')))
}

test('a link that fails is reported once to the administrators and the operator, and so is its end', async () => {
  const { account, administrator, mails, setState, issues } = await alertedLink()
  const operator = `${randomUUID()}@example.com`
  await setState('connect ECONNREFUSED', 0)
  await report(operator)
  assert.deepEqual(await mails(), [], 'it has not failed for a minute')
  await setState('connect ECONNREFUSED', 61)
  await report(operator)
  await report(operator)
  const failed = await mails()
  assert.deepEqual(failed.map(({ recipient }) => recipient).sort(), [administrator, operator].sort())
  assert(failed.every(({ subject, body }) => subject === 'The link to quest fails' && body.includes('ECONNREFUSED')))
  assert.deepEqual(
    (await issues()).map(({ reason, state, detail }) => [reason, state, detail]),
    [['link_down', 'open', 'connect ECONNREFUSED']],
  )
  await setState(null, 61)
  await report(operator)
  await report(operator)
  const all = await mails()
  assert.deepEqual(
    all.slice(2).map(({ subject }) => subject),
    ['The link to quest works again', 'The link to quest works again'],
  )
  assert.deepEqual(
    (await issues()).map(({ state }) => state),
    ['done'],
  )
  await setState('timeout', 61)
  await report(operator)
  assert.equal((await mails()).length, 6, 'another failure is reported again')
  assert((await mails()).every(({ body }) => body.includes(account)))
})

test('a link that is switched off is not reported, and ends its failure', async () => {
  const { team, account, mails, setState, issues } = await alertedLink()
  await team.db.plainTx((tx) => setLinkMode(tx, account, 'off'))
  await setState('timeout', 61)
  await report()
  assert.deepEqual(await mails(), [])
  await team.db.plainTx((tx) => setLinkMode(tx, account, 'live'))
  await report()
  assert.equal((await mails()).length, 1)
  await team.db.plainTx((tx) => setLinkMode(tx, account, 'off'))
  await report()
  assert.deepEqual(
    (await issues()).map(({ state }) => state),
    ['done'],
  )
})

test('the mail of a link goes to no other organization', async () => {
  const [failing, other] = [await alertedLink(), await alertedLink()]
  await failing.setState('timeout', 61)
  await report()
  assert.equal((await failing.mails()).length, 1)
  assert.deepEqual(await other.mails(), [])
  assert(isNotFor(await failing.mails(), other))
})

const isNotFor = (mails: { recipient: string }[], { administrator }: { team: TestTeam; administrator: string }) =>
  mails.every(({ recipient }) => recipient !== administrator)
