import type { Vault } from '../../platform/crypto/vault.ts'
import { acceptedFormat } from '../../platform/http/errors.ts'
import {
  FileReply,
  managementOperation,
  multiTransactionManagementOperation,
  type Operation,
} from '../../platform/http/operation.ts'
import type { TargetPolicy } from '../../platform/net/outbound-targets.ts'
import { findOwnLink } from '../accounts/link-operations.ts'
import { AccountParams } from '../accounts/schema.ts'
import { checkLink, endCheck, startCheck } from './check-link.ts'
import type { CheckStep } from './check-step.ts'
import { readTrial } from './read-trial.ts'
import { LinkCheck, LinkTrial } from './schema.ts'
import { printTrialReport } from './trial-report.ts'

/** What checks need of their process. */
export interface LinkOnboardingDependencies {
  vault: Vault
  targets: TargetPolicy
  settings: { lab_folder: string | undefined }
}

const LINK = '/v1/org/{org_id}/lab_link/{env}/{region}/{account_id}' as const
const ofLink = { logsAccess: false, scope: 'cell', keyScope: 'org', params: AccountParams } as const
const HTML = 'text/html'

export const linkOnboardingRoutes = ({ vault, targets, settings }: LinkOnboardingDependencies): Operation[] => [
  multiTransactionManagementOperation({
    ...ofLink,
    id: 'check_lab_link',
    method: 'POST',
    path: `${LINK}/check`,
    summary: 'Check a link step by step',
    description:
      'Tries name, port, TLS, login and the rights in folders, and sends a query for the status of the system (`NMQ^N01`, marked as a test, without patient or order) that the laboratory acknowledges. At most 55 s; 409 while another check of the link runs.',
    reply: LinkCheck,
    run: async (steps, { manager: { org }, params: { account_id, env } }) => {
      const { link, facts } = await steps.write(async (tx) => {
        const found = await findOwnLink(tx, vault, { org, account_id })
        return { link: found, facts: await startCheck(tx, found) }
      })
      const shown: CheckStep[] = []
      try {
        const network = { targets, isSandbox: env === 'sandbox', lab_folder: settings.lab_folder }
        for await (const step of checkLink(link, facts, network)) shown.push(step)
      } finally {
        // The audit log has the entry of its beginning.
        await steps.read((tx) => endCheck(tx, account_id))
      }
      return { steps: shown, is_working: shown.every(({ outcome }) => outcome !== 'failed') }
    },
  }),
  managementOperation({
    ...ofLink,
    id: 'get_lab_link_trial',
    method: 'GET',
    path: `${LINK}/trial`,
    formats: [HTML],
    summary: 'Get what came back of the newest trial of a link',
    description: 'As JSON, or as a page in HTML for the laboratory. The patients of a trial are fictional.',
    reply: LinkTrial,
    run: async (tx, { manager: { org }, params: { account_id }, headers }) => {
      const report = await readTrial(tx, await findOwnLink(tx, vault, { org, account_id }))
      return acceptedFormat(headers.accept, [HTML]) === HTML
        ? new FileReply(HTML, `lab-link-trial-${account_id}.html`, Buffer.from(printTrialReport(report)))
        : report
    },
  }),
]
