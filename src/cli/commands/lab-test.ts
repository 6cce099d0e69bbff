// Lab tests by command: the operator approves the tests that production teams may order from laboratories. Source: lab-testing.md 3.4.
import type { Call } from '../command-tree.ts'
import { requireCell, requireId, runReportingProblems } from '../command-input.ts'
import { printRows } from '../command-output.ts'
import { approveLabTest, listPendingApproval } from '../../lab/catalog/lab-test-changes.ts'

type Options = { cell?: string; json?: boolean }

/** `lab-test list`. */
export async function listTests(call: Call<Options>): Promise<string> {
  const waiting = await requireCell(call).db.plainTx(listPendingApproval)
  return printRows(
    call.values.json,
    waiting,
    ({ id, team_id, lab, method, name }) => `${id}  ${team_id}  ${lab.padEnd(12)}  ${method.padEnd(18)}  ${name}`,
    'No lab tests are pending approval.',
  )
}

/** `lab-test approve`. */
export async function approveTest(call: Call<Options>): Promise<string> {
  const { db } = requireCell(call)
  const { test } = await runReportingProblems(db, (tx) => approveLabTest(tx, requireId(call.args[0], 'The lab test')))
  return `Lab test ${test.status}. Takes effect in every process within 5 s.\n`
}
