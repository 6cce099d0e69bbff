// Lab tests by command: the operator approves the tests that production teams may order from laboratories. Source: lab-testing.md 3.4.
import type { Call } from '../command-tree.ts'
import { requireCell, requireId, runReportingProblems } from '../command-input.ts'
import { printRows } from '../command-output.ts'
import { approveLabTest, listPendingApproval } from '../../lab/catalog/lab-test-changes.ts'

type Options = { cell?: string; json?: boolean }

/** `lab-test list`. */
export async function listTests({ cells, values }: Call<Options>): Promise<string> {
  const waiting = await requireCell(cells, values.cell).db.plainTx(listPendingApproval)
  return printRows(
    values.json,
    waiting,
    ({ id, team_id, lab, method, name }) => `${id}  ${team_id}  ${lab.padEnd(12)}  ${method.padEnd(18)}  ${name}`,
    'No lab tests are pending approval.',
  )
}

/** `lab-test approve`. */
export async function approveTest({ cells, args: [named], values }: Call<Options>): Promise<string> {
  const { db } = requireCell(cells, values.cell)
  const { test } = await runReportingProblems(db, (tx) => approveLabTest(tx, requireId(named, 'The lab test')))
  return `Lab test ${test.status}. Takes effect in every process within 5 s.\n`
}
