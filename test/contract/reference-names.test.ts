// Names on the wire of the Management API against those of the reference: every field of every request and answer, envelopes
// included. test/contract/reference-management.tsv is made from the reference's own description: REFERENCE=<that file> UPDATE=1.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { contents } from '../../src/app/contents.ts'
import { namesOf, withoutParameterNames, printNames, readNames, type Names, type OpenApi } from './operations/names.ts'

const { operations } = contents

const LIST = new URL('reference-management.tsv', import.meta.url)
const read = (file: string | URL): OpenApi => JSON.parse(readFileSync(file, 'utf8')) as OpenApi

const { REFERENCE, UPDATE } = process.env
if (REFERENCE && UPDATE) writeFileSync(LIST, printNames(namesOf(read(REFERENCE))))
const reference = readNames(readFileSync(LIST, 'utf8'))
const own = namesOf(read(new URL('../../api/openapi.json', import.meta.url)))

/** What differs, `-` what we lack and `+` what we have more, and why. */
const differences: Record<string, string> = {
  'GET /v1/org/{}/management_key query +next_cursor': 'the answer has a cursor, which the reference gives no way to use',
  'POST /v1/org/{}/management_key body +team_id': 'an older form of the request, with one team and no role',
  'GET /v1/org/{}/team/{}/{}/continuous_query query +next_cursor': 'the answer has a cursor here, too',
  'POST /v1/org/{}/team_etl_pipelines/{}/{} body +team_id': 'samples in public send it instead of team_ids',
}

/** The same of many places. */
const differingNames: [RegExp, string][] = [
  [
    /\/team\S* (body|reply) \+(sandbox|production)\.link_redirect_origins$|resolve_team reply \+(sandbox|production)\.link_redirect_origins$/,
    'where link tokens may return to, which the reference does not limit',
  ],
  [
    /(management_key|team_api_keys)\S* (body|reply) \+\S*\bmember_id$/,
    'the person for whom a key was created, whom the access log names; keys of the reference belong to nobody',
  ],
  [
    /(management_key|team_api_keys)\S* reply \+\S*\b(last_used_at|last_used_ip)$/,
    'when a key was used, and from where: the reference shows it on its dashboard alone',
  ],
  [/team_api_keys\S* reply \+\S*\bcreator(\.\w+)?$/, 'who created a key of a team, as management keys have it'],
  [
    /\/(invite|member)\S* (body|reply) \+\S*team_role_bindings\[\]\.role$/,
    'what a member may do in a team; members of the reference are administrators of their teams',
  ],
  [
    /^\S+ \S+team\S* (body|reply) \+(sandbox|production)\.appointment_booking_url$/,
    'where patients book visits: the reference has a page of its own for that',
  ],
  [
    / reply \+\S*\bdelivery_error$/,
    'why nothing is sent to an endpoint or broker whose secrets cannot be decrypted, which the reference does not show',
  ],
  [
    /continuous_query\S* .*-.*\.(arg|select|from)\.placeholder$/,
    'marks a part that is still missing while a query is edited; with one a query cannot run, and ours are refused unless they can',
  ],
]

/** What the reference does not have. */
const ours: Record<string, string> = {
  'POST /v1/org/{}/team/{}/create_access_token': 'the older name of create_api_access_token, still on its public page',
  'POST /v1/org/{}/lab_test/{}/{}/{}/approve': 'the approval of lab tests, which the reference leaves to its company',
  'GET /v1/org/{}/health/{}/{}': 'how a cell of an own server is, for its administrators',
  'GET /v1/org/{}/team/{}/{}/failed_job': 'jobs that have failed permanently, for administrators of the own server',
  'GET /v1/org/{}/lab_link/{}/{}': 'links to laboratories, which the reference does out of sight',
  'GET /v1/org/{}/lab_link/{}/{}/{}': 'links to laboratories, which the reference does out of sight',
  'PUT /v1/org/{}/lab_link/{}/{}/{}': 'links to laboratories, which the reference does out of sight',
  'GET /v1/org/{}/lab_link/{}/{}/{}/profile': 'links to laboratories, which the reference does out of sight',
  'PUT /v1/org/{}/lab_link/{}/{}/{}/mode': 'links to laboratories, which the reference does out of sight',
  'POST /v1/org/{}/lab_link/{}/{}/{}/check': 'links to laboratories, which the reference does out of sight',
  'POST /v1/org/{}/lab_link/{}/{}/{}/trial': 'links to laboratories, which the reference does out of sight',
  'GET /v1/org/{}/lab_link/{}/{}/{}/trial': 'links to laboratories, which the reference does out of sight',
  'GET /v1/org/{}/lab_link/{}/{}/{}/unplaced_order': 'links to laboratories, which the reference does out of sight',
  'POST /v1/org/{}/team/{}/{}/lab_link/order/{}/send': 'links to laboratories, which the reference does out of sight',
  'GET /v1/org/{}/team/{}/{}/lab_link/{}/shadow': 'links to laboratories, which the reference does out of sight',
  'GET /v1/org/{}/team/{}/{}/job_count': 'the jobs that wait, for administrators of the own server',
  'POST /v1/org/{}/team/{}/{}/failed_job/retry': 'jobs that have failed permanently, for administrators of the own server',
  'GET /v1/org/{}/fulfillment/{}/{}': 'manual fulfillment, which the reference does out of sight',
  'GET /v1/org/{}/team/{}/{}/fulfillment/{}': 'manual fulfillment',
  'POST /v1/org/{}/team/{}/{}/fulfillment/{}/accept': 'manual fulfillment',
  'POST /v1/org/{}/team/{}/{}/fulfillment/{}/kit': 'manual fulfillment',
  'POST /v1/org/{}/team/{}/{}/fulfillment/{}/refuse': 'manual fulfillment',
  'POST /v1/org/{}/team/{}/{}/fulfillment/{}/resolve': 'manual fulfillment',
  'POST /v1/org/{}/team/{}/{}/fulfillment/{}/replace': 'replacement of a wrong order, which the reference does out of sight',
  'POST /v1/org/{}/team/{}/{}/fulfillment/{}/tracking': 'manual fulfillment',
  'POST /v1/org/{}/team/{}/{}/fulfillment/{}/scan': 'manual fulfillment',
  'POST /v1/org/{}/team/{}/{}/fulfillment/{}/visit': 'manual fulfillment',
  'POST /v1/org/{}/team/{}/{}/fulfillment/{}/draw': 'manual fulfillment',
  'POST /v1/org/{}/team/{}/{}/fulfillment/{}/reject': 'manual fulfillment',
  'POST /v1/org/{}/team/{}/{}/fulfillment/{}/block': 'manual fulfillment',
  'POST /v1/org/{}/team/{}/{}/fulfillment/{}/do_not_process': 'manual fulfillment',
  'POST /v1/org/{}/team/{}/{}/fulfillment/{}/lost': 'manual fulfillment',
  'POST /v1/org/{}/team/{}/{}/fulfillment/{}/result': 'manual fulfillment',
  'PUT /v1/org/{}/team/{}/{}/fulfillment/{}/notes': 'manual fulfillment',
  'PUT /v1/org/{}/team/{}/{}/fulfillment/{}/result/pdf': 'manual fulfillment',
  'GET /v1/org/{}/audit': 'the audit log',
  'GET /v1/org/{}/team/{}/{}/unmatched_result': 'results that a team was unsure of, which the service works on itself',
  'POST /v1/org/{}/team/{}/{}/unmatched_result/{}/accept': 'results that a team was unsure of',
  'POST /v1/org/{}/team/{}/{}/unmatched_result/{}/reject': 'results that a team was unsure of',
  'POST /v1/org/{}/team/{}/{}/unmatched_result/{}/release': 'results that a team was unsure of',
  'GET /v1/org/{}/team/{}/{}/lab_report_review': 'reviews of parsed lab reports, which the reference does out of sight',
  'GET /v1/org/{}/team/{}/{}/lab_report_review/{}': 'reviews of parsed lab reports, which the reference does out of sight',
  'GET /v1/org/{}/team/{}/{}/lab_report_review/{}/page/{}':
    'reviews of parsed lab reports, which the reference does out of sight',
  'POST /v1/org/{}/team/{}/{}/lab_report_review/{}/correct':
    'reviews of parsed lab reports, which the reference does out of sight',
  'POST /v1/org/{}/team/{}/{}/lab_report_review/{}/approve':
    'reviews of parsed lab reports, which the reference does out of sight',
  'POST /v1/org/{}/team/{}/{}/lab_report_review/{}/fail': 'reviews of parsed lab reports, which the reference does out of sight',
  'GET /v1/org/{}/audit/{}/{}': 'the audit log',
  'GET /v1/org/{}/team/{}/{}/audit': 'the audit log',
  'GET /v1/org/{}/team/{}/{}/access_log': 'the access log',
  'GET /v1/org/{}/access_log_check/{}/{}': 'the access log',
  'GET /v1/org/{}/team/{}/{}/webhook/{}/message': 'the log of deliveries, which the reference has on a page of another company',
  'GET /v1/org/{}/team/{}/{}/webhook/{}/message/{}': 'the log of deliveries',
  'GET /v1/org/{}/team/{}/{}/webhook/{}/message/{}/attempt': 'the log of deliveries',
  'POST /v1/org/{}/team/{}/{}/webhook/{}/message/{}/resend': 'sending again, which the reference has on that page too',
  'POST /v1/org/{}/team/{}/{}/webhook/{}/replay': 'sending again',
  'POST /v1/org/{}/team/{}/{}/webhook/{}/recover': 'sending again',
  'POST /v1/org/{}/team/{}/{}/webhook/{}/test': 'a sample for a test',
  'GET /v1/org/{}/team/{}/{}/physician': 'the service network, which the reference runs itself',
  'POST /v1/org/{}/team/{}/{}/physician': 'the service network',
  'DELETE /v1/org/{}/team/{}/{}/physician/{}': 'the service network',
  'GET /v1/org/{}/sign_in': 'how members sign in to an own server, for its administrators',
  'POST /v1/org/{}/invite/{}/link': 'invites where no mail is sent',
  'POST /v1/org/{}/management_key/{}/rotate':
    'a key of the organization has to be replaced at times, and no key may make another one',
  'PUT /v1/org/{}/lab_account/{}/{}/{}': 'accounts of sandboxes, which the reference makes itself',
  'GET /v1/org/{}/lab_message/{}/{}': 'messages between laboratories and an own server',
  'GET /v1/org/{}/lab_message/{}/{}/{}': 'messages of laboratories',
  'POST /v1/org/{}/lab_message/{}/{}/{}/replay': 'messages of laboratories',
  'POST /v1/org/{}/lab_message/{}/{}/{}/resend': 'messages of laboratories',
  'POST /v1/org/{}/lab_message/{}/{}/{}/done': 'messages of laboratories',
  'GET /v1/org/{}/lab_link_issue/{}/{}': 'messages of laboratories',
  'GET /v1/org/{}/lab_link_issue_count/{}/{}': 'messages of laboratories',
  'POST /v1/org/{}/lab_link_issue/{}/{}/{}/done': 'messages of laboratories',
  'GET /v1/org/{}/phlebotomist/{}/{}': 'phlebotomists',
  'PUT /v1/org/{}/phlebotomist/{}/{}/{}': 'phlebotomists',
  'DELETE /v1/org/{}/phlebotomist/{}/{}/{}': 'phlebotomists',
  'GET /v1/org/{}/team/{}/{}/visit': 'the visits of phlebotomists',
  'PUT /v1/org/{}/team/{}/{}/visit/{}/date': 'the visits of phlebotomists',
  'PUT /v1/org/{}/team/{}/{}/visit/{}/progress': 'the visits of phlebotomists',
  'GET /v1/org/{}/team/{}/{}/data_retention': 'how long health data is kept',
  'PUT /v1/org/{}/team/{}/{}/data_retention': 'how long health data is kept',
  'POST /v1/org/{}/team/{}/{}/data_retention/preview': 'how long health data is kept',
  'GET /v1/org/{}/team/{}/{}/event_type': 'the catalog of events',
  'GET /v1/org/{}/team/{}/{}/event_type/{}/sample': 'the catalog of events',
}

const managing = operations
  .filter(({ auth }) => auth === 'management')
  .flatMap(({ method, path, aliases = [] }) => [path, ...aliases].map((url) => withoutParameterNames(method, url)))

function differing(operation: string, theirs: Names, ours: Names): string[] {
  const lines = theirs.status === ours.status ? [] : [`${operation} status ${theirs.status}, here ${ours.status}`]
  for (const part of ['query', 'body', 'reply'] as const)
    lines.push(
      ...theirs[part].filter((name) => !ours[part].includes(name)).map((name) => `${operation} ${part} -${name}`),
      ...ours[part].filter((name) => !theirs[part].includes(name)).map((name) => `${operation} ${part} +${name}`),
    )
  return lines
}

if (REFERENCE)
  test('the list of names is that of the reference', () => {
    assert.equal(readFileSync(LIST, 'utf8'), printNames(namesOf(read(REFERENCE))))
  })

test('every field of every management operation is named as in the reference, or differs for a reason', () => {
  const found = managing.flatMap((operation) => {
    const theirs = reference.get(operation)
    return theirs ? differing(operation, theirs, own.get(operation)!) : []
  })
  assert(managing.filter((operation) => reference.has(operation)).length >= 30, 'the list of the reference is not whole')
  const single = found.filter((line) => !differingNames.some(([names]) => names.test(line)))
  assert.deepEqual(single.toSorted(), Object.keys(differences).toSorted())
  for (const [names] of differingNames)
    assert(
      found.some((line) => names.test(line)),
      `${names} differs no more`,
    )
})

test('names that the reference does not have are ours for a reason', () => {
  assert.deepEqual(managing.filter((operation) => !reference.has(operation)).toSorted(), Object.keys(ours).toSorted())
})
