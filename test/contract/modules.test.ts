// A process with one module more: everything that its record names is at work, and no list of the program had to be changed.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eraseTeams } from '../../src/tenancy/teams/team-erasure.ts'
import { defineHook } from '../../src/platform/db/hooks.ts'
import { setClockOffset } from '../../src/tenancy/teams/teams.ts'
import { feature } from '../../src/platform/http/feature-flags.ts'
import { operation } from '../../src/platform/http/operation.ts'
import type { Module } from '../../src/platform/module/module.ts'
import { enqueue, defineHandler, defineJob } from '../../src/platform/queue/outbox.ts'
import { addSeconds } from '../../src/platform/runtime/clock.ts'
import { teamNow } from '../../src/platform/db/database.ts'
import { Fields, T, Text } from '../../src/platform/schema/schema.ts'
import { orderStepped } from '../../src/lab/orders/order-hooks.ts'
import { SECONDS_PER_DAY, orderBody } from '../support/orders.ts'
import { assembleProcess, createTestTeam, newCells, type TestTeam } from '../support/server.ts'

/** Notes by team, in place of a table. */
const notes = new Map<string, { user_id: string; text: string }[]>()
const notesOf = (team: string) => notes.get(team) ?? []
const add = (team: string, user_id: string, text: string) => void notes.set(team, [...notesOf(team), { user_id, text }])

const Note = Fields({ user_id: T.String(), text: Text({ maxLength: 100 }) }, { title: 'NoteOfThisTest' })
const writeNote = defineJob('notes.write', T.Object({ user_id: T.String(), text: T.String() }))

const readingNotes = feature('reading_notes', 'reading notes')

const notebook: Module = {
  name: 'test/notebook',
  about: 'notes that a team writes',
  tag: 'notebook',
  operations: [
    operation({
      id: 'create_note',
      logsAccess: true,
      method: 'POST',
      path: '/v3/note',
      summary: 'Made for this test',
      body: Note,
      reply: Fields({ queued: T.Boolean() }, { title: 'NoteQueued' }),
      run: async (tx, { body }) => {
        enqueue(tx, writeNote, body)
        return { queued: true }
      },
    }),
    operation({
      id: 'list_notes',
      logsAccess: true,
      method: 'GET',
      path: '/v3/note',
      summary: 'Made for this test',
      feature: readingNotes,
      reply: T.Array(Note),
      run: (tx) => Promise.resolve(notesOf(tx.team)),
    }),
  ],
  eventTypes: [{ name: 'note.created', family: 'lab', example: ({ team_id }) => ({ text: `a note of ${team_id}` }) }],
  features: [readingNotes],
  jobs: [defineHandler(writeNote, async ({ tenant }, { user_id, text }) => add(tenant.team, user_id, text))],
  hooks: [defineHook(orderStepped, (tx, { order }, status) => add(tx.team, order.user_id, status))],
  erasers: {
    async user(tx, user_id) {
      notes.set(
        tx.team,
        notesOf(tx.team).filter((note) => note.user_id !== user_id),
      )
    },
    async team(_tx, team) {
      const { length } = notesOf(team)
      notes.delete(team)
      return length
    },
  },
}

describe('a module that is added to the list', () => {
  const cells = newCells()
  const process = assembleProcess({ cells, extraModules: () => [notebook] })
  let url: string

  before(async () => {
    url = await process.app.listen({ port: 0, host: '127.0.0.1' })
  })
  after(async () => {
    await process.app.close()
    await process.heavy.close()
    await cells.close()
  })

  const ask = async ({ key }: TestTeam, method: string, path: string, body?: unknown) => {
    const reply = await fetch(url + path, {
      method,
      headers: { 'x-service-api-key': key, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    assert.equal(reply.status, 200, `${method} ${path}`)
    return reply.json()
  }
  /** What the worker of this process does until so many seconds from now. */
  async function pass({ cell, team }: TestTeam, seconds: number): Promise<void> {
    const { tenant } = process.guards.teams
    const now = (await tenant(cell, team))!
    const end = addSeconds(teamNow(now), seconds)
    const db = cells.db(cell)
    await process.runner.runUntil(cell, db, team, { start: teamNow(now), end, jobs_max: 100 }, async () => {})
    await db.tx(now, (tx) => setClockOffset(tx, now.clock_offset_s + seconds))
    process.guards.teams.invalidate(team)
  }

  test('answers requests, and its job runs after them', async () => {
    const team = await createTestTeam()
    const note = { user_id: await team.user(), text: 'fictional' }
    assert.deepEqual(await ask(team, 'POST', '/v3/note', note), { queued: true })
    assert.deepEqual(await team.jobs(), ['notes.write'])
    await pass(team, 0)
    assert.deepEqual(await ask(team, 'GET', '/v3/note'), [note])
  })

  test('has its types of events in the catalog: endpoints subscribe to them, and they have a sample', async () => {
    const team = await createTestTeam()
    const manage = async (method: string, path: string, body?: unknown) => {
      const reply = await fetch(`${url}/v1/org/${team.org_id}/team/${team.team}/sandbox${path}`, {
        method,
        headers: { 'x-management-key': team.orgKey, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: reply.status, body: (await reply.json()) as { data: unknown } }
    }
    const { data } = (await manage('GET', '/event_type')).body as { data: { name: string }[] }
    assert.deepEqual(
      data.filter(({ name }) => name === 'note.created'),
      [{ name: 'note.created', family: 'lab', resource: null }],
    )
    const sample = await manage('GET', '/event_type/note.created/sample')
    assert.deepEqual(sample.body.data, { text: `a note of ${team.team}` })
    const endpoint = (type: string) => ({ url: 'https://receiver.example.com/notes', filter_types: [type] })
    assert.equal((await manage('POST', '/webhook', endpoint('note.created'))).status, 200)
    assert.equal((await manage('POST', '/webhook', endpoint('note.deleted'))).status, 422)
  })

  test('has its features among those of the program', () => {
    assert(process.features.includes(readingNotes))
  })

  test('takes part in the transactions of the modules below it', async () => {
    const team = await createTestTeam()
    const { order } = (await ask(team, 'POST', '/v3/order', await orderBody(team))) as { order: { user_id: string } }
    const steps = (await ask(team, 'GET', '/v3/note')) as { user_id: string; text: string }[]
    assert(steps.length > 0)
    for (const { user_id } of steps) assert.equal(user_id, order.user_id)
  })

  test('erases its data of a deleted user, and of no other user', async () => {
    const team = await createTestTeam()
    const [gone, stays] = [await team.user(), await team.user()]
    for (const user_id of [gone, stays]) await ask(team, 'POST', '/v3/note', { user_id, text: 'fictional' })
    await pass(team, 0)
    await ask(team, 'DELETE', `/v2/user/${gone}`)
    await pass(team, 8 * SECONDS_PER_DAY)
    assert.deepEqual(await ask(team, 'GET', '/v3/note'), [{ user_id: stays, text: 'fictional' }])
  })

  test('erases its data of a deleted team', async () => {
    const team = await createTestTeam()
    await ask(team, 'POST', '/v3/note', { user_id: await team.user(), text: 'fictional' })
    await pass(team, 0)
    assert.equal(notesOf(team.team).length, 1)
    assert.equal((await team.manage.delete(`/team/${team.team}`)).status, 200)
    for (const db of [team.db, cells.control])
      await db.pool.query(`update team set deleted_at = deleted_at - interval '8 days' where id = $1`, [team.team])
    await eraseTeams(cells.db(team.cell), cells.control, process.teamErasers, () => false)
    assert.equal(notesOf(team.team).length, 0)
  })
})
