import type { Vault } from '../../platform/crypto/vault.ts'
import { managementOperation, type Operation } from '../../platform/http/operation.ts'
import type { ProfileFile } from '../links/profile/read-profile.ts'
import { exportOwnLink, listOwnLinks, readOwnLink, saveOwnLink, setOwnMode } from './link-operations.ts'
import { LabLinkReply, LabLinks, ModeBody, ProfileBody } from './link-schema.ts'
import { AccountParams, AccountsParams } from './schema.ts'

const LINKS = '/v1/org/{org_id}/lab_link/{env}/{region}' as const
const LINK = `${LINKS}/{account_id}` as const
const ofLink = { logsAccess: false, scope: 'cell', keyScope: 'org', params: AccountParams } as const

export const linkRoutes = ({ vault }: { vault: Vault }): Operation[] => [
  managementOperation({
    id: 'get_lab_links',
    logsAccess: false,
    method: 'GET',
    path: LINKS,
    scope: 'cell',
    keyScope: 'org',
    summary: "List the links of the organization's lab accounts, oldest first",
    params: AccountsParams,
    reply: LabLinks,
    run: async (tx, { manager }) => ({ data: await listOwnLinks(tx, vault, manager.org) }),
  }),
  managementOperation({
    ...ofLink,
    id: 'get_lab_link',
    method: 'GET',
    path: LINK,
    summary: 'Get the link of a lab account',
    description: 'With its mode, its state, and the options in which its profile differs from its preset.',
    reply: LabLinkReply,
    run: async (tx, { manager: { org }, params: { account_id } }) => ({
      lab_link: await readOwnLink(tx, vault, { org, account_id }),
    }),
  }),
  managementOperation({
    ...ofLink,
    id: 'upsert_lab_link',
    method: 'PUT',
    path: LINK,
    summary: 'Create a link, or replace its profile',
    description:
      'A new link is in mode `off`. The body is what `export_lab_link` returns. It may omit `transport`, which only the operator sets and which does not change.',
    body: ProfileBody,
    reply: LabLinkReply,
    example: { preset: 'us-23', text: { time_zone: 'America/New_York' }, results: { reports: 'incremental' } },
    run: async (tx, { manager: { org }, params: { account_id }, body }) => ({
      lab_link: await saveOwnLink(tx, vault, { org, account_id }, body as ProfileFile),
    }),
  }),
  managementOperation({
    ...ofLink,
    id: 'export_lab_link',
    method: 'GET',
    path: `${LINK}/profile`,
    summary: 'Export the profile of a link as a file',
    description: '`upsert_lab_link` and `drawbridge links import` read it. Masks stand for secrets.',
    reply: ProfileBody,
    run: async (tx, { manager: { org }, params: { account_id } }) =>
      (await exportOwnLink(tx, vault, { org, account_id })) as Record<string, never>,
  }),
  managementOperation({
    ...ofLink,
    id: 'set_lab_link_mode',
    method: 'PUT',
    path: `${LINK}/mode`,
    summary: 'Set the mode of a link',
    description:
      '`off`: nothing is sent or received. `test`: test messages only. `shadow`: results are received and compared with those that staff enter, and no team sees them. `live_for_team`: live for one team. `live`: orders are sent and results applied.',
    body: ModeBody,
    reply: LabLinkReply,
    example: { mode: 'test' },
    run: async (tx, { manager: { org }, params: { account_id }, body }) => ({
      lab_link: await setOwnMode(tx, vault, { org, account_id }, body),
    }),
  }),
]
