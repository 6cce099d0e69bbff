// The access log, for every operation there is: each says whether it concerns patients, and each that does leaves a line with who asked,
// for what, and about whom. Nothing here names an operation by hand but the exceptions.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import { isWrite } from '../../src/platform/http/operation.ts'
import { linesInDatabase, type AccessLine } from '../support/access-lines.ts'
import { access, createTestTeam, type TestTeam, type Reply } from '../support/server.ts'
import { namesIn } from './operations/names.ts'
import { describeReply, success } from './operations/operation-cases.ts'
import { patientOf, send, unknownIds, valid, type Request } from './operations/requests.ts'

const { operations } = contents

const ofPatients = operations.filter(({ logsAccess }) => logsAccess)
/** The user of samples of events, who is nobody. */
const NOBODY = '00000000-0000-4000-8000-000000000001'
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const LINK_SESSION = /^link_token:[0-9a-f-]{36}$/
const SCOPE_PARAMETERS = new Set(['org_id', 'team_id', 'environment', 'env', 'region'])

/** The lines about answers, by the id that each answer names. */
async function readLines(team: TestTeam, replies: Reply[]): Promise<Map<string, AccessLine[]>> {
  await access.flush()
  const ids = new Set(replies.map(idOf))
  const { rows } = await team.db.pool.query<{ line: string; users: string[]; team_id: string | null }>(
    'select line, users::text[] as users, team_id from access_log order by seq',
  )
  const found = new Map<string, AccessLine[]>()
  for (const row of rows) {
    const line = JSON.parse(row.line) as AccessLine
    if (!ids.has(line.request)) continue
    assert.deepEqual([row.users, row.team_id], [line.users, line.team], 'the columns beside a line differ from it')
    found.set(line.request, [...(found.get(line.request) ?? []), line])
  }
  return found
}

const idOf = ({ headers }: Reply): string => headers.get('x-request-id')!

/** The users that are, or own, what a request or an answer names: whatever the id is of. */
async function usersNamed(team: TestTeam, ...texts: unknown[]): Promise<string[]> {
  const ids = [...new Set(JSON.stringify(texts).match(UUID) ?? [])]
  const { rows } = await team.db.pool.query<{ id: string }>(
    `select id::text from "user" where team_id = $1 and id = any ($2::uuid[])
     union select user_id::text from lab_order where team_id = $1 and (id = any ($2::uuid[]) or transaction_id = any ($2::uuid[]))
     union select user_id::text from event where team_id = $1 and id = any ($2::uuid[]) and user_id is not null
     union select unnest(candidate_user_ids || resolved_user_id)::text from raw_result where team_id = $1 and id = any ($2::uuid[])
     union select user_id::text from summary where team_id = $1 and id = any ($2::uuid[])
     union select user_id::text from parsing_job where team_id = $1 and id = any ($2::uuid[])
     order by 1`,
    [team.team, ids],
  )
  return rows.flatMap(({ id }) => id ?? []).toSorted()
}

/** They may wait for jobs, and show nothing of what those store; or they open files between two transactions. One of those changes data. */
const SEVERAL = new Set([
  'refresh_user_data',
  'bulk_import_connections',
  'bulk_trigger_historical_pull',
  'create_lab_report_parser_job',
])

describe('whether an operation concerns patients', () => {
  /** Names by which requests and answers name patients, or what is theirs. */
  const THEIRS = /^(user_id|order_id|order_ids|patient_details|patient_name|client_user_id|raw_result_id|transaction_id)$/
  /** Operations that name patients and neither show nor change anything of theirs, and why. */
  const besides: Record<string, string> = {
    exchange_link_code: 'an app without a key calls it; it shows an id, and what its token reads leaves lines of its own',
  }

  test('is said by every operation', () => {
    for (const { id, logsAccess } of operations) assert.equal(typeof logsAccess, 'boolean', id)
  })

  test('is declared for each operation that names a patient or an order, or there is a reason', () => {
    const naming = operations.filter(({ params, query, body, reply }) =>
      [params, query, body, reply].some((schema) => namesIn(schema).some((name) => THEIRS.test(name))),
    )
    assert(naming.length > 50, 'the pattern finds nothing any more')
    assert.deepEqual(
      naming
        .filter(({ logsAccess }) => !logsAccess)
        .map(({ id }) => id)
        .toSorted(),
      Object.keys(besides).toSorted(),
    )
  })

  test('is declared for no operation of the control plane, which has no patients, and for no operation that writes in several transactions or teams', () => {
    for (const operation of ofPatients) {
      assert.notEqual(operation.scope, 'control', operation.id)
      if (SEVERAL.has(operation.id)) continue
      assert((!operation.multiTransaction && operation.scope !== 'cell') || !isWrite(operation), operation.id)
    }
  })
})

describe('an operation that concerns patients leaves one line', () => {
  const done = new Map<string, { request: Request; reply: Reply; users: string[] }>()
  /** The lines of changes that were in the database right after the answer. */
  const early = new Map<string, number>()
  let lines: Map<string, AccessLine[]>
  let team: TestTeam
  let keys: { team: string; management: string }

  before(async () => {
    team = await createTestTeam()
    for (const operation of ofPatients) {
      const request = await valid(team, operation)
      const reply = await send(team, operation, request)
      if (isWrite(operation)) early.set(operation.id, (await linesInDatabase(team, idOf(reply))).length)
      done.set(operation.id, {
        request,
        reply,
        users: await usersNamed(
          team,
          request,
          Buffer.isBuffer(reply.body) ? '' : reply.body,
          operation.auth === 'link' ? await patientOf(team) : '',
        ),
      })
    }
    lines = await readLines(
      team,
      [...done.values()].map(({ reply }) => reply),
    )
    const management = (await team.manage.get('/management_key?role=org_admin')).body.data[0].id as string
    const own = (await team.manage.get('/team_api_keys/sandbox/us')).body.api_keys[0].id as string
    keys = { team: own, management }
  })

  for (const operation of ofPatients)
    test(operation.id, () => {
      const { request, reply, users } = done.get(operation.id)!
      assert(success(reply), describeReply(reply))
      const [line, ...more] = lines.get(idOf(reply)) ?? []
      assert(line, 'there is no line')
      assert.equal(more.length, 0, 'there are several lines')
      assert.equal(line.operation, operation.id)
      assert.equal(line.outcome, reply.status)
      assert.equal(line.address, '127.0.0.1')
      assert.equal(line.org, team.org_id)
      if (operation.auth === 'link') assert.match(line.key, LINK_SESSION)
      else assert.equal(line.key, operation.auth === 'management' ? keys.management : keys.team)
      assert.equal(line.team, team.team)
      assert.deepEqual(line.users.filter((id) => id !== NOBODY).toSorted(), users)
      const objects = Object.entries(request.path).filter(
        ([name, id]) => !SCOPE_PARAMETERS.has(name) && name !== 'user_id' && id.replace(UUID, '') === '',
      )
      for (const [name, id] of objects) assert(line.objects.includes(id), `${name} is missing`)
      const made = reply.body?.order?.id as string | undefined
      if (made) assert(line.objects.includes(made), 'the order of the answer is missing')
      if (isWrite(operation))
        assert.equal(early.get(operation.id), 1, 'a change was answered before its line was in the database')
    })
})

describe('an operation that rejects a request also leaves a line, and an operation without patients leaves no line', () => {
  const others = operations.filter(({ logsAccess, auth }) => !logsAccess && auth !== 'none')
  const refused = new Map<string, { request: Request; reply: Reply }>()
  let lines: Map<string, AccessLine[]>

  before(async () => {
    const team = await createTestTeam()
    for (const operation of [...ofPatients, ...others]) {
      const request = unknownIds(operation, team)
      refused.set(operation.id, { request, reply: await send(team, operation, request) })
    }
    lines = await readLines(
      team,
      [...refused.values()].map(({ reply }) => reply),
    )
  })

  for (const operation of ofPatients)
    test(operation.id, () => {
      const { request, reply } = refused.get(operation.id)!
      const [line, ...more] = lines.get(idOf(reply)) ?? []
      assert(line, `there is no line of what was ${describeReply(reply)}`)
      assert.equal(more.length, 0, 'there are several lines')
      assert.deepEqual([line.operation, line.outcome], [operation.id, reply.status])
      const { user_id } = request.path
      if (user_id !== undefined) assert(line.users.includes(user_id), 'who was asked for is missing')
    })

  test('no other operation leaves a line', () => {
    for (const { id } of others) assert.equal(lines.get(idOf(refused.get(id)!.reply)), undefined, id)
  })
})
