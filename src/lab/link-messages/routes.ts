import { acceptedFormat } from '../../platform/http/errors.ts'
import type { PlainTx } from '../../platform/db/transaction.ts'
import { managementOperation, type Operation } from '../../platform/http/operation.ts'
import { CellParams } from '../../tenancy/organizations/management-shapes.ts'
import { countOpenIssues, finishIssue, listIssues, type Issue } from './issues.ts'
import { BYTES, finish, listMessages, readBytes, readMessage, replay, resend } from './managed-messages.ts'
import * as shapes from './schema.ts'

const MESSAGES = '/v1/org/{org_id}/lab_message/{env}/{region}' as const
const ISSUES = '/v1/org/{org_id}/lab_link_issue/{env}/{region}' as const
const ofCell = { method: 'GET', scope: 'cell', keyScope: 'org' } as const
/** A step of a person on a message or an issue. It shows nothing of patients, and the same step again changes nothing. */
const act = { ...ofCell, method: 'POST', logsAccess: false, idempotency: 'none' } as const
const done = {
  ...act,
  body: shapes.DoneBody,
  body_optional: true,
  example: { comment: 'The laboratory has sent it again.' },
} as const
const ofMessage = { params: shapes.MessageParams, reply: shapes.MessageStep } as const

export const linkMessagesRoutes = (): Operation[] => [
  managementOperation({
    ...ofCell,
    id: 'list_lab_messages',
    logsAccess: true,
    path: MESSAGES,
    summary: "List the messages over links of the organization's lab accounts, newest first",
    description: 'What messages say is not listed.',
    params: CellParams,
    query: shapes.MessageQuery,
    reply: shapes.LabMessagePage,
    run: (tx, { manager, query }) => listMessages(tx, query, manager.org),
  }),
  managementOperation({
    ...ofCell,
    id: 'get_lab_message',
    logsAccess: true,
    path: `${MESSAGES}/{message_id}`,
    auditsRead: true,
    formats: [BYTES],
    summary: 'Get a message over a link',
    params: shapes.MessageParams,
    description: 'As text, or its bytes as they came or went. Reading it writes an audit entry.',
    reply: shapes.LabMessage,
    run: (tx, { manager, params, headers }) =>
      acceptedFormat(headers.accept, [BYTES]) === BYTES
        ? readBytes(tx, params.message_id, manager.org)
        : readMessage(tx, params.message_id, manager.org),
  }),
  managementOperation({
    ...act,
    ...ofMessage,
    id: 'replay_lab_message',
    path: `${MESSAGES}/{message_id}/replay`,
    summary: 'Process a message of a laboratory again',
    description:
      'It is read by the present profile of its link. What was applied before is not applied twice, and a different reading corrects it.',
    run: (tx, { manager, params }) => replay(tx, params.message_id, manager.org),
  }),
  managementOperation({
    ...act,
    ...ofMessage,
    id: 'resend_lab_message',
    path: `${MESSAGES}/{message_id}/resend`,
    summary: 'Send a message to a laboratory again',
    description: 'The same bytes with the same control id. 400 if the laboratory has accepted it.',
    run: (tx, { manager, params }) => resend(tx, params.message_id, manager.org),
  }),
  managementOperation({
    ...done,
    ...ofMessage,
    id: 'finish_lab_message',
    path: `${MESSAGES}/{message_id}/done`,
    summary: 'Mark a message over a link as dealt with',
    description: 'It is neither processed nor sent any more.',
    run: (tx, { manager, params, body }) => finish(tx, params.message_id, manager.org, body?.comment),
  }),
  managementOperation({
    ...ofCell,
    id: 'list_lab_link_issues',
    logsAccess: true,
    path: ISSUES,
    summary: "List what a person must look at on links of the organization's lab accounts, newest first",
    params: CellParams,
    query: shapes.IssueQuery,
    reply: shapes.LinkIssuePage,
    run: async (tx, { manager, query }) => {
      const { data, next_cursor } = await listIssues(tx, query, manager.org)
      return { data: data.map((issue) => showIssue(tx, issue)), next_cursor }
    },
  }),
  managementOperation({
    ...ofCell,
    id: 'count_lab_link_issues',
    logsAccess: false,
    path: '/v1/org/{org_id}/lab_link_issue_count/{env}/{region}',
    summary: "Count the open issues of links of the organization's lab accounts",
    params: CellParams,
    reply: shapes.OpenIssues,
    run: (tx, { manager }) => countOpenIssues(tx, manager.org),
  }),
  managementOperation({
    ...done,
    id: 'finish_lab_link_issue',
    logsAccess: false,
    path: `${ISSUES}/{issue_id}/done`,
    summary: 'Mark an issue of a link as done',
    description: 'The issue of a message marks the message as done, too.',
    params: shapes.IssueParams,
    reply: shapes.IssueStep,
    run: async (tx, { manager, params, body }) => {
      const { id, state, comment } = await finishIssue(tx, params.issue_id, { org_id: manager.org, comment: body?.comment })
      return { id, state, comment }
    },
  }),
]

/** Names the user of the order of an issue for the access log. */
function showIssue(tx: PlainTx, { user_id, ...issue }: Issue): shapes.LinkIssue {
  if (user_id !== null) tx.concerns(user_id, issue.id, issue.team_id ?? undefined)
  return issue
}
