// What belongs to another team, asked for by every place of every operation that can name it. Used twice: where the conditions of the
// statements keep teams apart alone, and where the policies of the database do.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { listForOperator } from '../../../src/lab/accounts/accounts.ts'
import type { Operation } from '../../../src/platform/http/operation.ts'
import { createTestTeam, type Reply } from '../../support/server.ts'
import { describeReply, findsNothing, forTeams, unknownStatus } from './operation-cases.ts'
import { belonging, places, send, valid, withValue, type Place, type Request } from './requests.ts'
import { TeamRows, UUID, type RowsRead } from './rows.ts'

/** Operations for which an id of another team is not an error. */
const ignoresOthers = new Set([
  ...findsNothing,
  'get_team_lab_accounts',
  'bulk_trigger_historical_pull',
  'bulk_export_connections',
  'bulk_pause_connections',
])
/** Where the request contradicts itself before anything is looked up: it names another lab test beside. */
const contradicts = new Set(['create_order order_set.lab_test_ids', 'create_order_once order_set.lab_test_ids'])
/**
 * An order under an account that is not the team's own is refused as any order that no account takes, an offer to
 * another team as no offer.
 */
const isRefused = ({ method, path }: Operation, { name }: { name: string }) =>
  (name === 'lab_account_id' && method === 'POST' && path.startsWith('/v3/order')) || name === 'booking_key'
/** A laboratory's number, which two teams may have. */
const isOwn = new Set(['import_order sample_id'])

/** Two teams of a test file, and how one of them asks. */
export async function strangers() {
  const owner = await createTestTeam()
  const stranger = await createTestTeam()
  /** The platform's lab accounts are everybody's. */
  const shared = new Set(
    (await listForOperator(owner.db.queries, undefined)).filter((a) => a.org_id === null).map(({ id }) => id),
  )
  const rows = new TeamRows(owner)
  /**
   * What another team is answered must not have anything of the owner, and must not have changed anything of it.
   * @param knownRows what the owner has, where it has done nothing since that was read
   */
  const askedByStranger = async (ask: () => Promise<Reply>, knownRows?: RowsRead): Promise<Reply> => {
    const { ids, state } = knownRows ?? (await rows.read())
    const reply = await ask()
    for (const [id] of JSON.stringify(reply.body).matchAll(UUID))
      assert(shared.has(id) || !ids.has(id), 'the answer has something of the other team')
    assert.deepEqual(await rows.state(), state, 'something of the other team has changed')
    return reply
  }

  return { owner, stranger, rows, askedByStranger }
}

export type Strangers = Awaited<ReturnType<typeof strangers>>

const placeTitle = ({ id }: Operation, { path }: Place): string => `${id} ${path.join('.')}`

/** One test for each place of an operation that can name something of another team. */
export function whatBelongsToOthers({ owner, stranger, rows, askedByStranger }: Strangers, operations = forTeams): void {
  const foreign = new Map<string, string>()
  let known: RowsRead
  before(async () => {
    for (const operation of operations)
      for (const place of places(operation))
        foreign.set(placeTitle(operation, place), await belonging(owner, operation, place.name, 'read'))
    known = await rows.read()
  })
  for (const operation of operations) {
    /** What has been refused may be asked again. */
    let request: Request | undefined
    for (const place of places(operation)) {
      const name = placeTitle(operation, place)
      test(name, async () => {
        const own = request ?? (await valid(stranger, operation))
        const asked = withValue(own, place, foreign.get(name)!)
        const reply = await askedByStranger(() => send(stranger, operation, asked), known)
        request = reply.status >= 400 || operation.method === 'GET' ? own : undefined
        const fine = ignoresOthers.has(operation.id) || isOwn.has(name)
        const refused = contradicts.has(name) || isRefused(operation, place)
        assert.equal(
          reply.status,
          fine ? (operation.success ?? 200) : refused ? 400 : unknownStatus(operation),
          describeReply(reply),
        )
        assert.equal(reply.body.total ?? 0, 0)
      })
    }
  }
}
