// Lab accounts by command, on the database and the server of the tests.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { Cells } from '../../platform/db/cells.ts'
import { cells, connection, createTestTeam } from '../../../test/support/server.ts'
import { kitLab } from '../../../test/support/lab-accounts.ts'
import { createOrder } from '../../../test/support/orders.ts'
import { usStates } from '../../people/person/countries.ts'
import { command } from '../../../test/support/commands.ts'

const run = (...words: string[]) => command(cells, ['lab-account', ...words])
const SANDBOX = ['--cell', 'sandbox-us']
const idIn = (output: string): string => /^lab account {2}(\S+)\n$/.exec(output)![1]!
const assertRefused = (words: readonly string[], reason: RegExp) =>
  assert.rejects(run(...words), (error: unknown) => error instanceof Error && reason.test(error.message))

describe('an operator', () => {
  test('creates an account with defaults, links a team to it, and the team orders under it', async () => {
    const { org_id, team, ...rest } = await createTestTeam()
    const lab = await kitLab({ org_id, team, ...rest })
    const id = idIn(await run('create', ...SANDBOX, '--lab', lab, '--account', 'F-1', '--org', org_id, '--team', team))
    assert.deepEqual(JSON.parse(await run('show', id, ...SANDBOX)), {
      id,
      lab,
      org_id,
      status: 'active',
      delegated_flow: 'not_delegated',
      provider_account_id: 'F-1',
      account_name: null,
      default_clinical_notes: null,
      business_units: null,
      allowed_billing: { client_bill: usStates },
      team_id_allowlist: [team],
    })
    assert.equal((await createOrder({ org_id, team, ...rest })).lab_account_id, id)
  })

  test('sets every field of an account, changes some, and clears them', async () => {
    const { org_id, team, manage } = await createTestTeam()
    const own = ['--org', org_id, '--lab', 'quest', '--account', 'F-2', '--status', 'PENDING', '--flow', 'order_delegated']
    const more = ['--name', 'Fictional Clinic', '--notes', 'Fasting only', '--unit', 'NEL', '--unit', 'DAL']
    const billing = ['--billing', 'client_bill=az,CA', '--billing', 'patient_bill=all']
    const id = idIn(await run('create', ...SANDBOX, ...own, ...more, ...billing))
    const shown = async () => JSON.parse(await run('show', id, ...SANDBOX))
    const made = await shown()
    assert.deepEqual(made, {
      id,
      lab: 'quest',
      org_id,
      status: 'pending',
      delegated_flow: 'order_delegated',
      provider_account_id: 'F-2',
      account_name: 'Fictional Clinic',
      default_clinical_notes: 'Fasting only',
      business_units: ['NEL', 'DAL'],
      allowed_billing: { client_bill: ['AZ', 'CA'], patient_bill: usStates },
      team_id_allowlist: [],
    })
    await run('update', id, ...SANDBOX, '--status', 'active', '--account', 'F-3', '--team', team)
    assert.deepEqual(await shown(), { ...made, status: 'active', provider_account_id: 'F-3', team_id_allowlist: [team] })
    const none = ['--name', 'none', '--notes', 'none', '--unit', 'none', '--billing', 'none', '--team', 'none']
    await run('update', id, ...SANDBOX, ...none)
    assert.deepEqual((await manage.get('/lab_account/sandbox/us')).body.data, [
      {
        ...made,
        status: 'active',
        provider_account_id: 'F-3',
        account_name: null,
        default_clinical_notes: null,
        business_units: null,
        allowed_billing: {},
      },
    ])
  })

  test('lists the accounts of a cell or of one organization', async () => {
    const { org_id } = await createTestTeam()
    assert.equal(await run('list', ...SANDBOX, '--org', org_id), 'No lab accounts.\n')
    const id = idIn(await run('create', ...SANDBOX, '--lab', 'quest', '--account', 'F-4', '--org', org_id))
    assert.match(await run('list', ...SANDBOX, '--org', org_id), new RegExp(`^${id}  quest +active .* F-4\n$`))
    const all = await run('list', ...SANDBOX)
    assert(all.includes(id) && / quest .* 1234567890$/m.test(all))
  })

  test('reports the error and changes nothing', async () => {
    const { org_id, manage } = await createTestTeam()
    const other = await createTestTeam()
    const own = ['create', ...SANDBOX, '--org', org_id, '--lab', 'quest', '--account', 'F-5']
    const cases: [string[], RegExp][] = [
      [['delete', ...SANDBOX], /Unknown command 'delete'|Unknown option/],
      [['list', '--cell', 'all'], /--cell must be one of sandbox-us/],
      [['list', ...SANDBOX, '--org', 'x'], /--org must be an id/],
      [['list', ...SANDBOX, '--color', 'red'], /color/],
      [['show', randomUUID(), ...SANDBOX], /Lab account not found in this cell/],
      [['show', 'x', ...SANDBOX], /The lab account must be an id/],
      [['update', randomUUID(), ...SANDBOX, '--status', 'active'], /Lab account not found in this cell/],
      [['update', randomUUID(), ...SANDBOX], /At least one change is required/],
      [['update', randomUUID(), ...SANDBOX, '--lab', 'quest'], /Unknown option '--lab'/],
      [['create', ...SANDBOX, '--account', 'F'], /--lab is required/],
      [['create', ...SANDBOX, '--account', 'F', '--lab', 'nowhere'], /Lab not found in this cell/],
      [['create', ...SANDBOX, '--lab', 'quest'], /--account is required/],
      [['create', ...SANDBOX, '--lab', 'quest', '--account', 'F', '--org', randomUUID()], /Organization not found/],
      [
        ['create', ...SANDBOX, '--lab', 'quest', '--account', 'F'],
        /The platform already has a lab account at quest in this cell/,
      ],
      [[...own, '--account', 'x'.repeat(101)], /--account must be 1 to 100 characters/],
      [[...own, '--status', 'closed'], /--status must be one of active, pending/],
      [[...own, '--flow', 'both'], /--flow must be one of order_delegated/],
      [[...own, '--unit', ' '], /--unit must be 1 to 100/],
      [[...own, ...Array.from({ length: 51 }, () => ['--unit', 'x']).flat()], /--unit can be repeated at most 50 times/],
      [[...own, '--billing', 'barter=all'], /The type in --billing must be one of client_bill/],
      [[...own, '--billing', 'client_bill'], /The states in --billing/],
      [[...own, '--billing', 'client_bill=DC'], /The states in --billing/],
      [[...own, '--billing', 'client_bill=AZ', '--billing', 'client_bill=CA'], /contains client_bill twice/],
      [[...own, '--team', other.team], /not in this organization and region/],
      [[...own, '--team', 'x'], /--team must be an id/],
    ]
    for (const [words, reason] of cases) await assertRefused(words, reason)
    assert.deepEqual((await manage.get('/lab_account/sandbox/us')).body.data, [])
  })

  test('cannot link a team to a platform account, and accepts served cells only', async () => {
    const { team } = await createTestTeam()
    const platform = /^(\S+)  quest .* 1234567890$/m.exec(await run('list', ...SANDBOX))![1]!
    await assertRefused(['update', platform, ...SANDBOX, '--team', team], /apply to every team/)
    const options = { connection, connections_max: 1, checkRows: true }
    const few = new Cells(options, new Map([['sandbox-eu', options]]))
    await assert.rejects(command(few, ['lab-account', 'list', ...SANDBOX]), /Cell sandbox-us is not listed in CELLS/)
    await few.close()
  })
})
