// Lab tests by command: the operator approves the tests that production teams may order from laboratories. Source: lab-testing.md 3.4.
import type { Typed } from '../command-tree.ts'
import { requireCell, requireId, UsageError } from './org.ts'
import { requireServedCell, runReportingErrors } from './lab-account.ts'
import { approveLabTest, listPendingApproval } from '../../lab/catalog/lab-test-changes.ts'
import type { Cells } from '../../platform/db/cells.ts'

/**
 * Runs `lab-test list` or `lab-test approve`.
 * @returns what to print
 */
export async function labTestCommand(cells: Cells, { positionals, values }: Typed<{ cell?: string }>): Promise<string> {
  const [, command, named] = positionals
  if (command !== 'list' && command !== 'approve')
    throw new UsageError('Usage: bin/drawbridge lab-test list | lab-test approve. See "bin/drawbridge help".')
  const place = requireServedCell(cells, requireCell(values.cell))
  if (command === 'approve') {
    const { test } = await runReportingErrors(place, (tx) => approveLabTest(tx, requireId(named, 'The lab test')))
    return `Lab test ${test.status}. Takes effect in every process within 5 s.\n`
  }
  const waiting = await place.plainTx(listPendingApproval)
  const lines = waiting.map(
    (test) => `${test.id}  ${test.team_id}  ${test.lab.padEnd(12)}  ${test.method.padEnd(18)}  ${test.name}\n`,
  )
  return lines.join('') || 'No lab tests are pending approval.\n'
}
