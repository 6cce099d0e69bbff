import type { Cells } from '../../platform/db/cells.ts'
import type { Vault } from '../../platform/crypto/vault.ts'
import { acceptedFormat, badRequest } from '../../platform/http/errors.ts'
import {
  FileReply,
  managementOperation,
  multiTransactionManagementOperation,
  type Operation,
} from '../../platform/http/operation.ts'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { findOwnLink } from '../accounts/link-operations.ts'
import { AccountParams } from '../accounts/schema.ts'
import { checkLink, startCheck } from './check-link.ts'
import type { CheckStep, NetworkContext } from './check-step.ts'
import { endClaim } from './link-claims.ts'
import type { LinkTrials } from './link-trials.ts'
import { readTrial } from './read-trial.ts'
import { startTrial } from './run-trial.ts'
import { LinkCheck, LinkTrial, TrialBody } from './schema.ts'
import { printTrialReport } from './trial-report.ts'

/** What checks and trials need of their process. */
export interface LinkOnboardingDependencies {
  cells: Cells
  trials: LinkTrials
  vault: Vault
  targets: TargetPolicy
  settings: { lab_folder: string | undefined }
}

const LINK = '/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}' as const
const ofLink = { logsAccess: false, scope: 'cell', keyScope: 'org', params: AccountParams } as const
const HTML = 'text/html'

export const linkOnboardingRoutes = (dependencies: LinkOnboardingDependencies): Operation[] => [
  checkOperation(dependencies),
  startTrialOperation(dependencies),
  trialOperation(dependencies),
]

const toNetwork = (
  { targets, settings }: LinkOnboardingDependencies,
  { env }: { env: 'sandbox' | 'production' },
): NetworkContext => ({ targets, isSandbox: env === 'sandbox', lab_folder: settings.lab_folder })

const checkOperation = (dependencies: LinkOnboardingDependencies): Operation =>
  multiTransactionManagementOperation({
    ...ofLink,
    id: 'check_lab_link',
    method: 'POST',
    path: `${LINK}/check`,
    summary: 'Check a link step by step',
    description:
      'Tries name, port, TLS, login and the rights in folders, and sends a query for the status of the system (`NMQ^N01`, marked as a test, without patient or order) that the laboratory acknowledges. At most 55 s; 409 while a check or a trial of the link runs.',
    reply: LinkCheck,
    run: async (steps, { manager: { org }, params }) => {
      const { link, facts } = await steps.write(async (tx) => {
        const ownLink = await findOwnLink(tx, dependencies.vault, { org, account_id: params.account_id })
        return { link: ownLink, facts: await startCheck(tx, ownLink) }
      })
      const shown: CheckStep[] = []
      try {
        for await (const step of checkLink(link, facts, toNetwork(dependencies, params))) shown.push(step)
      } finally {
        // The audit log has the entry of its beginning.
        await steps.read((tx) => endClaim(tx, facts.claim))
      }
      return { steps: shown, is_working: shown.every(({ outcome }) => outcome !== 'failed') }
    },
  })

const startTrialOperation = (dependencies: LinkOnboardingDependencies): Operation =>
  multiTransactionManagementOperation({
    ...ofLink,
    id: 'start_lab_link_trial',
    method: 'POST',
    path: `${LINK}/trial`,
    summary: 'Send the trial orders of a link in mode `test`',
    description:
      'Writes ten fictional orders, in place of those of the last trial, and sends them one after the other, as tests (MSH-11 `T`); `get_lab_link_trial` shows how far it is. 400 in another mode, without a transport for orders, or if the laboratory has no orderable test of a code; 409 while a check or a trial of the link runs. If the server stops, or the mode changes, the other orders are not sent.',
    body: TrialBody,
    body_optional: true,
    example: { test_codes: ['Q55024'] },
    reply: LinkTrial,
    run: async (steps, { manager: { org }, params, body }) => {
      const { vault, cells, trials } = dependencies
      const trial = await steps.write(async (tx) => {
        const link = await findOwnLink(tx, vault, { org, account_id: params.account_id })
        if (link.profile.transport.orders === 'none') throw badRequest('The link has no transport for orders')
        return startTrial(tx, link, body?.test_codes ?? [])
      })
      trials.begin(cells.db(`${params.env}-${params.region}`), trial, toNetwork(dependencies, params))
      return steps.read((tx) => readTrial(tx, trial.link))
    },
  })

const trialOperation = ({ vault }: LinkOnboardingDependencies): Operation =>
  managementOperation({
    ...ofLink,
    id: 'get_lab_link_trial',
    method: 'GET',
    path: `${LINK}/trial`,
    formats: [HTML],
    summary: 'Get how far the newest trial of a link is, and what came back of it',
    description: 'As JSON, or as a page in HTML for the laboratory. The patients of a trial are fictional.',
    reply: LinkTrial,
    run: async (tx, { manager: { org }, params: { account_id }, headers }) => {
      const report = await readTrial(tx, await findOwnLink(tx, vault, { org, account_id }))
      return acceptedFormat(headers.accept, [HTML]) === HTML
        ? new FileReply(HTML, `lab-link-trial-${account_id}.html`, Buffer.from(printTrialReport(report)))
        : report
    },
  })
