// Commands that try a link before it is live. `links shadow` prints results of patients.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Call, type Outcome } from '../command-tree.ts'
import { requireCell, requireFound, requireId, runReportingProblems, whenLogged } from '../command-input.ts'
import { printJson, printRows } from '../command-output.ts'
import { findLink, findLinkWithSecrets, type AccountLink } from '../../lab/accounts/account-links.ts'
import { checkLink, startCheck } from '../../lab/link-onboarding/check-link.ts'
import type { CheckStep, NetworkContext } from '../../lab/link-onboarding/check-step.ts'
import { endClaim } from '../../lab/link-onboarding/link-claims.ts'
import { readTrial } from '../../lab/link-onboarding/read-trial.ts'
import { sendTrial as sendMessages, startTrial } from '../../lab/link-onboarding/run-trial.ts'
import { printTrialReport } from '../../lab/link-onboarding/trial-report.ts'
import type { TrialMessage } from '../../lab/link-onboarding/write-trial.ts'
import type { ShadowOrder } from '../../lab/link-shadow/schema.ts'
import { compareShadowResults } from '../../lab/link-shadow/shadow-comparison.ts'
import { leaveCommand } from '../../platform/access-log/access-line.ts'
import { openVault } from '../../platform/crypto/key-file.ts'
import { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { isSandboxCell } from '../../settings/cells.ts'
import { loadTenant } from '../../tenancy/teams/teams.ts'

type Options = { cell?: string; team?: string; test?: string[]; save?: string; html?: boolean; json?: boolean }

/** `links check`. */
export async function check(call: Call<Options>): Promise<Outcome> {
  const { db } = requireCell(call)
  const link = await requireLink(call)
  const facts = await runReportingProblems(db, (tx) => startCheck(tx, link))
  const steps: CheckStep[] = []
  try {
    for await (const step of checkLink(link, facts, networkOf(call))) {
      steps.push(step)
      if (!call.values.json) await call.write(printStep(step))
    }
  } finally {
    await endClaim(db.queries, facts.claim)
  }
  const failed = steps.filter(({ outcome }) => outcome === 'failed')
  const failure = failed.length ? `The link does not work: ${failed.map(({ name }) => name).join(', ')}.` : undefined
  return { output: call.values.json ? printJson(steps) : '', failure }
}

const printStep = ({ name, outcome, text, advice }: CheckStep): string =>
  `${outcome.padEnd(6)}  ${name.padEnd(14)}  ${text}\n${advice === null ? '' : `${' '.repeat(24)}${advice}.\n`}`

/** `links trial`. */
export async function sendTrial(call: Call<Options>): Promise<string> {
  const { db } = requireCell(call)
  const link = await requireLink(call)
  const codes = call.values.test ?? []
  const trial = await runReportingProblems(db, (tx) => startTrial(tx, link, codes))
  await sendMessages(db.queries, trial, networkOf(call))
  if (call.values.save !== undefined) await saveMessages(call.values.save, trial.messages)
  return printOutcomes(call, link)
}

/** `links trial-report`. */
export async function printReport(call: Call<Options>): Promise<string> {
  const link = await requireLink(call)
  if (!call.values.html) return printOutcomes(call, link)
  return printTrialReport(await readTrial(requireCell(call).db.queries, link))
}

async function printOutcomes(call: Call<Options>, link: AccountLink): Promise<string> {
  const { outcomes } = await readTrial(requireCell(call).db.queries, link)
  return printRows(
    call.values.json,
    outcomes,
    ({ position, name, placer_number, expected, verdict, answer, text, received_tests }) =>
      `${String(position).padStart(2)}  ${name.padEnd(17)}  ${placer_number.padEnd(10)}  ${expected.padEnd(9)}  ${verdict.padEnd(11)}  ${
        answer ?? '-'
      }  ${text ?? ''}  ${received_tests.join(' | ')}`.trimEnd(),
    'No trial was sent.',
  )
}

/** Writes each message of a trial as a file, for a laboratory that takes files by hand. */
async function saveMessages(folder: string, messages: readonly TrialMessage[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const { position, name, bytes } of messages)
    if (bytes) await writeFile(join(folder, `${String(position).padStart(2, '0')}-${name}.hl7`), bytes)
}

/** What the server may reach by the same settings. */
function networkOf(call: Call<Options>): NetworkContext {
  const { webhook_allow: allow, lab_folder, loopback } = call.config
  return { targets: new TargetPolicy({ allow, loopback }), isSandbox: isSandboxCell(requireCell(call).name), lab_folder }
}

async function requireLink(call: Call<Options>): Promise<AccountLink> {
  const { db } = requireCell(call)
  const account_id = requireId(call.args[0], 'The lab account')
  const { encryption_keys, data_dir } = call.config
  const link = await findLinkWithSecrets(db.queries, openVault(encryption_keys, data_dir), account_id)
  return requireFound(link, 'The lab account has no link.')
}

/** `links shadow`. */
export async function printShadow(call: Call<Options>): Promise<string> {
  const { name, db } = requireCell(call)
  const account_id = requireId(call.args[0], 'The lab account')
  const team_id = requireId(call.values.team, '--team')
  requireFound(await findLink(db.queries, account_id), 'The lab account has no link.')
  const tenant = requireFound(await loadTenant(call.cells, name, team_id), 'Team not found in this cell.')
  const comparing = db.tx(tenant, async (tx) => {
    const comparison = await compareShadowResults(tx, account_id)
    const users = comparison.orders.map(({ user_id }) => user_id)
    leaveCommand(tx, { actor: call.actor, operation: 'links shadow' }, { team: team_id, objects: [account_id], users })
    return comparison
  })
  const comparison = await whenLogged(db, comparing)
  if (call.values.json) return printJson(comparison)
  const { totals, orders, unmatched } = comparison
  return [
    `orders    ${totals.same} same, ${totals.different} different, ${totals.not_entered} not entered by staff\n`,
    `results   ${totals.compared_results} compared, ${totals.different_results} different\n`,
    `messages  ${unmatched.length} without a certain order\n`,
    ...orders.map(printOrder),
    ...unmatched.map(({ message_id, mismatch }) => `message ${message_id}  ${mismatch}\n`),
  ].join('')
}

function printOrder({ order_id, outcome, differences }: ShadowOrder): string {
  const lines = differences.flatMap(({ name, kind, fields }) =>
    fields.map(
      ({ field, laboratory, staff }) => `  ${kind}  ${name}  ${field}  laboratory ${laboratory ?? '-'}  staff ${staff ?? '-'}\n`,
    ),
  )
  return `order ${order_id}  ${outcome}\n${lines.join('')}`
}
