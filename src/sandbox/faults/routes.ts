import { noContent, operation, type Operation } from '../../platform/http/operation.ts'
import type { Tx } from '../../platform/db/transaction.ts'
import { assertSandbox } from '../clock/team-clock.ts'
import { readFaults, removeFaults, setFaults, type KnownNames } from './faults.ts'
import type { SandboxFaults } from './fault-source.ts'
import { Faults, SetFaults } from './schema.ts'

const PATH = '/v1/sandbox/faults'

export interface FaultDependencies extends KnownNames {
  faults: SandboxFaults
}

export function faultsRoutes({ faults, ...known }: FaultDependencies): Operation[] {
  const inSandbox = (tx: Tx) => {
    assertSandbox(tx.tenant)
    tx.afterCommit(() => faults.invalidate(tx.tenant.cell))
  }
  return [
    operation({
      id: 'get_sandbox_faults',
      logsAccess: false,
      method: 'GET',
      path: PATH,
      summary: 'Read the faults of the team',
      description: 'Sandbox only.',
      reply: Faults,
      run: async (tx) => {
        assertSandbox(tx.tenant)
        return readFaults(tx)
      },
    }),
    operation({
      id: 'set_sandbox_faults',
      logsAccess: false,
      method: 'PUT',
      path: PATH,
      summary: 'Set the faults of the team, for tests of its clients',
      description:
        'Sandbox only. The next requests of the team get 429, 500, 503, a delay or no answer, and its next events are late, out of order or sent several times: each fault so often as `times` says, in place of the faults before. They end after an hour. Operations below `/v1/sandbox` and of the Management API are never faulty. A request asks for a fault of its own with the header `X-Sandbox-Fault`: `503`, `drop`, `delay=2000`, `delay=2000, 500` or `drop, after`.',
      body: SetFaults,
      reply: Faults,
      example: { requests: [{ operation: 'get_order', delay_ms: 200, times: 1 }] },
      run: async (tx, { body }) => {
        inSandbox(tx)
        return setFaults(tx, body, known)
      },
    }),
    operation({
      id: 'delete_sandbox_faults',
      logsAccess: false,
      method: 'DELETE',
      path: PATH,
      summary: 'Remove the faults of the team',
      description: 'Sandbox only.',
      reply: noContent,
      run: async (tx) => {
        inSandbox(tx)
        await removeFaults(tx)
      },
    }),
  ]
}
